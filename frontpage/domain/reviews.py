"""Borderline merges of top stories wait for a person: two stories on a front page become one in plain sight.

`Reviews` is what a writer knows of them: what it holds, and what was decided. A merge is held when both stories are on
a front page and its score is above the bar by less than `MARGIN`; a surer one is carried out. What was rejected stays
rejected for as long as both stories live; what nobody decides within `PATIENCE` is decided by the score as any other.
The first decision on a review counts. Not here: carrying a merge out (repair.py), topic and page (contracts, serving).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from frontpage.domain.ids import digest

#: Log-odds above the bar up to which a merge is borderline: a move within a story needs to be surer by as much.
MARGIN: Final = 1.0
#: Seconds that a merge waits for a person: as long as repair looks back (6 h, design).
PATIENCE: Final = 6 * 3_600.0
#: Seconds after which a review is forgotten: stories live 48 h after their last article, the topic is kept 7 days.
MEMORY: Final = 7 * 86_400.0

Decision = Literal["accepted", "rejected"]


@dataclass(frozen=True, slots=True)
class Review:
    """A held merge. `score` and `bar` are log-odds, `at` seconds; `decision` None while nobody has decided."""

    review_id: str
    language: str
    stories: tuple[str, str]
    score: float
    bar: float
    at: float
    decision: Decision | None = None


def review_id(left: str, right: str) -> str:
    """The same for a pair in either order: a pair is held once."""
    return digest("review " + " ".join(sorted((left, right))))


class Reviews:
    """Held merges of a partition. `front`: stories on a front page now -> the article that represents each there."""

    def __init__(self) -> None:
        self.front: Mapping[str, str] = {}
        self._known: dict[str, Review] = {}
        self._held: list[Review] = []

    def get(self, key: str) -> Review | None:
        """A review by id."""
        return self._known.get(key)

    def allows(self, pair: tuple[str, str], language: str, score: float, bar: float, now: float) -> bool:
        """Whether two stories may be merged now; one that may not is held, unless it was rejected."""
        key = review_id(*pair)
        known = self._known.get(key)
        if known is not None and known.decision is not None:
            return known.decision == "accepted"
        if score > bar + MARGIN or not all(story in self.front for story in pair):
            return True
        if known is not None:
            return now - known.at >= PATIENCE
        self.hold(Review(key, language, pair, score, bar, now))
        self._held.append(self._known[key])
        return False

    def hold(self, review: Review) -> None:
        """Remember a held merge; again changes nothing. Those of long ago are forgotten."""
        self._known.setdefault(review.review_id, review)
        for key in [key for key, held in self._known.items() if held.at < review.at - MEMORY]:
            del self._known[key]

    def decide(self, key: str, decision: Decision) -> Review | None:
        """The review as decided; None when there is no such review or it was decided before."""
        known = self._known.get(key)
        if known is None or known.decision is not None:
            return None
        self._known[key] = replace(known, decision=decision)
        return self._known[key]

    def take_held(self) -> list[Review]:
        """What was held since the last call, to be told."""
        held, self._held = self._held, []
        return held
