"""Push end to end over real HTTP on both sides: the sample world with its hub, the serving process's app, the poller.

Bus: the twin. Clock: the test's own, so that leases end when the test says.
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

import httpx
import pytest
import pytest_asyncio
import redis
import typer
import uvicorn
from aiohttp import web
from aiohttp.test_utils import TestServer
from fakes.bus import MemoryBus
from fakes.serving_app import KEYS, SECRET
from fakes.web import LocalServer
from typer.testing import CliRunner

from data_samples.hub import Hub
from data_samples.serve import make_app
from data_samples.sites import feeds_of, push_of
from data_samples.world import START, World, build
from frontpage.adapters.feed_rows import FeedRow, FeedRows, FeedSource
from frontpage.adapters.fetch import FetchTier
from frontpage.adapters.fetch_addresses import Gate, ResolverMap
from frontpage.adapters.fetch_budget import RedisBudget
from frontpage.adapters.push_rows import PushRows
from frontpage.adapters.redis_store import open_redis
from frontpage.contracts.events import FeedItem, PollRequest
from frontpage.contracts.views import Publisher
from frontpage.domain.ids import feed_id
from frontpage.domain.push import Advert, ping_signature
from frontpage.domain.schedule import FeedState, Policy
from frontpage.domain.websub import Subscription, sign
from frontpage.errors import FetchRefused
from frontpage_cli.commands import publishers
from serving.app import create_app
from serving.state import Options, Serving
from streaming.ingest.poller import Poller, serve_requests
from streaming.ingest.polling import Polled, Polling
from streaming.ingest.publishers import PublisherBook
from streaming.ingest.registry import NewFeed, Registry
from streaming.ingest.subscriber import Subscriber

BEGIN = START + 20 * 3600


class StepClock:
    """Real time, moved forward by `skip`."""

    def __init__(self, at: float) -> None:
        self._at, self._since = at, time.monotonic()

    def now(self) -> float:
        return self._at + time.monotonic() - self._since

    def skip(self, seconds: float) -> None:
        self._at += seconds

    def real_seconds(self, virtual_seconds: float) -> float:
        return virtual_seconds


@dataclass
class Loop:
    """Everything that a notification passes through, with the poller stopped until `polling` is entered."""

    world: World
    hub: Hub
    clock: StepClock
    store: redis.Redis
    bus: MemoryBus
    base: str
    fetcher: FetchTier
    subscriber: Subscriber
    feeds: FeedRows
    rows: PushRows
    http: httpx.AsyncClient
    stop: threading.Event = field(default_factory=threading.Event)

    def requests(self) -> list[PollRequest]:
        return [PollRequest.decode(record.value) for record in self.bus.records("poll.requests")]

    def items(self, feed: str) -> list[FeedItem]:
        found = [FeedItem.decode(record.value) for record in self.bus.records("items.raw")]
        return [item for item in found if item.feed_id == feed_id(feed)]

    def feed_of(self, way: str | None) -> tuple[str, float]:
        """The address of a feed of a publisher that pushes that way, and when it publishes next."""
        for publisher in self.world.publishers:
            if push_of(publisher) == way and not publisher.opted_out and publisher.tier == "national":
                coming = [a.published_at for a in self.world.articles if a.publisher_id == publisher.id]
                later = min((at for at in coming if at > BEGIN + 3_600), default=None)
                if later is not None and "/old" not in feeds_of(publisher)[0].url:
                    return feeds_of(publisher)[0].url, later
        raise AssertionError(way)

    async def subscribed(self, feed: str) -> Subscription:
        """A living subscription for `feed`, made without the poller."""
        self.feeds.put(FeedRow(source_of(feed), self.not_due()))
        self.subscriber._consider(feed_id(feed), Advert("http://hub.example/", feed))
        await self.subscriber.turn()
        await until(lambda: bool((s := self.rows.of_feed(feed_id(feed))) and s.living(self.clock.now())))
        found = self.rows.of_feed(feed_id(feed))
        assert found is not None
        return found

    def not_due(self) -> FeedState:
        return FeedState(next_at=self.clock.now() + 3_000)

    def callback(self, subscription: Subscription) -> str:
        return f"{self.base}/push/websub/{subscription.id}"


def source_of(feed: str) -> FeedSource:
    return FeedSource(feed_id(feed), feed, "p", urlsplit(feed).hostname or "", main=True)


async def until(done: Callable[[], bool], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)


@pytest.fixture(scope="module")
def world() -> World:
    return build()


@pytest_asyncio.fixture
async def loop(world: World, valkey: str) -> AsyncIterator[Loop]:
    clock, bus, store = StepClock(BEGIN), MemoryBus(), open_redis(valkey)
    listening = socket.create_server(("127.0.0.1", 0))
    base = f"http://127.0.0.1:{listening.getsockname()[1]}"
    quick = redis.Redis.from_url(valkey, socket_timeout=2.0)
    serving = Serving.build(
        Options(KEYS, SECRET, base, rate=0.0), store=quick, slow_store=store, clock=clock, connect=bus.producer
    )
    serving.sender.start()
    server = uvicorn.Server(uvicorn.Config(create_app(serving), log_level="warning", access_log=False))
    running = asyncio.create_task(server.serve(sockets=[listening]))
    sites = TestServer(make_app(world, clock, base), host="127.0.0.1")
    await sites.start_server()
    fetcher = FetchTier(
        Gate(ResolverMap("127.0.0.1", sites.port)), RedisBudget(store, clock), clock, store=store, contact="c"
    )
    feeds, rows = FeedRows(store), PushRows(store)
    async with fetcher, httpx.AsyncClient(base_url=base) as http:
        yield Loop(
            world, sites.app["hub"], clock, store, bus, base, fetcher,
            Subscriber(fetcher, rows, feeds, clock, base), feeds, rows, http,
        )  # fmt: skip
    await sites.close()
    server.should_exit = True
    await running
    serving.sender.close()


async def test_published_article_reaches_the_topic_within_seconds_of_its_delivery(loop: Loop) -> None:
    """Subscribe, verify, deliver, request, poll, item, with the poller and its own subscriber running."""
    feed, later = loop.feed_of("websub")
    loop.clock.skip(later - 200 - loop.clock.now())
    Registry(loop.store).add([NewFeed(feed)], loop.clock.now() - 400)
    polling = Polling(loop.fetcher, PublisherBook(loop.store), loop.clock, Policy())
    poller = Poller(polling, loop.feeds, loop.bus.producer(), loop.clock, noticed=loop.subscriber.noticed)
    requests = threading.Thread(target=serve_requests, args=(loop.bus, loop.feeds, loop.clock, loop.stop))
    requests.start()
    tasks = [asyncio.create_task(poller.run(loop.stop)), asyncio.create_task(loop.subscriber.run(loop.stop))]
    try:
        await until(lambda: bool(loop.hub.followers) and bool(loop.items(feed)))
        assert {item.arrived_by for item in loop.items(feed)} == {"poll"}
        row = loop.feeds.get(feed_id(feed))
        loop.feeds.store([replace(row, state=replace(row.state, next_at=later + 3_000))])
        loop.clock.skip(later - loop.clock.now() - 1.0)
        await until(lambda: any(item.arrived_by == "websub" for item in loop.items(feed)))
        newest = [item for item in loop.items(feed) if item.arrived_by == "websub"]
        assert max(item.seen_at for item in newest) - later < 30.0, "no poll was due for 50 minutes"
        # The row follows its items: a poller that dies between the two must poll again.
        await until(lambda: loop.feeds.get(feed_id(feed)).state.next_at - loop.clock.now() > 800)
        assert loop.feeds.get(feed_id(feed)).state.lease_until > loop.clock.now()
    finally:
        loop.stop.set()
        await asyncio.gather(*tasks)
        requests.join(5)


async def test_forged_deliveries_are_answered_alike_and_ignored(loop: Loop) -> None:
    subscription = await loop.subscribed(loop.feed_of("websub")[0])
    address, body = loop.callback(subscription), b"<feed/>"
    forged = [
        {}, {"X-Hub-Signature": "sha256=" + "0" * 64}, {"X-Hub-Signature": sign("another secret", body)},
        {"X-Hub-Signature": sign(subscription.secret, body + b" ")}, {"X-Hub-Signature": "md5=" + "0" * 32},
    ]  # fmt: skip
    answers = [await loop.http.post(address, content=body, headers=headers) for headers in forged]
    for method in ("sha1", "sha256", "sha384", "sha512"):
        headers = {"X-Hub-Signature": sign(subscription.secret, body, method)}
        answers.append(await loop.http.post(address, content=body, headers=headers))
    assert {(answer.status_code, answer.content) for answer in answers} == {(202, b"")}
    await until(lambda: len(loop.requests()) == 4)
    await asyncio.sleep(0.3)
    assert [(r.feed_id, r.why) for r in loop.requests()] == [(subscription.feed_id, "websub")] * 4


async def test_verification_of_what_we_never_asked_is_404(loop: Loop) -> None:
    feed = loop.feed_of("websub")[0]
    subscription = await loop.subscribed(feed)
    query = {"hub.mode": "subscribe", "hub.topic": feed, "hub.challenge": "c" * 20, "hub.lease_seconds": "900"}
    unknown = f"{loop.base}/push/websub/{'x' * 32}"
    loop.clock.skip(3_600)
    for address, changes in [
        (unknown, {}), (f"{loop.base}/push/websub/due", {}), (loop.callback(subscription), {}),
        (loop.callback(subscription), {"hub.mode": "unsubscribe"}),
        (loop.callback(subscription), {"hub.topic": "http://other.example/feed"}),
        (loop.callback(subscription), {"hub.challenge": ""}), (loop.callback(subscription), {"hub.lease_seconds": "-1"}),
        (loop.callback(subscription), {"hub.mode": "denied", "hub.topic": "http://other.example/feed"}),
    ]:  # fmt: skip
        answer = await loop.http.get(address, params=query | changes)
        assert answer.status_code == 404, changes
        assert "c" * 20 not in answer.text
    assert (await loop.http.post(unknown, content=b"x")).status_code == 410
    assert loop.rows.of_feed(feed_id(feed)) == subscription


async def test_denial_ends_the_lease_and_a_topic_the_hub_does_not_carry_is_denied(loop: Loop) -> None:
    feed = loop.feed_of("websub")[0]
    subscription = await loop.subscribed(feed)
    assert loop.feeds.get(feed_id(feed)).state.lease_until == subscription.lease_until
    query = {"hub.mode": "denied", "hub.topic": feed, "hub.reason": "the publisher left"}
    answer = await loop.http.get(loop.callback(subscription), params=query)
    assert answer.status_code == 200
    ended = loop.rows.of_feed(feed_id(feed))
    assert (ended.lease_until, ended.cause) == (None, "denied: the publisher left")
    assert loop.feeds.get(feed_id(feed)).state.lease_until is None
    other = "http://nobody.example/feed"
    loop.feeds.put(FeedRow(source_of(other), loop.not_due()))
    loop.subscriber._consider(feed_id(other), Advert("http://hub.example/", other))
    await loop.subscriber.turn()
    await until(lambda: loop.rows.of_feed(feed_id(other)).denials == 1)
    assert loop.rows.of_feed(feed_id(other)).next_at >= loop.clock.now() + 80_000


async def test_leases_are_renewed_before_their_end_and_a_feed_that_is_gone_leaves_its_hub(loop: Loop) -> None:
    feed = loop.feed_of("websub")[0]
    first = await loop.subscribed(feed)
    assert await loop.subscriber.turn() == 0
    loop.clock.skip(first.next_at - loop.clock.now())
    assert loop.clock.now() < first.lease_until - 3 * 3_600, "a third of 12 hours is left"
    assert await loop.subscriber.turn() == 1
    await until(lambda: loop.rows.of_feed(first.feed_id).lease_until > first.lease_until)
    # the hub counts from when it has our answer: its first lease ends a little later than we think
    await until(lambda: next(iter(loop.hub.followers.values())).until > first.lease_until + 3_600)
    renewed = loop.rows.of_feed(first.feed_id)
    assert (renewed.id, renewed.tries) == (first.id, 0)
    loop.feeds.remove(first.feed_id)
    loop.clock.skip(renewed.next_at - loop.clock.now())
    await loop.subscriber.turn()
    await loop.subscriber.turn()
    await until(lambda: not loop.hub.followers)
    await until(lambda: loop.rows.get(first.id) is None)


async def test_feed_that_changes_its_hub_gets_a_new_callback_and_leaves_the_old_hub(loop: Loop) -> None:
    feed = loop.feed_of("websub")[0]
    first = await loop.subscribed(feed)
    loop.subscriber._consider(first.feed_id, Advert("http://elsewhere.example/", feed))
    second = loop.rows.of_feed(first.feed_id)
    assert second.id != first.id
    assert second.secret != first.secret
    assert (await loop.http.post(loop.callback(first), content=b"x")).status_code == 410
    await loop.subscriber.turn()
    await until(lambda: not loop.hub.followers)
    assert loop.rows.of_feed(first.feed_id).cause == "http-404", "that host has no hub"


async def test_hub_inside_our_network_is_not_asked(loop: Loop) -> None:
    feed = loop.feed_of("websub")[0]
    loop.feeds.put(FeedRow(source_of(feed), loop.not_due()))
    loop.subscriber._consider(feed_id(feed), Advert(f"{loop.base}/push/ping", feed))
    await loop.subscriber.turn()
    state = loop.rows.of_feed(feed_id(feed))
    assert (state.open, state.lease_until) == (False, None)
    assert state.cause in ("loopback", "private", "port", "ip-literal", "number"), state.cause


async def test_pings_are_the_publishers_own_and_count_once(loop: Loop) -> None:
    feed = loop.feed_of("websub")[0]
    loop.feeds.put(FeedRow(source_of(feed), loop.not_due()))
    key = loop.rows.new_ping_key("p")
    now = f"{loop.clock.now():.3f}"

    async def ping(at: str = now, signature: str | None = None, **changes: str) -> int:
        form = {"feed": feed, "at": at, "signature": signature or ping_signature(key, feed, at)} | changes
        return (await loop.http.post("/push/ping", data=form)).status_code

    assert await ping(signature=ping_signature("another key", feed, now)) == 403
    assert await ping(feed="http://unknown.example/feed") == 403
    old = f"{loop.clock.now() - 301:.3f}"
    assert await ping(at=old) == 403
    assert await ping() == 202
    assert await ping() == 403, "a replay"
    assert await ping(at=f"{float(now) - 1:.3f}") == 403, "older than the one before"
    assert await ping(at=f"{loop.clock.now() + 1:.3f}") == 202
    assert (await loop.http.post("/push/ping", content=b"")).status_code == 400
    assert (await loop.http.post("/push/ping", content=b"\xff=%")).status_code == 400
    assert (await loop.http.post("/push/ping", content=b"a" * 5_000)).status_code == 413
    loop.rows.revoke_ping_key("p")
    assert await ping(at=f"{loop.clock.now() + 2:.3f}") == 403
    await until(lambda: len(loop.requests()) == 2)
    assert [(r.feed_id, r.why) for r in loop.requests()] == [(feed_id(feed), "ping")] * 2


async def test_made_up_publishers_ping_when_they_publish(loop: Loop) -> None:
    feed, later = loop.feed_of("ping")
    publisher = next(p for p in loop.world.publishers if any(f.url == feed for f in feeds_of(p)))
    Registry(loop.store).put_publishers(loop.world.publishers_as_registry())
    Registry(loop.store).add([NewFeed(feed, publisher.id, kind="sitemap")], loop.clock.now())
    loop.rows.put_ping_keys(loop.world.ping_keys())
    loop.clock.skip(later - loop.clock.now() - 1.0)
    await until(lambda: any(r.feed_id == feed_id(feed) and r.at >= later for r in loop.requests()))
    assert next(r for r in loop.requests() if r.at >= later).at - later < 5.0


async def test_deliveries_are_bounded_and_answered_in_milliseconds(loop: Loop) -> None:
    subscription = await loop.subscribed(loop.feed_of("websub")[0])
    address = loop.callback(subscription)

    parts = urlsplit(address)
    for head, body in [
        (f"Content-Length: {9 << 20}", b""),
        ("Transfer-Encoding: chunked", (b"100000\r\n" + b"x" * (1 << 20) + b"\r\n") * 9),
    ]:
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        writer.write(f"POST {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\n{head}\r\n\r\n".encode())
        writer.write(body)
        answer = await asyncio.wait_for(reader.readline(), 10)
        assert b" 413 " in answer, "refused although the body has no end"
        writer.close()
    body = b"<feed/>" * 5_000
    headers = {"X-Hub-Signature": sign(subscription.secret, body)}
    took = []
    for _ in range(20):
        began = time.perf_counter()
        assert (await loop.http.post(address, content=body, headers=headers)).status_code == 202
        took.append(time.perf_counter() - began)
    assert sorted(took)[2] < 0.05, "the fastest of 20: the machine may be busy, the code is not"


def test_polled_without_a_reading_says_nothing_about_hubs(valkey: str) -> None:
    """A 304 or an error must not end a subscription."""
    store = open_redis(valkey)
    feeds, clock = FeedRows(store), StepClock(BEGIN)
    subscriber = Subscriber(None, PushRows(store), feeds, clock, "http://us.example")  # type: ignore[arg-type]
    row = FeedRow(source_of("http://a.example/feed"), FeedState())
    subscriber.noticed([Polled(row), Polled(row, read=False, advert=None)])
    assert not subscriber._news
    subscriber.noticed([Polled(row, read=True, advert=Advert("http://hub.example/", "http://a.example/feed"))])
    assert len(subscriber._news) == 1


async def test_requests_follow_redirects_that_keep_the_method_and_no_others(valkey: str) -> None:
    store, clock, server = open_redis(valkey), StepClock(BEGIN), LocalServer()
    asked: list[tuple[str, str]] = []

    async def accept(request: web.Request) -> web.Response:
        asked.append((request.method, str((await request.post()).get("hub.mode"))))
        return web.Response(status=202)

    for name, status in (("moved", 308), ("lent", 307), ("other", 302)):
        server.on(f"{name}.example/", b"", status=status, Location="http://hub.example/")
    server.on("hub.example/", accept)
    server.on("inside.example/", b"", status=307, Location="http://127.0.0.1:9/")
    server.on("round.example/", b"", status=307, Location="http://round.example/")
    try:
        async with FetchTier(Gate(server.resolver), RedisBudget(store, clock), clock, store=store, contact="c") as tier:
            form = {"hub.mode": "subscribe"}
            statuses = [
                (await tier.post(f"http://{name}.example/", form)).status for name in ("moved", "lent", "other")
            ]
            assert statuses == [202, 202, 302]
            assert asked == [("POST", "subscribe")] * 2
            for name in ("inside", "round"):
                with pytest.raises(FetchRefused):
                    await tier.post(f"http://{name}.example/", form)
    finally:
        server.close()


def test_ping_keys_are_issued_replaced_and_revoked_by_command(valkey: str, monkeypatch: pytest.MonkeyPatch) -> None:
    app = typer.Typer()
    publishers.register(app)
    monkeypatch.setenv("REDIS_URL", valkey)
    monkeypatch.setenv("KAFKA_BOOTSTRAP_SERVERS", "127.0.0.1:9")
    store = open_redis(valkey)
    Registry(store).put_publishers([Publisher(publisher_id="p", name="P", domains=[], country="GB", language="en")])

    def key(*more: str) -> dict[str, object]:
        result = CliRunner().invoke(app, ["publishers", "key", "p", "--json", *more])
        assert result.exit_code == 0, result.output
        return dict(json.loads(result.stdout))

    first = key()["key"]
    assert key()["key"] == first == PushRows(store).ping_key("p")
    assert key("--new")["key"] != first
    assert key("--revoke")["revoked"] is True
    assert PushRows(store).ping_key("p") is None
    assert CliRunner().invoke(app, ["publishers", "key", "nobody"]).exit_code != 0
