"""The loop of every process that reads, decides and produces: poll, decide, one transaction, then side effects.

It knows no Kafka (the bus is passed in) and takes no decision. What it guarantees, whatever dies when:
- the records a batch led to and the batch's offsets become visible together, or the batch is handled again;
- a batch whose transaction was aborted (broker away, partition lost in a rebalance) is dropped and polled again after
  a back-off, so that `Work.handle` must give the same records for the same input: deterministic ids, keyed writes;
- `Fenced` ends the process at once: a newer one has our id;
- a record that no code foresaw stops nobody for ever: when a batch breaks its handler, its records are handled one by
  one, each in a transaction of its own, and the one that breaks it again becomes a dead letter with its cause.
What it cannot do: run `after_commit` exactly once. A crash between commit and `after_commit` skips it, so that it may
only do what a later run repairs (marking rows as known to be in Kafka, waking someone up).
"""

from __future__ import annotations

import base64
import logging
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from frontpage.adapters.bus import Bus, Outgoing, Record
from frontpage.adapters.redis_store import store_errors
from frontpage.contracts import topics as all_topics
from frontpage.contracts.envelope import Event
from frontpage.contracts.events import DeadLetter
from frontpage.errors import ConfigurationError, Fenced, ServiceUnavailable, UnreadableEvent, UnreadableInput

if TYPE_CHECKING:
    import threading

    from frontpage.adapters.clock import Clock

E = TypeVar("E", bound=Event)

log = logging.getLogger(__name__)

#: Back-off after an aborted transaction, real seconds: short enough to hide a blip of the broker, and long enough at
#: its ceiling that a broker that starts (3 s here) is not hammered.
FIRST_BACKOFF: Final = 0.2
LONGEST_BACKOFF: Final = 10.0
#: A dead letter keeps at most this much of the value: `items.dead` must accept any record its source accepted.
DEAD_VALUE_LIMIT: Final = 512 * 1024


#: Records in a row that may break their handler. More are no records' fault but the process's (a model that is damaged,
#: a bug that a release brought), which ends, and is started again, rather than have a topic dead-lettered.
MOST_BROKEN: Final = 20


class Work(Protocol):
    """What a process does with a batch."""

    def handle(self, records: list[Record]) -> list[Outgoing]:
        """The records that this batch leads to, dead letters included.

        Raise ServiceUnavailable to have the batch polled again after a back-off; raise nothing for bad input that was
        foreseen. Whatever else it raises has the batch dropped (`rollback`) and handled again record by record.
        """


def run_transactional(
    bus: Bus,
    *,
    process: str,
    group: str,
    topics: Sequence[str],
    transactional_id: str,
    work: Work,
    clock: Clock,
    stop: threading.Event,
    partitions: Sequence[int] | None = None,
    max_records: int = 500,
    poll_timeout: float = 0.2,
    after_commit: Callable[[list[Record]], None] | None = None,
    idle: Callable[[], Sequence[Outgoing] | None] | None = None,
    rollback: Callable[[], None] | None = None,
) -> None:
    """Run until `stop` is set. Raises Fenced; everything else that a service does wrong is waited out.

    `idle` is called after every turn, with or without records (heartbeats, timers); records that it returns are
    written in a transaction of their own. `rollback` is called when a batch was dropped, for a `work` that keeps state
    from it. `poll_timeout` is in real seconds. `clock` dates dead letters; time-outs of services are real.
    """
    consumer = bus.consumer(group, topics, partitions=partitions)
    producer = bus.transactional(transactional_id)
    backoff = FIRST_BACKOFF
    careful = Careful(work, process, clock)
    try:
        while not stop.is_set():
            try:
                with store_errors():
                    records = consumer.poll(careful.portion or max_records, poll_timeout)
                    if records:
                        out = careful.handle(records, rollback)
                        if out is None:
                            consumer.seek_to_committed()
                            continue
                        producer.transact(out, consumer)
                        careful.committed(records)
                        if after_commit is not None:
                            after_commit(records)
                    due = idle() if idle is not None else None
                    if due:
                        producer.transact(list(due), None)
                backoff = FIRST_BACKOFF
            except ServiceUnavailable as error:
                log.warning("%s: batch dropped, again in %.1f s: %s", process, backoff, error)
                consumer.seek_to_committed()
                if rollback is not None:
                    rollback()
                stop.wait(backoff)
                backoff = min(backoff * 2, LONGEST_BACKOFF)
    finally:
        consumer.close()
        producer.close()


