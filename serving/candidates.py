"""About 1,000 candidate stories for one reader, from several sources at once, each with a deadline.

The personalised-feed document's fan-out: followed topics (200 newest), followed sources (200), nearest to the interest
vector (300), trending (200), local, and the edition's own pool; follows also look into the pools of other editions in
the same language. A source that is late is left out and counted: the pool is always there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from frontpage.contracts.views import PageCard
from frontpage.domain.editions import EDITIONS
from frontpage.domain.features import Candidate
from serving.metrics import Metrics
from serving.pool import Pool, place_key
from serving.readers import ReaderState

#: Personalised-feed document: 25 ms each, in parallel; about 1,000 in all. The pool itself gives its best 400 first.
DEADLINE: Final = 0.025
LIMIT: Final = 1_000
PER_FOLLOW: Final = 200
NEIGHBOURS: Final = 300
TRENDING: Final = 200
BASE: Final = 400


@dataclass(frozen=True, slots=True)
class Found:
    """A candidate with its card."""

    candidate: Candidate
    card: PageCard


Source = Callable[[], list[Found]]


async def gather(
    state: ReaderState, pool: Pool, siblings: Sequence[Pool], metrics: Metrics, deadline: float = DEADLINE
) -> list[Found]:
    """The union, each story once, without what the reader hid; best sources first, at most LIMIT."""
    sources = _sources(state, pool, siblings)
    tasks = {name: asyncio.create_task(asyncio.to_thread(source)) for name, source in sources.items()}
    done: set[asyncio.Task[list[Found]]] = set()
    if tasks:
        done, late = await asyncio.wait(tasks.values(), timeout=deadline)
        for name, task in tasks.items():
            if task in late:
                metrics.late_sources.labels(name).inc()
    found = [_take(pool, range(min(BASE, len(pool.cards))))]
    found += [task.result() for task in tasks.values() if task in done]
    found.append(_take(pool, range(BASE, len(pool.cards))))
    hidden = Hidden.of(state)
    union: dict[str, Found] = {}
    for item in (item for part in found for item in part):
        if len(union) >= LIMIT:
            break
        if item.candidate.story_id not in union and not hidden.hides(item.card):
            union[item.candidate.story_id] = item
    return list(union.values())


@dataclass(frozen=True, slots=True)
class Hidden:
    """What a reader does not want to see."""

    stories: frozenset[str]
    sources: frozenset[str]
    topics: frozenset[str]

    @classmethod
    def of(cls, state: ReaderState) -> Hidden:
        """From the reader's registers."""
        on = state.profile.switched_on
        return cls(on("hide", "story"), on("hide", "source"), on("hide", "topic"))

    def hides(self, card: PageCard) -> bool:
        """A story is hidden by its id, by a hidden topic, or when a hidden source is its headline."""
        return (
            card.story_id in self.stories
            or card.top.publisher_id in self.sources
            or not self.topics.isdisjoint((*card.topics, *card.sections))
        )


def siblings_of(pool: Pool, pools: dict[str, Pool]) -> list[Pool]:
    """Pools of other editions in the same language."""
    language = EDITIONS[pool.edition].language
    return [other for id, other in pools.items() if id != pool.edition and EDITIONS[id].language == language]


def _sources(state: ReaderState, pool: Pool, siblings: Sequence[Pool]) -> dict[str, Source]:
    on = state.profile.switched_on
    subjects, publishers = on("follow", "topic") | on("follow", "entity"), on("follow", "source")
    sources: dict[str, Source] = {}
    if subjects:
        sources["topics"] = lambda: _followed(pool, siblings, subjects, lambda p: p.by_topic)
    if publishers:
        sources["sources"] = lambda: _followed(pool, siblings, publishers, lambda p: p.by_source)
    if state.profile.vectors:
        sources["neighbours"] = lambda: _neighbours(state, pool)
    if pool.by_clicks:
        sources["trending"] = lambda: _take(pool, pool.by_clicks[:TRENDING])
    if state.place:
        place = place_key(state.place)
        sources["local"] = lambda: _take(pool, pool.by_place.get(place, ())[:PER_FOLLOW])
    return sources


def _followed(
    pool: Pool, siblings: Sequence[Pool], wanted: Iterable[str], index: Callable[[Pool], object]
) -> list[Found]:
    found: list[Found] = []
    for place in (pool, *siblings):
        lists = index(place)
        for word in sorted(wanted):
            found += _take(place, lists.get(word, ())[:PER_FOLLOW])  # type: ignore[attr-defined]
    return found


def _neighbours(state: ReaderState, pool: Pool) -> list[Found]:
    found: list[Found] = []
    for projection in pool.matrices:
        interest = state.profile.interest(projection)
        if interest is not None:
            found += _take(pool, pool.neighbours(interest, projection, NEIGHBOURS))
    return found


def _take(pool: Pool, places: Iterable[int]) -> list[Found]:
    return [Found(pool.candidates[at], pool.cards[at]) for at in places]
