"""From a site's address to its feeds: the guesses of a page, and the search over a made-up web."""

from __future__ import annotations

import contextlib

import pytest
from fakes.fetch import FakeFetcher
from hypothesis import given, settings
from hypothesis import strategies as st

from frontpage.adapters.fetch import Fetched
from frontpage.adapters.parse.feed_discovery import CANDIDATES, page_candidates, same_items, sitemaps_first
from frontpage.adapters.parse.readings import FeedEntry
from frontpage.errors import FetchFailed, FetchRefused, UnreadableInput
from streaming.ingest.discovery import REQUESTS, Discovery, discover

HOME = "https://paper.example/"
NOW = 1_790_000_000.0
DAY = 86_400


def html(head: str = "", body: str = "") -> bytes:
    return f"<!doctype html><html><head><title>Paper</title>{head}</head><body>{body}<p>text</p></body></html>".encode()


def rss(*paths: str, title: str = "Paper") -> bytes:
    items = "".join(f"<item><title>{p}</title><link>https://paper.example/{p}</link></item>" for p in paths)
    return f'<rss version="2.0"><channel><title>{title}</title><link>{HOME}</link>{items}</channel></rss>'.encode()


def atom(*paths: str) -> bytes:
    entries = "".join(f'<entry><title>{p}</title><link href="https://paper.example/{p}"/></entry>' for p in paths)
    return f'<feed xmlns="http://www.w3.org/2005/Atom"><title>Paper</title>{entries}</feed>'.encode()


def news_map(*paths: str) -> bytes:
    rows = "".join(
        f"<url><loc>https://paper.example/{p}</loc><n:news><n:title>{p}</n:title>"
        "<n:publication><n:name>Paper</n:name><n:language>en</n:language></n:publication></n:news></url>"
        for p in paths
    )
    spaces = (
        'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:n="http://www.google.com/schemas/sitemap-news/0.9"'
    )
    return f"<urlset {spaces}>{rows}</urlset>".encode()


def url_map(*rows: tuple[str, str], root: str = "urlset", row: str = "url") -> bytes:
    text = "".join(f"<{row}><loc>https://paper.example/{p}</loc><lastmod>{at}</lastmod></{row}>" for p, at in rows)
    return f'<{root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{text}</{root}>'.encode()


def web(pages: dict[str, bytes | Fetched | Exception]) -> FakeFetcher:
    """Paths of the paper (or whole addresses) to bodies; the rest is 404."""
    answers = {}
    for path, answer in pages.items():
        url = path if "://" in path else HOME.rstrip("/") + path
        answers[url] = Fetched(url, 200, {}, answer) if isinstance(answer, bytes) else answer
    fetcher = FakeFetcher(answers)
    fetch = fetcher.get

    async def get(url, *, kind, headers=None):
        if url not in fetcher.answers and url.startswith(HOME):
            fetcher.asked.append((url, kind, {}))
            return Fetched(url, 404, {})
        return await fetch(url, kind=kind, headers=headers)

    fetcher.get = get
    return fetcher


async def search(pages, url: str = HOME, **options) -> Discovery:
    return await discover(url, web(pages), NOW, **options)


def guess(head: str = "", body: str = "", url: str = HOME) -> list[tuple[str, str]]:
    return [(one.via, one.url) for one in page_candidates(html(head, body), {}, url)]


def test_declared_feeds_of_every_type_in_their_order():
    kinds = ("application/rss+xml", "application/atom+xml; charset=utf-8", "APPLICATION/FEED+JSON", "application/json")
    head = "".join(f'<link rel="alternate" type="{kind}" href="/f{n}">' for n, kind in enumerate(kinds))
    assert guess(head) == [("link", f"https://paper.example/f{n}") for n in range(4)]
    assert guess('<link rel="ALTERNATE home" type=application/rss+xml href=/f>') == [("link", HOME + "f")]


def test_links_are_relative_to_the_base_element():
    link = '<link rel=alternate type="application/rss+xml" href="feed.xml">'
    assert guess(link, url=HOME + "a/b") == [("link", HOME + "a/feed.xml")]
    assert guess('<base href="https://feeds.example/x/">' + link) == [("link", "https://feeds.example/x/feed.xml")]
    assert guess('<base href="/deep/">' + link) == [("link", HOME + "deep/feed.xml")]


