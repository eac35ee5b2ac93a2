"""The poller process: claims due feeds, polls many at once, writes what it found, stores what it learned.

Order of writing, per group of finished polls: `items.raw`, then `polls`, then the rows in Redis. A crash in between
polls the same feeds again and hands their items on once more (the article row makes that a duplicate); nothing is
lost. Records of `poll.requests` pull feeds forward. Several pollers share the work by claims (`feed_rows.py`).

Not here: how a poll goes (`polling.py`), when the next one is (`domain/schedule.py`).
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import threading
from typing import TYPE_CHECKING, Final, Protocol

from frontpage.adapters.audit_rows import AuditRows
from frontpage.adapters.feed_pace import FeedPace
from frontpage.adapters.feed_rows import FeedRow, FeedRows
from frontpage.adapters.loop import dead_letter, decoded, fault_of
from frontpage.contracts.events import PollRequest
from frontpage.contracts.topics import POLL_REQUESTS
from frontpage.domain import audit
from frontpage.domain.push import FETCH_GAP
from frontpage.domain.schedule import Policy
from frontpage.errors import ServiceUnavailable
from frontpage.runtime import Runtime, run_process
from streaming.ingest.auditor import Auditor
from streaming.ingest.polling import PROCESS, REAL_FLOOR, Polled, Polling
from streaming.ingest.publishers import PublisherBook
from streaming.ingest.subscriber import Subscriber
from streaming.ingest.wiring import fetch_tier

if TYPE_CHECKING:
    from collections.abc import Callable

    from frontpage.adapters.bus import Bus, Producer
    from frontpage.adapters.clock import Clock

log = logging.getLogger(__name__)

#: Polls in flight at once: the documents' 350 a second at a third of a second each.
CONCURRENT: Final = 128
#: New feeds are claimed when there is room for so many (fewer when fewer polls are allowed): a claim is a round trip.
CLAIMED_AT_ONCE: Final = 32
#: Real seconds for which finished polls are gathered before they are written: three round trips for all of them.
GATHER: Final = 0.2
#: A claim must outlive the slowest poll: 60 real seconds and 2 virtual minutes, whichever is longer.
CLAIM_REAL: Final = 60.0
CLAIM_VIRTUAL: Final = 120.0
#: Real seconds between looks at the queues while nothing is due.
IDLE: Final = 0.25
#: Real seconds between looks at whether the clock jumped.
PACED_EVERY: Final = 2.0
#: Back-off while Kafka or Redis does not answer (real seconds).
FIRST_BACKOFF: Final = 0.5
LONGEST_BACKOFF: Final = 15.0


class Pace(Protocol):
    """Keeps queues in step with a clock that jumps; `FeedPace`."""

    def keep(self, now: float, speed: float) -> int:
        """Feeds moved. Raises ServiceUnavailable."""


class Poller:
    """Runs `polling` over the due feeds of `rows` until `stop`. One event loop; storage calls go to threads."""

    def __init__(
        self,
        polling: Polling,
        rows: FeedRows,
        producer: Producer,
        clock: Clock,
        *,
        beat: Callable[..., None] = lambda **_: None,
        noticed: Callable[[list[Polled]], None] = lambda _: None,
        concurrent: int = CONCURRENT,
        idle: float = IDLE,
        pace: Pace | None = None,
    ) -> None:
        self._polling = polling
        self._rows = rows
        self._producer = producer
        self._clock = clock
        self._beat = beat
        self._noticed = noticed
        self._concurrent = concurrent
        self._idle = idle
        self._pace, self._paced_at = pace, float("-inf")
        self._done: asyncio.Queue[Polled] = asyncio.Queue()
        self._unwritten = 0
        self.polls = 0
        self.new_items = 0

    async def run(self, stop: threading.Event) -> None:
        """Until `stop`; then finishes and writes what is in flight."""
        writer = asyncio.create_task(self._write_all())
        flying: set[asyncio.Task[None]] = set()
        room, share = asyncio.Event(), max(1, min(CLAIMED_AT_ONCE, self._concurrent // 4))

        def landed(task: asyncio.Task[None]) -> None:
            flying.discard(task)
            if len(flying) <= self._concurrent - share:
                room.set()

        backoff = FIRST_BACKOFF
        try:
            while not stop.is_set():
                if writer.done():
                    writer.result()  # raises what ended it: whoever polls and cannot write must not go on
                self._beat(polls=self.polls, new_items=self.new_items, in_flight=len(flying))
                free = self._concurrent - len(flying)
                if free < share:
                    room.clear()
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(room.wait(), IDLE)
                    continue
                try:
                    claimed = await self._claim(free)
                    backoff = FIRST_BACKOFF
                except ServiceUnavailable as error:
                    log.warning("no feeds claimed, again in %.1f s: %s", backoff, error)
                    await asyncio.sleep(backoff)
                    backoff = min(backoff * 2, LONGEST_BACKOFF)
                    continue
                for row in claimed:
                    task = asyncio.create_task(self._poll(row))
                    flying.add(task)
                    task.add_done_callback(landed)
                if not claimed:
                    await asyncio.sleep(self._idle)
            if flying:
                await asyncio.wait(flying, timeout=CLAIM_REAL)
            with contextlib.suppress(TimeoutError):
                # what cannot be written now is polled again: its claims run out
                await asyncio.wait_for(self._done.join(), LONGEST_BACKOFF)
        finally:
            writer.cancel()

    async def _claim(self, limit: int) -> list[FeedRow]:
        speed = 1.0 / self._clock.real_seconds(1.0)
        lease = max(CLAIM_VIRTUAL, CLAIM_REAL * speed)
        moment = asyncio.get_running_loop().time()
        if self._pace is not None and moment - self._paced_at >= PACED_EVERY:
            await asyncio.to_thread(self._pace.keep, self._clock.now(), speed)
            self._paced_at = moment
        return await asyncio.to_thread(self._rows.claim, self._clock.now(), limit, lease)

    async def _poll(self, row: FeedRow) -> None:
        try:
            self._done.put_nowait(await self._polling.poll(row))
        except ServiceUnavailable as error:
            # the claim runs out and the feed is due again: nothing to undo
            log.warning("feed %s not polled: %s", row.source.feed_id, error)
        except Exception:
            # stored, because a claim that merely ran out would have its server asked again every minute or two
            log.exception("feed %s broke its poll", row.source.feed_id)
            self._done.put_nowait(self._polling.broken(row))

    async def _write_all(self) -> None:
        while True:
            group = [await self._done.get()]
            await asyncio.sleep(GATHER)
            while not self._done.empty():
                group.append(self._done.get_nowait())
            backoff = FIRST_BACKOFF
            while True:
                try:
                    await asyncio.to_thread(self._write, group)
                    break
                except ServiceUnavailable as error:
                    log.warning("%d polls not written, again in %.1f s: %s", len(group), backoff, error)
                    await asyncio.sleep(backoff)
                    backoff = min(backoff * 2, LONGEST_BACKOFF)
            self._noticed(group)
            for polled in group:
                self.polls += polled.outcome is not None
                self.new_items += polled.new_items
                self._done.task_done()

    def _write(self, group: list[Polled]) -> None:
        items = [item for polled in group for item in polled.items]
        if items:
            self._producer.send(items)
        outcomes = [polled.outcome for polled in group if polled.outcome is not None]
        if outcomes:
            self._producer.send(outcomes)
        self._rows.store([polled.row for polled in group])


def rest_collector() -> None:
    """Let Python's cycle collector look rarely, and never at what lives as long as the process.

    By default it walks through the 50,000 publishers and all verdicts of robots.txt again and again: a quarter of a
    busy poller's time. What it is for is little here: the cycles of failed requests, some kilobytes each.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def serve_requests(bus: Bus, rows: FeedRows, clock: Clock, stop: threading.Event) -> None:
    """Apply `poll.requests` until `stop`: at least once, and a request asks for the same whenever it is applied."""
    consumer = bus.consumer("poller-requests", [POLL_REQUESTS.name])
    producer = bus.producer()
    backoff = FIRST_BACKOFF
    try:
        while not stop.is_set():
            try:
                records = consumer.poll(500, 0.5)
                if not records:
                    continue
                now = clock.now()
                good, dead = decoded(records, PollRequest, PROCESS, now)
                gap = max(FETCH_GAP, REAL_FLOOR / clock.real_seconds(1.0))
                # a hub that delivers again and again costs one look-up per batch
                asked = {(one.feed_id, one.boost_until, one.why): (record, one) for record, one in good}
                for record, request in asked.values():
                    try:
                        rows.boost(request.feed_id, request.boost_until, now, why=request.why, gap=gap)
                    except Exception as error:  # noqa: BLE001 - `fault_of` raises what is not the record's fault
                        dead.append(dead_letter(record, fault_of(record, error), PROCESS, now))
                if dead:
                    producer.send(dead)
                consumer.commit()
                backoff = FIRST_BACKOFF
            except ServiceUnavailable as error:
                log.warning("poll requests wait %.1f s: %s", backoff, error)
                consumer.seek_to_committed()
                stop.wait(backoff)
                backoff = min(backoff * 2, LONGEST_BACKOFF)
    finally:
        consumer.close()
        producer.close()


