"""Feeds to entries: RSS 0.9 to 2.0, RDF, Atom, CDF (over feedparser), JSON Feed, and sitemaps as feeds.

feedparser knows the formats; what it takes on trust is settled before and after it: unpacking, character set and
broken XML before (`decode`, `xml_repair`), links, ids, dates and markup after. It gets bytes in memory and can neither
open a file nor an address. Not for: deciding what is new (the poller), fetching pages, or licence clipping.
"""

from __future__ import annotations

import io
import re
from collections.abc import Collection, Mapping
from typing import Any, Final

import feedparser

from frontpage.adapters.parse import json_feed, sitemaps
from frontpage.adapters.parse.decode import Decoded, decode, header, unpack
from frontpage.adapters.parse.feed_images import entry_image
from frontpage.adapters.parse.known_items import cut
from frontpage.adapters.parse.readings import FeedEntry, FeedMeta, FeedReading
from frontpage.adapters.parse.sniff import sniff
from frontpage.adapters.parse.twins import join_twins
from frontpage.adapters.parse.xml_repair import repair
from frontpage.domain.bylines import people
from frontpage.domain.dates import DateReading, not_in_future, parse_date
from frontpage.domain.languages import language_tag
from frontpage.domain.text import clip, from_markup, headline, plain
from frontpage.domain.urls import clean_link
from frontpage.errors import UnreadableInput

__all__ = ["FEED_LIMIT", "FeedEntry", "FeedMeta", "FeedReading", "read_any", "read_feed"]

#: Bytes after unpacking. The largest whole feeds in our captures have 0.7 MB; 50 MiB are a mistake or an attack.
FEED_LIMIT: Final = 8 << 20
#: A feed lists its newest items; more are an archive, and the first ones are kept.
ENTRY_LIMIT: Final = 5_000
#: Plain characters of a summary that are kept in memory; the licence clips further before anything is stored.
SUMMARY_LIMIT: Final = 1_000
TITLE_LIMIT: Final = 500
_LIST_LIMIT: Final = 30
# Python's own parser at once: feedparser looks for another one on disk for every document.
feedparser.api.PREFERRED_XML_PARSERS.clear()


def read_any(
    body: bytes,
    headers: Mapping[str, object],
    url: str,
    *,
    now: float,
    language: str | None = None,
    known: Collection[str] = (),
) -> FeedReading:
    """A feed of any format, or a sitemap read as one; sniffs by content. Raises UnreadableInput as `read_feed`.

    known: digests of items (`FeedReading.items` of an earlier reading) that need not be read again where the format
    allows it; see `FeedReading.left_out`.
    """
    unpacked = _unpacked(body)
    decoded = decode(unpacked, headers, markup="xml")
    if sniff(decoded.text) == "sitemap":
        return sitemaps.as_feed(sitemaps.read_sitemap(body, headers, url), now=now)
    return _read(decoded, headers, url, now=now, language=language, known=known)


def read_feed(
    body: bytes, headers: Mapping[str, object], url: str, *, now: float, language: str | None = None
) -> FeedReading:
    """Reads a feed. `headers` of the response (any case), `url` where it was retrieved, `now` seconds since epoch,
    `language` as registered for the feed (its own statement goes first).

    Raises UnreadableInput with cause `empty`, `html`, `not-a-feed`, `too-large`, `bad-gzip`, `entity-bomb` or
    `external-entity`; nothing else on any bytes. Feed problems: repaired_encoding, repaired_xml, wrong_charset,
    charset_conflict, guessed_charset, no_charset, twins_joined, too_many_entries.
    """
    decoded = decode(_unpacked(body), headers, markup="xml")
    return _read(decoded, headers, url, now=now, language=language)


def _unpacked(body: bytes) -> bytes:
    if not body.strip(b" \t\r\n\x00"):
        raise UnreadableInput("the document is empty", cause="empty")
    return unpack(body, FEED_LIMIT)


