"""The poller with a real Valkey and local server: items, outcomes, boosts, bad feeds, crashes. Bus: the twin."""

from __future__ import annotations

import asyncio
import gzip
import threading
import time
from collections.abc import Iterator

import pytest
import redis
from aiohttp import web
from fakes.bus import MemoryBus
from fakes.ingest import add, items, outcomes, rss, run_until
from fakes.web import LocalServer

from frontpage.adapters.clock import SystemClock
from frontpage.adapters.feed_rows import FeedRows
from frontpage.adapters.redis_store import open_redis
from frontpage.contracts.events import DeadLetter, PollRequest
from frontpage.contracts.views import Publisher
from frontpage.domain.dates import iso
from frontpage.domain.ids import feed_id
from frontpage.errors import ServiceUnavailable
from streaming.ingest.poller import Poller, serve_requests
from streaming.ingest.registry import Registry


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


async def test_new_items_reach_the_topic_once_with_clipped_summaries(server, store):
    server.on("paper.example/feed", rss(("a", "First"), ("b", "Second")), ETag='"1"')
    add(store, "https://paper.example/feed")
    bus = MemoryBus()
    await run_until(server, store, bus, lambda poller: poller.polls == 1)
    assert sorted((item.title, item.url) for item in items(bus)) == [
        ("First", "https://paper.example/a"), ("Second", "https://paper.example/b"),
    ]  # fmt: skip
    assert all(0 < len(item.summary) <= 200 for item in items(bus))
    outcome = outcomes(bus)["https://paper.example/feed"]
    assert (outcome.outcome, outcome.status, outcome.items, outcome.new_items) == ("new", 200, 2, 2)
    row = FeedRows(store).get(feed_id("https://paper.example/feed"))
    assert row.state.etag == '"1"'
    assert row.state.next_at == outcome.next_at > time.time()


async def test_second_poll_is_conditional_and_finds_only_what_is_new(server, store):
    answers = [rss(("a", "First")), rss(("c", "Third"), ("a", "First, corrected"))]

    async def feed(request: web.Request) -> web.Response:
        if len(answers) == 1 and request.headers.get("If-None-Match") != '"v"':
            return web.Response(status=400)
        return web.Response(body=answers.pop(0), headers={"ETag": '"v"'})

    server.on("paper.example/feed", feed)
    add(store, "https://paper.example/feed")
    bus = MemoryBus()
    await run_until(server, store, bus, lambda poller: poller.polls == 1)
    FeedRows(store).boost(feed_id("https://paper.example/feed"), None, time.time(), gap=0.0)
    await run_until(server, store, bus, lambda poller: poller.polls == 1)
    assert sorted(item.title for item in items(bus)) == ["First", "First, corrected", "Third"]


async def test_licence_and_opt_out_are_obeyed_before_the_topic(server, store):
    for name in ("quiet", "out"):
        server.on(f"{name}.example/feed", rss(("a", "First"), host=f"{name}.example"))
    base = {"country": "GB", "language": "en"}
    Registry(store).put_publishers(
        [
            Publisher(publisher_id="quiet", name="Q", domains=["quiet.example"], snippet_allowed=False, **base),
            Publisher(publisher_id="out", name="O", domains=["out.example"], opted_out=True, **base),
        ]
    )
    add(store, "https://quiet.example/feed", "https://out.example/feed")
    bus = MemoryBus()
    await run_until(server, store, bus, lambda poller: poller.polls == 2)
    assert [(item.publisher_id, item.summary) for item in items(bus)] == [("quiet", "")]
    assert outcomes(bus)["https://out.example/feed"].cause == "opted-out"
    assert server.hits["out.example/feed"] == 0


