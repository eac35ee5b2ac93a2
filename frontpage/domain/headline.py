"""The headline check: does a headline tell what happened, in a length that fits a card, without shouting?

A rule-based score that needs no training and treats every script alike; English bait phrases are the only word list.
Used by `representative.py`. Not a judgement of truth: a sober headline may be wrong.
"""

from __future__ import annotations

import re
from typing import Final

#: Phrases that promise instead of telling. They are common to published clickbait studies, kept few for precision.
_BAIT: Final = re.compile(
    r"\b(you won'?t believe|what happen(s|ed) next|this is why|here'?s why|the reason will|will shock you|"
    r"can'?t stop|goes viral|one weird|\d+ (things|reasons|ways|times|facts)|find out|guess what)\b",
    re.IGNORECASE,
)
#: Characters. Cards clip near 110; below 20 a headline is a label ("Weather"). Halved for scripts without spaces.
_SHORT: Final = 20
_LONG: Final = 110


def headline_quality(title: str) -> float:
    """0..1, 1 for a plain informative headline; each fault takes its part off."""
    text = title.strip()
    if not text:
        return 0.0
    value = 1.0
    dense = sum(1 for c in text if "\u3040" <= c <= "\u9fff" or "\uac00" <= c <= "\ud7af") > len(text) / 3
    length = len(text) * (2 if dense else 1)
    if length < _SHORT:
        value -= 0.3
    elif length > _LONG:
        value -= min(0.4, (length - _LONG) / 200)
    cased = [c for c in text if c.lower() != c.upper()]
    if len(cased) >= 12 and sum(1 for c in cased if c.isupper()) > 0.7 * len(cased):
        value -= 0.4
    if _BAIT.search(text):
        value -= 0.5
    if re.search(r"[!?]{2,}|!\s*$|\.\.\.\s*$|…\s*$", text):
        value -= 0.2
    return max(0.0, value)
