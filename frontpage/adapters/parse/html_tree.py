"""One parse of a page, and everything its head states, collected in one pass over the tree.

The tree is reused by all later steps. Scripts and styles leave it as soon as the structured data is read, because
copying them is most of the cost of extraction on pages that carry megabytes of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from lxml import etree, html

from frontpage.adapters.parse.decode import decode, unpack
from frontpage.adapters.parse.sniff import sniff
from frontpage.domain.mojibake import repaired
from frontpage.domain.text import plain
from frontpage.domain.titles import TITLE_LIMIT
from frontpage.errors import UnreadableInput

#: Bytes after unpacking. The largest article in our captures has 2.9 MB, nine tenths of it scripts.
PAGE_LIMIT: Final = 10 << 20
_JSON_LD_LIMIT: Final = 1 << 20
_SCRIPTS: Final = 40
_NO_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_COLLECTED: Final = ("meta", "link", "title", "h1", "base", "script", "style", "template")


@dataclass(slots=True)
class Page:
    """`meta` by lower-case name or property, values in order; `links` by rel; `json_ld` raw texts."""

    root: Any
    encoding: str
    problems: list[str]
    lang: str | None = None
    is_amp: bool = False
    title: str = ""
    headings: list[str] = field(default_factory=list)
    meta: dict[str, list[str]] = field(default_factory=dict)
    links: dict[str, list[str]] = field(default_factory=dict)
    json_ld: list[str] = field(default_factory=list)
    base: str | None = None

    def first(self, *names: str) -> str:
        """The first non-empty value of these meta names, in their order."""
        for name in names:
            for value in self.meta.get(name, ()):
                if value:
                    return value
        return ""


def load(body: bytes, headers: Mapping[str, object]) -> Page:
    """Parses a page; raises UnreadableInput `empty`, `too-large`, `bad-gzip` or `not-html`."""
    if not body.strip(b" \t\r\n\x00"):
        raise UnreadableInput("the page is empty", cause="empty")
    body = unpack(body, PAGE_LIMIT)
    decoded = decode(body, headers, markup="html")
    kind = sniff(decoded.text)
    if kind in ("json", "feed", "sitemap", "empty") or body[:8].startswith(
        (b"%PDF", b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"PK\x03\x04")
    ):
        raise UnreadableInput(f"not an HTML page ({kind})", cause="not-html")
    parser = html.HTMLParser(encoding="utf-8", huge_tree=False, remove_comments=True, remove_pis=True)
    try:
        root = html.document_fromstring(decoded.text.replace("\x00", "").encode("utf-8", "replace"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError, AssertionError) as error:
        raise UnreadableInput(f"not an HTML page: {error}"[:200], cause="not-html") from None
    page = Page(root, decoded.encoding, list(decoded.problems))
    _collect(page)
    return page


def _collect(page: Page) -> None:
    root = page.root
    page.lang = plain(
        root.get("lang") or root.get("xml:lang") or root.get("{http://www.w3.org/XML/1998/namespace}lang")
    )
    page.is_amp = "amp" in root.attrib or "⚡" in root.attrib or "⚡4email" in root.attrib
    dropped = []
    for element in root.iter(*_COLLECTED):
        tag = element.tag
        if tag == "meta":
            _meta(page, element)
        elif tag == "link":
            for rel in (element.get("rel") or "").lower().split():
                if element.get("href"):
                    page.links.setdefault(rel, []).append(element.get("href"))
        elif tag == "script":
            if (element.get("type") or "").lower().strip().startswith("application/ld+json"):
                text = element.text or ""
                if len(text) <= _JSON_LD_LIMIT and len(page.json_ld) < _SCRIPTS:
                    page.json_ld.append(text)
            dropped.append(element)
        elif tag in ("style", "template"):
            dropped.append(element)
        elif tag == "title":
            # A picture's own title (SVG) is not the page's.
            if not page.title and (element.getparent() is None or element.getparent().tag != "svg"):
                page.title = plain(repaired(element.text_content()[:TITLE_LIMIT]))
        elif tag == "h1":
            heading = plain(repaired(element.text_content()[:TITLE_LIMIT]))
            if heading and len(page.headings) < 5:
                page.headings.append(heading)
        elif tag == "base" and page.base is None:
            page.base = element.get("href")
    for element in dropped:
        if element.getparent() is not None:
            _drop(element)


def _drop(element: Any) -> None:
    """Takes an element out and leaves what follows it. lxml's `drop_tree` fails on characters that XML does not allow,
    which a page may have written as references ("&#11;").
    """
    parent, before, tail = element.getparent(), element.getprevious(), element.tail
    if tail and before is None:
        parent.text = _NO_XML.sub("", (parent.text or "") + tail)
    elif tail:
        before.tail = _NO_XML.sub("", (before.tail or "") + tail)
    parent.remove(element)


def _meta(page: Page, element: Any) -> None:
    content = element.get("content")
    equiv = (element.get("http-equiv") or "").lower()
    if equiv:
        page.meta.setdefault("equiv:" + equiv, []).append(plain(content))
        return
    if content is None:
        return
    for key in ("property", "name", "itemprop"):
        name = element.get(key)
        if name:
            page.meta.setdefault(name.strip().lower(), []).append(plain(repaired(content)))