async def test_bad_feeds_each_get_their_cause_and_the_rest_goes_on(server, store):
    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b"<rss>")
            await asyncio.sleep(0.05)

    server.on("bad.example/html", "<!doctype html><html><body>Maintenance</body></html>", Content_Type="text/html")
    server.on("bad.example/empty", "")
    server.on("huge.example/feed", b"<rss>" + b" " * (50 << 20))
    server.on("endless.example/feed", endless)
    server.on(
        "latin.example/feed",
        b'<?xml version="1.0" encoding="utf-8"?><rss version="2.0"><channel><title>x</title><item><title>caf\xe9 \xff</title><link>https://latin.example/1</link></item></channel></rss>',
    )
    server.on("loop.example/feed", "", status=302, Location="/feed")
    server.on("broken.example/feed", "", status=500)
    server.on("gone.example/feed", "", status=410)
    server.on("cut.example/feed", gzip.compress(rss(("a", "First")).encode())[:40], Content_Encoding="gzip")
    server.on("address.example/feed", "http://169.254.169.254/latest/meta-data/", Content_Type="application/rss+xml")
    server.on("path.example/feed", "/etc/hostname", Content_Type="application/rss+xml")
    server.on("paper.example/feed", rss(("a", "First")))
    expected = {
        "https://bad.example/html": "html", "https://bad.example/empty": "empty", "https://huge.example/feed": "too-large",
        "https://endless.example/feed": "timeout", "https://latin.example/feed": None, "https://loop.example/feed": "redirects",
        "https://broken.example/feed": "http-500", "https://gone.example/feed": "gone", "https://cut.example/feed": "truncated",
        "https://address.example/feed": "not-a-feed", "https://path.example/feed": "not-a-feed",
        "https://paper.example/feed": None, "https://nowhere.example/feed": "http-404",
    }  # fmt: skip
    add(store, *expected)
    bus = MemoryBus()
    await run_until(server, store, bus, lambda poller: poller.polls >= len(expected), seconds=40)
    assert {url: outcome.cause for url, outcome in outcomes(bus).items()} == expected
    assert sorted(item.url for item in items(bus)) == ["https://latin.example/1", "https://paper.example/a"]
    gone = FeedRows(store).get(feed_id("https://gone.example/feed"))
    assert (gone.state.next_at, gone.state.stopped) == (None, "gone")


async def test_an_item_without_link_is_a_dead_letter_with_its_cause(server, store):
    server.on(
        "p.example/feed",
        '<rss version="2.0"><channel><title>t</title><item><title>No link</title><link>javascript:alert(1)</link></item></channel></rss>',
    )
    add(store, "https://p.example/feed")
    bus = MemoryBus()
    await run_until(server, store, bus, lambda poller: poller.polls == 1)
    (letter,) = [DeadLetter.decode(record.value) for record in bus.records("items.dead")]
    assert letter.cause == "no-link"
    assert items(bus) == []


class DiesAfterItems:
    """A producer whose process dies when it is about to write the outcomes."""

    def __init__(self, bus: MemoryBus) -> None:
        self.real = bus.producer()
        self.dead = False

    def send(self, records) -> None:
        records = list(records)
        if self.dead or records[0].topic == "polls":
            self.dead = True
            raise ServiceUnavailable("the process died here")
        self.real.send(records)

    def close(self) -> None:
        pass


async def test_a_crash_between_items_and_row_repeats_items_and_loses_none(server, store, monkeypatch):
    monkeypatch.setattr("streaming.ingest.poller.LONGEST_BACKOFF", 0.2)
    monkeypatch.setattr("streaming.ingest.poller.CLAIM_REAL", 1.0)
    monkeypatch.setattr("streaming.ingest.poller.CLAIM_VIRTUAL", 1.0)
    server.on("paper.example/feed", rss(("a", "First")))
    add(store, "https://paper.example/feed")
    bus = MemoryBus()
    dying = DiesAfterItems(bus)
    await run_until(server, store, bus, lambda _: dying.dead, producer=dying)
    assert FeedRows(store).get(feed_id("https://paper.example/feed")).state.polls == 0
    await run_until(server, store, bus, lambda poller: poller.polls == 1)
    assert [item.url for item in items(bus)] == ["https://paper.example/a"] * 2
    assert len(bus.records("polls")) == 1


