"""`KafkaBus`: the bus over kafka-python. Bytes in, bytes out; one list of checks runs over it and its in-memory twin.

What this module adds to the library: read-committed everywhere, no auto-commit, no deserialiser inside the client (one
that raises is called again for the same record for ever), our two errors instead of a hundred, a commit that came too
late as an ordinary answer, and a transactional producer that outlives a restart of the broker.
Topics are made by `adapters/services/kafka.py`, never by writing to them.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal

import kafka
from kafka import errors
from kafka.structs import OffsetAndMetadata
from kafka.structs import TopicPartition as KafkaPartition

from frontpage.adapters.bus import Consumer, Outgoing, Record, TopicPartition
from frontpage.errors import Fenced, ServiceUnavailable

log = logging.getLogger(__name__)

#: Real seconds. A killed consumer's partitions are free after the session time-out; Kafka allows 6 s and more.
SESSION_TIMEOUT: Final = 10.0
#: A worker that does not poll for this long loses its partitions (Kafka's default).
MAX_POLL_INTERVAL: Final = 300.0
#: How long a send may wait for acknowledgements before ServiceUnavailable; a broker restart takes about 5 s.
DELIVERY_TIMEOUT: Final = 30.0
#: `read` gives up when the broker hands out nothing for so long, although it said there is more.
READ_TIMEOUT: Final = 30.0

_FENCED: Final = (
    errors.ProducerFencedError,
    errors.InvalidProducerEpochError,
    errors.TransactionCoordinatorFencedError,
)
_MOVED_ON: Final = (
    errors.CommitFailedError,
    errors.IllegalGenerationError,
    errors.UnknownMemberIdError,
    errors.RebalanceInProgressError,
)


@contextlib.contextmanager
def _kafka_errors() -> Iterator[None]:
    try:
        yield
    except _FENCED as error:
        raise Fenced(f"a newer producer has our transactional id: {error}") from error
    except (errors.KafkaError, OSError) as error:
        raise ServiceUnavailable(f"Kafka: {type(error).__name__}: {error}") from error


class _Rejoin(kafka.ConsumerRebalanceListener):  # type: ignore[misc]
    """Notes what a rebalance gave us; the work is done after `poll`, where calls to the broker are allowed."""

    def __init__(self, rejoined: set[KafkaPartition]) -> None:
        self._rejoined = rejoined

    def on_partitions_revoked(self, revoked: Iterable[KafkaPartition]) -> None:
        """Nothing to do: what was polled and not committed is refused by the broker."""

    def on_partitions_assigned(self, assigned: Iterable[KafkaPartition]) -> None:
        """Remember them."""
        self._rejoined.update(assigned)


class KafkaConsumer:
    """`Consumer` over one kafka-python consumer. Not for several threads."""

    def __init__(
        self,
        bootstrap: str,
        group: str,
        topics: Sequence[str],
        *,
        partitions: Sequence[int] | None,
        start: Literal["earliest", "latest"],
        max_poll_interval: float,
    ) -> None:
        self._rejoined: set[KafkaPartition] = set()
        self._first: dict[KafkaPartition, int] = {}
        self._polled: set[KafkaPartition] = set()
        self._membership: Any = None
        with _kafka_errors():
            self._consumer = kafka.KafkaConsumer(
                bootstrap_servers=bootstrap,
                group_id=group,
                auto_offset_reset=start,
                enable_auto_commit=False,
                isolation_level="read_committed",
                allow_auto_create_topics=False,
                session_timeout_ms=int(SESSION_TIMEOUT * 1000),
                max_poll_interval_ms=int(max_poll_interval * 1000),
                fetch_max_wait_ms=200,
                metadata_max_age_ms=30_000,
                metrics_enabled=False,
            )
            if partitions is None:
                self._consumer.subscribe(topics=list(topics), listener=_Rejoin(self._rejoined))
            else:
                self._consumer.assign([KafkaPartition(t, p) for t in topics for p in partitions])

    def poll(self, max_records: int, timeout: float) -> list[Record]:
        """See `Consumer.poll`."""
        with _kafka_errors():
            found = self._consumer.poll(timeout_ms=int(timeout * 1000), max_records=max_records)
            for tp in self._after_rejoin():
                found.pop(tp, None)
        if found:
            self._membership = self._consumer.group_metadata()
        records = []
        for tp, batch in found.items():
            self._first.setdefault(tp, batch[0].offset)
            self._polled.add(tp)
            records += [_record(row) for row in batch]
        return records

    def assignment(self) -> set[TopicPartition]:
        """See `Consumer.assignment`."""
        return {(tp.topic, tp.partition) for tp in self._consumer.assignment()}

    def position(self, partition: TopicPartition) -> int:
        """See `Consumer.position`."""
        with _kafka_errors():
            position = self._consumer.position(KafkaPartition(*partition))
        if position is None:
            raise ServiceUnavailable(f"Kafka: no position of {partition} in time")
        return int(position)

    def seek_to_committed(self) -> None:
        """See `Consumer.seek_to_committed`. Never raises: a broker that is away is asked again by the next poll."""
        for tp in self._polled & self._consumer.assignment():
            try:
                committed = self._consumer.committed(tp)
                offset = self._first[tp] if committed is None else int(committed)
                self._consumer.seek(tp, offset)
            except (errors.KafkaError, AssertionError) as error:
                # Going back further than needed repeats records, and repeats are harmless; skipping is not.
                log.warning(
                    "cannot ask for the committed offset of %s, going back to %d: %s", tp, self._first[tp], error
                )
                with contextlib.suppress(errors.KafkaError, AssertionError):
                    self._consumer.seek(tp, self._first[tp])
        self._polled.clear()

    def seek(self, partition: TopicPartition, offset: int) -> None:
        """See `Consumer.seek`. Waits up to 10 s for the partition to be assigned."""
        tp = KafkaPartition(*partition)
        deadline = time.monotonic() + 10.0
        while tp not in self._consumer.assignment():
            if time.monotonic() > deadline:
                raise ServiceUnavailable(f"Kafka: {partition} was not assigned to us in time")
            self._join()
        with _kafka_errors():
            self._consumer.seek(tp, offset)
        self._first[tp] = min(offset, self._first.get(tp, offset))

    def commit(self) -> bool:
        """See `Consumer.commit`."""
        try:
            with _kafka_errors():
                offsets = self.uncommitted()
                if offsets:
                    self._consumer.commit(offsets, timeout_ms=int(DELIVERY_TIMEOUT * 1000))
        except ServiceUnavailable as error:
            if not isinstance(error.__cause__, _MOVED_ON):
                raise
            log.warning("commit refused, the group has moved on: dropping the batch")
            self.seek_to_committed()
            return False
        self.committed_now()
        return True

    def lag(self) -> dict[TopicPartition, int]:
        """See `Consumer.lag`; counts offsets, so that a marker not yet skipped counts as one."""
        assigned = self._consumer.assignment()
        if not assigned:
            return {}
        with _kafka_errors():
            ends = self._consumer.end_offsets(list(assigned))
            return {
                (tp.topic, tp.partition): max(0, end - (self._consumer.position(tp, timeout_ms=5000) or 0))
                for tp, end in ends.items()
            }

    def close(self) -> None:
        """See `Consumer.close`."""
        with contextlib.suppress(errors.KafkaError, OSError):
            self._consumer.close(autocommit=False, timeout_ms=5000)

    # For KafkaTransactional.

    def uncommitted(self) -> dict[KafkaPartition, OffsetAndMetadata]:
        """Positions of the partitions that records were polled from since the last commit."""
        mine = self._polled & self._consumer.assignment()
        if mine != self._polled:
            raise errors.RebalanceInProgressError("partitions were taken away after they were polled")
        return {tp: OffsetAndMetadata(self._consumer.position(tp), "", -1) for tp in mine}

    def committed_now(self) -> None:
        """A commit succeeded: going back means going back to here."""
        for tp in self._polled:
            self._first[tp] = int(self._consumer.position(tp) or 0) if tp in self._consumer.assignment() else 0
        self._polled.clear()

    def group(self) -> Any:
        """Membership as it was when the batch was polled: with it the broker refuses a worker that lost its partitions.

        Membership as it is now would not do: a worker that has left its group has none, and the broker accepts offsets
        without membership from anyone (KIP-447).
        """
        return self._membership

    def _after_rejoin(self) -> set[KafkaPartition]:
        """Partitions that were moved to their committed offset because others may have read on meanwhile.

        The library keeps the position of a partition that we lose and get back.
        """
        moved = set()
        for tp in self._rejoined & self._consumer.assignment():
            committed = self._consumer.committed(tp)
            position = self._consumer.position(tp)
            self._first.pop(tp, None)
            if committed is not None and committed != position:
                self._consumer.seek(tp, committed)
                moved.add(tp)
        self._rejoined.clear()
        return moved

    def _join(self) -> None:
        """Drive the group protocol without losing records that arrive meanwhile."""
        with _kafka_errors():
            found = self._consumer.poll(timeout_ms=100, max_records=1)
            for tp, batch in found.items():
                self._first.setdefault(tp, batch[0].offset)
                self._consumer.seek(tp, batch[0].offset)


class KafkaProducer:
    """`Producer`: idempotent, acknowledged by all in-sync replicas."""

    def __init__(self, bootstrap: str) -> None:
        with _kafka_errors():
            self._producer = _producer(bootstrap)

    def send(self, records: Iterable[Outgoing]) -> None:
        """See `Producer.send`."""
        with _kafka_errors():
            _send(self._producer, records)

    def close(self) -> None:
        """See `Producer.close`."""
        with contextlib.suppress(errors.KafkaError, OSError):
            self._producer.close(timeout=5)


class KafkaTransactional:
    """`TransactionalProducer`. A producer that the library declares dead for good is replaced, unless it was fenced."""

    def __init__(self, bootstrap: str, transactional_id: str) -> None:
        self._bootstrap, self._id = bootstrap, transactional_id
        self._fenced = False
        self._producer: kafka.KafkaProducer | None = None
        self._open()

    def transact(self, records: Sequence[Outgoing], consumer: Consumer | None) -> None:
        """See `TransactionalProducer.transact`. `consumer` must be one of KafkaBus."""
        if self._fenced:
            raise Fenced(f"a newer producer has the transactional id {self._id}")
        try:
            with _kafka_errors():
                producer = self._producer or self._open()
                producer.begin_transaction()
                _send(producer, records)
                if consumer is not None:
                    assert isinstance(consumer, KafkaConsumer)  # noqa: S101 - wiring, not input
                    offsets = consumer.uncommitted()
                    if offsets:
                        producer.send_offsets_to_transaction(offsets, consumer.group())
                producer.commit_transaction()
        except Fenced:
            self._fenced = True
            self._discard()
            raise
        except ServiceUnavailable:
            self._abort()
            raise
        if isinstance(consumer, KafkaConsumer):
            consumer.committed_now()

    def close(self) -> None:
        """See `TransactionalProducer.close`."""
        self._discard()

    def _open(self) -> kafka.KafkaProducer:
        with _kafka_errors():
            self._producer = _producer(self._bootstrap, transactional_id=self._id, transaction_timeout_ms=60_000)
            self._producer.init_transactions()
        return self._producer

    def _abort(self) -> None:
        if self._producer is None:
            return
        try:
            with _kafka_errors():
                self._producer.abort_transaction()
        except Fenced:
            self._fenced = True
            self._discard()
            raise
        except ServiceUnavailable as error:
            log.warning("%s: cannot abort, making a new producer: %s", self._id, error)
            self._discard()

    def _discard(self) -> None:
        producer, self._producer = self._producer, None
        if producer is not None:
            with contextlib.suppress(errors.KafkaError, OSError):
                producer.close(timeout=2)


class KafkaBus:
    """`Bus` over the brokers at `bootstrap` ("host:port,..."). Holds no connection itself."""

    def __init__(self, bootstrap: str, *, max_poll_interval: float = MAX_POLL_INTERVAL) -> None:
        self._bootstrap = bootstrap
        self._max_poll_interval = max_poll_interval

    def consumer(
        self,
        group: str,
        topics: Sequence[str],
        *,
        partitions: Sequence[int] | None = None,
        start: Literal["earliest", "latest"] = "earliest",
    ) -> KafkaConsumer:
        """See `Bus.consumer`."""
        return KafkaConsumer(
            self._bootstrap,
            group,
            topics,
            partitions=partitions,
            start=start,
            max_poll_interval=self._max_poll_interval,
        )

    def producer(self) -> KafkaProducer:
        """See `Bus.producer`."""
        return KafkaProducer(self._bootstrap)

    def transactional(self, transactional_id: str) -> KafkaTransactional:
        """See `Bus.transactional`."""
        return KafkaTransactional(self._bootstrap, transactional_id)

    def end_offsets(self, topic: str) -> dict[int, int]:
        """See `Bus.end_offsets`."""
        with self._reader() as reader:
            ends = reader.end_offsets(_partitions(reader, topic))
        return {tp.partition: int(end) for tp, end in sorted(ends.items())}

    def committed(self, group: str, topic: str) -> Mapping[int, int]:
        """See `Bus.committed`."""
        with self._reader(group) as reader:
            found = {tp.partition: reader.committed(tp) for tp in _partitions(reader, topic)}
        return {partition: int(offset) for partition, offset in found.items() if offset is not None}

    def read(self, topic: str, partition: int, start: int, stop: int) -> Iterable[Record]:
        """See `Bus.read`; `stop` beyond the committed end means the end, as it is now."""
        tp = KafkaPartition(topic, partition)
        with self._reader() as reader:
            reader.assign([tp])
            stop = min(stop, int(reader.end_offsets([tp])[tp]))
            reader.seek(tp, max(start, int(reader.beginning_offsets([tp])[tp])))
            progress = time.monotonic()
            while (reader.position(tp) or 0) < stop:
                before = reader.position(tp)
                for row in reader.poll(timeout_ms=500, max_records=1000).get(tp, ()):
                    if row.offset >= stop:
                        return
                    yield _record(row)
                if reader.position(tp) != before:
                    progress = time.monotonic()
                elif time.monotonic() - progress > READ_TIMEOUT:
                    raise ServiceUnavailable(f"Kafka: {topic}/{partition} stopped at {before}, short of {stop}")

    @contextlib.contextmanager
    def _reader(self, group: str | None = None) -> Iterator[Any]:
        with _kafka_errors():
            reader = kafka.KafkaConsumer(
                bootstrap_servers=self._bootstrap,
                group_id=group,
                auto_offset_reset="earliest",
                enable_auto_commit=False,
                isolation_level="read_committed",
                allow_auto_create_topics=False,
                metrics_enabled=False,
            )
            try:
                yield reader
            finally:
                reader.close(autocommit=False, timeout_ms=2000)


def _partitions(reader: Any, topic: str) -> list[KafkaPartition]:
    found = reader.partitions_for_topic(topic)
    if not found:
        raise ServiceUnavailable(f"Kafka: there is no topic {topic}: `frontpage up` makes the topics")
    return [KafkaPartition(topic, p) for p in sorted(found)]


def _producer(bootstrap: str, **more: Any) -> Any:
    return kafka.KafkaProducer(
        bootstrap_servers=bootstrap,
        acks="all",
        enable_idempotence=True,
        allow_auto_create_topics=False,
        delivery_timeout_ms=int(DELIVERY_TIMEOUT * 1000),
        request_timeout_ms=10_000,
        max_block_ms=int(DELIVERY_TIMEOUT * 1000),
        batch_size=256 * 1024,
        linger_ms=5,
        metrics_enabled=False,
        **more,
    )


def _send(producer: Any, records: Iterable[Outgoing]) -> None:
    futures = [
        producer.send(
            out.topic, value=out.value, key=None if out.key is None else out.key.encode(), partition=out.partition
        )
        for out in records
    ]
    producer.flush(timeout=DELIVERY_TIMEOUT)
    for future in futures:
        future.get(timeout=DELIVERY_TIMEOUT)


def _record(row: Any) -> Record:
    key = None if row.key is None else row.key.decode("utf-8", "replace")
    return Record(row.topic, row.partition, row.offset, key, row.value, row.timestamp / 1000)
