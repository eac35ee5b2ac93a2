"""Headlines without the name of the site, and never without a part of themselves.

A title is cut only when its first or last part *is* a known name of the site (stated, or the label of its domain)
and stands behind a spaced separator or a bar. Dashes inside headlines, speakers of quotations, scores and
colons stay, and a cut never leaves less than it takes away. Labels for comparing headlines ("Opinion |", "LIVE:")
belong to the copy detection, not here: a reader sees them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from frontpage.domain.hosts import registrable_domain
from frontpage.domain.text import plain
from frontpage.domain.wordlists import words

_SEPARATOR: Final = re.compile(r"\s+(?:--?|[–—―−‐·•»«›‹>/]|::|\*)\s+|\s*[|｜∣¦]\s*|\s*\u2503\s*")
#: Characters looked at: no headline is longer, and hostile ones are made of separators.
TITLE_LIMIT: Final = 1_000
_TRAILING: Final = re.compile(r"(?:[\s|–—·•»]|\s-)+$")


def strip_site_name(title: str, names: Iterable[str], host: str = "") -> str:
    """`title` without its site's name at either end; `names` in any spelling, `host` adds the domain's own.

    >>> strip_site_name("Rain stops play | City Wire", ["City Wire"])
    'Rain stops play'
    """
    title = plain(title[:TITLE_LIMIT])
    known = {_key(name) for name in names if name}
    known |= _host_names(host)
    known.discard("")
    for _ in range(2):
        shorter = _cut_once(title, known)
        if shorter == title:
            break
        title = shorter
    return title


def _section_of(part: str, known: set[str]) -> bool:
    """Whether a part behind a bar is a name of the site and one word more: "CNN Politics"."""
    return any(_key(piece) in known for piece in (part.rpartition(" ")[0], part.partition(" ")[2]) if piece)


def alike(left: str, right: str) -> float:
    """How alike two headlines are, 0..1: Dice coefficient of their letter pairs (works for scripts without spaces)."""
    first, second = _pairs(left), _pairs(right)
    return 2 * len(first & second) / (len(first) + len(second)) if first and second else 0.0


def _pairs(text: str) -> set[str]:
    key = _key(text)
    return {key[place : place + 2] for place in range(len(key) - 1)}


def _cut_once(title: str, known: set[str]) -> str:
    separators = list(_SEPARATOR.finditer(title))
    if not separators:
        return title
    for match in separators:
        head, tail = title[: match.start()], title[match.end() :]
        if _key(tail) in known and len(head) >= len(tail):
            return _TRAILING.sub("", head)
        if match[0].strip() == "|" and _section_of(tail, known) and len(head) >= len(tail):
            return _TRAILING.sub("", head)
    for match in reversed(separators):
        head, tail = title[: match.start()], title[match.end() :]
        if _key(head) in known and len(tail) >= len(head):
            return tail
    return title


def _key(name: str) -> str:
    """Letters and digits only, folded: "The Daily-Example.com" and "the daily example com" are one name."""
    return "".join(c for c in unicodedata.normalize("NFKC", name).casefold() if c.isalnum())


def _host_names(host: str) -> set[str]:
    if not host:
        return set()
    domain = registrable_domain(host)
    label = domain.partition(".")[0]
    names = {_key(domain), _key(host), _key(host.removeprefix("www."))}
    # A label of three letters or fewer is as often a word of the headline ("it", "on") as a name.
    if len(label) > 3 or label in _SHORT_NAMES:
        names |= {_key(label), "the" + _key(label)}
    return names


#: Short domain labels that are names of news sites.
_SHORT_NAMES: Final = words(
    """
    bbc cnn dw abc cbs nbc npr cbc rte rtl srf orf zdf ard ard nos vrt rtp sky ap afp dpa efe wsj nzz taz faz mdr
    ndr wdr swr
    """
)
