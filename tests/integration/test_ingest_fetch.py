"""The fetch tier against a local server that misbehaves in every way we know, with its budgets in a real Valkey."""

from __future__ import annotations

import asyncio
import gzip
import json
import time
import zlib
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
from aiohttp import web
from fakes.web import LocalServer

from frontpage.adapters.clock import SystemClock
from frontpage.adapters.fetch import LIMITS, MAX_REDIRECTS, FetchTier, user_agent
from frontpage.adapters.fetch_addresses import Gate, ResolverMap
from frontpage.adapters.fetch_budget import NoBudget, RedisBudget
from frontpage.adapters.redis_store import open_redis
from frontpage.errors import ConfigurationError, FetchError, FetchFailed, FetchRefused


@pytest.fixture
def server() -> Iterator[LocalServer]:
    server = LocalServer()
    yield server
    server.close()


def tier(
    server: LocalServer, *, budget=None, store=None, timeout: float = 3.0, robots: bool = False, **gate
) -> FetchTier:
    gate.setdefault("mapped", server.resolver)
    return FetchTier(
        Gate(**gate),
        budget or NoBudget(),
        SystemClock(),
        store=store,
        contact="https://operator.example/bot",
        timeout=timeout,
        robots=robots,
    )


@pytest_asyncio.fixture
async def fetch(server: LocalServer) -> AsyncIterator[FetchTier]:
    async with tier(server) as made:
        yield made


async def cause_of(made: FetchTier, url: str, kind="page") -> tuple[type[FetchError], str]:
    with pytest.raises(FetchError) as caught:
        await made.get(url, kind=kind)
    return type(caught.value), caught.value.cause


class TestAnswers:
    async def test_https_hosts_of_the_world_are_reached_by_plain_http_under_their_own_name(self, server, fetch):
        server.on("paper.example/a", "hello", etag='"1"')
        answer = await fetch.get("https://paper.example/a", kind="page")
        assert (answer.status, answer.body, answer.url) == (200, b"hello", "https://paper.example/a")
        assert answer.headers["etag"] == '"1"'
        request = server.seen[0]
        assert request.headers["User-Agent"] == user_agent("https://operator.example/bot")
        assert "operator.example" in request.headers["User-Agent"]
        assert "Cookie" not in request.headers

    async def test_a_304_and_an_error_are_answers_without_body(self, server, fetch):
        server.on("paper.example/same", "", status=304)
        server.on("paper.example/broken", "x" * 100, status=500)
        assert (await fetch.get("http://paper.example/same", kind="feed")).status == 304
        broken = await fetch.get("http://paper.example/broken", kind="feed")
        assert (broken.status, broken.body) == (500, b"")

    async def test_encodings_that_are_what_they_say(self, server, fetch):
        raw = zlib.compressobj(wbits=-15)
        bodies = {
            "gzip": gzip.compress(b"text" * 1000),
            "deflate": zlib.compress(b"text" * 1000),
            "Deflate": raw.compress(b"text" * 1000) + raw.flush(),
        }
        for name, body in bodies.items():
            server.on(f"paper.example/{name}", body, Content_Encoding=name.lower())
            assert (await fetch.get(f"http://paper.example/{name}", kind="page")).body == b"text" * 1000

    async def test_permanent_and_temporary_redirects_are_told_apart(self, server, fetch):
        server.on("a.example/1", "", status=301, Location="https://b.example/2")
        server.on("b.example/2", "", status=308, Location="/3")
        server.on("b.example/3", "here")
        server.on("a.example/t", "", status=302, Location="https://b.example/2")
        moved = await fetch.get("http://a.example/1", kind="feed")
        assert moved.moved_to == moved.url == "https://b.example/3"
        assert moved.hops == ("http://a.example/1", "https://b.example/2")
        assert (await fetch.get("http://a.example/t", kind="feed")).moved_to is None


