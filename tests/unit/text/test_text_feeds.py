"""Feeds as they come: every format, every common fault, and nothing but UnreadableInput on any bytes."""

import gzip
import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontpage.adapters.parse.feeds import FEED_LIMIT, read_any, read_feed
from frontpage.domain.dates import iso
from frontpage.errors import UnreadableInput

NOW = 1_780_000_000.0
URL = "https://bay.test/feeds/all.xml"


def rss(items: str, *, head: str = "", declaration: str = '<?xml version="1.0" encoding="utf-8"?>') -> bytes:
    channel = "<channel><title>Bay Desk</title><link>https://bay.test/</link><description>d</description>"
    return f'{declaration}{head}<rss version="2.0">{channel}{items}</channel></rss>'.encode()


def read(body: bytes, url: str = URL, **headers: str):
    return read_feed(body, {key.replace("_", "-"): value for key, value in headers.items()}, url, now=NOW)


def test_atom_bases_nest_and_the_web_page_is_the_link():
    body = b"""<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://bay.test/f/"><title>Bay</title>
    <entry xml:base="../2026/"><id>urn:x:1</id><title>Pier opens</title>
      <link rel="replies" href="pier/comments"/><link rel="alternate" type="application/pdf" href="pier.pdf"/>
      <link rel="alternate" href="app:77"/><link href="pier"/><updated>2026-03-05T08:00:00Z</updated>
      <content type="html">&lt;img width="1" height="1" src="count.gif"&gt;&lt;img src="i/p.jpg"&gt;</content></entry>
    <entry><id>https://bay.test/id/2</id><title>No page</title><link rel="self" href="2.atom"/>
      <updated>2026-03-05T09:00:00Z</updated></entry></feed>"""
    first, second = read(body).entries
    assert first.url == "https://bay.test/2026/pier"
    assert first.image == "https://bay.test/2026/i/p.jpg"
    assert second.url is None
    assert second.problems == ["no_link"]


def test_guids_are_addresses_only_when_nothing_else_is_and_they_are_one():
    items = """
    <item><title>a</title><link>https://bay.test/a</link><guid>77</guid></item>
    <item><title>b</title><guid>https://bay.test/b</guid></item>
    <item><title>c</title><guid isPermaLink="false">https://bay.test/c</guid></item>
    <item><title>d</title><guid>4711</guid></item>
    <item><title>e</title><guid> </guid><link><![CDATA[ https://bay.test/e ]]></link></item>
    <item><title>f</title><guid></guid><link>https://bay.test/f</link></item>"""
    entries = read(rss(items)).entries
    assert [entry.url for entry in entries] == [
        "https://bay.test/a", "https://bay.test/b", None, None, "https://bay.test/e", "https://bay.test/f",
    ]  # fmt: skip
    assert [entry.id for entry in entries] == ["77", "https://bay.test/b", "https://bay.test/c", "4711", None, None]
    assert entries[2].problems[0] == "no_link"
    assert entries[3].problems[0] == "refused_link: relative"


def test_script_links_and_markup_in_titles_go():
    items = """
    <item><title><![CDATA[one <img src=x onerror=alert(1)>]]></title><link>JAVASCRIPT:alert(1)</link></item>
    <item><title>two</title><link>/2</link></item>
    <item><title>three</title><link>https://bay.test\\@evil.test/</link></item>"""
    entries = read(rss(items)).entries
    assert [entry.title for entry in entries] == ["one", "two", "three"]
    assert [entry.url for entry in entries] == [None, "https://bay.test/2", None]


def test_a_feed_on_another_host_resolves_against_its_site():
    assert read(rss("<item><title>x</title><link>/x</link></item>"), "https://proxy.test/b.xml").entries[0].url == (
        "https://bay.test/x"
    )


def test_cut_off_letters_cost_two_characters_and_not_the_feed():
    body = rss("<item><title>Žluť kůň</title><link>https://bay.test/1</link><description>př~</description></item>")
    reading = read(body.replace(b"~", b"\xc5"), content_type="application/rss+xml; charset=utf-8")
    assert reading.entries[0].title == "Žluť kůň"
    assert reading.entries[0].summary == "př\ufffd"
    assert "repaired_encoding" in reading.problems


