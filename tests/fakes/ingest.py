"""Poller and enrich as their processes wire them, over a real store, a local server and the bus's twin. For ingest tests.

`await run_until(...)` runs a poller until something is so; `enrich(...)` runs enrich until `items.raw` is used up.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncIterator

from fakes.bus import MemoryBus
from fakes.encoder import HashEncoder

from frontpage.adapters.article_rows import ArticleRows
from frontpage.adapters.bus import Outgoing
from frontpage.adapters.clock import SystemClock
from frontpage.adapters.encoder import EncoderSet
from frontpage.adapters.feed_rows import FeedRows
from frontpage.adapters.fetch import FetchTier
from frontpage.adapters.fetch_addresses import Gate
from frontpage.adapters.fetch_budget import RedisBudget
from frontpage.adapters.loop import run_transactional
from frontpage.contracts.events import ArticleEvent, DeadLetter, FeedItem, PollOutcome
from frontpage.domain.entities import Gazetteer
from frontpage.domain.ids import url_key
from frontpage.domain.schedule import Policy
from streaming.ingest.enrich import Enrich
from streaming.ingest.labels import Labeller
from streaming.ingest.pages import Pages
from streaming.ingest.poller import Poller
from streaming.ingest.polling import Polling
from streaming.ingest.publishers import PublisherBook
from streaming.ingest.registry import NewFeed, Registry
from streaming.ingest.thumbs import Thumbs

SEEN = 1_772_445_600.0


def item(url: str, title: str = "Feed title", **more) -> FeedItem:
    base = {"feed_id": "f1", "feed_url": "https://p.example/feed", "publisher_id": "p", "language": "en"}
    return FeedItem(**{**base, "url": url, "title": title, "seen_at": SEEN, **more})


def put(bus: MemoryBus, *items: FeedItem) -> None:
    bus.producer().send([Outgoing("items.raw", url_key(one.url), one.encode()) for one in items])


class FastClock(SystemClock):
    """A thousand times as fast: back-offs and budgets in no time, time-outs in real time."""

    def __init__(self) -> None:
        self._real, self._started = time.time(), time.monotonic()

    def now(self) -> float:
        return self._real + (time.monotonic() - self._started) * 1000

    def real_seconds(self, virtual_seconds: float) -> float:
        return virtual_seconds / 1000


def enrich(server, store, bus, *, patience: float = 3.0, timeout: float = 1.0, work_hook=None) -> Enrich:
    """Run until `items.raw` is used up; returns the work with its counts."""
    clock = FastClock()
    stop = threading.Event()
    with asyncio.Runner() as runner:

        async def make() -> FetchTier:
            return FetchTier(
                Gate(server.resolver), RedisBudget(store, clock), clock, store=store, contact="c", timeout=timeout
            )

        tier = runner.run(make())
        pages = Pages(tier, PublisherBook(store), clock, patience=patience)
        work = Enrich(
            pages,
            Thumbs(tier, store),
            rows=ArticleRows(store),
            encoders=EncoderSet(HashEncoder("en@1"), HashEncoder("other@1")),
            labeller=Labeller(Gazetteer()),
            clock=clock,
            runner=runner,
        )
        if work_hook:
            work_hook(work)
        deadline = time.monotonic() + 60

        def idle() -> None:
            ends = bus.end_offsets("items.raw")
            done = bus.committed("enrich", "items.raw")
            if all(done.get(p, 0) >= end for p, end in ends.items()) or time.monotonic() > deadline:
                stop.set()

        run_transactional(
            bus, process="enrich", group="enrich", topics=["items.raw"], transactional_id="enrich-test", work=work,
            clock=clock, stop=stop, max_records=50, poll_timeout=0.05, after_commit=work.committed, idle=idle,
            rollback=work.dropped,
        )  # fmt: skip
        runner.run(tier.close())
    assert time.monotonic() < deadline, "items.raw was not used up"
    return work


def articles(bus: MemoryBus) -> list[ArticleEvent]:
    return [ArticleEvent.decode(record.value) for record in bus.records("articles.normalised")]


def dead(bus: MemoryBus) -> list[DeadLetter]:
    return [DeadLetter.decode(record.value) for record in bus.records("items.dead")]


def rss(*items: tuple[str, str], host: str = "paper.example") -> str:
    rows = "".join(
        f"<item><title>{title}</title><link>https://{host}/{name}</link><guid>{name}</guid>"
        f"<description>{'Words of a summary. ' * 30}</description></item>"
        for name, title in items
    )
    return f'<?xml version="1.0"?><rss version="2.0"><channel><title>Paper</title><link>https://{host}/</link><description/>{rows}</channel></rss>'


@contextlib.asynccontextmanager
async def poller_over(store, resolver, producer, *, timeout: float = 2.0) -> AsyncIterator[Poller]:
    """A poller, wired; the caller runs it."""
    clock = SystemClock()
    fetcher = FetchTier(Gate(resolver), RedisBudget(store, clock), clock, store=store, contact="c", timeout=timeout)
    async with fetcher:
        polling = Polling(fetcher, PublisherBook(store, refresh=0.0), clock, Policy())
        yield Poller(polling, FeedRows(store), producer, clock)


async def run_until(server, store, bus, done, *, seconds: float = 20.0, producer=None, timeout: float = 2.0) -> Poller:
    """Run a poller until `done(poller)`; fails when that takes longer."""
    async with poller_over(store, server.resolver, producer or bus.producer(), timeout=timeout) as poller:
        stop = threading.Event()
        running = asyncio.create_task(poller.run(stop))
        deadline = time.monotonic() + seconds
        while not done(poller):
            assert time.monotonic() < deadline, f"{poller.polls} polls"
            assert not running.done() or running.exception() is None, running.exception()
            await asyncio.sleep(0.02)
        stop.set()
        await running
    return poller


def add(store, *urls: str, **more) -> None:
    report = Registry(store).add([NewFeed(url, **more) for url in urls], time.time() - 400)
    assert not report.skipped


def items(bus: MemoryBus) -> list[FeedItem]:
    return [FeedItem.decode(record.value) for record in bus.records("items.raw")]


def outcomes(bus: MemoryBus) -> dict[str, PollOutcome]:
    return {(o := PollOutcome.decode(record.value)).feed_url: o for record in bus.records("polls")}
