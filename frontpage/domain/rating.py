"""Which pairs of articles a person is asked about: inside a story, and similar but apart, more where readers saw more.

Precision is seen inside stories, recall between an article and its nearest in other stories; a sample of all pairs
would show neither, as nearly all pairs are unrelated. The sample is a function of its input and a seed: the same again
gives the same pairs. Not here: asking (`frontpage_cli/commands/rate.py`), where answers go (`adapters/ratings.py`).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from frontpage.domain.ids import digest
from frontpage.domain.terms import Floats

#: Articles whose nearest in other stories are looked for: a second of matrix products over 100,000 articles.
_PROBES: Final = 1_000
#: Below this cosine two articles are not similar: nobody needs to be asked (background pairs lie around 0.1 to 0.3).
_SIMILAR: Final = 0.35


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """An original article in an open story. `vector` unit norm; `seen`: impressions of its story."""

    article_id: str
    story_id: str
    language: str
    encoder: str
    vector: Floats
    seen: int = 0


@dataclass(frozen=True, slots=True)
class Ask:
    """A pair to be asked about, ids in order. `seen`: impressions of both stories."""

    left: str
    right: str
    kind: Literal["inside", "apart"]
    cosine: float
    seen: int

    @property
    def pair_id(self) -> str:
        """The same in either order."""
        return digest(f"pair {self.left} {self.right}")


def sample(candidates: Sequence[Candidate], count: int, seed: int, known: Collection[str] = ()) -> list[Ask]:
    """Up to `count` pairs, half of each kind where there are enough, mixed; none whose `pair_id` is `known`.

    The chance of a pair grows with 1 + the logarithm of its impressions.
    """
    candidates = sorted(candidates, key=lambda one: one.article_id)
    inside = [ask for ask in _inside(candidates, seed) if ask.pair_id not in known]
    apart = [ask for ask in _apart(candidates, seed) if ask.pair_id not in known]
    few = min(len(inside), len(apart), count // 2)
    chosen = _draw(inside, max(few, count - len(apart) if len(apart) < count - few else count - count // 2), seed)
    chosen += _draw(apart, count - len(chosen), seed)
    return sorted(chosen, key=lambda ask: _chance(ask.pair_id, seed))


def _inside(candidates: Iterable[Candidate], seed: int) -> list[Ask]:
    """Each article with one other of its story, chosen by the seed."""
    stories: dict[str, list[Candidate]] = defaultdict(list)
    for one in candidates:
        stories[one.story_id].append(one)
    found = {}
    for members in stories.values():
        ordered = sorted(members, key=lambda one: _chance(one.article_id, seed))
        for one, other in zip(ordered, ordered[1:] + ordered[:1], strict=True):
            if one is not other:
                ask = _ask(one, other, "inside")
                found[ask.pair_id] = ask
    return list(found.values())


def _apart(candidates: Iterable[Candidate], seed: int) -> list[Ask]:
    """The nearest article of another story, for a sample of the articles."""
    groups: dict[tuple[str, str], list[Candidate]] = defaultdict(list)
    for one in candidates:
        groups[one.language, one.encoder].append(one)
    found = {}
    for members in groups.values():
        vectors = np.stack([one.vector for one in members])
        story = np.array([one.story_id for one in members])
        for at in sorted(range(len(members)), key=lambda at: _draw_key(members[at], seed))[:_PROBES]:
            cosines = np.where(story == story[at], -1.0, vectors @ vectors[at])
            nearest = int(np.argmax(cosines))
            if cosines[nearest] >= _SIMILAR:
                ask = _ask(members[at], members[nearest], "apart")
                found[ask.pair_id] = ask
    return list(found.values())


def _ask(one: Candidate, other: Candidate, kind: Literal["inside", "apart"]) -> Ask:
    left, right = sorted((one.article_id, other.article_id))
    cosine = float(one.vector @ other.vector) if one.encoder == other.encoder else 0.0
    seen = one.seen if kind == "inside" else one.seen + other.seen
    return Ask(left, right, kind, round(cosine, 4), seen)


def _draw(asks: Sequence[Ask], count: int, seed: int) -> list[Ask]:
    """Weighted, without replacement (Efraimidis and Spirakis 2006: the smallest of -log(u) / weight)."""
    return sorted(asks, key=lambda ask: -math.log(_chance(ask.pair_id, seed)) / _weight(ask.seen))[: max(0, count)]


def _draw_key(one: Candidate, seed: int) -> float:
    return -math.log(_chance(one.article_id, seed)) / _weight(one.seen)


def _weight(seen: int) -> float:
    return 1.0 + math.log1p(max(0, seen))


def _chance(name: str, seed: int) -> float:
    """Uniform in (0, 1), by name and seed."""
    return (int(digest(f"{seed} {name}")[:12], 16) + 1) / (16**12 + 2)