@pytest.mark.parametrize(
    ("encoding", "header", "declared"),
    [
        ("windows-1251", "", "windows-1251"),
        ("windows-1251", "text/xml; charset=windows-1251", ""),
        ("utf-16", "", "utf-16"),
        ("utf-8", "text/xml; charset=iso-8859-1", "utf-8"),
        ("utf-8", "text/xml; charset=nonsense", ""),
        ("utf-8-sig", "text/xml; charset=koi8-r", ""),
    ],
)
def test_declared_sets_and_lies_about_them(encoding, header, declared):
    stated = f' encoding="{declared}"' if declared else ""
    xml = f'<?xml version="1.0"{stated}?><rss version="2.0"><channel><title>Порт</title></channel></rss>'
    assert read(xml.encode(encoding), content_type=header).feed.title == "Порт"


@pytest.mark.parametrize(
    ("encoding", "declared", "title"),
    [
        ("windows-1251", "iso-8859-1", "Паромная переправа открылась после долгого ремонта, сообщила мэрия города"),
        ("iso-8859-7", "windows-1252", "Η γέφυρα άνοιξε ξανά μετά από έξι εβδομάδες εργασιών στο λιμάνι της πόλης"),
        ("iso-8859-1", "iso-8859-1", "Größere Brücke für Fußgänger: über den Fluß führt ein Süßwasserkanal"),
        ("windows-1252", "utf-8", "The pier’s “new” boats"),
        ("iso-8859-1", "utf-8", "Größere Brücke für Fußgänger"),
        ("windows-1252", "utf-8", "Café"),
    ],
)
def test_a_set_that_cannot_be_is_not_believed(encoding, declared, title):
    xml = (
        f'<?xml version="1.0" encoding="{declared}"?><rss version="2.0"><channel><title>{title}</title></channel></rss>'
    )
    assert read(xml.encode(encoding)).feed.title == title


def test_halves_of_a_character_are_put_together():
    xml = "<rss version='2.0'><channel><title>&#xD83D;&#xDE00; &#55357;&#56832; &#xD83D; x&#55357;&#65;</title></channel></rss>"
    assert read(xml.encode()).feed.title == "😀 😀 xA"


def test_a_set_that_nobody_declared_is_guessed():
    text = "Паромная переправа открылась после долгого ремонта, сообщила мэрия города в понедельник. " * 5
    xml = f'<rss version="2.0"><channel><title>Порт</title><description>{text}</description></channel></rss>'
    reading = read(xml.encode("windows-1251"))
    assert reading.feed.title == "Порт"
    assert "guessed_charset" in reading.problems


def test_broken_xml_keeps_its_items():
    items = """<item><title>Q&A: R&D in caf&eacute;s</title><link>https://bay.test/1?a=1&b=2</link></item>
    <item><title>be\x0bside&#x1e; it</title><link>https://bay.test/2</link></item>
    <item><title>unclosed <b>bold</title><link>https://bay.test/3</link></item>"""
    reading = read(rss(items))
    assert [entry.title for entry in reading.entries] == ["Q&A: R&D in cafés", "be side it", "unclosed bold"]
    assert reading.entries[0].url == "https://bay.test/1?a=1&b=2"
    assert "repaired_xml" in reading.problems


