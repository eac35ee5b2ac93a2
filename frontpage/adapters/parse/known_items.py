"""Which items of a feed's document are as they were: told by their text, before anything is parsed.

A feed lists its newest 20 to 200 items, and one or two of them are new. Parsing is most of what a poll costs, so the
text of items whose digest is known is cut out first. A digest covers the item's text, the document's root element (name
spaces, base, language) and where the document was retrieved, which is all that an item's id, address and title depend
on. A document whose items cannot be told apart for sure is left whole.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from frontpage.domain.ids import digest

#: Hex digits: within one feed's items, 48 bits do not meet by chance.
DIGITS: Final = 12
_TOKEN: Final = re.compile(r"<!\[CDATA\[|<!--|<(/?)(item|entry)(?=[\s>/])")
_ROOT: Final = re.compile(r"<(?:rss|feed|rdf:RDF)\b[^<>]*>")
#: Items of a longer list are an archive, whose digests would be most of the feed's row.
MOST: Final = 250


@dataclass(frozen=True, slots=True)
class Cut:
    """`rest` is the document without known items; `items` the digest of every item in document order (empty when they
    cannot be told apart), `known` those that are missing from `rest`, by place.
    """

    rest: str
    items: tuple[str, ...] = ()
    known: frozenset[int] = frozenset()


def cut(text: str, context: str, known: Collection[str]) -> Cut:
    """Cut out the items whose digests are in `known`. `context`: where the document was retrieved, its base."""
    root = _ROOT.search(text)
    spans = _spans(text, root.end()) if root else None
    if root is None or not spans or len(spans) > MOST:
        return Cut(text)
    seed = f"{context}\n{text[: root.end()]}\n"
    items = tuple(digest(seed + text[start:end], DIGITS) for start, end in spans)
    out = frozenset(place for place, item in enumerate(items) if item in known)
    if not out:
        return Cut(text, items)
    parts, at = [], 0
    for place in sorted(out):
        parts.append(text[at : spans[place][0]])
        at = spans[place][1]
    parts.append(text[at:])
    return Cut("".join(parts), items, out)


def _spans(text: str, start: int) -> list[tuple[int, int]] | None:
    """Where each item begins and ends; None when items are nested, empty or not closed."""
    spans: list[tuple[int, int]] = []
    place, begun, name = start, -1, ""
    while token := _TOKEN.search(text, place):
        place = token.end()
        if token[2] is None:
            closing = "]]>" if token[0] == "<![CDATA[" else "-->"
            end = text.find(closing, place)
            if end < 0:
                return None
            place = end + 3
            continue
        end = text.find(">", place)
        if end < 0 or text[end - 1] == "/":
            return None
        if token[1]:
            if begun < 0 or token[2] != name:
                return None
            spans.append((begun, end + 1))
            begun = -1
        elif begun >= 0:
            return None
        else:
            begun, name = token.start(), token[2]
        place = end + 1
    return spans if begun < 0 else None