class TestBadServers:
    async def test_body_larger_than_its_limit_announced_or_not(self, server, fetch):
        async def endless(request: web.Request) -> web.StreamResponse:
            response = web.StreamResponse()
            await response.prepare(request)
            while True:
                await response.write(b"<item/>" * 10_000)

        server.on("big.example/announced", b"x" * (LIMITS["page"] + 1))
        server.on("big.example/endless", endless)
        assert await cause_of(fetch, "http://big.example/announced") == (FetchFailed, "too-large")
        assert await cause_of(fetch, "http://big.example/endless") == (FetchFailed, "too-large")

    async def test_fifty_mebibytes_cost_no_more_than_the_limit(self, server, fetch):
        server.on("big.example/feed", gzip.compress(b"\0" * (50 << 20)), Content_Encoding="gzip")
        assert await cause_of(fetch, "http://big.example/feed", "feed") == (FetchFailed, "too-large")

    async def test_dripping_and_silent_servers_end_with_the_timeout(self, server):
        async def drip(request: web.Request) -> web.StreamResponse:
            response = web.StreamResponse()
            await response.prepare(request)
            while True:
                await response.write(b"x")
                await asyncio.sleep(0.1)

        async def silent(_: web.Request) -> web.Response:
            await asyncio.sleep(30)
            return web.Response()

        server.on("slow.example/drip", drip)
        server.on("slow.example/silent", silent)
        async with tier(server, timeout=0.5) as fetch:
            started = time.monotonic()
            assert await cause_of(fetch, "http://slow.example/drip") == (FetchFailed, "timeout")
            assert await cause_of(fetch, "http://slow.example/silent") == (FetchFailed, "timeout")
            assert time.monotonic() - started < 5

    async def test_cut_off_and_mislabelled_encodings_are_refused_whole(self, server, fetch):
        whole = gzip.compress(b"news " * 10_000)
        server.on("enc.example/cut", whole[: len(whole) // 2], Content_Encoding="gzip")
        server.on("enc.example/plain", b"<rss/>", Content_Encoding="gzip")
        server.on("enc.example/br", b"\x0b\x02\x80", Content_Encoding="br")
        assert await cause_of(fetch, "http://enc.example/cut") == (FetchFailed, "truncated")
        assert await cause_of(fetch, "http://enc.example/plain") == (FetchFailed, "encoding")
        assert await cause_of(fetch, "http://enc.example/br") == (FetchFailed, "encoding")

    async def test_body_shorter_than_announced(self, server, fetch):
        async def short(request: web.Request) -> web.StreamResponse:
            response = web.StreamResponse(headers={"Content-Length": "1000"})
            await response.prepare(request)
            await response.write(b"only this")
            request.transport.close()
            return response

        server.on("short.example/a", short)
        assert await cause_of(fetch, "http://short.example/a") == (FetchFailed, "truncated")

    async def test_redirect_loops_end(self, server, fetch):
        server.on("loop.example/a", "", status=302, Location="/a")
        assert await cause_of(fetch, "http://loop.example/a") == (FetchRefused, "redirects")
        assert server.hits["loop.example/a"] == MAX_REDIRECTS + 1

    async def test_nobody_listens(self, server):
        port = server.port
        server.close()
        async with tier(server, mapped=ResolverMap("127.0.0.1", port)) as fetch:
            assert await cause_of(fetch, "http://off.example/") == (FetchFailed, "connect")

    async def test_garbage_that_is_not_http(self):
        async def garbage(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"\x00\x01\x02 this is not HTTP\r\n\r\n")
            await writer.drain()
            writer.close()

        async with await asyncio.start_server(garbage, "127.0.0.1", 0) as listener:
            port = listener.sockets[0].getsockname()[1]
            made = FetchTier(
                Gate(ResolverMap("127.0.0.1", port)), NoBudget(), SystemClock(), contact="c", robots=False, timeout=2
            )
            async with made as fetch:
                assert await cause_of(fetch, "http://g.example/") == (FetchFailed, "protocol")


class TestAddresses:
    @pytest.mark.parametrize(
        "url",
        [
            "http://127.0.0.1/", "http://127.8.9.10/", "http://localhost/", "http://LocalHost./", "http://[::1]/",
            "http://2130706434/", "http://0x7f000002/", "http://0177.0.0.2/", "http://127.2/", "http://0.0.0.0/",
            "http://[::ffff:127.0.0.2]/", "http://[::ffff:a9fe:a9fe]/", "http://[64:ff9b::a00:1]/", "http://[fd12::1]/",
            "http://[fe80::2%25eth0]/", "http://169.254.170.2/", "http://10.9.8.7/", "http://172.31.0.1/",
            "http://192.168.7.7/", "http://100.127.0.1/", "http://198.19.0.1/", "http://239.1.1.1/", "http://[ff02::1]/",
            "http://metadata.google.internal/", "http://intranet/", "file:///etc/hosts", "ftp://h.net/x", "gopher://h.net/",
            "http://news.net:22/", "http://news.net:6379/", "http://me:pw@news.net/", "http://news.net@127.0.0.1/",
            "http://①②⑦.⓪.⓪.②/", "http://news.net\\@127.0.0.1/", "javascript:alert(1)", "", "http://", "//x", "http://[",
        ],
    )  # fmt: skip
    async def test_inside_addresses_are_refused_in_every_spelling(self, server, fetch, url):
        kind, _ = await cause_of(fetch, url)
        assert kind is FetchRefused
        assert not server.hits

    @pytest.mark.parametrize("answers", [["127.0.0.1"], ["::1"], ["93.184.216.34", "10.0.0.9"], ["169.254.169.254"]])
    async def test_names_that_lead_inside_are_refused(self, server, answers):
        async def lookup(_: str, __: int) -> list[str]:
            return answers

        async with tier(server, lookup=lookup) as fetch:
            assert (await cause_of(fetch, "http://names.net/"))[0] is FetchRefused

    async def test_every_redirect_is_judged(self, server, fetch):
        for number, target in enumerate(
            ("http://169.254.169.254/meta", "file:///etc/hosts", f"http://127.0.0.1:{server.port}/x")
        ):
            server.on(f"hop.example/{number}", "", status=302, Location=target)
            kind, _ = await cause_of(fetch, f"http://hop.example/{number}")
            assert kind is FetchRefused
        assert sum(server.hits.values()) == 3

    async def test_the_dialled_address_is_the_judged_one(self):
        """Whatever a resolver says, the socket is made only for an address that passes."""
        gate = Gate()
        with pytest.raises(FetchRefused):
            gate.dial((2, 1, 6, "", ("127.0.0.1", 80)))
        gate.dial((2, 1, 6, "", ("93.184.216.34", 80))).close()

    async def test_a_name_that_changes_between_check_and_connect_leads_nowhere(self, server):
        """DNS rebinding: the answer that was judged is public, the one that aiohttp is about to use is ours."""

        class Rebound(Gate):
            async def resolve(self, host, port=0, family=0):
                judged = await super().resolve(host, port, family)
                return [{**one, "host": "127.0.0.1", "port": server.port, "family": 2} for one in judged]

        async def public(_: str, __: int) -> list[str]:
            return ["93.184.216.34"]

        server.on("rebound.net/", "inside")
        for local, reached in ((frozenset(), False), (frozenset({("127.0.0.1", server.port)}), True)):
            gate = Rebound(None, lookup=public, local=local)
            async with FetchTier(gate, NoBudget(), SystemClock(), contact="c", timeout=3.0, robots=False) as fetch:
                if reached:
                    assert (await fetch.get("http://rebound.net/", kind="page")).body == b"inside"
                else:
                    assert (await cause_of(fetch, "http://rebound.net/"))[0] is FetchRefused
            assert bool(server.hits) is reached, "only where the test opens the port, so it would have been reached"

    async def test_the_map_is_for_loopback_only(self):
        with pytest.raises(ConfigurationError):
            ResolverMap.parse("10.0.0.1:80")
        with pytest.raises(ConfigurationError):
            ResolverMap.parse("127.0.0.1")

    async def test_a_local_server_can_be_opened_for_a_test(self, server):
        server.on("127.0.0.1/x", "yes")
        async with tier(server, mapped=None, local=frozenset({("127.0.0.1", server.port)})) as fetch:
            assert (await fetch.get(f"http://127.0.0.1:{server.port}/x", kind="page")).body == b"yes"
            assert (await cause_of(fetch, "http://127.0.0.2/"))[0] is FetchRefused


class TestRobots:
    async def test_rules_are_fetched_once_and_obeyed(self, server, valkey):
        server.on(
            "r.example/robots.txt", "User-agent: *\nDisallow: /private\n\nUser-agent: FrontpageBot\nDisallow: /bots"
        )
        server.on("r.example/private", "for us it is open")
        server.on("r.example/bots", "never")
        store = open_redis(valkey)
        for _ in range(2):
            async with tier(server, robots=True, store=store) as fetch:
                assert (await fetch.get("http://r.example/private", kind="page")).status == 200
                assert await cause_of(fetch, "http://r.example/bots") == (FetchRefused, "robots")
        assert server.hits["r.example/robots.txt"] == 1, "the second worker reads the shared copy"
        assert server.hits["r.example/bots"] == 0

    @pytest.mark.parametrize(("hours", "trusted"), [(1, True), (25, False)])
    async def test_a_shared_copy_is_trusted_for_a_day_from_when_it_was_fetched(self, server, valkey, hours, trusted):
        store = open_redis(valkey)
        fetched = json.dumps({"status": 200, "at": time.time() - hours * 3_600}).encode()
        store.set("robots:http://r.example", fetched + b"\nUser-agent: *\nAllow: /")
        server.on("r.example/a", "page")
        async with tier(server, robots=True, store=store) as fetch:
            assert (await fetch.get("http://r.example/a", kind="page")).status == 200
            store.set("robots:http://r.example", fetched + b"\nUser-agent: *\nDisallow: /")
            if trusted:
                assert (await fetch.get("http://r.example/a", kind="page")).status == 200
            else:
                assert await cause_of(fetch, "http://r.example/a") == (FetchRefused, "robots")

    async def test_missing_allows_and_an_error_forbids_for_now(self, server):
        server.on("none.example/a", "yes")
        server.on("down.example/robots.txt", "", status=500)
        server.on("down.example/a", "no")
        async with tier(server, robots=True) as fetch:
            assert (await fetch.get("http://none.example/a", kind="page")).body == b"yes"
            assert await cause_of(fetch, "http://down.example/a") == (FetchFailed, "robots-unreachable")
        assert server.hits["down.example/a"] == 0

    async def test_are_asked_at_each_hop(self, server):
        server.on("one.example/a", "", status=302, Location="http://two.example/secret")
        server.on("two.example/robots.txt", "User-agent: *\nDisallow: /secret")
        async with tier(server, robots=True) as fetch:
            assert await cause_of(fetch, "http://one.example/a") == (FetchRefused, "robots")
        assert server.hits["two.example/secret"] == 0


class FastClock:
    """Sixty times as fast as real time."""

    def now(self) -> float:
        return 1_780_000_000.0 + time.monotonic() * 60

    def real_seconds(self, virtual_seconds: float) -> float:
        return virtual_seconds / 60


class TestBudget:
    async def test_two_connections_per_host_over_all_workers(self, server, valkey):
        async def slow(_: web.Request) -> web.Response:
            await asyncio.sleep(0.15)
            return web.Response(text="ok")

        server.otherwise(slow)
        workers = [tier(server, budget=RedisBudget(open_redis(valkey), FastClock())) for _ in range(3)]
        try:
            await asyncio.gather(*(w.get(f"http://busy.example/{n}", kind="page") for n, w in enumerate(workers * 4)))
        finally:
            for worker in workers:
                await worker.close()
        assert server.most_open["busy.example"] <= 2

    async def test_rate_per_registrable_domain_in_virtual_time(self, server, valkey):
        """A burst of ten, then one a virtual second: 40 requests to hosts of one domain take 30 virtual seconds."""

        async def ok(_: web.Request) -> web.Response:
            return web.Response(text="ok")

        server.otherwise(ok)
        async with tier(server, budget=RedisBudget(open_redis(valkey), FastClock())) as fetch:
            started = time.monotonic()
            await asyncio.gather(*(fetch.get(f"http://h{n % 4}.paper.example/{n}", kind="page") for n in range(30)))
            assert 19 / 60 <= time.monotonic() - started < 3

    async def test_retry_after_holds_the_host_for_everyone(self, server, valkey):
        server.on("tired.example/a", "", status=429, Retry_After="3600")
        async with tier(server, budget=RedisBudget(open_redis(valkey), SystemClock())) as one:
            assert (await one.get("http://tired.example/a", kind="feed")).status == 429
        async with tier(server, budget=RedisBudget(open_redis(valkey), SystemClock())) as two:
            with pytest.raises(FetchFailed) as caught:
                await two.get("http://tired.example/b", kind="page")
        assert caught.value.cause == "host-held"
        assert 3500 < caught.value.retry_after <= 3600
        assert server.hits["tired.example/b"] == 0

    async def test_slots_of_a_dead_worker_return(self, server, valkey, monkeypatch):
        monkeypatch.setattr("frontpage.adapters.fetch_budget.SLOT_MS", 200)
        dead = RedisBudget(open_redis(valkey), FastClock())
        await asyncio.gather(*(dead.acquire("d.example", "d.example", patience=1) for _ in range(2)))
        alive = RedisBudget(open_redis(valkey), FastClock())
        slot = await asyncio.wait_for(alive.acquire("d.example", "d.example", patience=600), 5)
        alive.release(slot)