def test_harmless_entities_are_read_and_dangerous_ones_refused():
    item = "<item><title>&paper; today</title><link>https://bay.test/1</link></item>"
    harmless = '<!DOCTYPE rss [<!ENTITY paper "The Bay &#38; Co">]>'
    assert read(rss(item, head=harmless)).entries[0].title == "The Bay & Co today"
    bomb = '<!DOCTYPE rss [<!ENTITY a "xxxxxxxxxx"><!ENTITY b "&a;&a;&a;"><!ENTITY paper "&b;&b;">]>'
    with pytest.raises(UnreadableInput) as refused:
        read(rss(item, head=bomb))
    assert refused.value.cause == "entity-bomb"
    outside = '<!DOCTYPE rss [<!ENTITY paper SYSTEM "file:///etc/hostname">]>'
    with pytest.raises(UnreadableInput) as refused:
        read(rss(item, head=outside))
    assert refused.value.cause == "external-entity"
    unused = '<!DOCTYPE rss PUBLIC "-//N//DTD" "http://x.test/rss.dtd" [<!ENTITY o SYSTEM "http://x.test/">]>'
    assert len(read(rss("<item><title>t</title><link>https://bay.test/1</link></item>", head=unused)).entries) == 1
    many = '<!DOCTYPE rss [<!ENTITY paper "' + "x" * 60_000 + '">]>'
    with pytest.raises(UnreadableInput):
        read(rss(item * 3, head=many))


def test_one_article_listed_twice_is_one_entry():
    items = """<item><title>Pier</title><link>https://proxy.test/~r/1</link><guid isPermaLink="false">http://bay.test/?p=7</guid>
      <f:origLink xmlns:f="http://rssnamespace.org/feedburner/ext/1.0">https://bay.test/pier?utm_source=f</f:origLink></item>
    <item><title>Pier</title><link>https://bay.test/pier</link><guid isPermaLink="false">https://bay.test/?p=7</guid>
      <description>The pier is open.</description></item>"""
    reading = read(rss(items))
    (entry,) = reading.entries
    assert entry.url == "https://bay.test/pier"
    assert entry.summary == "The pier is open."
    assert reading.problems == ["twins_joined"]


def test_items_that_share_the_front_page_stay_apart():
    items = "".join(
        f"<item><title>Episode {n}</title><link>https://bay.test/</link><guid>{n}</guid></item>" for n in range(3)
    )
    assert len(read(rss(items)).entries) == 3


def test_dates_in_the_future_or_without_sense_are_not_kept():
    soon = "Thu, 28 May 2026 21:00:00 GMT"
    dates = [
        soon,
        "Wed, 01 Jul 2026 12:00:00 GMT",
        "Invalid Date",
        "",
        "Thu, 01 Jan 1970 00:00:00 GMT",
        "Thu, 28 May 26 10:00:00 GMT",
    ]
    items = "".join(
        f"<item><title>{n}</title><link>https://bay.test/{n}</link><pubDate>{d}</pubDate></item>"
        for n, d in enumerate(dates)
    )
    entries = read(rss(items)).entries
    assert [iso(entry.published_at) for entry in entries] == [
        "2026-05-28T21:00:00Z", None, None, None, None, "2026-05-28T10:00:00Z",
    ]  # fmt: skip
    assert entries[1].published_raw == dates[1]
    assert entries[3].problems == ["no_date"]


def test_meta_of_a_feed():
    head = """<atom:link xmlns:atom="http://www.w3.org/2005/Atom" rel="hub" href="https://hub.test/"/>
    <atom:link xmlns:atom="http://www.w3.org/2005/Atom" rel="self" href="https://bay.test/feeds/all.xml"/>
    <language>pt-BR</language><ttl>15</ttl>"""
    feed = read(
        rss(head + "<item><title>x</title><category>Ports</category><author>a@bay.test (Ann Lee)</author></item>")
    )
    assert (feed.feed.hub, feed.feed.self_url, feed.feed.language, feed.feed.ttl) == (
        "https://hub.test/",
        URL,
        "pt-BR",
        900.0,
    )
    assert feed.entries[0].categories == ["Ports"]
    assert feed.entries[0].authors == ["Ann Lee"]


def test_json_feed():
    document = {
        "version": "https://jsonfeed.org/version/1.1", "title": "Bay", "hubs": [{"type": "WebSub", "url": "https://hub.test/"}],
        "items": [
            {"id": 7, "url": "/a", "title": "A <b>b</b>", "content_html": "<p>t<img src='/i.png'>", "date_published": "2026-03-05T10:00:00Z",
             "authors": [{"name": "Ann Lee"}], "tags": ["x", 3]},
            {"id": "8", "external_url": "javascript:x"}, "junk",
        ],
    }  # fmt: skip
    reading = read(json.dumps(document).encode())
    assert reading.feed.hub == "https://hub.test/"
    first, second = reading.entries
    assert (first.id, first.url, first.title, first.image) == (
        "7",
        "https://bay.test/a",
        "A b",
        "https://bay.test/i.png",
    )
    assert (first.authors, first.categories, iso(first.published_at)) == (["Ann Lee"], ["x"], "2026-03-05T10:00:00Z")
    assert second.problems[0] == "refused_link: scheme"


