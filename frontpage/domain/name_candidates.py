"""Candidates for names in a headline and a snippet: capitalised runs and their ends, and marks of other scripts.

Wide on purpose: one publisher's candidate is nothing, support across publishers decides (`names.py`). Runs in Spark
over stored headlines and snippets; no body is needed. Not for tagging an article (`entities.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from frontpage.domain.entities import capitalised
from frontpage.domain.languages import primary_subtag
from frontpage.domain.name_cues import CUED, possible
from frontpage.domain.wordlists import words

_CASED: Final = re.compile(r"[^\W\d_][\w'’]*")
_BARE: Final = re.compile(r"(?:(?<=\s)|^)([A-ZÄÖÜ][a-zäöüß]{2,})(?=[\s.,:;!?])")
#: German words before a noun; a name has none of them.
_DETERMINERS: Final = words(
    """
    der die das des dem den ein eine einer eines einem einen kein keine keinen im am zum zur beim vom ins ans
    dieser diese dieses diesen jeder jede jedes ihr ihre ihren sein seine seinen unser unsere mehr viele alle neue
    neuer neues neuen erste ersten letzte letzten
    """
)


def candidates(title: str, snippet: str, language: str) -> dict[str, bool]:
    """Spellings that may be names, each with whether it is only a bare German noun (`Entry.alone`)."""
    language = primary_subtag(language)
    found: dict[str, bool] = {}
    for text in (title, snippet):
        if not text:
            continue
        if language in CUED:
            names = possible(text, language)
        elif language == "en" and is_title_case(text):
            continue
        else:
            names = capitalised(text, language)
        found.update(dict.fromkeys((name for name in names if 2 <= len(name) <= 60), False))
        if language == "de":
            for name in _bare(text):
                found.setdefault(name, True)
    return found


def is_title_case(text: str) -> bool:
    """Whether nearly Every Longer Word Has a Capital, so that capitals name nothing."""
    later = [word for word in _CASED.findall(text)[1:] if len(word) > 3]
    return len(later) > 3 and sum(word[0].islower() for word in later) * 3 < len(later)


def _bare(text: str) -> Iterator[str]:
    before = ""
    for word in text.split():
        match = _BARE.match(word + " ")
        if match and before.casefold() not in _DETERMINERS:
            yield match[1]
        before = word
