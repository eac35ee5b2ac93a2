"""What is hot in the click streams: windows per article in each partition, summed by one merge stage.

Kafka splits clicks by article, so each partition counts on its own and hands its best to the merger:
- `ClickWindows`: clicks of the last 1 and 15 minutes, exact for the 10,000 busiest keys, a count-min sketch for the
  rest. A sketch never counts too little and errs by about e/width of the window's clicks, enough for ranking.
- velocity is clicks per minute, the mean of both windows' rates. It is additive, so a story's velocity is the sum of
  its articles', and the sum over partitions is the velocity of the whole.
- `Baseline` and `spike`: a publisher at 20 times its usual rate is likely to have news (polls are boosted).

Not here: which Kafka topic or Redis key anything goes to. Pure: times are passed in, seconds since 1970 (virtual).
"""

from __future__ import annotations

import hashlib
import math
from collections import deque
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]
Key = TypeVar("Key", bound=Hashable)

#: Both windows and the emission step are the documents'; a slot is the step, so windows move by it.
SLOT: Final = 10.0
MINUTE_SLOTS: Final = 6
QUARTER_SLOTS: Final = 90
EXACT: Final = 10_000
#: K = 500, doubled so that an item moderately hot everywhere survives the local cut.
LOCAL_TOP: Final = 1000
SPIKE: Final = 20.0
#: A minute with fewer clicks than this is noise whatever the baseline.
SPIKE_FLOOR: Final = 20
#: Clicks per minute below which no publisher's usual rate is put: the first click after a silent day is no spike.
BASELINE_FLOOR: Final = 0.5
#: The baseline forgets half in 6 hours: long against a spike, short against a day's rhythm.
BASELINE_HALF_LIFE: Final = 6 * 3600.0


def velocity(minute: float, quarter: float) -> float:
    """Clicks per minute, mean of the 1-minute and the 15-minute rate."""
    return 0.5 * minute + 0.5 * quarter / 15.0


class CountMin:
    """Count-min sketch, `depth` rows of `width`. Addable and subtractable, so that windows can slide."""

    def __init__(self, width: int = 4096, depth: int = 4) -> None:
        self.table: Counts = np.zeros((depth, width), dtype=np.int64)

    def cells(self, key: str) -> Counts:
        """One column per row for `key`; the same in every process (BLAKE2, never Python's seeded hash)."""
        depth, width = self.table.shape
        raw = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=4 * depth).digest()
        columns: Counts = (np.frombuffer(raw, dtype="<u4") % width).astype(np.int64)
        return columns

    def add(self, key: str, count: int) -> None:
        """Count `key`; a negative count takes back what was added before."""
        self.table[np.arange(self.table.shape[0]), self.cells(key)] += count

    def estimate(self, key: str) -> int:
        """At least the true count."""
        return int(self.table[np.arange(self.table.shape[0]), self.cells(key)].min())

    def merge(self, other: CountMin) -> None:
        """Become the sketch of both streams."""
        self.table += other.table


@dataclass(slots=True)
class _Ring:
    """Clicks of one key by slot, oldest first, and the slot in which it was last seen."""

    slots: deque[list[int]] = field(default_factory=deque)

    def add(self, slot: int, count: int) -> None:
        for entry in reversed(self.slots):
            if entry[0] == slot:
                entry[1] += count
                return
            if entry[0] < slot:
                break
        self.slots.append([slot, count])
        if len(self.slots) > 1 and self.slots[-2][0] > slot:  # a late click: keep the order
            self.slots = deque(sorted(self.slots))

    def drop_before(self, slot: int) -> None:
        while self.slots and self.slots[0][0] < slot:
            self.slots.popleft()

    def total(self, first: int, last: int) -> int:
        return sum(count for slot, count in self.slots if first <= slot <= last)