def test_sitemaps_are_feeds_too():
    body = b"""<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:z="http://www.google.com/schemas/sitemap-news/0.9">
    <url><loc>https://bay.test/1</loc><z:news><z:publication><z:name>Bay</z:name><z:language>nl</z:language></z:publication>
    <z:publication_date>2026-03-05T10:00:00+01:00</z:publication_date><z:title>Brug &amp; pont</z:title></z:news></url>
    <url><loc>https://bay.test/about</loc></url></urlset>"""
    reading = read_any(body, {}, URL, now=NOW)
    (entry,) = reading.entries
    assert (entry.url, entry.title, iso(entry.published_at)) == (
        "https://bay.test/1",
        "Brug & pont",
        "2026-03-05T09:00:00Z",
    )
    assert reading.feed.language == "nl"


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        (b"", "empty"),
        (b" \n\x00 ", "empty"),
        (b"<!doctype html><title>Not found</title>", "html"),
        (b"<html><body>x</body></html>", "html"),
        (b"http://169.254.169.254/latest/meta-data/", "not-a-feed"),
        (b"/etc/hostname", "not-a-feed"),
        (b'{"error": "not found"}', "not-a-feed"),
        (b"[1, 2", "not-a-feed"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "not-a-feed"),
        (b"\x1f\x8b\x08broken", "bad-gzip"),
        (b" " * 10 + b"<rss>" + b"x" * FEED_LIMIT, "too-large"),
        (gzip.compress(b"<rss>" + b" " * (FEED_LIMIT + 1), mtime=0), "too-large"),
    ],
)
def test_what_is_no_feed_says_why(body, cause):
    with pytest.raises(UnreadableInput) as refused:
        read_any(body, {}, URL, now=NOW)
    assert refused.value.cause == cause


def test_packing_is_known_by_its_bytes():
    assert read(gzip.compress(gzip.compress(rss("")))).feed.title == "Bay Desk"


def test_a_warning_before_the_feed_is_not_the_feed():
    assert read(b"Notice: undefined index in x.php on line 3\n" + rss("")).feed.title == "Bay Desk"


_SEED = rss(
    '<item><title>A &amp; b</title><link>https://bay.test/a</link><guid isPermaLink="false">1</guid>'
    "<pubDate>Thu, 05 Mar 2026 10:00:00 GMT</pubDate><description><![CDATA[<p>x<img src='/i.png'></p>]]></description></item>",
    head='<!DOCTYPE rss [<!ENTITY n "v">]>',
)


_JUNK = [
    b"<", b"&", b"]]>", b"<![CDATA[", b"<item>", b"\xff", b"&x;", b"&#11;", b"&#xD83D;", b"<!--", b"<entry/>", b"<?xml",
    b" xml:base='http://['", b"<link href='http://[::1'/>", b"<pubDate>-0001-13-45T99:99:99</pubDate>", b"\xed\xa0\x80",
]  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_mutated_feeds_are_read_or_refused(data):
    body = bytearray(_SEED)
    for _ in range(data.draw(st.integers(1, 8))):
        start = data.draw(st.integers(0, len(body)))
        end = min(len(body), start + data.draw(st.integers(0, 40)))
        body[start:end] = data.draw(st.binary(max_size=12) | st.sampled_from(_JUNK))
    with suppress(UnreadableInput):
        for entry in read_any(bytes(body), {}, URL, now=NOW).entries:
            assert entry.url is None or entry.url.startswith(("http://", "https://"))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(body):
    with suppress(UnreadableInput):
        assert read_any(body, {"content-type": "text/xml"}, URL, now=NOW).feed is not None
