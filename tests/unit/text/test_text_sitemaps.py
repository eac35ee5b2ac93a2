"""Sitemaps by their content, robots.txt by its status, and an index that never ends."""

import gzip
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontpage.adapters.parse.robots import ROBOTS_LIMIT, read_robots
from frontpage.adapters.parse.sitemap_walk import REQUESTS, period_end, walk
from frontpage.adapters.parse.sitemaps import FEED_ROWS, SITEMAP_LIMIT, as_feed, read_sitemap
from frontpage.domain.dates import parse_date
from frontpage.errors import FetchFailed, UnreadableInput

XMLNS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
URL = "https://bay.test/map.xml"


def urlset(*addresses: str, extra: str = "") -> bytes:
    rows = "".join(f"<url><loc>{address}</loc>{extra}</url>" for address in addresses)
    return f"<urlset {XMLNS}>{rows}</urlset>".encode()


def index(*addresses: str) -> bytes:
    rows = "".join(f"<sitemap><loc>{address}</loc></sitemap>" for address in addresses)
    return f"<sitemapindex {XMLNS}>{rows}</sitemapindex>".encode()


PLAIN = urlset("https://bay.test/1", " https://bay.test/2?a=1&amp;b=2 ")


@pytest.mark.parametrize(
    "body",
    [
        PLAIN,
        gzip.compress(PLAIN, mtime=0),
        gzip.compress(gzip.compress(PLAIN, mtime=0), mtime=0),
        b"\xef\xbb\xbf" + PLAIN,
    ],
)
def test_packed_or_not_the_rows_are_the_same(body):
    reading = read_sitemap(body, {}, "https://bay.test/map.xml.gz")
    assert [entry.url for entry in reading.entries] == ["https://bay.test/1", "https://bay.test/2?a=1&b=2"]


def test_a_packed_list_of_addresses():
    reading = read_sitemap(gzip.compress(b"https://bay.test/3\nhttps://bay.test/4\n"), {}, URL)
    assert (reading.kind, len(reading.entries)) == ("text", 2)


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        (gzip.compress(b"<!doctype html><title>x</title>", mtime=0), "html"),
        (gzip.compress(urlset("https://bay.test/1", extra=" " * SITEMAP_LIMIT), mtime=0), "too-large"),
        (gzip.compress(b"<urlset>" + b" " * 3_000_000, mtime=0), "too-large"),
        (gzip.compress(PLAIN, mtime=0)[:-20], "bad-gzip"),
        (b"<rss/>", "not-a-sitemap"),
        (b"just words", "not-a-sitemap"),
        (b"", "empty"),
    ],
)
def test_what_is_no_sitemap_says_why(body, cause):
    with pytest.raises(UnreadableInput) as refused:
        read_sitemap(body, {}, URL)
    assert refused.value.cause == cause


def test_lastmod_that_all_rows_share_is_a_clock():
    same = "<lastmod>2026-03-05T10:00:00Z</lastmod>"
    reading = read_sitemap(urlset("https://bay.test/1", "https://bay.test/2", extra=same), {}, URL)
    assert not reading.lastmod_trusted
    assert "lastmod_untrusted" in reading.problems
    assert as_feed(reading, now=2e9).entries[0].updated_at is None


def test_a_bad_row_costs_only_itself():
    reading = read_sitemap(urlset("javascript:x", "https://bay.test/2"), {}, URL)
    assert [entry.url for entry in reading.entries] == ["https://bay.test/2"]
    assert reading.problems == ["bad_rows: 1"]


def test_news_dates_keep_a_day_a_day():
    news = (
        '<n:news xmlns:n="http://www.google.com/schemas/sitemap-news/0.9"><n:publication_date>2026-03-05</n:publication_date>'
        "<n:title>x</n:title><n:keywords>a, b</n:keywords></n:news>"
    )
    reading = read_sitemap(urlset("https://bay.test/1", extra=news), {}, URL)
    assert reading.kind == "news"
    assert reading.entries[0].news.published_day_only
    assert reading.entries[0].news.keywords == ["a", "b"]


