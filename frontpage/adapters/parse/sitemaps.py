"""Sitemaps, sitemap indexes, news sitemaps and text lists (sitemaps.org, Google news and image extensions).

Elements are read by namespace, never by prefix. Packed files are known by their first bytes and limited after
unpacking. Walking an index is `sitemap_walk`. Not for: deciding that a row is worth a fetch.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from typing import Final

from lxml import etree

from frontpage.adapters.parse.decode import decode, unpack
from frontpage.adapters.parse.readings import (
    FeedEntry,
    FeedMeta,
    FeedReading,
    SitemapEntry,
    SitemapNews,
    SitemapReading,
)
from frontpage.adapters.parse.sniff import sniff
from frontpage.adapters.parse.xml_repair import repair
from frontpage.domain.dates import DateReading, not_in_future, parse_date
from frontpage.domain.text import clip, from_markup, headline, plain
from frontpage.domain.urls import clean_link
from frontpage.errors import UnreadableInput

#: Bytes after unpacking. The protocol allows 50 MB for archives; a sitemap with news has 1,000 rows, 1 MB at most.
SITEMAP_LIMIT: Final = 5_000_000
#: How often its packed size a file may unpack to. Address lists pack 10 to 40 to 1; bombs 1,000 to 1.
RATIO_LIMIT: Final = 200
ROW_LIMIT: Final = 50_000  # the protocol's own
#: Rows that are a feed: Google's limit of a news sitemap, and half of what a feed's state can remember. An archive of
#: 50,000 addresses would be new at every poll.
FEED_ROWS: Final = 1_000

_SITEMAP: Final = ("http://www.sitemaps.org/schemas/sitemap/", "http://www.google.com/schemas/sitemap/")
_NEWS: Final = "http://www.google.com/schemas/sitemap-news/"
_IMAGE: Final = "http://www.google.com/schemas/sitemap-image/"


def read_sitemap(body: bytes, headers: Mapping[str, object], url: str) -> SitemapReading:
    """Reads one file. Raises UnreadableInput `empty`, `too-large`, `bad-gzip`, `html`, `not-a-sitemap`, or an XML
    refusal of `xml_repair`; nothing else on any bytes. Reading problems: repaired_xml, lastmod_untrusted, bad_rows.
    """
    decoded = decode(unpack(body, SITEMAP_LIMIT, ratio=RATIO_LIMIT), headers, markup="xml")
    kind = sniff(decoded.text)
    if kind == "empty":
        raise UnreadableInput("the document is empty", cause="empty")
    if kind == "text":
        return _text_list(decoded.text)
    if kind == "html":
        raise UnreadableInput("an HTML page, not a sitemap", cause="html")
    if kind != "sitemap":
        raise UnreadableInput("not a sitemap", cause="not-a-sitemap")
    text, problems = repair(decoded.text)
    reading = _from_xml(text, url)
    reading.problems[:0] = [*decoded.problems, *problems]
    _judge_lastmod(reading)
    return reading


def _text_list(text: str) -> SitemapReading:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    entries = [SitemapEntry(link) for line in lines[:ROW_LIMIT] if (link := clean_link(line)[0])]
    # A list of addresses is nothing but addresses, and one address alone is no list.
    if len(lines) < 2 or len(entries) < len(lines[:ROW_LIMIT]) * 0.9:
        raise UnreadableInput("not a sitemap", cause="not-a-sitemap")
    return SitemapReading("text", entries, [])


def _from_xml(text: str, url: str) -> SitemapReading:
    entries: list[SitemapEntry] = []
    problems: list[str] = []
    is_index = False
    bad = 0
    try:
        for element in _rows(text):
            is_index = is_index or _local(element) == "sitemap"
            if len(entries) >= ROW_LIMIT:
                problems.append("too_many_rows")
                break
            entry = _row(element, url)
            if entry is None:
                bad += 1
            else:
                entries.append(entry)
            element.clear()
    except etree.XMLSyntaxError:
        problems.append("cut_off")
    if bad:
        problems.append(f"bad_rows: {bad}")
    if is_index:
        return SitemapReading("index", entries, problems)
    return SitemapReading("news" if any(entry.news for entry in entries) else "urlset", entries, problems)


def _rows(text: str) -> Iterator[etree._Element]:
    source = io.BytesIO(text.encode("utf-8", "replace"))
    options = {"resolve_entities": False, "no_network": True, "load_dtd": False, "huge_tree": False, "recover": True}
    for _, element in etree.iterparse(source, events=("end",), encoding="utf-8", **options):
        if _local(element) in ("url", "sitemap"):
            namespace = _namespace(element)
            if not namespace or namespace.startswith(_SITEMAP):
                yield element


def _row(element: etree._Element, base: str) -> SitemapEntry | None:
    entry: SitemapEntry | None = None
    lastmod: DateReading | None = None
    news: SitemapNews | None = None
    image: str | None = None
    problems: list[str] = []
    for child in element:
        if not isinstance(child.tag, str):
            continue
        name, namespace = _local(child), _namespace(child)
        if namespace.startswith(_NEWS) and name == "news":
            news, found = _news(child)
            problems += found
        elif namespace.startswith(_IMAGE) and name == "image":
            image = image or next((clean_link(_text(e))[0] for e in child if _local(e) == "loc"), None)
        elif name == "loc" and not namespace.startswith((_NEWS, _IMAGE)):
            link, _ = clean_link(_text(child), base)
            if link is None:
                return None
            entry = SitemapEntry(link)
        elif name == "lastmod":
            lastmod = parse_date(_text(child))
    if entry is None:
        return None
    entry.news, entry.image, entry.problems = news, image, problems
    entry.lastmod = lastmod.instant if lastmod else None
    return entry


def _news(element: etree._Element) -> tuple[SitemapNews, list[str]]:
    news = SitemapNews()
    problems: list[str] = []
    for child in element.iter():
        name, text = _local(child), _text(child)
        if name == "title" and not news.title:
            news.title = clip(headline(text), 500)
        elif name == "name":
            news.publication = clip(from_markup(text), 200)
        elif name == "language":
            news.language = plain(text) or None
        elif name == "keywords":
            news.keywords = [clip(word, 80) for part in text.split(",") if (word := plain(part))][:30]
        elif name == "publication_date":
            reading = parse_date(text)
            news.published_at, news.published_day_only = reading.instant, reading.day_only
            problems += [f"date: {problem}" for problem in reading.problems]
    return news, problems


def _local(element: etree._Element) -> str:
    # Not etree.QName: it refuses the odd names that a broken file parses to.
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _namespace(element: etree._Element) -> str:
    tag = element.tag if isinstance(element.tag, str) else ""
    return tag[1:].partition("}")[0].replace("https:", "http:") if tag.startswith("{") else ""


def _text(element: etree._Element) -> str:
    return "".join(element.itertext()).strip()


def _judge_lastmod(reading: SitemapReading) -> None:
    """One instant on every row is the generator's clock, not a change of each page."""
    stated = [entry.lastmod for entry in reading.entries if entry.lastmod is not None]
    if len(stated) >= 2 and len(stated) == len(reading.entries) and max(stated) - min(stated) < 1.0:
        reading.lastmod_trusted = False
        reading.problems.append("lastmod_untrusted")


