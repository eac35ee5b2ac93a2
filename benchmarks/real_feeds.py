"""Real feeds through the real ingest: a local server plays every file, every item is accounted for exactly once.

`python -m benchmarks.real_feeds [DATASETS]` starts a broker and a Valkey of its own and prints the counts. Pages are
played by the same server under the items' own addresses: by a digest of the address, most answer with a made-up
article, some fail in each way that pages fail. `adds_up` says that every item became an article from its page, an
article from the feed's own words, a duplicate, or a dead letter with its cause, and that every file was read or has
a cause.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiohttp import web

from frontpage.adapters.article_rows import ArticleRows
from frontpage.adapters.encoder import EncoderSet
from frontpage.adapters.feed_rows import FeedRows
from frontpage.adapters.fetch import FetchTier
from frontpage.adapters.fetch_addresses import Gate, ResolverMap
from frontpage.adapters.fetch_budget import RedisBudget
from frontpage.adapters.kafka_bus import KafkaBus
from frontpage.adapters.loop import run_transactional
from frontpage.adapters.redis_store import open_redis
from frontpage.adapters.services import jars
from frontpage.adapters.services import kafka as kafka_service
from frontpage.adapters.services import valkey as valkey_service
from frontpage.adapters.services.ports import free_port
from frontpage.contracts.events import ArticleEvent, DeadLetter, FeedItem, PollOutcome
from frontpage.contracts.topics import ALL, ARTICLES, ITEMS_DEAD, ITEMS_RAW, POLLS
from frontpage.domain.entities import Gazetteer
from frontpage.domain.ids import digest
from frontpage.domain.schedule import Policy
from frontpage.settings import Settings
from streaming.ingest.enrich import BATCH, Enrich
from streaming.ingest.labels import Labeller
from streaming.ingest.pages import Pages
from streaming.ingest.poller import Poller
from streaming.ingest.polling import Polling
from streaming.ingest.publishers import PublisherBook
from streaming.ingest.registry import NewFeed, Registry

if TYPE_CHECKING:
    import redis

    from frontpage.adapters.bus import Bus

FEEDS_HOST = "feeds.frontpage.example"
#: Budgets and back-offs run this much faster than a real crawl of the same items would.
SPEED = 300.0
#: Real seconds for all of it; the 41 files with 400 items take about half a minute.
PATIENCE = 240.0


class FastClock:
    """Virtual time from now on, `SPEED` times as fast."""

    def __init__(self) -> None:
        self._real, self._started = time.time(), time.monotonic()

    def now(self) -> float:
        return self._real + (time.monotonic() - self._started) * SPEED

    def real_seconds(self, virtual_seconds: float) -> float:
        return virtual_seconds / SPEED


def run(
    datasets_dir: Path,
    *,
    bus: Bus | None = None,
    redis_url: str | None = None,
    encoders: EncoderSet | None = None,
) -> dict[str, Any]:
    """The counts over `datasets_dir`/feeds/real. `bus` and Redis must be fresh; without them own ones are started."""
    files = sorted(path for path in (datasets_dir / "feeds" / "real").iterdir() if path.is_file())
    with contextlib.ExitStack() as stack:
        if bus is None:
            bus = KafkaBus(stack.enter_context(_kafka()))
        store = open_redis(redis_url or stack.enter_context(_valkey()))
        port = stack.enter_context(_server({path.name: path.read_bytes() for path in files}))
        clock = FastClock()
        Registry(store).add([NewFeed(f"http://{FEEDS_HOST}/{path.name}") for path in files], clock.now() - 600)
        started = time.monotonic()
        asyncio.run(_poll(bus, store, port, clock, len(files)))
        work = _enrich(bus, store, port, clock, encoders or EncoderSet.from_names("use", "use"))
        counts = _count(bus, len(files), work.counts)
        counts["seconds"] = round(time.monotonic() - started, 1)
        return counts


def _count(bus: Bus, files: int, ends: Counter[str]) -> dict[str, Any]:
    outcomes = [PollOutcome.decode(value) for value in _values(bus, POLLS.name)]
    first = {outcome.feed_url: outcome for outcome in reversed(outcomes) if outcome}
    raw = [FeedItem.decode(value) for value in _values(bus, ITEMS_RAW.name)]
    items = [item for item in raw if item and item.attempts == item.returns == 0]
    dead = [letter for value in _values(bus, ITEMS_DEAD.name) if (letter := DeadLetter.decode(value))]
    articles = [event for value in _values(bus, ARTICLES.name) if (event := ArticleEvent.decode(value))]
    no_link = sum(letter.cause == "no-link" for letter in dead)
    causes = Counter(letter.cause for letter in dead if letter.cause != "no-link")
    from_feed = sum(event.from_feed for event in articles)
    duplicates = ends["duplicate"] + ends["known"]
    unread = {url.rsplit("/", 1)[1]: o.cause for url, o in first.items() if o.outcome in ("error", "refused")}
    new_items = sum(outcome.new_items for outcome in outcomes if outcome)
    return {
        "files": files,
        "files_read": files - len(unread),
        "files_unread": unread,
        "items": new_items,
        "without_link": no_link,
        "from_page": len(articles) - from_feed,
        "from_feed": from_feed,
        "dead": dict(sorted(causes.items())),
        "duplicates": duplicates,
        "adds_up": len(first) == files
        and new_items == len(items) + no_link
        and len(items) == len(articles) + duplicates + sum(causes.values())
        and len({(event.card.article_id, event.card.version) for event in articles}) == len(articles),
    }


async def _poll(bus: Bus, store: redis.Redis, port: int, clock: FastClock, feeds: int) -> None:
    stop = threading.Event()
    async with _tier(store, port, clock) as tier:
        polling = Polling(
            tier, PublisherBook(store), clock, Policy(floor=1e7, long_tail_floor=1e7, ceiling=1e7, main_ceiling=1e7)
        )
        rows = FeedRows(store)
        poller = Poller(polling, rows, bus.producer(), clock)
        running = asyncio.create_task(poller.run(stop))
        deadline = time.monotonic() + PATIENCE
        while sum(row.state.polls > 0 for row in rows.all()) < feeds and time.monotonic() < deadline:
            await asyncio.sleep(0.1)
        stop.set()
        await running


def _enrich(bus: Bus, store: redis.Redis, port: int, clock: FastClock, encoders: EncoderSet) -> Enrich:
    stop = threading.Event()
    deadline = time.monotonic() + PATIENCE
    group = "real-feeds"

    def idle() -> None:
        done = bus.committed(group, ITEMS_RAW.name)
        ends = bus.end_offsets(ITEMS_RAW.name)
        if all(done.get(p, 0) >= end for p, end in ends.items()) or time.monotonic() > deadline:
            stop.set()

    with asyncio.Runner() as runner:

        async def opened() -> FetchTier:
            return _tier(store, port, clock)

        tier = runner.run(opened())
        work = Enrich(
            Pages(tier, PublisherBook(store), clock, patience=6.0),
            None,
            rows=ArticleRows(store),
            encoders=encoders,
            labeller=Labeller(Gazetteer()),
            clock=clock,
            runner=runner,
        )
        run_transactional(
            bus,
            process=group,
            group=group,
            topics=[ITEMS_RAW.name],
            transactional_id=group,
            work=work,
            clock=clock,
            stop=stop,
            max_records=BATCH,
            after_commit=work.committed,
            rollback=work.dropped,
            idle=idle,
        )
        runner.run(tier.close())
    return work


def _tier(store: redis.Redis, port: int, clock: FastClock) -> FetchTier:
    gate = Gate(ResolverMap("127.0.0.1", port, everything=True))
    contact = "https://frontpage.example/benchmark"
    return FetchTier(gate, RedisBudget(store, clock), clock, store=store, contact=contact, timeout=2.0)


def _values(bus: Bus, topic: str) -> list[bytes | None]:
    ends = bus.end_offsets(topic)
    return [record.value for p, end in ends.items() for record in bus.read(topic, p, 0, end)]


class _Site:
    """Plays feeds under one host, and under all others an article or a failure by a digest of the address."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self._files = files
        self._asked: Counter[str] = Counter()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        host, path = request.host.split(":")[0], request.path
        if path == "/robots.txt":
            return web.Response(status=404)
        if host == FEEDS_HOST:
            body = self._files.get(path.lstrip("/"))
            return web.Response(body=body, headers={"ETag": '"1"'}) if body is not None else web.Response(status=404)
        address = f"http://{host}{request.rel_url}"
        self._asked[address] += 1
        fate = int(digest(address, 8), 16) % 100
        if fate < 10:
            return web.Response(status=500)
        if fate < 16:
            return web.Response(status=404)
        if fate < 20:
            await asyncio.sleep(20)
        if fate < 25 and request.transport is not None:
            request.transport.close()
            return web.Response()
        if fate < 35 and self._asked[address] < 3:
            return web.Response(status=503, headers={"Retry-After": "1"})
        if fate < 40:
            return web.Response(body=b"\x89PNG\r\n\x1a\n" + b"\0" * 64, content_type="image/png")
        return web.Response(text=_article(address), content_type="text/html")