class Careful:
    """Handles batches; after one that broke its handler, as many records one by one."""

    def __init__(self, work: Work, process: str, clock: Clock) -> None:
        self._work, self._process, self._clock = work, process, clock
        self._left = 0
        self._broken = 0

    @property
    def portion(self) -> int:
        """How many records to poll: 1 while the broken batch is handled again, else 0 (as many as usual)."""
        return 1 if self._left else 0

    def handle(self, records: list[Record], rollback: Callable[[], None] | None) -> list[Outgoing] | None:
        """What a batch leads to; None: it is to be polled again, record by record.

        Raises what is not the records' fault (`fault_of`), and the error itself when too many in a row break.
        """
        try:
            with store_errors():
                out = self._work.handle(records)
            self._broken = 0
            return out
        except Exception as error:
            fault = fault_of(records[0], error)
            if rollback is not None:
                rollback()
            if len(records) > 1:
                log.warning("%s: one of %d records broke it, taking them one by one", self._process, len(records))
                self._left = len(records)
                return None
            self._broken += 1
            if self._broken > MOST_BROKEN:
                raise
            return [dead_letter(records[0], fault, self._process, self._clock.now())]

    def committed(self, records: list[Record]) -> None:
        """A batch is through, with or without a dead letter."""
        self._left = max(0, self._left - len(records))


def place_of(record: Record) -> str:
    """`topic/partition@offset`: how logs name a record."""
    return f"{record.topic}/{record.partition}@{record.offset}"


def fault_of(record: Record, error: Exception) -> UnreadableInput:
    """What `record`'s dead letter says when handling it raised `error`; the trace is logged unless it was foreseen.

    Raises what is not the record's fault: services that are away, a fenced id, a wrong setting; files and memory that
    failed as ServiceUnavailable. The one rule for every loop that takes records one by one.
    """
    if isinstance(error, UnreadableInput):
        return error
    if isinstance(error, ServiceUnavailable | Fenced | ConfigurationError):
        raise error
    if isinstance(error, OSError | MemoryError):
        raise ServiceUnavailable(f"{place_of(record)}: {type(error).__name__}: {error}") from error
    log.error("%s: cannot be handled", place_of(record), exc_info=error)
    return UnreadableEvent(f"{type(error).__name__}: {error}"[:200], cause="cannot-handle")


def dead_letter(record: Record, error: UnreadableInput, process: str, at: float, *, attempts: int = 1) -> Outgoing:
    """The one record on `items.dead` for `record`; `at` is the process's clock, in seconds since 1970.

    Offset, cause and original bytes are kept (values above 512 KiB are left out and `detail` says so).
    """
    value, detail = record.value, str(error)[:500]
    if value is not None and len(value) > DEAD_VALUE_LIMIT:
        detail, value = f"{detail} (value of {len(value)} bytes left out)", None
    letter = DeadLetter(
        topic=record.topic,
        partition=record.partition,
        offset=record.offset,
        key=record.key,
        value_b64=None if value is None else base64.b64encode(value).decode("ascii"),
        cause=error.cause,
        detail=detail,
        attempts=attempts,
        process=process,
        at=at,
    )
    return Outgoing(all_topics.ITEMS_DEAD.name, record.key, letter.encode())


def decoded(
    records: Iterable[Record], event: type[E], process: str, at: float
) -> tuple[list[tuple[Record, E]], list[Outgoing]]:
    """The readable events of a batch with their records, and one dead letter for each unreadable record.

    Tombstones (null values) are skipped: none of our topics is compacted, so they mean nothing here.
    """
    good: list[tuple[Record, E]] = []
    dead: list[Outgoing] = []
    for record in records:
        try:
            found = event.decode(record.value)
        except UnreadableInput as error:
            dead.append(dead_letter(record, error, process, at))
        else:
            if found is not None:
                good.append((record, found))
    return good, dead
