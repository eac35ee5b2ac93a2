"""A week of polling in minutes: the product's poller against simulated publishers, in virtual time.

    python -m benchmarks.week [--days 7] [--busy 15 --main 20 --tail 60] [--seed 1]

Poller, polling, schedule, fetch tier (addresses, robots.txt, budgets, redirects, holds), auditor, WebSub subscriber and
their rows in a real Valkey are the product's, unchanged; time is an event loop that leaps (`virtual_time.py`), and the
sockets are replaced by `week_sites.py`, which describes the publishers. Feed rows are kept by a twin in memory, to save
the claims of every idle second; the short weeks of the tests run on both. On day 5 the poller is stopped for two hours
and started again; what is published meanwhile is not counted. Ten minutes into the event of day 3, thirty feeds are
asked for as the ranker does.

Delay: from the moment at which an item is in the feed to the moment at which it was handed on, of items published after
the feed's first poll, liars included. Bounds: `targets.toml`. The scorecard's figures (docs/scorecard.md) are
this run's.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console

from benchmarks import virtual_time
from benchmarks.harness import HERE, judge, record
from benchmarks.valkey import running
from benchmarks.week_sites import DAY, EVENT, HOUR, START, Feed, sites
from benchmarks.week_wire import Agenda, Hub, Ledger, MemoryRows, Meter, Wire
from frontpage.adapters.audit_rows import AuditRows
from frontpage.adapters.feed_pace import FeedPace
from frontpage.adapters.feed_rows import FeedRow, FeedRows, FeedSource
from frontpage.adapters.fetch_addresses import Gate
from frontpage.adapters.fetch_budget import RedisBudget
from frontpage.adapters.push_rows import PushRows
from frontpage.adapters.redis_store import open_redis
from frontpage.domain import audit
from frontpage.domain.hosts import registrable_domain
from frontpage.domain.ids import feed_id
from frontpage.domain.schedule import FeedState, Policy, spread
from streaming.ingest.auditor import Auditor
from streaming.ingest.poller import Poller
from streaming.ingest.polling import Polling
from streaming.ingest.publishers import PublisherBook
from streaming.ingest.subscriber import Subscriber

if TYPE_CHECKING:
    import redis

    from benchmarks.virtual_time import VirtualClock

#: The poller is stopped then, for so long.
STOP_AT, STOP_FOR = START + 5 * DAY + 9 * HOUR, 2 * HOUR
#: Feeds that the event's poll requests name.
ASKED_FOR = 30
#: Virtual seconds between looks of the poller, the subscriber and the auditor at their queues: the product looks more
#: often, which costs a simulation more than polling does. The first adds a second to the mean delay.
LOOK, LOOK_AT_HUBS, LOOK_AT_AUDIT = 2.0, 60.0, 20.0
#: These answer nothing, or ask for longer waits, while more is published than their feed shows at once: what falls out
#: of it meanwhile is counted apart.
REFUSING = ("overload", "wrong-max-age")
#: What is published so shortly before the end may still be found: the longest wait is a day, and a tenth of it.
LONGEST = 1.1 * DAY
#: Feeds of the audit, at most: it is compared with the truth.
AUDITED = 4


@dataclass
class Week:
    """One run. `rows` None keeps feed rows in memory; else they are the real ones."""

    store: redis.Redis
    feeds: list[Feed]
    days: float
    rows: FeedRows = field(default_factory=MemoryRows)
    policy: Policy = field(default_factory=Policy)
    audited: int = AUDITED
    tell: Callable[[int, int], None] = lambda _day, _requests: None

    def __post_init__(self) -> None:
        self.end = START + self.days * DAY
        self.by_id = {feed_id(feed.url): feed for feed in self.feeds}
        self.meter = Meter({feed.host for feed in self.feeds if feed.quirk == "delay"})
        self.ledger = Ledger(self.by_id)
        self.agenda = Agenda()
        self.hub = Hub(self.agenda, PushRows(self.store), self.rows)
        self.boosted: list[str] = []

    async def run(self, clock: VirtualClock) -> None:
        """Poll until the end."""
        self._import()
        self._plan()
        budget = RedisBudget(self.store, clock)
        async with Wire(Gate(), budget, clock, store=self.store, contact="ops@frontpage.example") as wire:
            wire.serve(self.feeds, self.meter, self.hub, clock)
            self.agenda.open()
            for day in range(1, int(self.days) + 1):
                self.agenda.at(START + day * DAY, lambda at: self.tell(int((at - START) / DAY), self.meter.requests))
            for begin, stop in ((START, min(STOP_AT, self.end)), (STOP_AT + STOP_FOR, self.end)):
                if begin < self.end:
                    await asyncio.sleep(begin - clock.now())
                    await self._poll(wire, clock, stop)

    async def _poll(self, wire: Wire, clock: VirtualClock, until: float) -> None:
        subscriber = Subscriber(
            wire, PushRows(self.store), self.rows, clock, "https://frontpage.example", every=LOOK_AT_HUBS
        )
        polling = Polling(wire, PublisherBook(self.store, refresh=1e9), clock, self.policy)
        keeper = self.rows if isinstance(self.rows, MemoryRows) else FeedPace(self.store)
        poller = Poller(polling, self.rows, self.ledger, clock, noticed=subscriber.noticed, idle=LOOK, pace=keeper)
        fine = Polling(wire, PublisherBook(self.store, refresh=1e9), clock, audit.policy(self.policy))
        auditor = Auditor(
            fine, self.rows, AuditRows(self.store), self.ledger, clock, wanted=self.audited, every=LOOK_AT_AUDIT
        )
        stop = threading.Event()
        running = [asyncio.create_task(part.run(stop)) for part in (poller, subscriber, auditor)]
        await asyncio.sleep(until - clock.now())
        stop.set()
        await asyncio.gather(*running)

    def _import(self) -> None:
        window = min(300.0, 0.1 * len(self.feeds))
        for id, feed in self.by_id.items():
            domain = registrable_domain(feed.host)
            source = FeedSource(
                id, feed.url, domain, domain, authoritative=feed.tier == "busy", main=feed.tier != "tail"
            )
            self.rows.put(FeedRow(source, FeedState(next_at=START + window * spread(id, 0.0))))

    def _plan(self) -> None:
        """What happens by itself: announcements and forgeries, and the event's requests."""
        for feed in self.feeds:
            if feed.quirk not in ("hub", "sleeping-hub"):
                continue
            for item in feed.items:
                if item.at >= START and not (feed.quirk == "sleeping-hub" and item.at > START + DAY):
                    self.agenda.at(item.at + 5 + item.number % 15, lambda at, url=feed.url: self.hub.publish(url, at))  # type: ignore[misc]
                if item.at >= START and item.number % 3 == 0:
                    self.agenda.at(
                        item.at - 60,
                        lambda at, url=feed.url: self.hub.publish(url, at, forged=True),  # type: ignore[misc]
                    )
        plain = [id for id, feed in self.by_id.items() if feed.quirk == "honest" and feed.tier != "busy"]
        self.boosted = plain[:: max(1, len(plain) // ASKED_FOR)][:ASKED_FOR]
        self.agenda.at(EVENT + 600, self._ask)

    def _ask(self, now: float) -> None:
        for id in self.boosted:
            self.rows.boost(id, now + HOUR, now, why="burst of story")

    def figures(self) -> dict[str, float]:
        """The week in numbers: seconds, shares, counts."""
        figures: dict[str, float] = {}
        truth: dict[str, list[float]] = defaultdict(list)
        lost = refused = published = by_hub = of_hubs = 0
        for tier in ("busy", "main", "tail"):
            delays: list[float] = []
            total: Counter[str] = Counter()
            feeds = [(id, feed) for id, feed in self.by_id.items() if feed.tier == tier]
            for id, feed in feeds:
                total += self.ledger.outcomes[id]
                first = START + (self.ledger.polls[id] or [0.0])[0]
                for item in feed.items:
                    if not first < item.at < self.end - min(LONGEST, self.days * DAY / 4) or not feed.readable(item.at):
                        continue
                    if STOP_AT - 60 <= item.at < STOP_AT + STOP_FOR:
                        continue
                    published += 1
                    seen = self.ledger.seen.get(feed.address(item))
                    refused += seen is None and feed.quirk in REFUSING
                    lost += seen is None and feed.quirk not in REFUSING
                    if seen is not None:
                        delays.append(seen[0] - item.at)
                        truth[id].append(delays[-1])
                        of_hubs += feed.quirk == "hub"
                        by_hub += feed.quirk == "hub" and seen[1] == "websub"
            polls = sum(total[name] for name in ("new", "unchanged", "not_modified", "error", "refused"))
            figures |= {
                f"{tier}_feeds": len(feeds),
                f"{tier}_items": len(delays),
                f"{tier}_delay_p50_s": _percentile(delays, 50),
                f"{tier}_delay_p90_s": _percentile(delays, 90),
                f"{tier}_polls_an_hour": polls / max(1, len(feeds)) / self.days / 24,
                f"{tier}_not_modified": total["not_modified"] / max(1, polls),
                f"{tier}_waste": 1 - total["fruitful"] / max(1, polls),
            }
        total = sum(self.ledger.outcomes.values(), Counter())
        polls = sum(total[name] for name in ("new", "unchanged", "not_modified", "error", "refused"))
        gaps = [
            after - before
            for id in self.boosted
            for before, after in zip(self.ledger.polls[id], self.ledger.polls[id][1:], strict=False)
            if EVENT + 600 <= before + START < EVENT + 600 + HOUR
        ]
        off = [
            abs(_percentile(audited, 50) - _percentile(truth[id], 50))
            for id, audited in self.ledger.audited.items()
            if audited and truth[id]
        ]
        after_stop = [n for at, n in self.meter.seconds.items() if 0 <= at - STOP_AT - STOP_FOR < 600]
        return figures | {
            "polls": polls,
            "requests": self.meter.requests,
            "not_modified_share": total["not_modified"] / max(1, polls),
            "waste_share": 1 - total["fruitful"] / max(1, polls),
            "error_share": (total["error"] + total["refused"]) / max(1, polls),
            "lost_share": lost / max(1, published),
            "lost_to_refusals_share": refused / max(1, published),
            "pushed_share": by_hub / max(1, of_hubs),
            "forged_taken": self.hub.forged_taken,
            "audit_looks": self.ledger.looks,
            "audited_feeds": len(self.ledger.audited),
            "audit_off_s": _percentile(off, 50),
            "boosted_gap_p90_s": _percentile(gaps, 90),
            "over_domain_budget": self.meter.broken["domain"],
            "over_host_budget": self.meter.broken["host"],
            "under_crawl_delay": self.meter.broken["crawl-delay"],
            "during_retry_after": self.meter.broken["held"],
            "after_stop_most_a_second": max(after_stop, default=0),
        }


def _percentile(values: list[float], share: float) -> float:
    return float(np.percentile(values, share)) if values else float("nan")


def simulate(
    url: str,
    feeds: list[Feed],
    days: float,
    *,
    real_rows: bool = False,
    audited: int = AUDITED,
    tell: Callable[[int, int], None] = lambda _day, _requests: None,
) -> Week:
    """One run against the empty Valkey at `url`, which keeps the feeds' rows too if wanted; tells of each day."""
    store = open_redis(url)
    try:
        week = Week(store, feeds, days, FeedRows(store) if real_rows else MemoryRows(), audited=audited, tell=tell)
        virtual_time.run(week.run, START)
        return week
    finally:
        store.close()


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--days", type=float, default=7.0)
    parser.add_argument("--busy", type=int, default=15)
    parser.add_argument("--main", type=int, default=20)
    parser.add_argument("--tail", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="frontpage-week-") as directory, running(Path(directory)) as url:
        began = time.process_time()
        chance, end = random.Random(options.seed), START + options.days * DAY
        feeds = sites(chance, busy=options.busy, main=options.main, tail=options.tail, end=end)
        week = simulate(url, feeds, options.days, tell=lambda day, n: print(f"day {day}: {n:,} requests", flush=True))
        figures = week.figures()
        figures["cpu_s"] = time.process_time() - began
    record("week", figures, f"{options.days:g} virtual days, seed {options.seed}")
    _, broken = judge("week", figures, Console(), HERE / "targets.toml")
    return int(broken > 0)


if __name__ == "__main__":
    raise SystemExit(main())
