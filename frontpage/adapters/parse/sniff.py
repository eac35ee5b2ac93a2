"""What a document is, by its content: never by its name or its Content-Type."""

from __future__ import annotations

import re
from typing import Final, Literal

Document = Literal["empty", "json", "html", "feed", "sitemap", "xml", "text"]

_PROLOG: Final = re.compile(r"(?:\s|\ufeff|\x00|<\?.*?\?>|<!--.*?-->)*", re.DOTALL)
_DOCTYPE: Final = re.compile(r"<!doctype\s+([\w:.-]+)", re.IGNORECASE)
_ROOT: Final = re.compile(r"<([A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)")
_FEED_ROOTS: Final = frozenset({"rss", "feed", "rdf", "channel", "rss2"})
_SITEMAP_ROOTS: Final = frozenset({"urlset", "sitemapindex"})
#: How far into a document its root element may hide behind a prolog or a script's warning text.
_HEAD: Final = 20_000


def sniff(text: str) -> Document:
    """The kind of document that `text` is."""
    head = text[:_HEAD]
    prolog = _PROLOG.match(head)
    start = prolog.end() if prolog else 0
    rest = head[start:]
    if not rest.strip():
        return "empty"
    if rest[0] in "{[":
        return "json"
    doctype = _DOCTYPE.match(rest)
    if doctype:
        end = rest.find("]>")
        found = _ROOT.search(rest, end if end > 0 else doctype.end())
    else:
        found = _ROOT.match(rest)
    if not found:
        # A warning printed before the document is not the document.
        feed = re.search(r"<(?:rss|feed|rdf:RDF|urlset|sitemapindex)[\s>]", head)
        if feed:
            return "sitemap" if feed[0][1:4] in ("url", "sit") else "feed"
        return "html" if re.search(r"<(?:html|head|body)\b", head, re.IGNORECASE) else "text"
    name = found[2].lower()
    if name in _FEED_ROOTS:
        return "feed"
    if name in _SITEMAP_ROOTS:
        return "sitemap"
    if doctype and doctype[1].lower() == "html":
        return "html"
    return "html" if name in ("html", "head", "body", "title", "meta", "script", "div", "p", "br", "h1") else "xml"


def looks_like_html(body: bytes) -> bool:
    """A cheap test on bytes of unknown encoding."""
    head = body[:2048].lower()
    return b"<!doctype html" in head or b"<html" in head