def test_what_is_no_feed_is_not_guessed():
    head = """<link rel=alternate hreflang=de href="/de/"><link rel=alternate type=text/html href="/print">
    <link rel=alternate type="application/json" href="/wp-json/wp/v2/pages/2">
    <link rel=alternate type="application/json+oembed" href="/wp-json/oembed/1.0/embed?url=x">
    <link rel=stylesheet type=text/css href="/rss.css"><link rel=alternate type=application/rss+xml href="javascript:x()">
    <link rel=alternate type=application/rss+xml href="file:///etc/passwd">"""
    body = (
        '<a href="https://validator.example/check?feed">RSS</a><a href="/feedback">feedback</a><a href="/cattle">a</a>'
    )
    assert guess(head, body) == []


def test_anchors_of_the_own_site_are_guessed_after_the_declared():
    body = """<a href="/rss/sport.xml">Sport</a><a href="/feed/">x</a><a href="/abo"><img alt=""> RSS-Feeds </a>
    <a href="https://feeds.paper.example/all.rss#x">all</a><a href="https://other.example/rss.xml">friends</a>"""
    assert guess('<link rel=alternate type="application/rss+xml" href="/main">', body) == [
        ("link", HOME + "main"), ("anchor", HOME + "rss/sport.xml"), ("anchor", HOME + "feed/"), ("anchor", HOME + "abo"),
        ("anchor", "https://feeds.paper.example/all.rss"),
    ]  # fmt: skip


def test_comments_and_searches_come_last():
    head = """<link rel=alternate type="application/rss+xml" title="Paper » Kommentar-Feed" href="/k">
    <link rel=alternate type="application/rss+xml" href="/comments/feed/">
    <link rel=alternate type="application/rss+xml" href="/?s=storm&feed=rss2">
    <link rel=alternate type="application/rss+xml" title="Paper" href="/feed/">"""
    found = page_candidates(html(head), {}, HOME)
    assert [(one.url, one.aside) for one in found] == [
        (HOME + "feed/", False), (HOME + "k", True), (HOME + "comments/feed/", True), (HOME + "?s=storm&feed=rss2", True),
    ]  # fmt: skip


def test_opinions_are_no_comments_and_headlines_no_feeds():
    head = """<link rel=alternate type="application/rss+xml" title="Commentary" href="/commentary/rss">
    <link rel=alternate type="application/rss+xml" title="Kommentare" href="/meinung/kommentare.rss">
    <link rel=alternate type="application/rss+xml" title="Comment is free" href="/commentisfree/rss">"""
    assert [one.aside for one in page_candidates(html(head), {}, HOME)] == [False] * 3
    body = '<a href="/a/1">How to feed a cat</a><a href="/a/2">Atom split</a><a href="/a/3">News-Feeds</a>'
    assert guess(body=body) == [("anchor", HOME + "a/3")]


def test_a_page_of_a_hundred_thousand_links_is_looked_at_in_part():
    body = "".join(f'<a href="/rss/{n}.xml">' for n in range(100_000))
    assert len(page_candidates(html(body=body), {}, HOME)) == CANDIDATES


@settings(max_examples=60)
@given(st.binary(max_size=300))
def test_guessing_raises_nothing_else(junk):
    with contextlib.suppress(UnreadableInput):
        page_candidates(b"<html><head><link rel=alternate href='" + junk + b"'><a href='//[" + junk, {}, HOME)


def test_the_same_items_are_one_feed_and_a_section_is_another():
    def feed(*names):
        return [FeedEntry(id=name, url=HOME + name) for name in names]

    assert same_items(feed("a", "b", "c", "d"), feed("a", "b", "c"))
    assert same_items(feed("a"), feed("a"))
    assert not same_items(feed("a", "b", "c", "d"), feed("b", "c", "d"))
    assert not same_items(feed("a", "b"), feed("a"))
    assert not same_items([], [])


