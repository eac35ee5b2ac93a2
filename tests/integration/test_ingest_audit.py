"""Audit and pace against a real Valkey: samples, looks, results; a clock set back; a poller that was stopped."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator

import pytest
import redis
from fakes.bus import MemoryBus
from fakes.fetch import FakeFetcher
from fakes.web import LocalServer

from frontpage.adapters.audit_rows import AuditRows
from frontpage.adapters.clock import SystemClock
from frontpage.adapters.feed_pace import FeedPace
from frontpage.adapters.feed_rows import FeedRow, FeedRows, FeedSource
from frontpage.adapters.fetch import Fetched
from frontpage.adapters.redis_store import open_redis
from frontpage.contracts.events import PollOutcome
from frontpage.contracts.views import AUDIT, FEEDS_CLOCK
from frontpage.domain import audit
from frontpage.domain.ids import feed_id
from frontpage.domain.schedule import FeedState, Policy
from frontpage.errors import FetchFailed
from frontpage.runtime import Runtime
from frontpage.settings import Settings
from streaming.ingest.auditor import Auditor
from streaming.ingest.poller import poll_until
from streaming.ingest.polling import Polling
from streaming.ingest.publishers import PublisherBook

NOW = 1_780_000_000.0
DAY = 86_400.0
URL = "https://paper.example/feed"


class StepClock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.at = NOW

    def now(self) -> float:
        return self.at

    def real_seconds(self, virtual_seconds: float) -> float:
        return virtual_seconds


class Bench:
    """One feed with a schedule and an audit, moved by hand."""

    def __init__(self, store: redis.Redis) -> None:
        self.clock, self.bus, self.fetcher = StepClock(), MemoryBus(), FakeFetcher()
        self.rows, self.watches = FeedRows(store), AuditRows(store)
        book = PublisherBook(store)
        self.polling = Polling(self.fetcher, book, self.clock, Policy())
        self.auditor = self.another(book)

    def another(self, book: PublisherBook) -> Auditor:
        fine = Polling(self.fetcher, book, self.clock, audit.policy(Policy()))
        return Auditor(fine, self.rows, self.watches, self.bus.producer(), self.clock, wanted=300)

    def publish(self, *names: str) -> None:
        items = "".join(f"<item><title>{n}</title><link>https://paper.example/{n}</link></item>" for n in names)
        body = f'<rss version="2.0"><channel><title>Paper</title>{items}</channel></rss>'
        self.fetcher.answers[URL] = Fetched(URL, 200, {"content-type": "application/rss+xml"}, body.encode())

    async def poll(self) -> None:
        """The schedule's own poll."""
        polled = await self.polling.poll(self.rows.get(feed_id(URL)))
        self.rows.store([polled.row])

    async def look(self, at: float) -> int:
        self.clock.at = at
        return await self.auditor.turn()

    def looks(self) -> list[PollOutcome]:
        return [event for record in self.bus.records("polls") if (event := PollOutcome.decode(record.value)).audit]


@pytest.fixture
def store(valkey: str) -> Iterator[redis.Redis]:
    client = open_redis(valkey)
    yield client
    client.close()


@pytest.fixture
def bench(store: redis.Redis) -> Bench:
    bench = Bench(store)
    bench.rows.put(FeedRow(FeedSource(feed_id(URL), URL, "paper.example", "paper.example", main=True), FeedState()))
    bench.publish("a")
    return bench


async def test_delay_of_what_the_schedule_finds_is_measured_beside_it(bench: Bench):
    await bench.poll()
    await bench.look(NOW)
    first = NOW + 70
    assert await bench.look(first) == 1
    bench.publish("b", "a")
    assert await bench.look(first + 70) == 1
    assert await bench.look(first + 80) == 0, "not before its floor"
    bench.clock.at = first + 100
    await bench.poll()
    assert await bench.look(first + 140) == 1
    assert [(one.new_items, one.delay) for one in bench.looks()][-3:] == [(0, None), (0, None), (1, 65.0)]
    (watch,) = bench.watches.all()
    assert (watch.found, watch.missed, watch.delay) == (1, 0, 65.0)
    state = bench.rows.get(feed_id(URL)).state
    assert state.audited_at == first + 140
    assert state.late > 0.5 - 0.1
    assert not bench.bus.records("items.raw"), "the audit hands nothing on"


async def test_a_held_host_an_error_and_a_removed_feed(bench: Bench):
    await bench.poll()
    await bench.look(NOW)
    at = NOW + 70
    await bench.look(at)
    bench.fetcher.answers[URL] = FetchFailed("wait", cause="host-held", retry_after=900.0)
    assert await bench.look(at + 70) == 1
    assert await bench.look(at + 600) == 0, "as long as the host asked for"
    bench.fetcher.answers[URL] = Fetched(URL, 500, {})
    assert await bench.look(at + 1_500) == 1
    assert bench.looks()[-1].outcome == "error"
    bench.rows.remove(feed_id(URL))
    await bench.look(at + DAY)
    assert bench.watches.all() == []