class ClickWindows(Generic[Key]):
    """1-minute and 15-minute counts per key of one partition. A window at `now` ends with the slot before `now`'s.

    `text(key)` names a key in the sketch. Keys beyond `exact` live in the sketch until their estimate beats the
    least busy exact key; the place is then theirs and starts with the estimate.
    """

    def __init__(self, exact: int = EXACT, width: int = 4096) -> None:
        self._exact: dict[Key, _Ring] = {}
        self._limit = exact
        self._width = width
        self._sketches: dict[int, CountMin] = {}
        self._tail = CountMin(width)

    def add(self, key: Key, at: float, now: float, count: int = 1) -> None:
        """Count a click made at `at`; one older than the window, or from the future, is counted nowhere or now."""
        slot = min(slot_of(at), slot_of(now))
        if slot < slot_of(now) - QUARTER_SLOTS:
            return
        ring = self._exact.get(key)
        if ring is None:
            if len(self._exact) >= self._limit and not self._promote(key, slot_of(now), count):
                self._sketch(slot).add(repr(key), count)
                self._tail.add(repr(key), count)
                return
            ring = self._exact.setdefault(key, _Ring())
        ring.add(slot, count)

    def counts(self, key: Key, now: float) -> tuple[int, int]:
        """(last minute, last 15 minutes) of complete slots; for a key of the tail, estimates that are never too low."""
        last = slot_of(now) - 1
        ring = self._exact.get(key)
        if ring is not None:
            return ring.total(last - MINUTE_SLOTS + 1, last), ring.total(last - QUARTER_SLOTS + 1, last)
        self._expire(now)
        name = repr(key)
        minute = sum(s.estimate(name) for slot, s in self._sketches.items() if last - MINUTE_SLOTS < slot <= last)
        return minute, self._tail.estimate(name)

    def top(self, now: float, limit: int = LOCAL_TOP) -> list[tuple[Key, int, int]]:
        """The busiest keys by velocity: (key, last minute, last 15 minutes), ties by name."""
        self._expire(now)
        rows = [(key, *self.counts(key, now)) for key in self._exact]
        rows = [row for row in rows if row[2] > 0]
        rows.sort(key=lambda row: (-velocity(row[1], row[2]), repr(row[0])))
        return rows[:limit]

    def _promote(self, key: Key, now_slot: int, count: int) -> bool:
        estimate = self._tail.estimate(repr(key)) + count
        # cheap test first: most keys of the tail are seen once
        if estimate < 3:
            return False
        weakest = min(self._exact, key=lambda k: self._exact[k].total(now_slot - QUARTER_SLOTS, now_slot))
        ring = self._exact[weakest]
        if ring.total(now_slot - QUARTER_SLOTS, now_slot) >= estimate:
            return False
        del self._exact[weakest]
        for slot, amount in ring.slots:
            self._sketch(slot).add(repr(weakest), amount)
            self._tail.add(repr(weakest), amount)
        fresh = _Ring()
        for slot in sorted(self._sketches):
            amount = self._sketches[slot].estimate(repr(key))
            if amount:
                self._sketches[slot].add(repr(key), -amount)
                self._tail.add(repr(key), -amount)
                fresh.add(slot, amount)
        self._exact[key] = fresh
        return True

    def _sketch(self, slot: int) -> CountMin:
        return self._sketches.setdefault(slot, CountMin(self._width))

    def _expire(self, now: float) -> None:
        oldest = slot_of(now) - QUARTER_SLOTS
        for slot in [slot for slot in self._sketches if slot < oldest]:
            self._tail.table -= self._sketches.pop(slot).table
        for key in list(self._exact):
            ring = self._exact[key]
            ring.drop_before(oldest)
            if not ring.slots:
                del self._exact[key]


def slot_of(at: float) -> int:
    """Number of the 10-second slot of a time."""
    return math.floor(at / SLOT)


def window_end(now: float) -> float:
    """End of the last complete slot: the same for all partitions, so that their partials add up."""
    return slot_of(now) * SLOT


def roll_up(
    rows: Iterable[tuple[str, str, str, str, int, int]],
) -> tuple[dict[str, dict[str, tuple[int, int]]], dict[str, dict[str, tuple[int, int]]]]:
    """Sum partials' rows [article, story, publisher, edition, 1 min, 15 min] to (stories, publishers) by edition.

    Each is {edition: {id: (1 min, 15 min)}}; edition "*" is all of them. Order and grouping of rows do not matter.
    """
    stories: dict[str, dict[str, tuple[int, int]]] = {}
    publishers: dict[str, dict[str, tuple[int, int]]] = {}
    for _, story, publisher, edition, minute, quarter in rows:
        for place in {edition, "*"}:
            for sums, id in ((stories, story), (publishers, publisher)):
                if id:
                    of = sums.setdefault(place, {})
                    old = of.get(id, (0, 0))
                    of[id] = (old[0] + minute, old[1] + quarter)
    return stories, publishers


def hottest(sums: Mapping[str, tuple[int, int]], limit: int = 500) -> list[tuple[str, float, int]]:
    """[(id, velocity, clicks of 15 minutes)], the fastest first, ties by id."""
    rows = [(id, round(velocity(minute, quarter), 4), quarter) for id, (minute, quarter) in sums.items()]
    return sorted(rows, key=lambda row: (-row[1], row[0]))[:limit]


@dataclass(frozen=True, slots=True)
class Baseline:
    """A publisher's usual clicks per minute, decayed; `at` is when it was last brought up to date."""

    rate: float = 0.0
    at: float | None = None

    def observe(self, per_minute: float, now: float) -> Baseline:
        """The baseline after a span with this rate; spikes are clipped, so they do not become the new usual."""
        if self.at is None:
            return Baseline(per_minute, now)
        if now <= self.at:
            return self
        keep = 0.5 ** ((now - self.at) / BASELINE_HALF_LIFE)
        clipped = min(per_minute, SPIKE * max(self.rate, BASELINE_FLOOR))
        return Baseline(keep * self.rate + (1 - keep) * clipped, now)


def spike(minute: int, baseline: Baseline) -> bool:
    """True when the last minute's clicks are 20 times the usual, and enough to mean something."""
    return minute >= SPIKE_FLOOR and minute >= SPIKE * max(baseline.rate, BASELINE_FLOOR)