async def test_a_retry_after_is_the_hosts_and_its_feeds_are_spread(server, store):
    async def tired(_: web.Request) -> web.Response:
        return web.Response(status=429, headers={"Retry-After": "900"})

    for number in range(8):
        server.on(f"tumble.example/{number}", tired)
    add(store, *(f"https://tumble.example/{number}" for number in range(8)))
    bus, rows = MemoryBus(), FeedRows(store)

    def waiting(_: Poller) -> bool:
        return all((row.state.next_at or 0) > time.time() + 800 for row in rows.all())

    await run_until(server, store, bus, waiting)
    times = [row.state.next_at for row in rows.all()]
    assert sum(server.hits[f"tumble.example/{n}"] for n in range(8)) <= 2, "the others never asked"
    assert max(times) - min(times) > 20


async def test_requests_pull_a_feed_forward_and_bad_ones_are_dead_letters(server, store):
    server.on("paper.example/feed", rss(("a", "First")))
    add(store, "https://paper.example/feed")
    bus, rows, feed = MemoryBus(), FeedRows(store), feed_id("https://paper.example/feed")
    await run_until(server, store, bus, lambda poller: poller.polls == 1)
    assert rows.get(feed).state.next_at > time.time() + 60
    request = PollRequest(request_id="1", feed_id=feed, why="burst", boost_until=time.time() + 3600, at=time.time())
    from frontpage.adapters.bus import Outgoing

    bus.producer().send([Outgoing("poll.requests", feed, b"\xff"), Outgoing("poll.requests", feed, request.encode())])
    stop = threading.Event()
    thread = threading.Thread(target=serve_requests, args=(bus, rows, SystemClock(), stop))
    thread.start()
    deadline = time.monotonic() + 10
    while rows.get(feed).state.boost_until is None and time.monotonic() < deadline:
        await asyncio.sleep(0.05)
    stop.set()
    thread.join(10)
    state = rows.get(feed).state
    assert state.next_at == pytest.approx(state.last_at + 30), "asked for right after a poll: at most one in 30 s"
    assert [DeadLetter.decode(r.value).cause for r in bus.records("items.dead")] == ["not-utf8"]


async def test_a_quiet_papers_main_feed_is_polled_within_minutes_its_sections_within_the_hour(server, store):
    urls = [f"https://paper.example/{name}" for name in ("main", "sport", "culture")]
    for url in urls:
        server.on(url.removeprefix("https://"), rss(("a", "First")))
    add(store, *urls)
    assert [row.source.url for row in FeedRows(store).all() if row.source.main] == urls[:1]
    bus = MemoryBus()
    await run_until(server, store, bus, lambda poller: poller.polls == 3)
    waits = {url: outcome.next_at - outcome.at for url, outcome in outcomes(bus).items()}
    assert 60 <= waits[urls[0]] <= 220
    assert all(300 <= waits[url] <= 3960 for url in urls[1:])


async def test_of_a_sitemap_index_only_what_may_be_new_is_fetched(server, store):
    def files(*rows: tuple[str, float]) -> str:
        made = "".join(
            f"<sitemap><loc>https://paper.example/{name}</loc><lastmod>{iso(time.time() - days * 86_400)}</lastmod></sitemap>"
            for name, days in rows
        )
        return f'<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{made}</sitemapindex>'

    def rows(*names: str) -> bytes:
        made = "".join(
            f"<url><loc>https://paper.example/{name}</loc><lastmod>{iso(time.time() - 3600 - n)}</lastmod></url>"
            for n, name in enumerate(names)
        )
        text = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{made}</urlset>'
        return gzip.compress(text.encode())

    server.on("paper.example/index.xml", files(("old.xml", 9), ("new.xml", 0.1)))
    server.on("paper.example/new.xml", rows("a", "b"), Content_Type="text/plain")
    server.on("paper.example/old.xml", rows("c"))
    add(store, "https://paper.example/index.xml", kind="sitemap")
    bus = MemoryBus()
    await run_until(server, store, bus, lambda poller: poller.polls == 1)
    assert sorted(one.url for one in items(bus)) == ["https://paper.example/a", "https://paper.example/b"]
    assert {one.arrived_by for one in items(bus)} == {"sitemap"}
    assert server.hits["paper.example/old.xml"] == 0
