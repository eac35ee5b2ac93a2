"""The bus behind a small interface: Kafka in `kafka_bus.py`, an in-memory twin in `tests/fakes/bus.py`.

Rules that every implementation keeps (one list of checks runs over both, `tests/contract`):
- Consumers read committed records only and hand out bytes; decoding is the caller's.
- `Consumer.poll` never moves the committed offset; a transaction or `commit` does.
- A transaction's records and its input offsets become visible together or not at all.
- A second transactional producer with the same id fences the first, whose next call raises `Fenced`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

TopicPartition = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Record:
    """One record as read. `timestamp` is Kafka's, in real seconds since 1970."""

    topic: str
    partition: int
    offset: int
    key: str | None
    value: bytes | None
    timestamp: float


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One record to write. `partition` None lets the key decide (murmur2, Kafka's default)."""

    topic: str
    key: str | None
    value: bytes | None
    partition: int | None = None


class Consumer(Protocol):
    """Reads one group's share of topics, or exactly the partitions it was given."""

    def poll(self, max_records: int, timeout: float) -> list[Record]:
        """Up to `max_records` in offset order per partition; [] after `timeout` real seconds."""

    def assignment(self) -> set[TopicPartition]:
        """The partitions this consumer reads now."""

    def position(self, partition: TopicPartition) -> int:
        """Offset of the next record that `poll` will hand out (skips transaction markers)."""

    def seek_to_committed(self) -> None:
        """Forget what was polled since the last commit: it will be polled again."""

    def seek(self, partition: TopicPartition, offset: int) -> None:
        """Next poll of `partition` starts at `offset`."""

    def commit(self) -> bool:
        """Commit positions outside a transaction. False when the group has moved on: drop the batch, rejoin."""

    def lag(self) -> dict[TopicPartition, int]:
        """Records behind the committed end, per assigned partition."""

    def close(self) -> None:
        """Leave the group without committing."""


class Producer(Protocol):
    """Writes outside transactions with acks=all and idempotence."""

    def send(self, records: Iterable[Outgoing]) -> None:
        """Returns when all are acknowledged; raises ServiceUnavailable after the delivery time-out."""

    def close(self) -> None:
        """Flush and close."""


class TransactionalProducer(Protocol):
    """Writes records and the consumer's positions in one transaction."""

    def transact(self, records: Sequence[Outgoing], consumer: Consumer | None) -> None:
        """One transaction: `records`, and `consumer`'s positions for its group when given.

        Raises Fenced when a newer producer has our id (stop for good) and ServiceUnavailable when the
        transaction was aborted (call `consumer.seek_to_committed()` and try again).
        """

    def close(self) -> None:
        """Abort what is open and close."""


class Bus(Protocol):
    """One connection's worth of configuration; cheap to make."""

    def consumer(
        self,
        group: str,
        topics: Sequence[str],
        *,
        partitions: Sequence[int] | None = None,
        start: Literal["earliest", "latest"] = "earliest",
    ) -> Consumer:
        """Join `group`, or read exactly `partitions` of each topic; `start` applies where nothing is committed."""

    def producer(self) -> Producer:
        """A plain producer."""

    def transactional(self, transactional_id: str) -> TransactionalProducer:
        """A transactional producer; fences any earlier one with this id."""

    def end_offsets(self, topic: str) -> dict[int, int]:
        """Read-committed end (last stable offset) of each partition: the offset vector of a watermark."""

    def committed(self, group: str, topic: str) -> Mapping[int, int]:
        """Committed offsets of a group on a topic; partitions without one are absent."""

    def read(self, topic: str, partition: int, start: int, stop: int) -> Iterable[Record]:
        """Committed records with start <= offset < stop, without a group (rebuilding state)."""


def history(bus: Bus, consumer: Consumer, topic: str) -> Iterator[Record]:
    """All committed records of `topic` as of now; `consumer`, which reads without a group, goes on after them.

    For state that must be whole before it is used: a poll comes back empty whenever the broker is slow, and not only
    at the end. Raises ServiceUnavailable when the broker stops answering short of the end.
    """
    for partition, end in bus.end_offsets(topic).items():
        if end > 0:
            yield from bus.read(topic, partition, 0, end)
            consumer.seek((topic, partition), end)
