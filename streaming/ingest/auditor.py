"""Audits the schedule: a task inside the poller, thin around `domain/audit.py`.

A sample of feeds is polled at a fixed fine interval beside the schedule, through the same fetch tier (robots.txt,
budgets, holds) and by the same rules for validators, errors, Retry-After and 410. Each look is a record on `polls` with
`audit` set, whose delay is that of the items which the schedule has found since the look before. What the looks find is
not handed on. Several pollers share the sample by claims; where Redis or Kafka does not answer, looks are left out: a
measurement can wait.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Final

from frontpage.adapters.bus import Outgoing
from frontpage.adapters.feed_rows import FeedRow, FeedRows
from frontpage.contracts.events import PollOutcome
from frontpage.contracts.topics import POLLS
from frontpage.domain import audit
from frontpage.domain.schedule import spread
from frontpage.errors import ServiceUnavailable

if TYPE_CHECKING:
    from frontpage.adapters.audit_rows import AuditRows
    from frontpage.adapters.bus import Producer
    from frontpage.adapters.clock import Clock
    from frontpage.domain.audit import Watch
    from streaming.ingest.polling import Polling

log = logging.getLogger(__name__)

#: Real seconds between turns, and looks in flight: 300 feeds a minute are five a second.
EVERY: Final = 1.0
CONCURRENT: Final = 16
#: A claim must outlive the slowest look: 60 real seconds and 2 virtual minutes, whichever is longer.
CLAIM_REAL: Final = 60.0
CLAIM_VIRTUAL: Final = 120.0
#: Virtual seconds between two counts of the feeds on file, of which the sample is a share.
COUNTED_EVERY: Final = 3_600.0
#: Rows read for a sample: the top feeds are one in forty.
CANDIDATES: Final = 20_000
LONGEST_BACKOFF: Final = 60.0


class Auditor:
    """`polling` with the audit's policy; `wanted` feeds at most, 0 audits none; first looks spread over `floor`."""

    def __init__(
        self,
        polling: Polling,
        rows: FeedRows,
        watches: AuditRows,
        producer: Producer,
        clock: Clock,
        *,
        wanted: int,
        floor: float = 60.0,
        every: float = EVERY,
    ) -> None:
        self._polling, self._rows, self._watches = polling, rows, watches
        self._producer, self._clock = producer, clock
        self._wanted, self._floor, self._every = wanted, floor, every
        self._counted_at: float | None = None
        self.looks = 0

    async def run(self, stop: threading.Event) -> None:
        """Until `stop`; looks in flight then are finished."""
        backoff = self._every
        while self._wanted and not stop.is_set():
            try:
                await self.turn()
                backoff = self._every
            except ServiceUnavailable as error:
                backoff = min(backoff * 2, LONGEST_BACKOFF)
                log.warning("the audit waits %.1f s: %s", backoff, error)
            await asyncio.sleep(backoff)

    async def turn(self) -> int:
        """Take the looks that are due; their number. Raises ServiceUnavailable."""
        now = self._clock.now()
        if self._counted_at is None or not 0 <= now - self._counted_at < COUNTED_EVERY:
            await asyncio.to_thread(self._draw, now)
            self._counted_at = now
        lease = max(CLAIM_VIRTUAL, CLAIM_REAL / self._clock.real_seconds(1.0))
        due = await asyncio.to_thread(self._watches.claim, now, CONCURRENT, lease)
        ends = await asyncio.gather(*(self._look(watch) for watch in due), return_exceptions=True)
        for end in ends:
            if isinstance(end, ServiceUnavailable):
                raise end
            if isinstance(end, BaseException):
                log.error("a look broke", exc_info=end)
        return len(due)

    def _draw(self, now: float) -> None:
        """A sample for this week and number of feeds, unless it is drawn."""
        number = audit.week(now)
        ids = self._rows.ids()
        count = audit.size(self._wanted, len(ids))
        name = f"{number}:{count}"
        if self._watches.drawn() == name:
            return
        candidates: list[tuple[str, bool]] = []
        ordered = audit.order(ids, number)[:CANDIDATES]
        for start in range(0, len(ordered), 500):
            rows = self._rows.get_many(ordered[start : start + 500])
            candidates += [
                (row.source.feed_id, row.source.authoritative and row.source.main)
                for row in rows
                if row.state.next_at is not None
            ]
            if sum(top for _, top in candidates) >= count / 2 and len(candidates) >= count:
                break
        chosen = audit.sample(candidates, count)
        self._watches.draw(name, {feed: now + self._floor * spread(feed, 0.0) for feed in chosen})

    async def _look(self, watch: Watch) -> None:
        row = await asyncio.to_thread(self._rows.get, watch.feed_id)
        if row is None or row.state.next_at is None:
            await asyncio.to_thread(self._watches.drop, watch.feed_id)
            return
        # a home that the schedule has found is the audit's as well
        before = replace(watch.state, moved_to=watch.state.moved_to or row.state.moved_to)
        polled = await self._polling.poll(FeedRow(row.source, before))
        if polled.outcome is None:  # the host asked us to wait, or its budget is used up
            await asyncio.to_thread(self._watches.later, watch.feed_id, polled.row.state.next_at or self._clock.now())
            return
        await asyncio.to_thread(self._compare, watch, polled.row, polled.outcome)

    def _compare(self, watch: Watch, looked: FeedRow, outcome: Outgoing) -> None:
        """What the schedule has found meanwhile: on file, on `polls`, and to the schedule itself."""
        row = self._rows.get(watch.feed_id)
        if row is None:
            return
        after, found = audit.looked(watch, looked.state, row.state, self._clock.now())
        event = PollOutcome.decode(outcome.value)
        if event is not None:
            delay = median(one.delay for one in found) if found else None
            event = event.model_copy(update={"audit": True, "new_items": len(found), "delay": delay})
            self._producer.send([Outgoing(POLLS.name, event.feed_id, event.encode())])
        shares = [one.share for one in found if one.share is not None]
        if shares:
            self._rows.audited(watch.feed_id, sum(shares) / len(shares), self._clock.now())
        self._watches.store(after)
        self.looks += 1
