"""The loop of every process that reads, decides and produces: poll, decide, one transaction, then side effects.

It knows no Kafka (the bus is passed in) and takes no decision. What it guarantees, whatever dies when:
- the records a batch led to and the batch's offsets become visible together, or the batch is handled again;
- a batch whose transaction was aborted (broker away, partition lost in a rebalance) is dropped and polled again after
  a back-off, so that `Work.handle` must give the same records for the same input: deterministic ids, keyed writes;
- `Fenced` ends the process at once: a newer one has our id.
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
from frontpage.errors import ServiceUnavailable, UnreadableInput

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


class Work(Protocol):
    """What a process does with a batch."""

    def handle(self, records: list[Record]) -> list[Outgoing]:
        """The records that this batch leads to, dead letters included.

        Raise ServiceUnavailable to have the batch polled again after a back-off; raise nothing for bad input.
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
    from it. `poll_timeout` is in real seconds. `clock` is not used to wait: time-outs of services are real.
    """
    del clock  # part of the signature so that every process has one at hand; see `dead_letter`
    consumer = bus.consumer(group, topics, partitions=partitions)
    producer = bus.transactional(transactional_id)
    backoff = FIRST_BACKOFF
    try:
        while not stop.is_set():
            try:
                with store_errors():
                    records = consumer.poll(max_records, poll_timeout)
                    if records:
                        producer.transact(work.handle(records), consumer)
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