def test_news_sitemaps_come_first_whatever_the_host_is_called():
    urls = ["https://news.example/sitemap-1999.xml", "https://news.example/sitemap-news.xml"]
    assert sitemaps_first([*urls, urls[0]]) == [urls[1], urls[0]]


async def test_a_feed_is_itself():
    result = await search({"/f": rss("a")}, HOME + "f")
    assert (result.requests, result.cause, [(one.url, one.via, one.title) for one in result.found]) == (
        1, None, [(HOME + "f", "address", "Paper")],
    )  # fmt: skip


async def test_a_feed_that_moved_for_good_is_taken_where_it_is():
    moved = Fetched(HOME + "new", 200, {}, rss("a"), moved_to=HOME + "new", hops=(HOME + "f",))
    assert [one.url for one in (await search({"/f": moved}, HOME + "f")).found] == [HOME + "new"]


async def test_each_guess_is_proven_and_twins_are_one():
    head = "".join(
        f'<link rel=alternate type="application/rss+xml" href="{href}">'
        for href in ("/dead", "/page", "/comments/feed", "/rss", "/rss?utm_source=x", "/atom", "/sport")
    )
    pages = {
        "/": html(head), "/page": html(), "/rss": rss("a", "b", "c"), "/atom": atom("a", "b", "c", "d"),
        "/sport": rss("b", "x"), "/comments/feed": rss("a#comment-1"),
    }  # fmt: skip
    result = await search(pages)
    assert [(one.url, one.also, one.aside) for one in result.found] == [
        (HOME + "rss", [HOME + "atom"], False), (HOME + "sport", [], False), (HOME + "comments/feed", [], True),
    ]  # fmt: skip
    assert result.missed == [(HOME + "dead", "http-404"), (HOME + "page", "html")]
    assert result.requests == 7


async def test_a_page_that_lists_feeds_is_read_but_not_pages_behind_it():
    pages = {
        "/": html(body='<a href="/rss">RSS</a>'),
        "/rss": html(body='<a href="/rss/world.xml">World</a><a href="/more">more feeds</a>'),
        "/rss/world.xml": rss("w"),
        "/more": html(body='<a href="/rss/far.xml">far</a>'),
        "/rss/far.xml": rss("f"),
    }
    assert [one.url for one in (await search(pages)).found] == [HOME + "rss/world.xml"]


async def test_an_inner_page_without_feeds_sends_us_to_the_front_page():
    pages = {"/a/story": html(), "/": html('<link rel=alternate type="application/rss+xml" href="/f">'), "/f": rss("a")}
    assert [one.url for one in (await search(pages, HOME + "a/story")).found] == [HOME + "f"]


async def test_sitemaps_of_robots_txt_news_first():
    robots = f"User-agent: *\nSitemap: {HOME}pages.xml\nSitemap: {HOME}news.xml\n".encode()
    result = await search({"/": html(), "/robots.txt": robots, "/news.xml": news_map("a", "b"), "/pages.xml": b"x"})
    (found,) = result.found
    assert (found.url, found.kind, found.via, found.title, found.entries) == (
        HOME + "news.xml", "sitemap", "sitemap", "Paper", 2,
    )  # fmt: skip
    assert result.requests == 3


async def test_an_index_is_followed_to_its_news_or_is_the_source_itself():
    robots = f"Sitemap: {HOME}index.xml\n".encode()
    index = url_map(("old.xml", "2020-01-01"), ("news-1.xml", "2020-01-01"), root="sitemapindex", row="sitemap")
    result = await search({"/": html(), "/robots.txt": robots, "/index.xml": index, "/news-1.xml": news_map("a")})
    assert [one.url for one in result.found] == [HOME + "news-1.xml"]
    plain = url_map(("p1.xml", "2020-01-01"), ("p2.xml", "2026-09-20"), root="sitemapindex", row="sitemap")
    rows = url_map(("a", "2026-09-20"), ("b", "2026-09-21"))
    result = await search({"/": html(), "/robots.txt": robots, "/index.xml": plain, "/p2.xml": rows})
    assert [(one.url, one.entries) for one in result.found] == [(HOME + "index.xml", 2)]


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        (url_map(("a", "2020-01-01"), ("b", "2020-01-02")), "old-sitemap"),
        (url_map(("a", "2026-09-20"), ("b", "2026-09-20")), "undated-sitemap"),
        (url_map(("a", ""), ("b", "")), "undated-sitemap"),
        (b"https://paper.example/a\nhttps://paper.example/b\n", "undated-sitemap"),
        (b"<!doctype html><html><body>no</body></html>", "html"),
    ],
)
async def test_a_sitemap_that_does_not_say_what_is_new_is_none(body, cause):
    result = await search({"/": html(), "/robots.txt": f"Sitemap: {HOME}s.xml".encode(), "/s.xml": body})
    assert (result.cause, (HOME + "s.xml", cause) in result.missed) == ("no-feeds", True)


