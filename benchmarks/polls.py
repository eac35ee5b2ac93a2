"""How many polls a second one scheduler process sustains over 200,000 feeds, and what a poll costs it.

    python -m benchmarks.polls [--seconds 30] [--feeds 200000]

Real Valkey and Kafka, 50,000 made-up publishers with a host, a robots.txt and four feeds each, and the local server of
`feed_server.py`, which answers four polls in five with 304; all feeds are due. Services and server are processes of
their own on the same processors, so that polls a second are a lower bound. Everything a poller does is on: address
checks, robots.txt, budgets in Redis, validators, records on `items.raw` and `polls`, rows stored by compare-and-set.

total_cpu_ms is the whole process's processor time a poll, all threads. http_cpu_ms is what the HTTP client library
needs for the same requests by itself: a bare loop over the same addresses with the same headers, connections and pace,
measured in the same run. xml_cpu_ms is what the feed library needs by itself for the documents that it is
given: the 200s without their known items (feedparser_whole_ms: for one whole document). own_cpu_ms is all the rest,
Redis and Kafka clients included. Memory is the process's peak, in MiB; row_bytes the mean length of a feed's row.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import resource
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import feedparser
import psutil
import redis
from aiohttp import ClientSession
from rich.console import Console

from benchmarks import feed_server as world
from benchmarks.harness import HERE, judge, record
from benchmarks.processes import running
from frontpage.adapters.clock import SystemClock
from frontpage.adapters.feed_codec import packed_items, unpacked_items
from frontpage.adapters.feed_rows import FeedRow, FeedRows, FeedSource, due_key
from frontpage.adapters.fetch import FetchTier
from frontpage.adapters.fetch_addresses import Gate, ResolverMap
from frontpage.adapters.fetch_budget import NoBudget, RedisBudget
from frontpage.adapters.kafka_bus import KafkaBus
from frontpage.adapters.parse import feeds
from frontpage.adapters.parse.feeds import read_any
from frontpage.adapters.parse.known_items import cut
from frontpage.adapters.redis_store import open_redis
from frontpage.adapters.services import jars
from frontpage.adapters.services import kafka as kafka_service
from frontpage.adapters.services import valkey as valkey_service
from frontpage.adapters.services.ports import free_port
from frontpage.contracts.topics import ALL
from frontpage.contracts.views import FEED, PUBLISHER, PUBLISHERS, ROBOTS, Publisher
from frontpage.domain.ids import digest, feed_id
from frontpage.domain.schedule import Entry, FeedState, Policy
from frontpage.settings import Settings
from streaming.ingest.poller import CLAIMED_AT_ONCE, Poller, rest_collector
from streaming.ingest.polling import Polling
from streaming.ingest.publishers import PublisherBook

#: Feeds of a block of hosts are due one round after the other, so that a host's four polls are seconds apart.
BLOCK = 2_000
WARM = 6.0
#: Rows beyond these are not reached in a run: their items' digests have the right size only.
POLLED = 30_000
ROBOTS_TEXT = "User-agent: *\nDisallow: /search\nDisallow: /private/\nDisallow: /print/\nAllow: /private/open/\n"


@lru_cache(maxsize=world.BODIES)
def first_edition(which: int) -> tuple[str, tuple[str, ...]]:
    """A body's text, and its entries as a state remembers them."""
    content, kind = world.body(which, 0)
    reading = read_any(content, {"content-type": kind}, "http://paper.example/", now=world.BEGAN + 86_400)
    known = tuple(Entry(e.id or e.url or e.title, f"{e.title}\n{e.url}").known_as for e in reading.entries)
    return content.decode(), known


def remembered(feed: int) -> tuple[tuple[str, ...], bytes]:
    """What a feed's row knows of the items that it lists: guids, and items with the digests of their text."""
    text, known = first_edition(feed % world.BODIES)
    url = world.address(feed)
    items = cut(text, feeds.context_of(text, url), ()).items
    return known, packed_items(list(zip(items, known, strict=True)))


