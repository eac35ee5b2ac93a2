"""OPML 2.0 in and out: nested folders, what other readers write, and our own attributes in a namespace.

Lists come from strangers: entities are not resolved, nothing is fetched, a damaged list is read as far as it goes and a
list without any feed is refused. Not here: storing (`registry.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from typing import Final

from lxml import etree

from frontpage.adapters.feed_rows import FeedSource
from frontpage.adapters.parse.decode import decode
from frontpage.adapters.parse.xml_repair import repair
from frontpage.domain.text import plain
from frontpage.errors import UnreadableInput

#: Attributes that OPML does not have (publisher, kind, floor) travel under this name.
NAMESPACE: Final = "urn:frontpage:opml"
#: Deeper nesting is an attack or a mistake; folders beyond it are cut, not their feeds.
MAX_DEPTH: Final = 20


@dataclass(frozen=True, slots=True)
class Outline:
    """A feed as a list names it. `publisher_id`, `kind` and `authoritative` only where we wrote the list."""

    url: str
    title: str = ""
    site_url: str = ""
    language: str | None = None
    folder: tuple[str, ...] = ()
    publisher_id: str | None = None
    kind: str = "feed"
    authoritative: bool = False


def default_list() -> bytes:
    """The list of public feeds that ships with the package; its head names source and licence."""
    return resources.files("streaming.ingest").joinpath("default_feeds.opml").read_bytes()


def read_opml(body: bytes) -> list[Outline]:
    """Feeds in document order, repeated addresses once. Raises UnreadableInput (`not-opml`, `no-feeds`; `entity-bomb`,
    `external-entity`, `too-deep` as for feeds).
    """
    # as feeds are read: the recovering parser would keep half a character, and fail when its attribute is looked at
    text, _ = repair(decode(body, {}, markup="xml").text)
    parser = etree.XMLParser(encoding="utf-8", resolve_entities=False, no_network=True, recover=True, huge_tree=False)
    try:
        root = etree.fromstring(text.encode("utf-8", "replace"), parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise UnreadableInput(f"not OPML: {error}"[:200], cause="not-opml") from None
    if root is None or _name(root) != "opml":
        raise UnreadableInput("not OPML: the root element is another", cause="not-opml")
    found: dict[str, Outline] = {}
    waiting: list[tuple[etree._Element, tuple[str, ...]]] = [(root, ())]
    while waiting:
        element, folder = waiting.pop()
        inner = folder
        if _name(element) == "outline":
            spoken = {str(name).lower(): str(value) for name, value in element.attrib.items()}
            name = plain(spoken.get("title") or spoken.get("text") or "")[:200]
            url = spoken.get("xmlurl", "").strip()
            if url:
                found.setdefault(url, _outline(url, name, spoken, folder))
            elif name and len(folder) < MAX_DEPTH:
                inner = (*folder, name)
        waiting.extend((child, inner) for child in reversed(element))
    if not found:
        raise UnreadableInput("the list names no feed (no outline has an xmlUrl)", cause="no-feeds")
    return list(found.values())


def _name(element: etree._Element) -> str:
    """The tag without its namespace, "" of comments. Not `QName`: it refuses what the recovering parser let through."""
    return element.tag.rpartition("}")[2].rpartition(":")[2].lower() if isinstance(element.tag, str) else ""


def write_opml(sources: Iterable[FeedSource], title: str = "Frontpage feeds") -> bytes:
    """The list of `sources`, folders nested as they were."""
    root = etree.Element("opml", {"version": "2.0"}, nsmap={"frontpage": NAMESPACE})
    etree.SubElement(etree.SubElement(root, "head"), "title").text = title
    folders: dict[tuple[str, ...], etree._Element] = {(): etree.SubElement(root, "body")}
    for source in sorted(sources, key=lambda source: (source.folder, source.url)):
        for depth in range(1, len(source.folder) + 1):
            place = source.folder[:depth]
            if place not in folders:
                folders[place] = etree.SubElement(folders[place[:-1]], "outline", {"text": place[-1]})
        spoken = {"type": "rss", "text": source.title or source.url, "xmlUrl": source.url}
        if source.site_url:
            spoken["htmlUrl"] = source.site_url
        if source.language:
            spoken["language"] = source.language
        spoken[f"{{{NAMESPACE}}}publisher"] = source.publisher_id
        if source.kind != "feed":
            spoken[f"{{{NAMESPACE}}}kind"] = source.kind
        if source.authoritative:
            spoken[f"{{{NAMESPACE}}}authoritative"] = "true"
        etree.SubElement(folders[source.folder], "outline", spoken)
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True))


def _outline(url: str, name: str, spoken: dict[str, str], folder: tuple[str, ...]) -> Outline:
    ours = {key.partition("}")[2]: value for key, value in spoken.items() if key.startswith(f"{{{NAMESPACE}}}")}
    return Outline(
        url=url,
        title=name,
        site_url=spoken.get("htmlurl", "").strip(),
        language=spoken.get("language") or None,
        folder=folder,
        publisher_id=ours.get("publisher") or None,
        kind="sitemap" if ours.get("kind") == "sitemap" else "feed",
        authoritative=ours.get("authoritative") == "true",
    )
