"""`KafkaProducer` and `KafkaTransactional`: acknowledged by all; the second outlives a restart of the broker."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterable, Sequence
from typing import Any

import kafka
from kafka import errors

from frontpage.adapters.bus import Consumer, Outgoing
from frontpage.adapters.kafka_common import DELIVERY_TIMEOUT, RECONNECT, kafka_errors
from frontpage.adapters.kafka_consumer import KafkaConsumer
from frontpage.errors import Fenced, ServiceUnavailable

log = logging.getLogger(__name__)


class KafkaProducer:
    """`Producer`: idempotent, acknowledged by all in-sync replicas."""

    def __init__(self, bootstrap: str) -> None:
        with kafka_errors():
            self._producer = _producer(bootstrap)

    def send(self, records: Iterable[Outgoing]) -> None:
        """See `Producer.send`."""
        with kafka_errors():
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
            with kafka_errors():
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
        with kafka_errors():
            self._producer = _producer(self._bootstrap, transactional_id=self._id, transaction_timeout_ms=60_000)
            self._producer.init_transactions()
        return self._producer

    def _abort(self) -> None:
        if self._producer is None:
            return
        try:
            with kafka_errors():
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
        reconnect_backoff_max_ms=RECONNECT,
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