def test_an_index_that_names_itself_is_read_once():
    files = {URL: index(URL, "https://bay.test/a.xml", "https://other.test/b.xml"), "https://bay.test/a.xml": PLAIN}
    asked = []

    def read(url):
        asked.append(url)
        return files.get(url)

    found = walk(URL, read)
    assert len(found.entries) == 2
    assert asked == [URL, "https://bay.test/a.xml"]


def dated_index(*files):
    rows = "".join(
        f"<sitemap><loc>{url}</loc>{f'<lastmod>{day}</lastmod>' if day else ''}</sitemap>" for url, day in files
    )
    return f'<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</sitemapindex>'.encode()


def walked(start, since=None, requests=REQUESTS):
    asked = []

    def read(url):
        asked.append(url.removeprefix("https://bay.test/"))
        return start if url == URL else PLAIN

    found = walk(URL, read, since=since, requests=requests)
    return asked[1:], found


SINCE = parse_date("2026-11-27").instant


def test_news_files_then_the_newest_and_none_that_is_too_old():
    asked, found = walked(
        dated_index(
            ("https://bay.test/old.xml", "2026-11-01"),
            ("https://bay.test/new.xml", "2026-11-30"),
            ("https://bay.test/undated.xml", ""),
            ("https://bay.test/newer.xml", "2026-11-30T18:00:00Z"),
            ("https://bay.test/google-news.xml", "2026-11-29"),
        ),
        since=SINCE,
    )
    assert asked == ["google-news.xml", "newer.xml", "new.xml", "undated.xml"]
    assert found.old == 1


def test_a_generators_clock_orders_nothing_but_addresses_do():
    day = "2026-11-30T06:00:00Z"
    names = (
        "sitemap-2025.xml",
        "sitemap-2026-10.xml",
        "sitemap-2026-11.xml",
        "posts.xml",
        "2026/11/26.xml.gz",
        "m?yyyy=2026&amp;mm=11&amp;dd=28",
    )
    asked, found = walked(dated_index(*((f"https://bay.test/{name}", day) for name in names)), since=SINCE)
    assert asked == ["sitemap-2026-11.xml", "m?yyyy=2026&mm=11&dd=28", "2026/11/26.xml.gz", "posts.xml"]
    assert found.old == 2


def test_without_a_limit_everything_is_read_newest_first():
    asked, _ = walked(dated_index(("https://bay.test/a.xml", "2020-01-01"), ("https://bay.test/b.xml", "2026-11-30")))
    assert asked == ["b.xml", "a.xml"]


@pytest.mark.parametrize(
    ("url", "end"),
    [
        ("https://bay.test/sitemap-2026-11.xml", "2026-12-01"),
        ("https://bay.test/sitemap_202612.xml.gz", "2027-01-01"),
        ("https://bay.test/2026/02/28/map.xml", "2026-03-01"),
        ("https://bay.test/archive-2026.xml", "2027-01-01"),
        ("https://bay.test/map?year=2026&month=11&day=30", "2026-12-01"),
        ("https://bay.test/map-2026-02-31.xml", "2026-03-01"),
        ("https://2026.bay.test/map.xml", None),
        ("https://bay.test/map-12026.xml", None),
        ("https://bay.test/map7.xml", None),
    ],
)
def test_a_files_address_may_name_its_period(url, end):
    assert period_end(url) == (parse_date(end).instant if end else None)


def test_rows_that_are_too_old_are_left_out():
    rows = "".join(
        f"<url><loc>https://bay.test/{n}</loc>{f'<lastmod>{day}</lastmod>' if day else ''}</url>"
        for n, day in enumerate(("2026-11-30", "2026-11-01", ""))
    )
    body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>'.encode()
    found = walk(URL, lambda _: gzip.compress(body), since=SINCE)
    assert [entry.url for entry in found.entries] == ["https://bay.test/0", "https://bay.test/2"]
    assert found.old == 1