async def test_a_sample_is_drawn_once_whoever_asks_and_anew_each_week(bench: Bench, store: redis.Redis):
    for number in range(200):
        url = f"https://p{number}.example/feed"
        source = FeedSource(feed_id(url), url, "p", f"p{number}.example", main=True, authoritative=number % 4 == 0)
        bench.rows.put(FeedRow(source, FeedState(next_at=NOW)))
    await bench.look(NOW)
    drawn = {member.decode() for member in store.zrange("audit:due", 0, -1)}
    assert len(drawn) == 10, "a twentieth"
    rows = list(bench.rows.get_many(sorted(drawn)))
    assert sum(row.source.authoritative for row in rows) >= 5
    await bench.another(PublisherBook(store)).turn()
    assert {member.decode() for member in store.zrange("audit:due", 0, -1)} == drawn
    await bench.look(NOW + 8 * DAY)
    assert {member.decode() for member in store.zrange("audit:due", 0, -1)} != drawn


async def test_looks_go_on_after_the_clock_was_set_back(bench: Bench):
    """By three days: within the week, so that the sample stays."""
    await bench.poll()
    await bench.look(NOW)
    await bench.look(NOW + 70)
    assert await bench.look(NOW - 3 * DAY) == 1
    assert await bench.look(NOW - 3 * DAY + 30) == 0, "at its floor, as before"
    assert await bench.look(NOW - 3 * DAY + 70) == 1


async def test_a_damaged_watch_begins_anew(bench: Bench, store: redis.Redis):
    await bench.poll()
    await bench.look(NOW)
    await bench.look(NOW + 70)
    store.set(AUDIT.key(feed=feed_id(URL)), b'{"feed_id": 1}')
    assert await bench.look(NOW + 200) == 1
    assert [watch.feed_id for watch in bench.watches.all()] == [feed_id(URL)]


async def test_the_process_polls_and_audits_side_by_side(store: redis.Redis, valkey: str):
    server, bus, stop = LocalServer(), MemoryBus(), threading.Event()
    try:
        item = "<item><title>One</title><link>https://paper.example/one</link></item>"
        server.on("paper.example/feed", f'<rss version="2.0"><channel><title>Paper</title>{item}</channel></rss>')
        source = FeedSource(feed_id(URL), URL, "paper.example", "paper.example", main=True)
        FeedRows(store).put(FeedRow(source, FeedState()))
        settings = Settings(resolver=f"127.0.0.1:{server.port}", poll_floor=1.0)
        running = asyncio.create_task(poll_until(Runtime(settings, bus, store, SystemClock(), "", valkey), stop))
        deadline = time.monotonic() + 60
        while not (bus.records("items.raw") and any(PollOutcome.decode(r.value).audit for r in bus.records("polls"))):
            assert time.monotonic() < deadline
            assert not running.done() or running.exception() is None, running.exception()
            await asyncio.sleep(0.05)
        stop.set()
        await asyncio.wait_for(running, 60)
        assert len(bus.records("items.raw")) == 1, "the audit hands nothing on"
        assert float(store.get(FEEDS_CLOCK.key())) == pytest.approx(time.time(), abs=120)
    finally:
        stop.set()
        server.close()


class TestPace:
    @staticmethod
    def feeds(store: redis.Redis, *due: float | None) -> FeedRows:
        rows = FeedRows(store)
        for number, at in enumerate(due):
            url = f"https://p{number}.example/feed"
            state = FeedState(next_at=at, stopped="gone" if at is None else None)
            rows.put(FeedRow(FeedSource(feed_id(url), url, "p", f"p{number}.example"), state))
        return rows

    def test_feeds_are_polled_in_time_after_the_clock_was_set_back_by_days(self, store):
        rows, keeper = self.feeds(store, NOW + 60, NOW + 3_000, None), FeedPace(store)
        assert keeper.keep(NOW, 1.0) == 0
        back = NOW - 5 * DAY
        assert rows.claim(back + 120, 10, 60) == [], "without a correction they wait five days"
        assert keeper.keep(back, 1.0) == 2
        assert keeper.keep(back + 2, 1.0) == 0, "once"
        assert [row.source.domain for row in rows.claim(back + 61, 10, DAY)] == ["p0.example"]
        assert [row.source.domain for row in rows.claim(back + 3_001, 10, DAY)] == ["p1.example"]
        assert rows.claim(back + 4 * DAY, 10, 60)[2:] == [], "what is gone stays so"

    def test_overdue_feeds_are_spread_after_a_stop(self, store):
        rows, keeper = self.feeds(store, *(NOW + number for number in range(600))), FeedPace(store)
        keeper.keep(NOW, 1.0)
        after = NOW + 3 * 3_600
        assert keeper.keep(after, 1.0) == 600
        a_second = [len(rows.claim(after + second, 1_000, 3_600)) for second in range(61)]
        assert sum(a_second) == 600
        assert max(a_second) <= 20, "about ten a second"
