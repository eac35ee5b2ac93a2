"""A partition's book from what outlives a writer: the newest snapshot, `story.changes` after it, and Delta before it.

`Follower` also keeps the book warm while its process stands by, so that a takeover has only the last seconds to read.
Where the log no longer reaches back to the snapshot, or there is none, the changes in between come from Delta's
bronze table, which keeps the records of the topic as they were. Not here: deciding (`writer.py`).
"""

from __future__ import annotations

import datetime as dt
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Final

from frontpage.adapters.bus import Bus, Consumer, Record
from frontpage.contracts.events import StoryChange
from frontpage.contracts.story_codec import from_event
from frontpage.contracts.tables import BRONZE
from frontpage.contracts.topics import STORY_CHANGES
from frontpage.domain.clustering import Clusterer
from frontpage.domain.following import follow
from frontpage.domain.story import Change, StoryBook
from frontpage.errors import UnreadableEvent
from streaming.cluster import snapshots

if TYPE_CHECKING:
    from frontpage.adapters.lake import Lake

log = logging.getLogger(__name__)

#: Real days that Delta is read back: no story is known to run for longer with an article every two days.
DAYS: Final = 30
#: Beyond every offset: `Bus.read` stops at the committed end.
_THE_END: Final = 1 << 62
#: Records that a standby reads in one go.
_READ: Final = 500
#: Real seconds after which a standby that failed begins anew: it may be a long read.
ANEW: Final = 10.0
_STANDBY: Final = "cluster-standby"

#: Records of a partition of `story.changes` in order of offset, as far back as they are kept elsewhere.
Archive = Callable[[int], Iterable[Record]]
#: Makes the clusterer that extends a partition's book.
Minds = Callable[[StoryBook, int], Clusterer]


class Follower:
    """The book of a partition as the log says, and where in the log it stands."""

    def __init__(
        self, bus: Bus, partition: int, archive: Archive | None = None, minds: Minds | None = None
    ) -> None:  # fmt: skip
        """`minds`: makes what decides over the book, so that a standby has its indexes ready as well."""
        self._bus, self._partition, self._archive, self._minds = bus, partition, archive, minds
        self._rest_until = float("-inf")
        #: made by a standby; follows the book
        self.mind: Clusterer | None = None
        self._consumer: Consumer | None = None
        self._started = False
        self.book = StoryBook()
        #: next offset of `story.changes` to apply
        self.offset = 0
        #: sequence and real time of the snapshot begun with; without one, 0 and when the log begins
        self.snapshot: tuple[int, float] = (0, time.time())

    def catch_up(self) -> StoryBook:
        """Read to the committed end; raises ServiceUnavailable. The book is the caller's from now on."""
        if not self._started:
            self._start()
        read, start = False, self.offset
        for record in self._bus.read(STORY_CHANGES.name, self._partition, start, _THE_END):
            read = True
            self._apply(record)
        if not read and self.mind is None:
            end = self._bus.end_offsets(STORY_CHANGES.name).get(self._partition, 0)
            if end - start > 1:  # one offset is a transaction's marker; so many more have left the log
                self._fill(None)
            self.offset = max(start, end)
        return self.book

    def stand_by(self) -> None:
        """Read on a little; never raises: a standby that cannot begins anew, at the latest when it takes over."""
        if time.monotonic() < self._rest_until:
            return
        try:
            if not self._started:
                self.catch_up()
            if self.mind is None and self._minds is not None:
                self.mind = self._minds(self.book, self._partition)
            if self._consumer is None:
                place = (STORY_CHANGES.name, self._partition)
                self._consumer = self._bus.consumer(_STANDBY, [STORY_CHANGES.name], partitions=[self._partition])
                self._consumer.seek(place, self.offset)
            for record in self._consumer.poll(_READ, 0.0):
                self._apply(record)
        except Exception as error:  # noqa: BLE001 - whatever it is: the holder of the lease is not disturbed by it
            log.warning(
                "partition %d: standing by without stories: %s: %s", self._partition, type(error).__name__, error
            )
            self.close()
            self._started, self.book, self.mind, self.offset = False, StoryBook(), None, 0
            self._rest_until = time.monotonic() + ANEW

    def close(self) -> None:
        """Stop following."""
        if self._consumer is not None:
            self._consumer.close()
            self._consumer = None

    def _start(self) -> None:
        found = snapshots.latest(self._bus, self._partition)
        if found is not None:
            self.book, self.offset = found.book, found.offset
            self.snapshot = (found.book.sequence, found.taken)
        self._started = True

    def _apply(self, record: Record) -> None:
        if not self.book.sequence:
            self.snapshot = (0, record.timestamp)
        self.offset = record.offset + 1
        for change in read_changes([record]):
            if change.sequence > self.book.sequence + 1:
                self._fill(change.sequence)
                if change.sequence > self.book.sequence + 1:
                    log.error(
                        "%s/%d: sequence jumps from %d to %d",
                        record.topic, self._partition, self.book.sequence, change.sequence,
                    )  # fmt: skip
            self._take(change)

    def _take(self, change: Change) -> None:
        if self.mind is None:
            self.book.apply(change)
        else:
            follow(self.mind, change)

    def _fill(self, before: int | None) -> None:
        """What Delta has of the changes after the book's and before `before`."""
        if self._archive is None:
            return
        began = self.book.sequence
        for change in read_changes(self._archive(self._partition)):
            if before is None or change.sequence < before:
                self._take(change)
        log.warning("partition %d: changes %d to %d from Delta", self._partition, began, self.book.sequence)


def rebuild(bus: Bus, partition: int, archive: Archive | None = None) -> StoryBook:
    """The partition's book as of now."""
    return Follower(bus, partition, archive).catch_up()


def read_changes(records: Iterable[Record]) -> Iterator[Change]:
    """The readable changes among `records`; an unreadable one is logged: its consumers dead-letter it."""
    for record in records:
        try:
            event = StoryChange.decode(record.value)
            if event is not None:
                yield from_event(event)
        except UnreadableEvent as error:
            log.error("%s/%d@%d: %s", record.topic, record.partition, record.offset, error)


def archive_of(lake: Lake) -> Archive:
    """Delta's bronze table of story changes, of the last `DAYS` days; nothing while there is no such table."""

    def read(partition: int) -> Iterable[Record]:
        import pyarrow.dataset as ds
        from deltalake import DeltaTable
        from deltalake.exceptions import TableNotFoundError

        table, topic = BRONZE["story_changes"]
        try:
            dataset = DeltaTable(lake.path(table)).to_pyarrow_dataset()
        except TableNotFoundError:
            return
        since = dt.datetime.fromtimestamp(time.time(), dt.UTC).date() - dt.timedelta(days=DAYS)
        wanted = (ds.field("partition") == partition) & (ds.field("day") >= since) & ds.field("cause").is_null()
        rows = dataset.to_table(columns=["offset", "value"], filter=wanted).sort_by("offset")
        for batch in rows.to_batches(max_chunksize=_READ):
            for row in batch.to_pylist():
                yield Record(topic.name, partition, row["offset"], None, row["value"], 0.0)

    return read