def _read(
    decoded: Decoded,
    headers: Mapping[str, object],
    url: str,
    *,
    now: float,
    language: str | None,
    known: Collection[str] = (),
) -> FeedReading:
    text = decoded.text
    problems = list(decoded.problems)
    kind = sniff(text)
    if kind == "empty":
        raise UnreadableInput("the document is empty", cause="empty")
    if kind == "html":
        raise UnreadableInput("an HTML page, not a feed", cause="html")
    if kind == "json":
        reading = json_feed.read(text, url, now=now, language=language)
    elif kind == "text":
        raise UnreadableInput("neither XML nor JSON", cause="not-a-feed")
    else:
        short = cut(text, context_of(text, url), known)
        repaired, found = repair(short.rest)
        problems += found
        reading = _from_feedparser(repaired, headers, url, now, language)
        reading.items, reading.left_out = short.items, short.known
    reading.feed.encoding = decoded.encoding
    reading.problems[:0] = problems
    reading = join_twins(reading)
    if len(reading.items) != len(reading.entries) + len(reading.left_out):
        if reading.left_out:
            return _read(decoded, headers, url, now=now, language=language)
        reading.items = ()
    return reading


def context_of(text: str, url: str) -> str:
    """Besides its text, what an item's address depends on: see `known_items`."""
    return f"{url} {_rss_base(text, url)}"


_CHANNEL_LINK: Final = re.compile(r"<link>\s*(?:<!\[CDATA\[\s*)?(https?://[^<\]\s]+)", re.IGNORECASE)
_FIRST_ITEM: Final = re.compile(r"<(?:\w+:)?(?:item|entry)[\s>]", re.IGNORECASE)
_ATOM: Final = re.compile(r"<(?:\w+:)?feed[\s>]", re.IGNORECASE)


def _from_feedparser(
    text: str, headers: Mapping[str, object], url: str, now: float, language: str | None
) -> FeedReading:
    is_atom = _ATOM.search(text[:5000]) is not None
    base = url if is_atom else _rss_base(text, url)
    parsed = _parse(text, url if is_atom else "", header(headers, "content-language"))
    if not parsed.get("version") and not parsed.entries and not parsed.feed.get("title"):
        raise UnreadableInput("XML, but no feed", cause="not-a-feed")
    meta = _meta(parsed, base, language)
    problems = []
    if parsed.get("bozo") and "SAX" in type(parsed.get("bozo_exception")).__name__:
        problems.append("repaired_xml")
    entries = parsed.entries
    if len(entries) > ENTRY_LIMIT:
        problems.append("too_many_entries")
    read = [
        _entry(raw, base, is_atom=is_atom, now=now, language=meta.language or language) for raw in entries[:ENTRY_LIMIT]
    ]
    return FeedReading(meta, read, problems)


def _parse(text: str, base: str, language: str) -> Any:
    data = b"<?xml version='1.0' encoding='utf-8'?>\n" + text.encode("utf-8", "replace")
    response = {"content-type": "application/xml; charset=utf-8"}
    if base:
        response["content-location"] = base
    if language:
        response["content-language"] = language
    try:
        # Sanitising and resolving markup are ours: summaries become plain text, links are judged one by one.
        return feedparser.parse(
            io.BytesIO(data), response_headers=response, sanitize_html=False, resolve_relative_uris=False
        )
    except Exception as error:  # noqa: BLE001
        # feedparser's two parsers can fail in many ways on hostile input; each is the same fact for a caller.
        raise UnreadableInput(f"no feed: {type(error).__name__}", cause="not-a-feed") from None


def _rss_base(text: str, url: str) -> str:
    """RSS says nothing about relative links: the retrieval address (RFC 3986), but the site's own when another host
    carries the feed.
    """
    first = _FIRST_ITEM.search(text)
    found = _CHANNEL_LINK.search(text, 0, first.start() if first else len(text))
    site, _ = clean_link(found[1].replace("&amp;", "&")) if found else (None, None)
    if site and site.split("/")[2].lower() != [*url.split("/"), "", "", ""][2].lower():
        return site
    return url if url else (site or "")


def _meta(parsed: Any, base: str, language: str | None) -> FeedMeta:
    raw = parsed.feed
    links = [link for link in raw.get("links", []) if isinstance(link, dict)]

    def rel(name: str) -> str | None:
        for link in links:
            if link.get("rel") == name:
                return clean_link(link.get("href"), base)[0]
        return None

    ttl = raw.get("ttl")
    updated = _instant(raw, ("updated", "published"), language)
    return FeedMeta(
        title=clip(headline(raw.get("title")), TITLE_LIMIT),
        link=rel("alternate") or clean_link(raw.get("link"), base)[0],
        language=_language(raw.get("language")) or language,
        description=clip(from_markup(raw.get("subtitle")), SUMMARY_LIMIT),
        hub=rel("hub"),
        self_url=rel("self"),
        ttl=float(ttl) * 60 if isinstance(ttl, str) and re.fullmatch(r"\d{1,6}", ttl.strip()) else None,
        updated_at=updated.instant if updated else None,
        format=parsed.get("version") or "",
    )


