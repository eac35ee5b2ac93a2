"""`KafkaBus`: the bus over kafka-python. Bytes in, bytes out; one list of checks runs over it and its in-memory twin.

What the Kafka adapters add to the library: read-committed everywhere, no auto-commit, no deserialiser inside the
client, two errors instead of a hundred (`kafka_common.py`), a commit that came too late as an ordinary answer
(`kafka_consumer.py`), and a transactional producer that outlives a restart of the broker (`kafka_producer.py`).
Topics are made by `adapters/services/kafka.py`, never by writing to them.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal

import kafka
from kafka.structs import TopicPartition as KafkaPartition

from frontpage.adapters.bus import Record
from frontpage.adapters.kafka_common import RECONNECT, as_record, kafka_errors
from frontpage.adapters.kafka_consumer import MAX_POLL_INTERVAL, KafkaConsumer, partitions_of
from frontpage.adapters.kafka_producer import KafkaProducer, KafkaTransactional
from frontpage.errors import ServiceUnavailable

#: `read` gives up when the broker hands out nothing for so long, although it said there is more.
READ_TIMEOUT: Final = 30.0


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
            ends = reader.end_offsets(partitions_of(reader, topic))
        return {tp.partition: int(end) for tp, end in sorted(ends.items())}

    def committed(self, group: str, topic: str) -> Mapping[int, int]:
        """See `Bus.committed`."""
        with self._reader(group) as reader:
            found = {tp.partition: reader.committed(tp) for tp in partitions_of(reader, topic)}
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
                    yield as_record(row)
                if reader.position(tp) != before:
                    progress = time.monotonic()
                elif time.monotonic() - progress > READ_TIMEOUT:
                    raise ServiceUnavailable(f"Kafka: {topic}/{partition} stopped at {before}, short of {stop}")

    @contextlib.contextmanager
    def _reader(self, group: str | None = None) -> Iterator[Any]:
        with kafka_errors():
            reader = kafka.KafkaConsumer(
                bootstrap_servers=self._bootstrap,
                group_id=group,
                auto_offset_reset="earliest",
                enable_auto_commit=False,
                isolation_level="read_committed",
                allow_auto_create_topics=False,
                reconnect_backoff_max_ms=RECONNECT,
                metrics_enabled=False,
            )
            try:
                yield reader
            finally:
                reader.close(autocommit=False, timeout_ms=2000)
