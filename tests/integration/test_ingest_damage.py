"""Damaged rows, and errors that no code foresaw, each in the way of one feed: the others go on, and it comes back."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator

import pytest
import redis
from fakes.bus import MemoryBus
from fakes.ingest import add, items, outcomes, poller_over, rss, run_until
from fakes.web import LocalServer

from frontpage.adapters.clock import SystemClock
from frontpage.adapters.feed_rows import FeedRow, FeedRows, FeedSource
from frontpage.adapters.fetch import Fetched
from frontpage.adapters.push_rows import PushRows
from frontpage.adapters.redis_store import open_redis
from frontpage.contracts.views import ROBOTS, WEBSUB, WEBSUB_FEED
from frontpage.domain.ids import feed_id
from frontpage.domain.push import Advert
from frontpage.domain.schedule import FeedState, Policy
from frontpage.errors import ServiceUnavailable
from streaming.ingest.polling import Polled, Polling
from streaming.ingest.publishers import PublisherBook
from streaming.ingest.subscriber import Subscriber

HUB = "https://hub.example/"


@pytest.fixture
def server() -> Iterator[LocalServer]:
    server = LocalServer()
    yield server
    server.close()


@pytest.fixture
def store(valkey: str) -> Iterator[redis.Redis]:
    client = open_redis(valkey)
    yield client
    client.close()


@pytest.mark.parametrize("damage", [b"{", b"[]", b'{"id": "x"}', b"\xff", None])
def test_a_damaged_subscription_stops_no_other_and_can_be_begun_again(store, damage):
    rows = PushRows(store)
    ill = rows.begin("ill", hub=HUB, topic="https://ill.example/feed", now=100.0)
    well = rows.begin("well", hub=HUB, topic="https://well.example/feed", now=100.0)
    key = WEBSUB.key(subscription=ill.id)
    store.delete(key) if damage is None else store.set(key, damage)
    assert rows.claim(200.0, 10, 60.0) == [well]
    assert rows.count() == 1
    assert rows.get(ill.id) is None
    assert rows.change(ill.id, lambda state: state) is None
    assert rows.of_feed("ill") is None
    assert store.exists(key, WEBSUB_FEED.key(feed="ill")) == 0
    again = rows.begin("ill", hub=HUB, topic="https://ill.example/feed", now=300.0)
    assert rows.of_feed("ill") == again
    assert rows.of_feed("well").id == well.id


async def test_an_error_of_one_feed_ends_no_other_feeds_subscriptions(store, monkeypatch):
    rows = PushRows(store)
    subscriber = Subscriber(None, rows, FeedRows(store), SystemClock(), "http://us.example", every=0.01)  # type: ignore[arg-type]

    async def asked_nobody() -> int:
        return 0

    monkeypatch.setattr(subscriber, "turn", asked_nobody)
    begin = rows.begin

    def broken(feed: str, **more: object) -> object:
        if feed == feed_id("https://ill.example/feed"):
            raise ZeroDivisionError
        return begin(feed, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(rows, "begin", broken)
    for host in ("ill", "well"):
        row = FeedRow(_source(f"https://{host}.example/feed"), FeedState())
        subscriber.noticed([Polled(row, read=True, advert=Advert(HUB, row.source.url))])
    stop = threading.Event()
    running = asyncio.create_task(subscriber.run(stop))
    deadline = time.monotonic() + 10
    while rows.count() == 0 and time.monotonic() < deadline:
        await asyncio.sleep(0.02)
    stop.set()
    await running
    assert rows.of_feed(feed_id("https://well.example/feed")) is not None


@pytest.mark.parametrize("copy", [b"", b"{\nUser-agent: *", b"[]\n", b"{}\n", b'{"status": 200, "at": "noon"}\n'])
async def test_a_damaged_copy_of_robots_is_fetched_again(server, store, copy):
    server.on("paper.example/feed", rss(("a", "First")))
    add(store, "https://paper.example/feed")
    store.set(ROBOTS.key(host="https://paper.example"), copy)
    bus = MemoryBus()
    await run_until(server, store, bus, lambda poller: poller.polls == 1)
    assert [item.title for item in items(bus)] == ["First"]
    assert store.get(ROBOTS.key(host="https://paper.example")).startswith(b'{"status": 404')


async def test_a_poll_that_breaks_is_a_failure_with_back_off(server, store, monkeypatch):
    address = "https://paper.example/feed"
    server.on("paper.example/feed", rss(("a", "First")))
    add(store, address)

    def broken(*_: object) -> object:
        raise ZeroDivisionError

    monkeypatch.setattr(Polling, "_item", broken)
    bus = MemoryBus()
    await run_until(server, store, bus, lambda poller: poller.polls == 1)
    state = FeedRows(store).get(feed_id(address)).state
    assert (state.errors, state.last_cause) == (1, "cannot-handle")
    assert state.next_at > time.time() + Policy().floor
    assert not state.guids
    assert outcomes(bus)[address].outcome == "error"
    monkeypatch.undo()
    FeedRows(store).put(FeedRow(FeedRows(store).get(feed_id(address)).source, FeedState()))
    await run_until(server, store, bus, lambda poller: poller.polls == 1)
    assert [item.title for item in items(bus)] == ["First"]


async def test_a_poller_that_can_write_no_more_ends(server, store):
    class Broken:
        def send(self, records: object) -> None:
            raise ZeroDivisionError

    server.on("paper.example/feed", rss(("a", "First")))
    add(store, "https://paper.example/feed")
    async with poller_over(store, server.resolver, Broken()) as poller:
        with pytest.raises(ZeroDivisionError):
            await asyncio.wait_for(poller.run(threading.Event()), 15)


async def test_redis_away_within_an_index_is_not_the_feeds_failure(store):
    class Fetcher:
        async def get(self, url: str, *, kind: str, headers: object = None) -> Fetched:
            if url.endswith("/map"):
                found = b"<sitemapindex><sitemap><loc>https://paper.example/news.xml</loc></sitemap></sitemapindex>"
                return Fetched(url, 200, {}, found)
            raise ServiceUnavailable("Redis: away")

    polling = Polling(Fetcher(), PublisherBook(store), SystemClock(), Policy())  # type: ignore[arg-type]
    with pytest.raises(ServiceUnavailable):
        await polling.poll(FeedRow(_source("https://paper.example/map"), FeedState()))


def _source(url: str) -> FeedSource:
    return FeedSource(feed_id(url), url, "paper", "paper.example")
