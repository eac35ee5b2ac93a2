"""Who may stand next to whom: hard limits of a shared page, and maximal marginal relevance.

The page rules are the editions document's: at most 3 of the top 10 from one section, and never two stories whose
centroids have a cosine above 0.85 (a likely missed merge: the reader would see one event twice).
`mmr` picks supporting links here and serves personal lists (`personal.py`) too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class DiversityPolicy:
    """Numbers of the editions document."""

    head: int = 10
    per_section: int = 3
    same_event: float = 0.85


@dataclass(frozen=True, slots=True)
class Placed:
    """A story that asks for a place. `section` "" means unknown and is not limited; `vector` has unit length."""

    story_id: str
    section: str
    vector: Floats


def arrange(
    ordered: Iterable[Placed], *, limit: int, policy: DiversityPolicy | None = None, sections: bool = True
) -> tuple[list[str], dict[str, str]]:
    """The ids to show, best first, and for each story left out the id of the one it repeats.

    A fourth story of a section waits until the head is full. Only when nothing else is left does it move up: a
    page shorter than its head would be worse than an uneven one. `sections=False` for pages of one section.
    """
    policy = policy or DiversityPolicy()
    chosen: list[Placed] = []
    waiting: list[Placed] = []
    repeats: dict[str, str] = {}
    counts: dict[str, int] = {}
    for story in ordered:
        if len(chosen) >= limit:
            break
        twin = nearest(story.vector, chosen, policy.same_event) or nearest(story.vector, waiting, policy.same_event)
        if twin is not None:
            repeats[story.story_id] = twin
            continue
        full = sections and story.section and counts.get(story.section, 0) >= policy.per_section
        if full and len(chosen) < policy.head:
            waiting.append(story)
            continue
        if len(chosen) == policy.head and waiting:
            chosen.extend(waiting)
            waiting = []
        chosen.append(story)
        counts[story.section] = counts.get(story.section, 0) + 1
    chosen.extend(waiting)
    return [story.story_id for story in chosen[:limit]], repeats


def nearest(vector: Floats, placed: Sequence[Placed], bar: float) -> str | None:
    """Id of the first placed story whose cosine with `vector` is above `bar`."""
    if not placed:
        return None
    cosines = np.stack([other.vector for other in placed]) @ vector
    above = np.flatnonzero(cosines > bar)
    return placed[int(above[0])].story_id if above.size else None


def mmr(
    items: Sequence[Item],
    *,
    relevance: Callable[[Item], float],
    similarity: Callable[[Item, Item], float],
    count: int,
    alpha: float = 0.7,
    allowed: Callable[[Item, Sequence[Item]], bool] | None = None,
) -> list[Item]:
    """Greedy maximal marginal relevance: each pick maximises alpha*relevance - (1-alpha)*max similarity.

    `allowed(item, picked)` is a hard limit. Equal values keep the order of `items`. alpha 0.7 is the documents'.
    """  # fmt: skip
    left = list(items)
    closest = [0.0] * len(left)
    picked: list[Item] = []
    while left and len(picked) < count:
        best, value = -1, float("-inf")
        for at, item in enumerate(left):
            if allowed is not None and not allowed(item, picked):
                continue
            marginal = alpha * relevance(item) - (1 - alpha) * closest[at]
            if marginal > value:
                best, value = at, marginal
        if best < 0:
            break
        choice = left.pop(best)
        closest.pop(best)
        picked.append(choice)
        closest = [max(old, similarity(choice, item)) for old, item in zip(closest, left, strict=True)]
    return picked