def _language(tag: object) -> str | None:
    return language_tag(plain(str(tag or "")))


def _entry(raw: Any, base: str, *, is_atom: bool, now: float, language: str | None) -> FeedEntry:
    entry = FeedEntry()
    entry.id = plain(str(raw.get("id") or ""))[:1024] or None
    entry.url = _link(raw, base, entry.problems, is_atom=is_atom)
    title = headline(_text(raw, "title"))
    entry.title = clip(title, TITLE_LIMIT)
    if not title:
        entry.problems.append("no_title")
    content = [part for part in raw.get("content", []) if isinstance(part, dict)]
    # The summary is what the publisher offers for lists; the content may be the whole article.
    entry.summary = clip(
        from_markup(_text(raw, "summary") or (content[0].get("value") if content else "")), SUMMARY_LIMIT
    )
    entry.authors = _authors(raw)
    entry.categories = _categories(raw)
    entry.image = entry_image(raw, base)
    entry.language = _language((raw.get("title_detail") or {}).get("language"))
    _dates(raw, entry, now, language)
    return entry


def _text(raw: Any, name: str) -> str:
    value = dict.get(raw, name)
    return value if isinstance(value, str) else ""


def _link(raw: Any, base: str, problems: list[str], *, is_atom: bool) -> str | None:
    """The address of the item's page: stated origin first, then its best alternate link, then a permalink guid."""
    for name in ("feedburner_origlink", "pheedo_origlink"):
        origin, _ = clean_link(_text(raw, name) or None)
        if origin:
            return origin
    refusal = "no_link"
    for href in _candidates(raw, is_atom=is_atom):
        found, cause = clean_link(href, base)
        if found:
            return found
        if cause != "empty":
            refusal = f"refused_link: {cause}"
    if refusal == "no_link" and raw.get("guidislink") and not is_atom:
        # feedparser took the guid for a link (an Atom id never is one). Only an absolute one can be the address; a bare
        # one is never joined to the site's.
        found, cause = clean_link(_text(raw, "id"))
        if found:
            return found
        refusal = f"refused_link: {cause}"
    problems.append(refusal)
    return None


_WEB_TYPES: Final = ("text/html", "application/xhtml+xml", "")


def _candidates(raw: Any, *, is_atom: bool) -> list[str]:
    ranked: list[tuple[int, int, str]] = []
    for place, link in enumerate(raw.get("links", [])):
        if not isinstance(link, dict) or link.get("rel", "alternate") != "alternate" or not link.get("href"):
            continue
        href = str(link["href"])
        kind = str(link.get("type") or "").partition(";")[0].strip().lower()
        ranked.append((0 if kind in _WEB_TYPES else 1, place, href))
    found = [href for _, _, href in sorted(ranked)]
    if not found and not raw.get("guidislink") and not is_atom:
        link = _text(raw, "link")
        if link and link != _text(raw, "id"):
            found.append(link)
    return found


def _authors(raw: Any) -> list[str]:
    names = [author.get("name") for author in raw.get("authors", []) if isinstance(author, dict)]
    if not any(names):
        names = [(raw.get("author_detail") or {}).get("name") or _text(raw, "author")]
    return people(str(name) for name in names if name)[:_LIST_LIMIT]


def _categories(raw: Any) -> list[str]:
    terms = []
    for tag in raw.get("tags", []):
        if isinstance(tag, dict):
            term = from_markup(str(tag.get("label") or tag.get("term") or ""))
            if term and not term.startswith(("http://", "https://")):
                terms.append(clip(term, 120))
    return list(dict.fromkeys(terms))[:_LIST_LIMIT]


def _instant(raw: Any, names: tuple[str, ...], language: str | None) -> DateReading | None:
    first: DateReading | None = None
    for name in names:
        text = plain(_text(raw, name))
        if text:
            reading = parse_date(text, language=language)
            if reading.instant is not None:
                return reading
            first = first or reading
    return first


def _dates(raw: Any, entry: FeedEntry, now: float, language: str | None) -> None:
    published = _instant(raw, ("published", "created", "updated"), language)
    if published is None:
        entry.problems.append("no_date")
    else:
        entry.published_raw = clip(plain(published.raw), 120)
        entry.published_at, problems = not_in_future(published, now)
        entry.problems += [f"date: {problem}" for problem in problems]
    updated = _instant(raw, ("updated",), language)
    if updated is not None:
        entry.updated_at, _ = not_in_future(updated, now)
