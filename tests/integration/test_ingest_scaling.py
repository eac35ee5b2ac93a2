"""Enrich scales by process: a second worker takes half of `items.raw`, and all of it when the first one dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes.articles import article
from fakes.web import LocalServer
from kafka import KafkaAdminClient
from running import RunningSystem, wait_for

from frontpage.adapters.bus import Outgoing
from frontpage.contracts.events import ArticleEvent, FeedItem
from frontpage.contracts.topics import ARTICLES, ITEMS_RAW
from frontpage.domain.ids import url_key

ROOT = Path(__file__).parents[2]
PAGES = 60


@pytest.fixture
def system(tmp_path: Path, jar_cache: Path) -> Iterator[RunningSystem]:
    server = LocalServer()
    for number in range(PAGES):
        server.on(
            f"p{number}.example/news", article(f"https://p{number}.example/news", number), Content_Type="text/html"
        )
    try:
        with RunningSystem(tmp_path, jar_cache, FRONTPAGE_RESOLVER=f"127.0.0.1:{server.port}") as system:
            yield system
    finally:
        server.close()


def shares(bootstrap: str) -> list[int]:
    """Partitions of `items.raw` that each worker holds, fewest first."""
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    try:
        (group,) = admin.describe_groups(["enrich"]).values()
    finally:
        admin.close()
    held = [member["member_assignment"] for member in group["members"]]
    # during a rebalance a member has no assignment yet
    return sorted(
        sum(len(topic["partitions"]) for topic in one["assigned_partitions"]) if isinstance(one, dict) else 0
        for one in held
    )


def send(system: RunningSystem, numbers: range) -> None:
    items = [
        FeedItem(
            feed_id="f", feed_url="https://p0.example/feed", publisher_id="p", url=f"https://p{n}.example/news",
            title=f"Item {n}", language="en", seen_at=1_772_445_600.0,
        )
        for n in numbers
    ]  # fmt: skip
    system.bus.producer().send([Outgoing(ITEMS_RAW.name, url_key(item.url), item.encode()) for item in items])


def articles(system: RunningSystem) -> list[tuple[str, int]]:
    bus = system.bus
    events = [
        ArticleEvent.decode(record.value)
        for partition, end in bus.end_offsets(ARTICLES.name).items()
        for record in bus.read(ARTICLES.name, partition, 0, end)
    ]
    return sorted((event.card.url, event.card.version) for event in events if event is not None)


def test_a_second_worker_takes_half_and_the_rest_when_the_first_dies(system: RunningSystem) -> None:
    bootstrap = system.up("enrich")["kafka"]
    command = [sys.executable, "-m", "streaming.ingest.enrich"]
    second = subprocess.Popen(command, env=system.environment | {"FRONTPAGE_WORKER": "1", "PYTHONPATH": str(ROOT)})
    try:
        half = ITEMS_RAW.partitions // 2
        wait_for(lambda: shares(bootstrap) == [half, half], 240.0, "the workers do not share the topic")
        send(system, range(PAGES // 2))
        wait_for(lambda: len(articles(system)) == PAGES // 2, 60.0, "articles are missing")
        supervised = system.pid("enrich")
        os.kill(second.pid, signal.SIGKILL)
        second.wait(10)
        wait_for(lambda: shares(bootstrap) == [ITEMS_RAW.partitions], 90.0, "nobody took the dead worker's half")
        send(system, range(PAGES // 2, PAGES))
        wait_for(lambda: len(articles(system)) == PAGES, 60.0, "articles are missing after the death")
        assert system.pid("enrich") == supervised, "the first worker went on, it was not started again"
    finally:
        second.kill()
        second.wait(10)
    assert articles(system) == sorted((f"https://p{number}.example/news", 1) for number in range(PAGES))
