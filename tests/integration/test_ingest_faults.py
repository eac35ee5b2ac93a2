"""What fails around ingest: a killed worker, a publisher that moves, a full Redis, a full disk. Nothing is lost."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import redis
from aiohttp import web
from fakes.articles import article
from fakes.bus import MemoryBus
from fakes.ingest import add, articles, dead, enrich, item, items, outcomes, put, rss, run_until
from fakes.web import LocalServer

from frontpage.adapters.feed_rows import FeedRows
from frontpage.adapters.redis_store import open_redis, store_errors
from frontpage.adapters.services import valkey as valkey_service
from frontpage.adapters.services.ports import free_port
from frontpage.contracts.views import ARTICLE
from frontpage.domain.ids import article_id, feed_id
from frontpage.errors import StoreFull

FEED = "https://paper.example/feed"


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


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr("streaming.ingest.poller.FIRST_BACKOFF", 0.05)
    monkeypatch.setattr("streaming.ingest.poller.LONGEST_BACKOFF", 0.2)
    monkeypatch.setattr("streaming.ingest.poller.CLAIM_REAL", 1.0)
    monkeypatch.setattr("streaming.ingest.poller.CLAIM_VIRTUAL", 1.0)
    monkeypatch.setattr("frontpage.adapters.loop.FIRST_BACKOFF", 0.05)
    monkeypatch.setattr("frontpage.adapters.loop.LONGEST_BACKOFF", 0.2)


async def test_a_poller_killed_in_the_middle_of_a_fetch_loses_no_item(server, store, valkey):
    asked = threading.Event()

    async def silent(_: web.Request) -> web.Response:
        asked.set()
        await asyncio.sleep(60)
        return web.Response(text="too late")

    server.on("paper.example/feed", silent)
    add(store, FEED)
    tests = str(Path(__file__).parents[1])
    worker = subprocess.Popen(
        [sys.executable, f"{tests}/fakes/poller_process.py", valkey, str(server.port)],
        env={**os.environ, "PYTHONPATH": tests},
    )
    try:
        assert await asyncio.to_thread(asked.wait, 60), "the worker never asked"
    finally:
        worker.send_signal(signal.SIGKILL)
        worker.wait(20)
    server.on("paper.example/feed", rss(("a", "First"), ("b", "Second")))
    bus = MemoryBus()
    await run_until(server, store, bus, lambda poller: poller.polls == 1)
    assert sorted(one.title for one in items(bus)) == ["First", "Second"]
    assert FeedRows(store).get(feed_id(FEED)).state.polls == 1


async def test_a_publisher_that_moves_is_followed_and_its_items_are_not_new(server, store):
    server.on("paper.example/feed", "", status=301, Location="https://journal.example/rss")
    server.on("journal.example/rss", rss(("a", "First"), host="journal.example"))
    add(store, FEED)
    bus = MemoryBus()
    await run_until(server, store, bus, lambda poller: poller.polls == 1)
    server.on("journal.example/rss", rss(("b", "Second"), ("a", "First"), host="journal.example"))
    for _ in range(2):
        FeedRows(store).boost(feed_id(FEED), None, time.time(), gap=0.0)
        await run_until(server, store, bus, lambda poller: poller.polls == 1)
    assert [one.url for one in items(bus)] == ["https://journal.example/a", "https://journal.example/b"]
    assert server.hits["paper.example/feed"] == 1, "a permanent redirect is remembered"
    assert {one.feed_id for one in items(bus)} == {feed_id(FEED)}, "the feed keeps its history"


@pytest.mark.parametrize("target", ["http://169.254.169.254/latest", "http://127.0.0.1:6379/", "file:///etc/passwd"])
async def test_a_move_to_where_nothing_must_be_fetched_is_refused_and_not_recorded(server, store, target):
    server.on("paper.example/feed", "", status=301, Location=target)
    add(store, FEED)
    bus = MemoryBus()
    await run_until(server, store, bus, lambda poller: poller.polls == 1)
    row = FeedRows(store).get(feed_id(FEED))
    assert (row.source.url, row.state.last_status) == (FEED, outcomes(bus)[FEED].status)
    assert target not in repr(row)
    assert outcomes(bus)[FEED].cause, "and it says why"


async def test_a_redis_that_fills_during_a_poll_loses_no_item(server, store):
    async def filling(_: web.Request) -> web.Response:
        store.config_set("maxmemory", 1)
        return web.Response(text=rss(("a", "First"), ("b", "Second")))

    server.on("paper.example/feed", filling)
    add(store, FEED)
    bus, refused = MemoryBus(), time.monotonic() + 1.0

    def done(poller) -> bool:
        if time.monotonic() > refused:
            server.on("paper.example/feed", rss(("a", "First"), ("b", "Second")))
            store.config_set("maxmemory", 0)
        return poller.polls >= 1 and FeedRows(store).get(feed_id(FEED)).state.polls >= 1

    await run_until(server, store, bus, done, seconds=40)
    assert {one.title for one in items(bus)} == {"First", "Second"}


def freed_after(drops: int, free) -> object:
    """A hook for `enrich`: when so many batches were dropped, the fault ends."""

    def hook(work) -> None:
        dropped, count = work.dropped, [0]

        def drop() -> None:
            dropped()
            count[0] += 1
            if count[0] == drops:
                free()

        work.dropped = drop
        work.drops = count

    return hook


def test_a_redis_that_fills_during_enrichment_loses_no_article_and_doubles_none(server, store):
    for n in range(4):
        server.on(f"p.example/{n}", article(f"https://p.example/{n}", n), Content_Type="text/html")
    bus = MemoryBus()
    put(bus, *(item(f"https://p.example/{n}") for n in range(4)))
    store.config_set("maxmemory", 1)
    work = enrich(server, store, bus, work_hook=freed_after(3, lambda: store.config_set("maxmemory", 0)))
    assert work.drops[0] >= 3
    assert sorted((one.card.url, one.card.version) for one in articles(bus)) == [
        (f"https://p.example/{n}", 1) for n in range(4)
    ]
    assert dead(bus) == []


@contextmanager
def a_store_on(directory: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """A Valkey whose files may be limited: like a full disk, a limit makes its writes fail."""
    command = valkey_service.command(directory, port, max_memory=1 << 28)
    ignored = (
        "import os, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    )
    with (directory.parent / "store.log").open("ab") as out:
        process = subprocess.Popen([sys.executable, "-c", ignored, *command], stdout=out, stderr=out)
    try:
        valkey_service.wait_ready(port)
        yield process
    finally:
        process.terminate()
        process.wait(20)


def fill(client: redis.Redis) -> None:
    with store_errors():
        for number in range(10_000):
            client.set(f"filler:{number}", b"x" * 4096)


def test_a_disk_that_fills_under_redis_loses_no_article_and_doubles_none(server, tmp_path):
    for n in range(4):
        server.on(f"p.example/{n}", article(f"https://p.example/{n}", n), Content_Type="text/html")
    bus, port = MemoryBus(), free_port()
    put(bus, *(item(f"https://p.example/{n}") for n in range(4)))
    client = open_redis(f"redis://127.0.0.1:{port}/0")
    with a_store_on(tmp_path / "valkey", port) as process:
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (1 << 16, resource.RLIM_INFINITY))
        with pytest.raises(StoreFull):
            fill(client)

        def free() -> None:
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

        work = enrich(server, client, bus, work_hook=freed_after(3, free))
        assert work.drops[0] >= 3
    found = [(one.card.url, one.card.version) for one in articles(bus)]
    assert sorted(found) == [(f"https://p.example/{n}", 1) for n in range(4)]
    assert dead(bus) == []
    with a_store_on(tmp_path / "valkey", port):
        assert all(client.exists(ARTICLE.key(article=article_id(url))) for url, _ in found), "and it is on the disk"
    client.close()
