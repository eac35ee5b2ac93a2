"""Look-alike templates: series pieces that share nearly every word and differ in the one that matters.

Weather, results, quakes, markets, horoscopes, letters pages. Word overlap calls them one; the words that differ say
otherwise: another place, company, sign, genre or date keeps apart, a score counts with its order, while the rising toll
of one event within a day does not. Set by hand, since no labelled set has such pieces; benchmarks check that it costs
nothing there. Titles in Title Case hide names among verbs, so there only words unknown to the language count as names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from frontpage.domain.article import ArticleSignals
from frontpage.domain.marks import day_marks, is_standing
from frontpage.domain.terms import hash_token, tokens

#: Log-odds against one event: enough to overrule equal vectors and words (about +8 at most).
APART: Final = 20.0
#: Share of the longer title that must be the same words in the same order for two titles to be one template.
_TEMPLATE: Final = 0.5
#: Labelled titles of so few words (`Analysis: Bridge report`) name their subject in each of them.
_SHORT: Final = 7
_HOUR: Final = 3_600.0
#: Issues of a column come daily at most; the same headline again after four days is another event; counts of one
#: event change within a day (case of quakes 38 hours apart against tolls of one morning).
_STANDING_GAP, _REPEAT_GAP, _COUNT_GAP = 20 * _HOUR, 96 * _HOUR, 24 * _HOUR
_SCORE: Final = re.compile(r"(?<![\d-])\d{1,3}[-–:]\d{1,3}(?![\d-])")
_GENRES: Final = frozenset(
    {"interview", "review", "obituary", "profile", "preview", "recap", "podcast", "quiz", "recipe"}
)
_LINKS: Final = frozenset(
    {"of", "on", "the", "de", "la", "le", "el", "du", "des", "von", "van", "der", "am", "an", "in", "di", "do", "da"}
)
_CASED: Final = re.compile(r"[^\W\d_][\w'’]*")


@dataclass(frozen=True, slots=True)
class Headline:
    """A core title taken apart. words: folded, in order; names: those that name someone or something.

    label: the word or two before a colon (`Analysis: ...`), folded.
    """

    words: tuple[str, ...]
    names: frozenset[str]
    scores: frozenset[str]
    days: frozenset[str]
    standing: bool
    label: str


def headline(core: str, rare: Iterable[str]) -> Headline:
    """`rare` are the folded words of the title that the language's prior does not know."""
    words = tuple(tokens(core))
    cased = _CASED.findall(core)
    later = [word for word in cased[1:] if len(word) > 3]
    title_case = sum(word[0].islower() for word in later) * 3 < len(later)
    unknown = frozenset(rare)
    names = unknown
    if not title_case:
        capitals = {token for word in cased[1:] if word[0].isupper() for token in tokens(word)}
        names = (unknown & {token for word in cased if word[0].isupper() for token in tokens(word)}) | capitals
    before, colon, _ = core.partition(": ")
    label = before.casefold() if colon and before.count(" ") < 2 else ""
    return Headline(words, frozenset(names), frozenset(_SCORE.findall(core)), day_marks(core), is_standing(core), label)


def penalty(left: Headline, right: Headline, a: ArticleSignals, b: ArticleSignals) -> float:
    """Log-odds to take away: `APART` when the titles are one template about two things, else 0."""
    gap = abs(a.at - b.at) if a.at is not None and b.at is not None else None
    if _same_beginning(a, b):
        return 0.0
    if left.standing and right.standing and gap is not None and gap > _STANDING_GAP:
        return APART
    if left.words == right.words and left.scores == right.scores:
        return APART if gap is not None and gap > _REPEAT_GAP else 0.0
    if not left.words or not right.words:
        return 0.0
    return APART if _differ(left, right, a, b, gap) else 0.0


def _differ(left: Headline, right: Headline, a: ArticleSignals, b: ArticleSignals, gap: float | None) -> bool:
    blocks = SequenceMatcher(None, left.words, right.words, autojunk=False).get_opcodes()
    same = sum(i2 - i1 for tag, i1, i2, _, _ in blocks if tag == "equal")
    longer = max(len(left.words), len(right.words))
    if same < 2 or same < _TEMPLATE * longer:
        return False
    if left.scores and right.scores and left.scores.isdisjoint(right.scores):
        return True
    if left.days and right.days and left.days.isdisjoint(right.days):
        return True
    replaced = [(left.words[i1:i2], right.words[j1:j2]) for tag, i1, i2, j1, j2 in blocks if tag == "replace"]
    for ours, theirs in replaced:
        if _GENRES.intersection(ours) and _GENRES.intersection(theirs):
            return True
        if _unsaid(ours, b) and _unsaid(theirs, a):
            if _all_names(ours, left.names) and _all_names(theirs, right.names):
                return True
            labelled = left.label and left.label == right.label
            if labelled and longer < _SHORT and len(replaced) == 1 and not _numeric(ours) and not _numeric(theirs):
                return True
    only_numbers = bool(replaced) and all(_numeric(ours) and _numeric(theirs) for ours, theirs in replaced)
    return only_numbers and gap is not None and gap > _COUNT_GAP


def _all_names(words: Sequence[str], names: frozenset[str]) -> bool:
    return all(word in names or word in _LINKS for word in words) and any(word in names for word in words)


def _numeric(words: Sequence[str]) -> bool:
    return any(character.isdigit() for word in words for character in word)


def _unsaid(words: Sequence[str], other: ArticleSignals) -> bool:
    """Whether the other article's title and lead lack all these words (a lead often names what its title does not)."""
    head = set(other.head.tolist())
    return not any(hash_token(word) >> 32 in head for word in words if word not in _LINKS)


def _same_beginning(a: ArticleSignals, b: ArticleSignals) -> bool:
    """Whether the two texts begin alike: then they are versions of one report, whatever the titles."""
    fewer = min(len(a.lead), len(b.lead))
    return fewer >= 20 and len(set(a.lead.tolist()) & set(b.lead.tolist())) > 0.5 * fewer
