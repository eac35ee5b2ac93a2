"""`KafkaConsumer`: reads committed records, commits only when told, and survives losing its partitions.

No auto-commit, no deserialiser inside the client (one that raises is called again for the same record for ever), and
a commit that came too late is an ordinary answer.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal

import kafka
from kafka import errors
from kafka.structs import OffsetAndMetadata
from kafka.structs import TopicPartition as KafkaPartition

from frontpage.adapters.bus import Record, TopicPartition
from frontpage.adapters.kafka_common import DELIVERY_TIMEOUT, RECONNECT, as_record, kafka_errors
from frontpage.errors import ServiceUnavailable

log = logging.getLogger(__name__)

#: Real seconds. A killed consumer's partitions are free after the session time-out; Kafka allows 6 s and more.
SESSION_TIMEOUT: Final = 10.0
#: A worker that does not poll for this long loses its partitions (Kafka's default).
MAX_POLL_INTERVAL: Final = 300.0
_MOVED_ON: Final = (
    errors.CommitFailedError,
    errors.IllegalGenerationError,
    errors.UnknownMemberIdError,
    errors.RebalanceInProgressError,
)


def partitions_of(reader: Any, topic: str) -> list[KafkaPartition]:
    """The partitions of a topic; raises ServiceUnavailable when there is no such topic."""
    found = reader.partitions_for_topic(topic)
    if not found:
        raise ServiceUnavailable(f"Kafka: there is no topic {topic}: `frontpage up` makes the topics")
    return [KafkaPartition(topic, p) for p in sorted(found)]


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
        with kafka_errors():
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
                reconnect_backoff_max_ms=RECONNECT,
                metrics_enabled=False,
            )
            if partitions is None:
                self._consumer.subscribe(topics=list(topics), listener=_Rejoin(self._rejoined))
            else:
                self._consumer.assign([KafkaPartition(t, p) for t in topics for p in partitions])

    def poll(self, max_records: int, timeout: float) -> list[Record]:
        """See `Consumer.poll`."""
        with kafka_errors():
            found = self._consumer.poll(timeout_ms=int(timeout * 1000), max_records=max_records)
            for tp in self._after_rejoin():
                found.pop(tp, None)
        if found:
            self._membership = self._consumer.group_metadata()
        records = []
        for tp, batch in found.items():
            self._first.setdefault(tp, batch[0].offset)
            self._polled.add(tp)
            records += [as_record(row) for row in batch]
        return records

    def assignment(self) -> set[TopicPartition]:
        """See `Consumer.assignment`."""
        return {(tp.topic, tp.partition) for tp in self._consumer.assignment()}

    def position(self, partition: TopicPartition) -> int:
        """See `Consumer.position`."""
        with kafka_errors():
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
        with kafka_errors():
            self._consumer.seek(tp, offset)
        self._first[tp] = min(offset, self._first.get(tp, offset))

    def commit(self) -> bool:
        """See `Consumer.commit`."""
        try:
            with kafka_errors():
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
        with kafka_errors():
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
        with kafka_errors():
            found = self._consumer.poll(timeout_ms=100, max_records=1)
            for tp, batch in found.items():
                self._first.setdefault(tp, batch[0].offset)
                self._consumer.seek(tp, batch[0].offset)
