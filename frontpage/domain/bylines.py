"""Names of authors out of by-lines: "By Ann Lee and Bo Ray, Staff Writers" is two people.

A by-line that is no list stays whole: names are cut only where every piece still looks like one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from frontpage.domain.text import from_markup
from frontpage.domain.wordlists import alternatives, words

_BY: Final = re.compile(
    r"^(?:by|von|par|por|di|door|av|af|od|автор|oleh|بقلم|كتب|מאת)[\s:]+|^(?:文|撰文|作者|記者|记者|글|取材)\s*[／/:：]\s*",
    re.IGNORECASE,
)
_AND: Final = re.compile(
    r"\s*(?:;|&|\band\b|\bund\b|\bet\b|\by\b|\be\b|\bi\b|\ben\b|\bog\b|\boch\b|\bи\b|\bve\b|、|،)\s*"
)
_COMMA: Final = re.compile(r"\s*[,，]\s*")
_ASIDE: Final = re.compile(r"\s*[(（\[][^()（）\[\]]*[)）\]]|\s+[|•·–—]\s.*$|\s*<.*$")
_ROLE: Final = re.compile(
    alternatives(
        r"""
        \bwriters?\b \breporters?\b \bcorrespondents?\b \beditors?\b \bcolumnists?\b \bcontributors?\b \bstaff\b
        \bjournalists?\b \bproducer\b \bphotographs?\b \bredakteur(?:in)?\b \bkorrespondent(?:in)?\b \bjournaliste\b
        \bcorresponsal\b \bredactor[a]?\b \bperiodista\b \bgiornalista\b \bjornalista\b корреспондент журналист
        """
    ),
    re.IGNORECASE,
)
#: What a content system writes where a name should stand.
_NOBODY: Final = words(
    """
    admin administrator webmaster null none undefined n/a na root guest author unknown editor test user wp-admin false
    true
    """
)
LONGEST: Final = 80


def people(raw: Iterable[str]) -> list[str]:
    """The names in by-lines, each once, in their order. Addresses, e-mail, roles and placeholders are no names."""
    found: list[str] = []
    for line in raw:
        text = _ASIDE.sub("", _BY.sub("", from_markup(line))).strip(" ,;|:")
        for part in _split(text):
            name = _BY.sub("", part).strip(" ,;|:.")
            if _is_name(name):
                found.append(name)
    return list(dict.fromkeys(found))


def _split(text: str) -> list[str]:
    pieces = [piece for part in _COMMA.split(text) for piece in _AND.split(part) if piece]
    kept = [piece for piece in pieces if not _ROLE.search(piece)]
    # "Lee, Ann" and "Simon and Garfunkel" are one name each; in a list everyone has two.
    if kept and all(_whole(piece) for piece in kept):
        return kept
    whole = _COMMA.split(text)[0] if len(kept) < len(pieces) else text
    return [whole]


def _whole(name: str) -> bool:
    """First and last name, or a name of a script that puts no blank between them."""
    return " " in name or (not name.isascii() and 2 <= len(name) <= 5)


def _is_name(name: str) -> bool:
    return (
        1 < len(name) <= LONGEST
        and (len(name) > 2 or not name.isascii())
        and "://" not in name
        and "@" not in name
        and not name.isdigit()
        and name.casefold() not in _NOBODY
    )