async def poll_until(runtime: Runtime, stop: threading.Event) -> None:
    """The process's work with its connections."""
    settings = runtime.settings
    policy = Policy(floor=settings.poll_floor, long_tail_floor=5 * settings.poll_floor, ceiling=settings.poll_ceiling)
    rows = FeedRows(runtime.redis)
    producer, auditing = runtime.bus.producer(), runtime.bus.producer()
    requests = threading.Thread(
        target=serve_requests, args=(runtime.bus, rows, runtime.clock, stop), name="poll-requests", daemon=True
    )
    requests.start()
    try:
        async with fetch_tier(runtime) as fetcher:
            subscriber = Subscriber.of(runtime, fetcher, rows)
            book = PublisherBook(runtime.redis)
            book.domains()  # what stays is there before the collector is put to rest
            rest_collector()
            polling = Polling(fetcher, book, runtime.clock, policy)
            auditor = Auditor(
                Polling(fetcher, book, runtime.clock, audit.policy(policy)),
                rows,
                AuditRows(runtime.redis),
                auditing,
                runtime.clock,
                wanted=settings.audit_feeds,
                floor=settings.poll_floor,
            )
            poller = Poller(
                polling,
                rows,
                producer,
                runtime.clock,
                beat=lambda **facts: runtime.heartbeat(PROCESS, subscriptions=subscriber.living, **facts),
                noticed=subscriber.noticed,
                pace=FeedPace(runtime.redis),
            )
            beside = [asyncio.create_task(part.run(stop)) for part in (subscriber, auditor)]
            await poller.run(stop)
            await asyncio.gather(*beside)
    finally:
        producer.close()
        auditing.close()
        requests.join(5)


def main(runtime: Runtime, stop: threading.Event) -> None:
    """Entry point of the process."""
    asyncio.run(poll_until(runtime, stop))


if __name__ == "__main__":
    run_process(PROCESS, main)
