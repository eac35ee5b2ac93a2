"""Clicks and reader events on their way to Kafka: a bounded queue and one thread, so that no request waits.

For: `offer` from request handlers. When Kafka is slow or away the queue fills, and then events are dropped and counted:
a redirect is worth more than its record. Not for: anything that must not be lost (those use transactions).
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable
from typing import Final

from frontpage.adapters.bus import Outgoing, Producer
from frontpage.contracts.envelope import Event
from frontpage.contracts.topics import Topic
from frontpage.errors import FrontpageError
from serving.metrics import Metrics

log = logging.getLogger(__name__)
#: About a minute of clicks at the documents' peak share of one server (20,000 events at 300/s).
CAPACITY: Final = 20_000
BATCH: Final = 500
#: Real seconds to wait for more events before sending; well under the "within seconds" of the fast profile.
LINGER: Final = 0.05
BACKOFF_MAX: Final = 5.0


class EventSender:
    """`connect` makes a producer (it may raise ServiceUnavailable; it is called again later)."""

    def __init__(self, connect: Callable[[], Producer], metrics: Metrics, capacity: int = CAPACITY) -> None:
        self._connect = connect
        self._metrics = metrics
        self._queue: queue.Queue[Outgoing] = queue.Queue(capacity)
        self._stop = threading.Event()
        self._unsent = 0
        self._thread = threading.Thread(target=self._run, name="event-sender", daemon=True)

    def start(self) -> None:
        """Begin sending."""
        self._thread.start()

    def offer(self, topic: Topic, key: str, event: Event) -> bool:
        """Take one event without waiting; False when the queue is full and it was dropped."""
        try:
            self._queue.put_nowait(Outgoing(topic.name, key, event.encode()))
        except queue.Full:
            self._metrics.dropped.labels(topic.name).inc()
            return False
        self._metrics.queue.set(self._queue.qsize())
        return True

    def close(self, timeout: float = 5.0) -> bool:
        """Send what waits, for at most `timeout` real seconds; False when something was left unsent."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(timeout)
        return not self._thread.is_alive() and self._queue.empty() and not self._unsent

    def _run(self) -> None:
        producer: Producer | None = None
        wait = 0.1
        batch: list[Outgoing] = []
        while batch or not (self._stop.is_set() and self._queue.empty()):
            batch = batch or self._gather()
            if not batch:
                continue
            try:
                producer = producer or self._connect()
                producer.send(batch)
            except FrontpageError as error:
                log.warning("%d reader events wait for Kafka: %s", len(batch) + self._queue.qsize(), error)
                if self._stop.is_set():
                    self._unsent = len(batch)
                    break
                self._stop.wait(wait)
                wait = min(BACKOFF_MAX, wait * 2)
                continue
            wait = 0.1
            for record in batch:
                self._metrics.sent.labels(record.topic).inc()
            batch = []
            self._metrics.queue.set(self._queue.qsize())
        if producer is not None:
            producer.close()

    def _gather(self) -> list[Outgoing]:
        try:
            batch = [self._queue.get(timeout=0.2)]
        except queue.Empty:
            return []
        until = time.monotonic() + LINGER
        while len(batch) < BATCH and (left := until - time.monotonic()) > 0:
            try:
                batch.append(self._queue.get(timeout=left))
            except queue.Empty:
                break
        return batch
