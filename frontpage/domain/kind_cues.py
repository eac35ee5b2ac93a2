"""Whether a text argues or reports, by how it is written: the signals and the decision. Fitted numbers are passed in.

For pages whose publisher says nothing (`page_kind` goes first). Quoted speech is taken out before anything is counted:
"I", "we" and "must" in the mouth of somebody quoted make no opinion. Signals are rates of style, so that a lead and a
whole text can be compared and no topic is learned; each is taken relative to what is usual in its language.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from frontpage.domain.kind_words import ABOUT_AUTHOR, CUES, Cues

FEATURES: Final = (
    "singular", "plural", "ought", "said", "stance", "you", "days", "linked", "pointing", "amounts", "unsaid", "asked",
    "cried", "quoted", "numbers", "capitals", "word_length", "sentence_length", "title_first", "title_ought",
    "title_stance", "title_linked", "title_pointing", "title_amounts", "title_states", "title_opens", "title_asks",
    "title_question", "title_quotes", "title_length", "about_author",
)  # fmt: skip
#: Characters judged: the head of a text says what it is, its end who wrote it.
HEAD: Final = 4_000
TAIL: Final = 600
#: Fewer words than this are a caption or a teaser.
FEWEST: Final = 40

#: Reporting words per 100 from which on a text reports. Measured: half the wrong flags, no right one lost.
SAID_MOST: Final = 1.0
_SAID: Final = FEATURES.index("said")
#: Of the signals of a headline, those that argue: it speaks in person, demands, judges, commands or asks why.
_TITLE: Final = tuple(name for name in FEATURES if name.startswith("title_"))
_ARGUING: Final = tuple(
    _TITLE.index(f"title_{name}") for name in ("first", "ought", "stance", "opens", "asks", "question")
)

_WORD: Final = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")
_NUMBER: Final = re.compile(r"\d[\d.,]*")
_END: Final = re.compile(r"[.!?…](?=[\s\"”»']|$)")
_QUOTED: Final = re.compile(r"“[^“”]{1,800}”|«[^«»]{1,800}»|„[^“”„]{1,800}[“”]|\"[^\"]{1,800}\"")
_TITLE_QUOTE: Final = re.compile(r"[‘“«„\"]\w.*\w\W?[’”»“\"]")
_ABOUT: Final = re.compile(ABOUT_AUTHOR, re.IGNORECASE)
#: Rates are per 100 words; the cap keeps one habit from deciding.
_MOST: Final = 12.0


@dataclass(frozen=True, slots=True)
class StyleModel:
    """`bias + weights . (signals - usual)` as log-odds of opinion; `usual` per language, in the order of FEATURES.

    At `threshold` (a probability) or above a text is called opinion. Languages without `usual` are not judged.
    """

    version: int
    weights: tuple[float, ...]
    bias: float
    threshold: float
    usual: Mapping[str, tuple[float, ...]]

    def probability(self, signals: tuple[float, ...], language: str) -> float | None:
        """0..1, or None for a language that the model does not know."""
        usual = self.usual.get(language)
        if usual is None:
            return None
        logit = self.bias + sum(w * (s - u) for w, s, u in zip(self.weights, signals, usual, strict=True))
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, logit))))


def argues(title: str, text: str, language: str, model: StyleModel) -> bool:
    """Whether the text reads as an opinion; False for what cannot be judged (a language without words, too short).

    Besides the model's own threshold, its headline must argue and nearly nobody may be reported to say anything: a
    report called an opinion is hidden from news, an opinion called news only stands among others.
    """
    if language not in model.usual or not _headline_argues(title, CUES[language]):
        return False
    signals = signals_of(title, text, language)
    if signals is None or signals[_SAID] >= SAID_MOST:
        return False
    probability = model.probability(signals, language)
    return probability is not None and probability >= model.threshold


def signals_of(title: str, text: str, language: str) -> tuple[float, ...] | None:
    """The values of FEATURES, or None when the language (primary subtag) has no words or the text has too few."""
    cues = CUES.get(language)
    if cues is None:
        return None
    head = text[:HEAD].replace("’", "'")
    spoken = _QUOTED.sub(" ", head)
    raw = _WORD.findall(spoken)
    if len(raw) < FEWEST:
        return None
    found = [word.lower() for word in raw]
    per = 100.0 / len(found)
    tables = (
        cues.singular, cues.plural, cues.ought, cues.said, cues.stance, cues.you, cues.days, cues.linked, cues.pointing,
        cues.amounts,
    )  # fmt: skip
    counts = [sum(map(table.__contains__, found)) for table in tables]
    sentences = max(1, len(_END.findall(spoken)))
    capitals = sum(word[0].isupper() for word in raw)
    return (
        *(min(_MOST, count * per) for count in counts),
        float(counts[3] == 0),
        min(_MOST, spoken.count("?") * per),
        min(_MOST, spoken.count("!") * per),
        1.0 - len(spoken) / len(head),
        min(_MOST, len(_NUMBER.findall(spoken)) * per),
        (capitals - sentences) * per / 10.0,
        sum(map(len, found)) / len(found),
        min(40.0, len(found) / sentences) / 10.0,
        *_title(title.replace("’", "'"), cues),
        float(_ABOUT.search(text[-TAIL:]) is not None),
    )


def _headline_argues(title: str, cues: Cues) -> bool:
    marks = _title(title.replace("’", "'"), cues)
    return any(marks[at] for at in _ARGUING)


def _title(title: str, cues: Cues) -> tuple[float, ...]:
    found = _WORD.findall(_QUOTED.sub(" ", title).lower())
    first = found[0] if found else ""
    tables = (
        cues.singular | cues.plural,
        cues.ought,
        cues.stance,
        cues.linked,
        cues.pointing,
        cues.amounts,
        cues.states,
    )
    return (
        *(float(not table.isdisjoint(found)) for table in tables),
        float(first in cues.opens),
        float(first in cues.asks),
        float(title.rstrip(" \"”»'").endswith("?")),
        float(_TITLE_QUOTE.search(title) is not None),
        min(20, len(found)) / 10.0,
    )
