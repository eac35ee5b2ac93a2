"""Snapshots of a writer's book on `story.snapshots`: made a part a turn between articles, found again from the end.

A snapshot is due after as many changes as the book has articles (so that making them costs at most as much as making
the changes did), and once a day, as a story that runs for longer than `story.changes` is kept must not lose its first
articles. Nothing depends on it: one that is missing, broken off or damaged means reading the log from further back.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from frontpage.adapters.bus import Bus, Outgoing
from frontpage.contracts.snapshots import SnapshotPart, encode_parts, freeze, thaw
from frontpage.contracts.topics import STORY_SNAPSHOTS
from frontpage.domain.story import StoryBook
from frontpage.errors import UnreadableEvent

log = logging.getLogger(__name__)

#: Fewest changes between two snapshots: reading so many takes about a second.
EVERY: Final = 5_000
#: Real seconds between two snapshots of a book that changes less.
DAILY: Final = 86_400.0
#: Offsets at the end of the topic that are looked at first; twice as many each time that a snapshot began before them.
LAST: Final = 64


@dataclass(frozen=True, slots=True)
class Found:
    """A snapshot that was read. `offset` is where the log goes on; `taken` real seconds since 1970."""

    book: StoryBook
    offset: int
    taken: float


class Snapshots:
    """Makes the snapshots of one tenure, whose book it reads and never changes."""

    def __init__(self, partition: int, book: StoryBook, since: int, taken: float, *, every: int = EVERY) -> None:
        """`since` and `taken`: sequence and real time of the latest snapshot (0 and the start when there is none)."""
        self._partition, self._book = partition, book
        self._since, self._taken, self._every = since, taken, every
        self._parts: Iterator[bytes] | None = None

    def step(self, now: float, end: Callable[[], int]) -> Outgoing | None:
        """The next part to write, None when none is due. Call with nothing of ours uncommitted.

        `end` is asked where `story.changes` ends when a snapshot begins.
        """
        if self._parts is None:
            changed = self._book.sequence - self._since
            enough = changed >= max(self._every, len(self._book.story_of))
            if not enough and not (changed and time.time() - self._taken >= DAILY):
                return None
            self._since, self._taken = self._book.sequence, time.time()
            head = SnapshotPart(
                snapshot_id=f"{self._partition}-{self._since}", sequence=self._since, offset=end(), part=0, at=now
            )
            self._parts = encode_parts(freeze(self._book), head)
        value = next(self._parts, None)
        if value is None:
            self._parts = None
            return None
        return Outgoing(STORY_SNAPSHOTS.name, None, value, self._partition)


def latest(bus: Bus, partition: int) -> Found | None:
    """The newest whole snapshot of a partition; None when there is none that can be used."""
    end = bus.end_offsets(STORY_SNAPSHOTS.name).get(partition, 0)
    span = LAST
    while end > 0:
        start = max(0, end - span)
        found = _whole(bus, partition, start, end)
        if found is not None or start == 0:
            return found
        span *= 2
    return None


def _whole(bus: Bus, partition: int, start: int, end: int) -> Found | None:
    """The last snapshot all of whose parts are among the offsets given. A part written twice counts once."""
    parts: dict[str, dict[int, SnapshotPart]] = {}
    complete: tuple[str, float] | None = None
    for record in bus.read(STORY_SNAPSHOTS.name, partition, start, end):
        try:
            part = SnapshotPart.decode(record.value)
        except UnreadableEvent as error:
            log.warning("%s/%d@%d: %s", record.topic, partition, record.offset, error)
            continue
        if part is None:
            continue
        if part.part == 0:  # a new one, also when a later tenure makes it at the same sequence
            parts[part.snapshot_id] = {}
        held = parts.setdefault(part.snapshot_id, {})
        held[part.part] = part
        if part.parts and len(held) == part.parts:
            complete = part.snapshot_id, record.timestamp
    if complete is None:
        return None
    chosen = [part for _, part in sorted(parts[complete[0]].items())]
    try:
        return Found(thaw(chosen), chosen[-1].offset, complete[1])
    except UnreadableEvent as error:
        log.error("snapshot %s of partition %d is damaged: %s", complete[0], partition, error)
        return None