async def test_usual_places_are_the_last_and_end_at_the_first_hit():
    fetcher = web({"/": html(), "/rss.xml": rss("a"), "/feed.xml": rss("b")})
    result = await discover(HOME, fetcher, NOW)
    assert [(one.url, one.via) for one in result.found] == [(HOME + "rss.xml", "usual")]
    assert HOME + "feed.xml" not in {url for url, _, _ in fetcher.asked}


async def test_a_site_that_answers_everything_with_its_front_page_has_no_feed():
    fetcher = web({})

    async def get(url, *, kind, headers=None):
        fetcher.asked.append((url, kind, {}))
        return Fetched(url, 200, {}, html(body='<a href="/rss">RSS</a>'))

    fetcher.get = get
    result = await discover(HOME, fetcher, NOW)
    assert (result.found, result.cause, {cause for _, cause in result.missed}) == ([], "no-feeds", {"html"})
    assert len(fetcher.asked) == len({url for url, _, _ in fetcher.asked}), "nothing is asked twice"


async def test_requests_have_a_limit_and_each_step_its_turn():
    head = "".join(f'<link rel=alternate type="application/rss+xml" href="/f{n}">' for n in range(200))
    fetcher = web({"/": html(head), "/robots.txt": b"", "/news-sitemap.xml": news_map("a")})
    result = await discover(HOME, fetcher, NOW)
    assert (len(fetcher.asked) <= REQUESTS, [one.url for one in result.found]) == (True, [HOME + "news-sitemap.xml"])
    short = await search({"/": html(head)}, requests=5)
    assert (short.requests, short.cause, short.detail) == (5, "no-feeds", "the limit of requests is reached")


async def test_a_host_that_asks_to_wait_is_left_alone():
    head = '<link rel=alternate type="application/rss+xml" href="/a"><link rel=alternate type="application/rss+xml" href="/b">'
    held = FetchFailed("held", cause="host-held", retry_after=60.0)
    for answer in (held, Fetched(HOME + "a", 429, {})):
        result = await search({"/": html(head), "/a": answer, "/b": rss("a")})
        assert (result.requests, result.found, result.cause) == (2, [], "no-feeds")
        assert "asks us to wait" in result.detail


@pytest.mark.parametrize(
    ("answer", "cause", "later"),
    [
        (FetchRefused("no", cause="robots"), "robots", False), (FetchFailed("no", cause="dns"), "dns", True),
        (Fetched(HOME, 404, {}), "http-404", False), (Fetched(HOME, 503, {}), "http-503", True),
        (b"", "empty", False), (b"%PDF-1.7 x", "not-a-feed", False), (b'{"a": 1}', "not-a-feed", False),
    ],
)  # fmt: skip
async def test_why_there_is_nothing(answer, cause, later):
    result = await search({"/": answer})
    assert (result.cause, result.later, result.found, result.requests) == (cause, later, [], 1)
    assert result.detail


async def test_what_is_no_web_address_is_not_asked():
    result = await search({}, "file:///etc/passwd")
    assert (result.cause, result.requests) == ("scheme", 0)


async def test_comments_alone_are_no_feed():
    pages = {
        "/": html('<link rel=alternate type="application/rss+xml" href="/comments/feed">'),
        "/comments/feed": rss("c"),
    }
    result = await search(pages)
    assert (result.cause, result.main, [one.aside for one in result.found]) == ("no-feeds", [], [True])
