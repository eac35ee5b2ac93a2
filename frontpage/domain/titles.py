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
from frontpage.domain.sections import is_section_label
from frontpage.domain.text import plain
from frontpage.domain.wordlists import words

_SEPARATOR: Final = re.compile(r"\s+(?:--?|[–—―−‐·•»«›‹>/:]|::|\*)\s+|\s*[|｜∣¦]\s*|\s*\u2503\s*")
#: Without blanks around, as Chinese and Japanese papers write before their names ("標題_網站名", "見出し：社名").
_TIGHT: Final = re.compile(r"[_\-–—－＿|]+|：")
_WIDE: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_BRACKETED: Final = re.compile(r"\s+(?:\(([^()]{2,60})\)|\[([^\[\]]{2,60})\])$")
#: Some agencies print the day behind their name.
_DATED: Final = re.compile(r",\s*\d{1,2}[./]\d{1,2}[./]\d{4}$")
#: Characters looked at: no headline is longer, and hostile ones are made of separators.
TITLE_LIMIT: Final = 1_000
_TRAILING: Final = re.compile(r"(?:[\s|–—·•»]|\s-)+$")


def strip_site_name(title: str, names: Iterable[str], host: str = "") -> str:
    """`title` without its site's name at either end; `names` in any spelling, `host` adds the domain's own.

    >>> strip_site_name("Rain stops play | City Wire", ["City Wire"])
    'Rain stops play'
    """
    title = plain(title[:TITLE_LIMIT])
    known = {key for name in names if name for key in _keys(name)}
    known |= _host_names(host)
    known.discard("")
    whole = title
    for _ in range(2):
        shorter = _cut_once(title, known)
        if shorter == title:
            break
        title = shorter
    return _without_section(title) if title != whole else title


def title_parts(title: str) -> list[str]:
    """The parts of a title between spaced separators and bars, in order; one when there are none."""
    return _SEPARATOR.split(plain(title[:TITLE_LIMIT]))


def _section_of(part: str, known: set[str]) -> bool:
    """Whether a part behind a bar is a name of the site and one word more: "CNN Politics"."""
    return any(_key(piece) in known for piece in (part.rpartition(" ")[0], part.partition(" ")[2]) if piece)


def _without_section(title: str) -> str:
    """The section that a template put between headline and site: "Rain stops play | Sport | City Wire"."""
    separators = list(_SEPARATOR.finditer(title))
    if not separators:
        return title
    head, tail = title[: separators[-1].start()], title[separators[-1].end() :]
    return _TRAILING.sub("", head) if is_section_label(tail) and len(head) >= 2 * len(tail) else title


def alike(left: str, right: str) -> float:
    """How alike two headlines are, 0..1: Dice coefficient of their letter pairs (works for scripts without spaces)."""
    first, second = _pairs(left), _pairs(right)
    return 2 * len(first & second) / (len(first) + len(second)) if first and second else 0.0


def _pairs(text: str) -> set[str]:
    key = _key(text)
    return {key[place : place + 2] for place in range(len(key) - 1)}


def _cut_once(title: str, known: set[str]) -> str:
    bracketed = _BRACKETED.search(title)
    if bracketed and _key(bracketed[1] or bracketed[2]) in known:
        return title[: bracketed.start()]
    separators = list(_SEPARATOR.finditer(title))
    for match in separators:
        head, tail = title[: match.start()], title[match.end() :]
        name = _site_in(tail, known, bar=match[0].strip() == "|")
        if name and len(head) >= len(name):
            return _TRAILING.sub("", head)
    for match in reversed(separators):
        head, tail = title[: match.start()], title[match.end() :]
        if _key(head) in known and len(tail) >= len(head):
            return tail
    for match in _TIGHT.finditer(title):
        head, tail = title[: match.start()], title[match.end() :]
        if _WIDE.search(tail) and len(head) >= len(tail) and _key(tail) in known:
            return head
    return title


def _site_in(part: str, known: set[str], *, bar: bool) -> str:
    """What of a last part is the site ("City Wire", "City Wire, 3.01.2026", "City Wire | Sport"), empty if none is."""
    name = _DATED.sub("", part)
    if _key(name) in known:
        return name
    inner = _SEPARATOR.search(part)
    if inner is not None:
        name, rest = part[: inner.start()], part[inner.end() :]
    else:
        name, _, rest = part.rpartition(" ")
    if _key(name) in known and is_section_label(rest):
        return name
    return part if bar and _section_of(part, known) else ""


def _keys(name: str) -> set[str]:
    """The spellings of a name: with its article and without."""
    key = _key(name)
    return {key, "the" + key} | ({_key(name[4:])} if name[:4].casefold() == "the " else set())


def _key(name: str) -> str:
    """Letters and digits only, folded, without accents: "El País", "ELPAIS" and "el pais" are one name."""
    folded = unicodedata.normalize("NFKD", name).casefold()
    return "".join(c for c in folded if c.isalnum())


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