def _article(address: str) -> str:
    words = [digest(f"{address}{n}", 6) for n in range(180)]
    paragraphs = "".join(f"<p>The {' '.join(words[n : n + 12])} was found.</p>" for n in range(0, 180, 12))
    title = f"Report {words[0]} on {words[1]} and {words[2]}"
    return (
        f'<!doctype html><html lang="en"><head><title>{title}</title><meta property="og:title" content="{title}">'
        f'<meta property="article:published_time" content="2026-01-02T03:04:05Z"></head><body><article><h1>{title}'
        f"</h1>{paragraphs}</article></body></html>"
    )


@contextlib.contextmanager
def _server(files: dict[str, bytes]) -> Iterator[int]:
    port = free_port()
    loop = asyncio.new_event_loop()
    stopping = asyncio.Event()
    ready = threading.Event()

    async def serve() -> None:
        app = web.Application()
        app.router.add_route("*", "/{tail:.*}", _Site(files).answer)
        runner = web.AppRunner(app, shutdown_timeout=0.5, handler_cancellation=True)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        ready.set()
        await stopping.wait()
        await runner.cleanup()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    ready.wait(10)
    try:
        yield port
    finally:
        loop.call_soon_threadsafe(stopping.set)
        thread.join(10)
        loop.close()


@contextlib.contextmanager
def _process(command: list[str], log: Path) -> Iterator[None]:
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        yield
    finally:
        process.terminate()
        process.wait(20)


@contextlib.contextmanager
def _kafka() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as place:
        port, directory = free_port(), Path(place)
        command = kafka_service.command(directory, jars.java(), jars.kafka_jars(Settings().cache), port, free_port())
        with _process(command, directory / "log"):
            kafka_service.wait_ready(f"127.0.0.1:{port}")
            kafka_service.ensure_topics(f"127.0.0.1:{port}", ALL)
            yield f"127.0.0.1:{port}"


@contextlib.contextmanager
def _valkey() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as place:
        port, directory = free_port(), Path(place)
        with _process(valkey_service.command(directory, port, max_memory=1 << 28), directory / "log"):
            valkey_service.wait_ready(port)
            yield f"redis://127.0.0.1:{port}/0"


if __name__ == "__main__":
    print(json.dumps(run(Path(sys.argv[1] if len(sys.argv) > 1 else os.environ["FRONTPAGE_DATASETS"])), indent=1))
