"""Which stories of different languages report one event: linked, never merged (design: clusters stay per language).

A link needs three things at once: marks that both sides show and few other stories do (linked places, names spelled
alike, numbers), times that meet, and texts that a multilingual encoder finds close. Marks alone link everything about
one person, closeness alone links every robbery to every robbery. Each story is linked to the one story of another
language that is best for it and for which it is best, so that twins of one kind (two mergers, two matches) do not
share a partner. Pure and symmetric: nothing depends on which side is called left. Not for one language
(clustering.py), not for records (streaming/cluster/links.py).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from frontpage.domain.ids import digest
from frontpage.domain.story import Member, Story
from frontpage.domain.terms import hash_tokens, term_ids, tokens

Floats = npt.NDArray[np.float32]
#: Two story ids, the smaller first.
Pair = tuple[str, str]

#: Texts that stand for a story: its first originals. They say what the event is, later ones what came of it.
TEXTS: Final = 3
#: Rarity is reckoned among at least so many stories: a system that has just started knows few, and all look rare or
#: all common.
POPULATION: Final = 1_000
#: A mark that is more common than this opens no comparison of its own ("United States"): it would compare everything.
OPENS: Final = 0.25
#: How the tagger writes a town (entities.Place.label, folded).
_TOWN: Final = re.compile(r"e:.+, [a-z]{2}\Z")
#: Originals whose marks count, and the share of them that must show a mark for it to be the story's.
MARKED, SHARE = 12, 1 / 3


@dataclass(frozen=True, slots=True)
class LinkPolicy:
    """Bars, chosen for precision on the German-English pairs of SemEval-2022 task 8 and on the sample world
    (`python -m benchmarks.links` measures both).

    bar: what must be reached by the cosine of the texts, plus `bonus` for evidence (all of it from `full` on), minus
    `elsewhere` when both name towns and none in common. evidence: least overlap of names and places; 1 is about one
    that only these two show. Numbers count on top of that, never alone: any two matches end 2-1. gap: seconds between
    the end of one story and the beginning of the other. candidates: partners compared per story.
    """

    bar: float = 0.70
    bonus: float = 0.10
    elsewhere: float = 0.15
    evidence: float = 0.5
    full: float = 1.5
    gap: float = 24 * 3600.0
    candidates: int = 200


@dataclass(frozen=True, slots=True)
class Side:
    """A story as links see it. marks: places and names (`e:`), capitalised words (`w:`), numbers (`n:`).

    first, last: when its first and last article joined, seconds; None when unknown: time then decides nothing.
    """

    story_id: str
    language: str
    marks: frozenset[str]
    first: float | None = None
    last: float | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """Two stories that report one event; `left` is the smaller id. score: 0..1."""

    left: str
    right: str
    score: float

    @property
    def link_id(self) -> str:
        """Of the pair, whichever way round: finding it again gives the same record."""
        return link_id(self.left, self.right)


def pair_of(one: str, other: str) -> Pair:
    """The pair with the smaller id first."""
    return (one, other) if one <= other else (other, one)


def link_id(one: str, other: str) -> str:
    """20 hex digits of the pair."""
    return digest("|".join(pair_of(one, other)))


def side_of(story: Story) -> Side:
    """The side of an open story: marks that at least a third of its first originals show."""
    firsts = _originals(story)[:MARKED]
    counts = Counter(mark for member in firsts for mark in _marks(member))
    kept = frozenset(mark for mark, count in counts.items() if count >= SHARE * len(firsts))
    joined = [member.joined_at for member in story.members.values()]
    return Side(story.story_id, story.language, kept, min(joined, default=None), max(joined, default=None))


def representatives(story: Story) -> list[Member]:
    """The members whose texts stand for the story, the earliest first; copies only when there is nothing else."""
    return _originals(story)[:TEXTS]


def centre(vectors: Iterable[Floats]) -> Floats:
    """Unit float32 mean of unit vectors; a zero vector when they cancel out."""
    summed = np.sum(np.stack([vector.astype(np.float32) for vector in vectors]), axis=0)
    norm = float(np.linalg.norm(summed))
    unit: Floats = (summed / norm if norm > 0 else summed).astype(np.float32)
    return unit


class LinkIndex:
    """Open stories of all languages by their marks: who might report the same event as whom."""

    def __init__(self, policy: LinkPolicy | None = None) -> None:
        self.policy = policy or LinkPolicy()
        self.sides: dict[str, Side] = {}
        self._holders: dict[str, set[str]] = {}

    def put(self, side: Side) -> None:
        """Add or replace a story."""
        self.drop(side.story_id)
        self.sides[side.story_id] = side
        for mark in side.marks:
            self._holders.setdefault(mark, set()).add(side.story_id)

    def drop(self, story_id: str) -> None:
        """Forget a story; harmless when it is not there."""
        side = self.sides.pop(story_id, None)
        for mark in side.marks if side is not None else ():
            holders = self._holders[mark]
            holders.discard(story_id)
            if not holders:
                del self._holders[mark]

    def rarity(self, mark: str) -> float:
        """0..1: how little a mark is spread, 1 for one that a single story shows, near 0 for one that most do."""
        count = len(self._holders.get(mark, ()))
        whole = math.log(max(len(self.sides), POPULATION))
        return max(0.0, 1.0 - math.log(count) / whole) if count else 0.0

    def evidence(self, one: Side, other: Side) -> tuple[float, float]:
        """Sums of the rarities of shared marks: of names and places, and of numbers.

        Words of a shared entity do not count again.
        """
        shared = one.marks & other.marks
        counted = {f"w:{word}" for mark in shared if mark.startswith("e:") for word in _words(mark[2:])}
        named = math.fsum(self.rarity(m) for m in shared - counted if not m.startswith("n:"))
        return named, math.fsum(self.rarity(m) for m in shared if m.startswith("n:"))

    def partners(self, story_id: str) -> list[str]:
        """Stories of other languages that pass on evidence and time, those with the most evidence first."""
        side = self.sides.get(story_id)
        if side is None:
            return []
        others = {
            other
            for mark in side.marks
            if not mark.startswith("n:") and self.rarity(mark) >= OPENS
            for other in self._holders[mark]
        }
        found = [(-evidence, o) for o in others if (evidence := self._comparable(side, self.sides[o])) is not None]
        return [other for _, other in sorted(found)[: self.policy.candidates]]

    def score(self, one: str, other: str, cosine: float) -> float | None:
        """0..1 when the pair reaches the bar, else None. `cosine` is that of the two centres."""
        a, b = self.sides[one], self.sides[other]
        evidence = self._comparable(a, b)
        if evidence is None:
            return None
        value = cosine + self.policy.bonus * min(1.0, evidence / self.policy.full)
        here, there = _towns(a), _towns(b)
        if here and there and not here & there:
            value -= self.policy.elsewhere
        return max(0.0, min(1.0, value)) if value >= self.policy.bar else None

    def _comparable(self, one: Side, other: Side) -> float | None:
        """All evidence of the pair, None when language, time or too little of it forbid the comparison."""
        if one.language == other.language or not near(one, other, self.policy.gap):
            return None
        named, numbers = self.evidence(one, other)
        return named + numbers if named >= self.policy.evidence else None

    def mutual(self, edges: Mapping[Pair, float]) -> list[Link]:
        """The pairs of `edges` (pair -> score) in which each is the other's best of that language, by pair.

        Equal scores are settled by the smaller id, so that there is one best.
        """
        best: dict[tuple[str, str], tuple[float, str]] = {}
        for (left, right), score in edges.items():
            for one, other in ((left, right), (right, left)):
                key = (one, self.sides[other].language)
                if key not in best or (-score, other) < (-best[key][0], best[key][1]):
                    best[key] = (score, other)
        return [
            Link(left, right, score)
            for (left, right), score in sorted(edges.items())
            if best[left, self.sides[right].language][1] == right and best[right, self.sides[left].language][1] == left
        ]


def near(one: Side, other: Side, gap: float) -> bool:
    """Whether the spans of two stories lie at most `gap` seconds apart."""
    if one.first is None or one.last is None or other.first is None or other.last is None:
        return True
    return one.first - other.last <= gap and other.first - one.last <= gap


def _originals(story: Story) -> list[Member]:
    ordered = sorted(story.members.values(), key=lambda m: (m.joined_at, m.article.article_id))
    return [member for member in ordered if member.copy_of is None] or ordered


def _marks(member: Member) -> set[str]:
    article = member.article
    return {
        *(f"e:{entity}" for entity in article.entities),
        *(f"w:{word}" for word in article.names.tolist()),
        # one digit counts things in any story
        *(f"n:{number}" for number in article.numbers if len(number) > 1),
    }


def _towns(side: Side) -> set[str]:
    return {mark for mark in side.marks if _TOWN.match(mark)}


@lru_cache(maxsize=20_000)
def _words(entity: str) -> frozenset[int]:
    return frozenset(term_ids(hash_tokens(tokens(entity))).tolist())