def as_feed(reading: SitemapReading, *, now: float) -> FeedReading:
    """A sitemap in the shape of a feed: its newest rows, FEED_ROWS at most (problem `rows_left_out: N`). Of a news
    sitemap only rows with news data are articles; an index has none (walk it instead).
    """
    entries: list[FeedEntry] = []
    meta = FeedMeta(format=f"sitemap-{reading.kind}")
    if reading.kind == "index":
        return FeedReading(meta, [], [*reading.problems, "sitemap_index"])
    for row in reading.entries:
        if reading.kind == "news" and row.news is None:
            continue
        entry = FeedEntry(id=row.url, url=row.url, image=row.image, problems=list(row.problems))
        if row.news:
            entry.title, entry.language = row.news.title, row.news.language
            entry.categories = list(row.news.keywords)
            meta.title = meta.title or row.news.publication
            meta.language = meta.language or row.news.language
            stated = DateReading("", row.news.published_at, day_only=row.news.published_day_only)
            entry.published_at, problems = not_in_future(stated, now)
            entry.problems += [f"date: {problem}" for problem in problems]
        if reading.lastmod_trusted and row.lastmod is not None:
            entry.updated_at, _ = not_in_future(DateReading("", row.lastmod), now)
        entries.append(entry)
    left = list(reading.problems)
    if len(entries) > FEED_ROWS:
        left.append(f"rows_left_out: {len(entries) - FEED_ROWS}")
        # stable: rows of one time, or of none, stay in the file's order
        entries = sorted(entries, key=lambda row: -(row.published_at or row.updated_at or 0.0))[:FEED_ROWS]
    return FeedReading(meta, entries, left)