def test_an_archive_is_a_feed_of_its_newest_rows():
    rows = "".join(
        f"<url><loc>https://bay.test/{n}</loc><lastmod>2026-{n % 11 + 1:02d}-{n % 28 + 1:02d}</lastmod></url>"
        for n in range(3_000)
    )
    body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>'.encode()
    feed = as_feed(read_sitemap(body, {}, URL), now=SINCE)
    assert len(feed.entries) == FEED_ROWS
    assert min(entry.updated_at for entry in feed.entries) > parse_date("2026-07-01").instant
    assert f"rows_left_out: {3_000 - FEED_ROWS}" in feed.problems


def test_an_endless_or_broken_index_ends():
    count = iter(range(10_000))

    def endless(url):
        return index(*(f"https://bay.test/{next(count)}.xml" for _ in range(3)))

    assert walk(URL, endless).requests == REQUESTS

    def failing(url):
        if url == URL:
            return index("https://bay.test/a.xml", "https://bay.test/b.xml", "https://bay.test/c.xml")
        if url.endswith("a.xml"):
            raise FetchFailed("no", cause="timeout")
        return b"junk" if url.endswith("b.xml") else PLAIN

    found = walk(URL, failing)
    assert len(found.entries) == 2
    assert found.problems == ["timeout: https://bay.test/a.xml", "not-a-sitemap: https://bay.test/b.xml"]


@settings(max_examples=80, deadline=None)
@given(st.integers(0, len(PLAIN)), st.binary(max_size=20))
def test_mutated_sitemaps_are_read_or_refused(place, junk):
    with suppress(UnreadableInput):
        assert len(read_sitemap(PLAIN[:place] + junk + PLAIN[place + len(junk) :], {}, URL).entries) <= 2


ROBOTS = b"""\xef\xbb\xbfUser-agent: *
Disallow: /private
Allow: /private/open
Disallow: /*.pdf$
Disallow: /caf%C3%A9
Crawl-delay: 3

User-Agent: baybot
User-Agent: frontpagebot
Disallow: /x
Sitemap: https://bay.test/map.xml
Sitemap: javascript:x
"""


@pytest.mark.parametrize(
    ("path", "agent", "allowed"),
    [
        ("/", "other", True),
        ("/private/a", "other", False),
        ("/private/open/a", "other", True),
        ("/a.pdf", "other", False),
        ("/a.pdf?x", "other", True),
        ("/café", "other", False),
        ("/robots.txt", "other", True),
        ("/private", "FrontpageBot/1.0 (+https://fp.test)", True),
        ("/x/1", "FrontpageBot/1.0 (+https://fp.test)", False),
        ("https://bay.test/x/1", "frontpagebot", False),
    ],
)
def test_rules_of_robots(path, agent, allowed):
    assert read_robots(ROBOTS).allowed(path, agent) is allowed


def test_delay_and_sitemaps_of_robots():
    rules = read_robots(ROBOTS)
    assert rules.crawl_delay("other") == 3.0
    assert rules.crawl_delay("baybot") is None
    assert rules.sitemaps == ["https://bay.test/map.xml"]


@pytest.mark.parametrize(
    ("status", "allowed"), [(200, False), (404, True), (403, True), (410, True), (429, False), (503, False)]
)
def test_the_status_decides_before_the_rules(status, allowed):
    assert read_robots(b"User-agent: *\nDisallow: /", status=status).allowed("/a", "bot") is allowed


def test_a_page_in_place_of_robots_forbids_nothing():
    rules = read_robots(b"<!DOCTYPE html><html>Disallow: /</html>")
    assert rules.allowed("/a", "bot")
    assert rules.problems == ["html"]


def test_robots_is_read_up_to_its_limit():
    rules = read_robots(b"User-agent: *\nDisallow: /a\n" + b"#" * 80 + b"\n" + b"Disallow: /b\n" * (ROBOTS_LIMIT // 10))
    assert rules.problems == ["too_large"]
    assert not rules.allowed("/a", "bot")


@settings(max_examples=80, deadline=None)
@given(st.binary(max_size=400), st.text(max_size=20))
def test_any_robots_gives_an_answer(body, path):
    assert read_robots(body).allowed(path, "bot") in (True, False)
