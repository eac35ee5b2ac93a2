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
from frontpage.domain.marks import day_marks, days_differ, is_standing
from frontpage.domain.terms import Ids, hash_token, tokens

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

    label: the word or two before a colon (`Analysis: ...`), folded. cased: whether its script has capitals; telling:
    whether they show names, which they do not in Title Case.
    """

    words: tuple[str, ...]
    names: frozenset[str]
    scores: frozenset[str]
    days: frozenset[str]
    standing: bool
    label: str
    cased: bool = True
    telling: bool = True


def headline(core: str, rare: Iterable[str], recurring: Ids | None = None) -> Headline:
    """`rare` are the folded words of the title that the language's prior does not know.

    `recurring` are term ids that the article has more than once: in scripts without capitals a title's word counts as a
    name when its text says it again, as texts do with what they are about and seldom with the verb of their headline.
    """
    words = tuple(tokens(core))
    cased = _CASED.findall(core)
    if not any(character.isupper() or character.islower() for character in core):
        again = set(recurring.tolist()) if recurring is not None else set()
        said = frozenset(word for word in words if hash_token(word) >> 32 in again)
        scores = frozenset(_SCORE.findall(core))
        return Headline(words, said, scores, day_marks(core), is_standing(core), "", cased=False, telling=False)
    later = [word for word in cased[1:] if len(word) > 3]
    title_case = sum(word[0].islower() for word in later) * 3 < len(later)
    unknown = frozenset(rare)
    names = unknown
    if not title_case:
        capitals = {token for word in cased[1:] if word[0].isupper() for token in tokens(word)}
        names = (unknown & {token for word in cased if word[0].isupper() for token in tokens(word)}) | capitals
    before, colon, _ = core.partition(": ")
    label = before.casefold() if colon and before.count(" ") < 2 else ""
    scores = frozenset(_SCORE.findall(core))
    days, standing = day_marks(core), is_standing(core)
    return Headline(words, frozenset(names), scores, days, standing, label, telling=not title_case)


def penalty(left: Headline, right: Headline, a: ArticleSignals, b: ArticleSignals) -> float:
    """Log-odds to take away: `APART` when the titles are one template about two things, else 0."""
    gap = abs(a.at - b.at) if a.at is not None and b.at is not None else None
    versions = same_beginning(a, b)
    if not versions and left.standing and right.standing and gap is not None and gap > _STANDING_GAP:
        return APART
    if left.words == right.words and left.scores == right.scores:
        return APART if not versions and gap is not None and gap > _REPEAT_GAP else 0.0
    if not left.words or not right.words:
        return 0.0
    return APART if _differ(left, right, a, b, gap=gap, versions=versions) else 0.0


def _differ(
    left: Headline, right: Headline, a: ArticleSignals, b: ArticleSignals, *, gap: float | None, versions: bool
) -> bool:
    # Texts that begin alike are versions of one report, whatever their titles, or one template with other names in it.
    blocks = SequenceMatcher(None, left.words, right.words, autojunk=False).get_opcodes()
    same = sum(i2 - i1 for tag, i1, i2, _, _ in blocks if tag == "equal")
    longer = max(len(left.words), len(right.words))
    if same < 2 or same < _TEMPLATE * longer:
        return False
    if not versions and left.scores and right.scores and left.scores.isdisjoint(right.scores):
        return True
    if not versions and days_differ(left.days, right.days):
        return True
    replaced = [(left.words[i1:i2], right.words[j1:j2]) for tag, i1, i2, j1, j2 in blocks if tag == "replace"]
    for ours, theirs in replaced:
        if not versions and _GENRES.intersection(ours) and _GENRES.intersection(theirs):
            return True
        if _unsaid(ours, b) and _unsaid(theirs, a) and not _short_for(ours, theirs):
            if _are_names(ours, left) and _are_names(theirs, right):
                return True
            labelled = not versions and left.label and left.label == right.label
            if labelled and longer < _SHORT and len(replaced) == 1 and not _numeric(ours) and not _numeric(theirs):
                return True
    only_numbers = bool(replaced) and all(_numeric(ours) and _numeric(theirs) for ours, theirs in replaced)
    return only_numbers and not versions and gap is not None and gap > _COUNT_GAP


def _are_names(words: Sequence[str], title: Headline) -> bool:
    # Bigrams of unspaced scripts reach over the edge of a name into its surroundings: there one of them will do.
    named = any(word in title.names for word in words)
    return named and (not title.cased or all(word in title.names or word in _LINKS for word in words))


def _short_for(left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether one side is a single short word that begins with the initials of the other (`UN`, `ISIS`)."""
    one, other = sorted((left, right), key=len)
    initials = "".join(word[0] for word in other if word not in _LINKS)
    return len(one) == 1 and len(initials) > 1 and len(one[0]) < 6 and one[0].startswith(initials)


def _numeric(words: Sequence[str]) -> bool:
    return any(character.isdigit() for word in words for character in word)


def _unsaid(words: Sequence[str], other: ArticleSignals) -> bool:
    """Whether the other article lacks all these words (a text often names what its title does not)."""
    said = set(other.head.tolist()).union(other.terms.tolist())
    return not any(hash_token(word) >> 32 in said for word in words if word not in _LINKS)


def same_beginning(a: ArticleSignals, b: ArticleSignals) -> bool:
    """Whether the two texts begin alike."""
    fewer = min(len(a.lead), len(b.lead))
    return fewer >= 20 and len(set(a.lead.tolist()) & set(b.lead.tolist())) > 0.5 * fewer
