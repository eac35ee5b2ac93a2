"""`MemoryBus`: the in-memory twin of `KafkaBus`. `tests/contract/test_bus.py` runs the same checks over both.

It keeps what the processes rely on: partitions by murmur2, read-committed reads, offsets consumed by transaction markers
(so that offsets have gaps as Kafka's have), group generations, range assignment, fencing. Beyond the interface:
`expel(consumer)` takes a group member's partitions away as a missed poll interval does, `forget` is retention, and
`abort_next` aborts that many of the coming transactions.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from kafka.partitioner.default import murmur2

from frontpage.adapters.bus import Outgoing, Record, TopicPartition
from frontpage.contracts.topics import ALL
from frontpage.errors import Fenced, ServiceUnavailable


@dataclass
class _Group:
    generation: int = 0
    members: dict[int, tuple[list[str], set[TopicPartition]]] = field(default_factory=dict)
    committed: dict[TopicPartition, int] = field(default_factory=dict)


class MemoryBus:
    def __init__(self, partitions: Mapping[str, int] | None = None) -> None:
        self._lock = threading.Condition(threading.RLock())
        self._partitions = {topic.name: topic.partitions for topic in ALL} | dict(partitions or {})
        self._logs: dict[TopicPartition, list[Record | None]] = defaultdict(list)  # None is a marker
        self._groups: dict[str, _Group] = defaultdict(_Group)
        self._epochs: dict[str, int] = defaultdict(int)
        self._ids = itertools.count()
        self._spread = itertools.count()
        self.abort_next = 0

    def consumer(
        self,
        group: str,
        topics: Sequence[str],
        *,
        partitions: Sequence[int] | None = None,
        start: Literal["earliest", "latest"] = "earliest",
    ) -> MemoryConsumer:
        return MemoryConsumer(self, group, topics, partitions, start)

    def producer(self) -> MemoryProducer:
        return MemoryProducer(self)

    def transactional(self, transactional_id: str) -> MemoryTransactional:
        return MemoryTransactional(self, transactional_id)

    def end_offsets(self, topic: str) -> dict[int, int]:
        with self._lock:
            return {p: len(self._logs[topic, p]) for p in range(self._count(topic))}

    def committed(self, group: str, topic: str) -> Mapping[int, int]:
        with self._lock:
            return {p: offset for (t, p), offset in self._groups[group].committed.items() if t == topic}

    def read(self, topic: str, partition: int, start: int, stop: int) -> Iterable[Record]:
        with self._lock:
            return [r for r in self._logs[topic, partition][start:stop] if r is not None]

    # Beyond the interface, for tests.

    def records(self, topic: str) -> list[Record]:
        """All records of a topic, partition by partition."""
        with self._lock:
            return [r for p in range(self._count(topic)) for r in self._logs[topic, p] if r is not None]

    def forget(self, topic: str, partition: int, before: int) -> None:
        """Retention: the records below the offset are gone."""
        with self._lock:
            log = self._logs[topic, partition]
            log[:before] = [None] * len(log[:before])

    def expel(self, consumer: MemoryConsumer) -> None:
        """Take a group member's partitions away; it rejoins at its next poll."""
        with self._lock:
            consumer._leave()

    # Used by consumers and producers.

    def _count(self, topic: str) -> int:
        return self._partitions.get(topic, 1)

    def _append(self, records: Iterable[Outgoing], *, marker: bool) -> None:
        touched: dict[TopicPartition, None] = {}
        for out in records:
            count = self._count(out.topic)
            if out.partition is not None:
                partition = out.partition
                if partition >= count:
                    raise ValueError(f"{out.topic} has no partition {partition}")
            elif out.key is not None:
                partition = (murmur2(out.key.encode()) & 0x7FFFFFFF) % count
            else:
                partition = next(self._spread) % count
            log = self._logs[out.topic, partition]
            log.append(Record(out.topic, partition, len(log), out.key, out.value, time.time()))
            touched[out.topic, partition] = None
        if marker:
            for tp in touched:
                self._logs[tp].append(None)
        self._lock.notify_all()

    def _assign(self, group: _Group) -> None:
        group.generation += 1
        for _, mine in group.members.values():
            mine.clear()
        for topic in sorted({t for topics, _ in group.members.values() for t in topics}):
            takers = sorted(i for i, (topics, _) in group.members.items() if topic in topics)
            for partition in range(self._count(topic)):
                taker = takers[partition * len(takers) // self._count(topic)]
                group.members[taker][1].add((topic, partition))


class MemoryConsumer:
    def __init__(
        self, bus: MemoryBus, group: str, topics: Sequence[str], partitions: Sequence[int] | None, start: str
    ) -> None:
        self._bus, self._topics, self._start = bus, list(topics), start
        self._group = bus._groups[group]
        self._id = next(bus._ids)
        self._manual = None if partitions is None else {(t, p) for t in topics for p in partitions}
        self._generation = -1
        self._positions: dict[TopicPartition, int] = {}
        self._first: dict[TopicPartition, int] = {}
        with bus._lock:
            self._join()

    def poll(self, max_records: int, timeout: float) -> list[Record]:
        deadline = time.monotonic() + timeout
        with self._bus._lock:
            while True:
                self._join()
                records: list[Record] = []
                for tp in sorted(self._positions):
                    log = self._bus._logs[tp]
                    while self._positions[tp] < len(log) and (
                        len(records) < max_records or log[self._positions[tp]] is None
                    ):
                        entry = log[self._positions[tp]]
                        self._positions[tp] += 1
                        if entry is not None:
                            records.append(entry)
                left = deadline - time.monotonic()
                if records or left <= 0:
                    return records
                self._bus._lock.wait(left)

    def assignment(self) -> set[TopicPartition]:
        with self._bus._lock:
            if self._manual is not None:
                return set(self._manual)
            return set(self._group.members[self._id][1]) if self._current() else set()

    def position(self, partition: TopicPartition) -> int:
        with self._bus._lock:
            self._join()
            return self._positions[partition]

    def seek_to_committed(self) -> None:
        with self._bus._lock:
            for tp in self._positions:
                self._positions[tp] = self._group.committed.get(tp, self._first[tp])

    def seek(self, partition: TopicPartition, offset: int) -> None:
        with self._bus._lock:
            self._join()
            self._positions[partition] = offset

    def commit(self) -> bool:
        with self._bus._lock:
            if not self._current():
                return False
            self._group.committed.update(self._positions)
            return True

    def lag(self) -> dict[TopicPartition, int]:
        with self._bus._lock:
            return {
                tp: sum(entry is not None for entry in self._bus._logs[tp][position:])
                for tp, position in self._positions.items()
            }

    def close(self) -> None:
        with self._bus._lock:
            self._leave()

    def _current(self) -> bool:
        if self._manual is not None:
            return True
        return self._id in self._group.members and self._generation == self._group.generation

    def _join(self) -> None:
        if self._current() and self._positions:
            return
        if self._manual is None:
            if self._id not in self._group.members:
                self._group.members[self._id] = (self._topics, set())
                self._bus._assign(self._group)
            self._generation = self._group.generation
            mine = set(self._group.members[self._id][1])
        else:
            mine = self._manual
        kept = {tp: position for tp, position in self._positions.items() if tp in mine} if self._manual else {}
        for tp in mine:
            first = 0 if self._start == "earliest" else len(self._bus._logs[tp])
            self._first[tp] = self._first.get(tp, first)
            kept.setdefault(tp, self._group.committed.get(tp, self._first[tp]))
        self._positions = kept

    def _leave(self) -> None:
        if self._group.members.pop(self._id, None) is not None:
            self._bus._assign(self._group)


class MemoryProducer:
    def __init__(self, bus: MemoryBus) -> None:
        self._bus = bus

    def send(self, records: Iterable[Outgoing]) -> None:
        with self._bus._lock:
            self._bus._append(records, marker=False)

    def close(self) -> None:
        pass


class MemoryTransactional:
    def __init__(self, bus: MemoryBus, transactional_id: str) -> None:
        self._bus, self._id = bus, transactional_id
        with bus._lock:
            bus._epochs[transactional_id] += 1
            self._epoch = bus._epochs[transactional_id]

    def transact(self, records: Sequence[Outgoing], consumer: MemoryConsumer | None) -> None:
        with self._bus._lock:
            if self._bus._epochs[self._id] != self._epoch:
                raise Fenced(f"a newer producer has the transactional id {self._id}")
            if self._bus.abort_next > 0:
                self._bus.abort_next -= 1
                raise ServiceUnavailable("transaction aborted: the test asked for it")
            if consumer is not None and not consumer._current():
                raise ServiceUnavailable("transaction aborted: the group has moved on")
            self._bus._append(records, marker=True)
            if consumer is not None:
                consumer.commit()

    def close(self) -> None:
        pass