def seed(store: redis.Redis, count: int, now: float) -> float:
    """Write rows, queues, publishers and robots.txt as after some weeks of polling; returns a row's mean length."""
    size, dummy = 0, remembered(0)
    order = sorted(range(count), key=lambda feed: ((feed % world.HOSTS) // BLOCK, feed // world.HOSTS, feed))
    pipe = store.pipeline(transaction=False)
    for place, feed in enumerate(order):
        url = world.address(feed)
        known, items = remembered(feed) if place < POLLED else dummy
        # what the feed listed before: 200 are remembered of one that has published for weeks
        older = tuple(f"{feed:08x}{n:08x}:{n:08x}" for n in range(feed % 176))
        state = FeedState(
            next_at=now - 3_600 + place / count, etag=world.tag_of(feed, 0),
            last_modified="Mon, 21 Sep 2026 13:58:20 GMT", fingerprint=digest(str(feed), 16), body_at=now - 3_600,
            guids=known + older, rate=dict.fromkeys(range(feed % 24, 168, 8), 4.25),
            rate_at=now - 3_600, since=now - 30 * 86_400, last_new_at=now - 7_200, last_at=now - 3_600,
            last_status=304, polls=2_000, not_modified=1_600, fruitful=350, new_items=800, delay=95.5,
        )  # fmt: skip
        host = world.host_of(feed)
        source = FeedSource(
            feed_id(url), url, host, host, title=f"Paper {feed}", language="en", main=feed < world.HOSTS
        )
        raw = FeedRow(source, state, items=items).encode()
        size += len(raw)
        pipe.set(FEED.key(feed=source.feed_id), raw)
        pipe.zadd(due_key(source.feed_id), {source.feed_id: state.next_at or 0.0})
        if place % 1_000 == 999:
            pipe.execute()
    for number in range(min(count, world.HOSTS)):
        host = world.host_of(number)
        one = Publisher(publisher_id=host, name=host, domains=[host], country="GB", language="en")
        pipe.set(PUBLISHER.key(publisher=host), one.model_dump_json())
        pipe.sadd(PUBLISHERS.key(), host)
        pipe.set(ROBOTS.key(host=f"http://{host}"), b'{"status": 200}\n' + ROBOTS_TEXT.encode(), ex=86_400)
        if number % 1_000 == 999:
            pipe.execute()
    pipe.execute()
    return size / count


class Counting(Polling):
    """A `Polling` that notes what was asked and answered, for the libraries' own shares."""

    asked: list[tuple[str, dict[str, str]]]
    bodies: int = 0

    async def poll(self, row: FeedRow) -> Any:
        """As the base class."""
        if len(self.asked) < 20_000:
            condition = {"If-None-Match": row.state.etag or "", "If-Modified-Since": row.state.last_modified or ""}
            self.asked.append((row.source.url, condition))
        polled = await super().poll(row)
        self.bodies += polled.read
        return polled


async def sustained(store: redis.Redis, bus: KafkaBus, port: int, seconds: float) -> tuple[dict[str, float], Counting]:
    """Figures of the poller, and what it asked."""
    clock, process = SystemClock(), psutil.Process()
    tier = FetchTier(
        Gate(ResolverMap("127.0.0.1", port)), RedisBudget(store, clock), clock, store=store, contact="bench@example.com"
    )
    producer = bus.producer()
    async with tier:
        publishers = PublisherBook(store)
        publishers.domains()
        rest_collector()
        polling = Counting(tier, publishers, clock, Policy())
        polling.asked = []
        poller = Poller(polling, FeedRows(store), producer, clock)
        stop = threading.Event()
        task = asyncio.create_task(poller.run(stop))
        await asyncio.sleep(WARM)
        before = (time.perf_counter(), time.process_time(), poller.polls, poller.new_items, polling.bodies)
        await asyncio.sleep(seconds)
        after = (time.perf_counter(), time.process_time(), poller.polls, poller.new_items, polling.bodies)
        spent, cpu, polls, items, bodies = (b - a for a, b in zip(before, after, strict=True))
        connections = len(process.net_connections())
        stop.set()
        await task
    producer.close()
    return {
        "polls_s": polls / spent, "polls": polls, "not_modified_share": 1 - bodies / max(polls, 1),
        "items_a_body": items / max(bodies, 1), "total_cpu_ms": 1e3 * cpu / max(polls, 1), "sockets": connections,
    }, polling  # fmt: skip


async def bare(port: int, asked: list[tuple[str, dict[str, str]]], rate: float) -> float:
    """Processor milliseconds a request of the HTTP client alone, over the same requests at the same pace."""
    tier = FetchTier(
        Gate(ResolverMap("127.0.0.1", port)), NoBudget(), SystemClock(), contact="bench@example.com", robots=False
    )
    session: ClientSession = tier._session  # the very settings whose cost is measured
    # one a host: the poller comes back to a host when its connection is closed, and this loop would be too early
    first = {urlsplit(url).hostname: (url, headers) for url, headers in reversed(asked)}
    wanted = list(first.values())

    async def ask(url: str, headers: dict[str, str]) -> None:
        async with session.get(url, headers=headers, allow_redirects=False) as response:
            await response.read()

    async with tier:
        began, cpu = time.perf_counter(), time.process_time()
        running: list[asyncio.Task[None]] = []
        for start in range(0, len(wanted), CLAIMED_AT_ONCE):
            await asyncio.sleep(began + start / rate - time.perf_counter())
            running += [asyncio.create_task(ask(*one)) for one in wanted[start : start + CLAIMED_AT_ONCE]]
        await asyncio.gather(*running)
        return 1e3 * (time.process_time() - cpu) / len(wanted)


def library_parse() -> tuple[float, float]:
    """Processor milliseconds of feedparser for one body: as the poller gives it, without what is known, and whole."""
    whole = [world.body(which, 1)[0].decode() for which in range(world.BODIES)]
    given = []
    for which, text in enumerate(whole):
        known = unpacked_items(remembered(which)[1])
        given.append(cut(text, feeds.context_of(text, world.address(which)), known).rest)
    spent = []
    for bodies in (whole, given, whole):  # the first time builds the library's tables
        began = time.process_time()
        for body in bodies:
            feedparser.parse(
                io.BytesIO(body.encode()), response_headers={"content-type": "application/xml; charset=utf-8"},
                sanitize_html=False, resolve_relative_uris=False,
            )  # fmt: skip
        spent.append(1e3 * (time.process_time() - began) / len(bodies))
    return spent[1], spent[2]


def main() -> int:
    """Measure, show and record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--feeds", type=int, default=world.FEEDS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="frontpage-polls-") as place, ExitStack() as stack:
        root, cache = Path(place), Settings().cache
        ports = [free_port() for _ in range(4)]
        command = valkey_service.command(root / "valkey", ports[0], max_memory=4 << 30)
        stack.enter_context(running(command, root / "valkey.log"))
        command = kafka_service.command(root / "kafka", jars.java(), jars.kafka_jars(cache), ports[1], ports[2])
        stack.enter_context(running(command, root / "kafka.log"))
        stack.enter_context(
            running([sys.executable, "-m", "benchmarks.feed_server", str(ports[3])], root / "server.log")
        )
        valkey_service.wait_ready(ports[0])
        kafka_service.wait_ready(f"127.0.0.1:{ports[1]}")
        kafka_service.ensure_topics(f"127.0.0.1:{ports[1]}", ALL)
        store = stack.enter_context(open_redis(f"redis://127.0.0.1:{ports[0]}/0"))
        began = time.perf_counter()
        row_bytes = seed(store, options.feeds, time.time())
        print(f"{options.feeds:,} feeds seeded in {time.perf_counter() - began:.0f} s", flush=True)
        used: Any = store.info("memory")
        figures, polling = asyncio.run(sustained(store, KafkaBus(f"127.0.0.1:{ports[1]}"), ports[3], options.seconds))
        figures["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
        figures["http_cpu_ms"] = asyncio.run(bare(ports[3], polling.asked, figures["polls_s"]))
    given, figures["feedparser_whole_ms"] = library_parse()
    figures["xml_cpu_ms"] = given * (1 - figures["not_modified_share"])
    figures |= {
        "own_cpu_ms": figures["total_cpu_ms"] - figures["http_cpu_ms"] - figures["xml_cpu_ms"],
        "row_bytes": row_bytes, "valkey_mib": used["used_memory"] / 2**20, "feeds": options.feeds,
    }  # fmt: skip
    record("polls", figures, "polls of one scheduler process; services and server share the processors")
    _, broken = judge("polls", figures, Console(), HERE / "targets.toml")
    return int(broken > 0)


if __name__ == "__main__":
    raise SystemExit(main())
