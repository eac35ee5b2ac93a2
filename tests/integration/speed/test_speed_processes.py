"""The six processes as the supervisor starts them, each killed with SIGKILL and started again while news flows."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fakes.speed import NOW, article

import frontpage
from frontpage.adapters.bus import Outgoing
from frontpage.adapters.clock import set_clock
from frontpage.adapters.kafka_bus import KafkaBus
from frontpage.adapters.pages import PageStore
from frontpage.adapters.redis_store import open_redis
from frontpage.contracts.events import StoryChange
from frontpage.contracts.profiles import event_from_json
from frontpage.contracts.rank_events import TrendHot
from frontpage.contracts.reader_events import Click
from frontpage.contracts.topics import ARTICLES, READER_CLICKS, STORY_CHANGES
from frontpage.contracts.views import PROFILE_FAST, STORY, TRENDS, StoryRow

ROOT = Path(frontpage.__file__).parent.parent
PARTITION = 5
PROCESSES = {
    "writer": ("streaming.cluster.writer", "--partitions", str(PARTITION)),
    "store": ("streaming.cluster.store",),
    "links": ("streaming.cluster.links",),
    "clicks": ("streaming.trends.clicks",),
    "merge": ("streaming.trends.merge",),
    "ranker": ("streaming.rank.ranker",),
}


class World:
    """The processes, and what a reader would see of their work."""

    def __init__(self, broker: str, valkey: str, var: Path) -> None:
        self.bus = KafkaBus(broker)
        self.store = open_redis(valkey)
        self.environment = {
            **os.environ, "KAFKA_BOOTSTRAP_SERVERS": broker, "REDIS_URL": valkey, "FRONTPAGE_VAR": str(var),
            "FRONTPAGE_EDITIONS": "it-IT", "FRONTPAGE_RANK_INTERVAL": "1", "PYTHONPATH": str(ROOT),
        }  # fmt: skip
        self._var = var
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self.sent: list[str] = []
        self.clicked = 0

    def start(self, name: str) -> None:
        with (self._var / f"{name}.log").open("ab") as log:
            command = [sys.executable, "-m", *PROCESSES[name]]
            self.running[name] = subprocess.Popen(command, env=self.environment, stderr=log, cwd=self._var)

    def kill(self, name: str) -> None:
        process = self.running.pop(name)
        process.send_signal(signal.SIGKILL)
        process.wait(20)

    def publish(self, count: int) -> None:
        start = len(self.sent)
        events = [
            article(f"it{i}", event=f"evento{i % 5}", publisher=f"pub-{i % 9}", language="it", country="IT", at=NOW + i)
            for i in range(start, start + count)
        ]
        producer = self.bus.producer()
        producer.send([Outgoing(ARTICLES.name, "it", event.encode(), PARTITION) for event in events])
        producer.close()
        self.sent += [event.card.article_id for event in events]

    def click(self, count: int) -> None:
        story = next(iter(self.joined().values()))
        producer = self.bus.producer()
        clicks = [
            Click(
                click_id=f"c{self.clicked + i}", at=NOW, article_id=self.sent[0], story_id=story, publisher_id="pub-0",
                url="https://x.example/", surface="top", position=1, edition="it-IT", reader="reader-1",
            )
            for i in range(count)
        ]  # fmt: skip
        producer.send([Outgoing(READER_CLICKS.name, click.article_id, click.encode()) for click in clicks])
        producer.close()
        self.clicked += count

    def changes(self) -> list[StoryChange]:
        end = self.bus.end_offsets(STORY_CHANGES.name)[PARTITION]
        found = [StoryChange.decode(r.value) for r in self.bus.read(STORY_CHANGES.name, PARTITION, 0, end)]
        return [change for change in found if change is not None]

    def joined(self) -> dict[str, str]:
        """article -> story, checked to be decided once each."""
        made = [c for c in self.changes() if c.article and c.kind in ("create", "assign")]
        counts = Counter(c.article.article_id for c in made if c.article)
        assert all(count == 1 for count in counts.values()), counts
        return {c.article.article_id: c.story_id for c in made if c.article}

    def rows(self) -> int:
        """Articles in story rows."""
        keys = [STORY.key(story=story) for story in set(self.joined().values())]
        rows = [StoryRow.model_validate_json(value) for value in self.store.mget(keys) if value] if keys else []
        return sum(len(row.members) for row in rows)

    def on_page(self) -> int:
        """Articles of the stories on the page."""
        page = PageStore(self.store).read("it-IT", "top")
        return sum(card.articles for card in page.cards) if page is not None else 0

    def hot(self) -> int:
        value = self.store.get(TRENDS.key(edition="it-IT"))
        event = TrendHot.decode(value)
        return sum(row[2] for row in event.stories) if event is not None else 0

    def profile(self) -> int:
        members = self.store.zrange(PROFILE_FAST.key(reader="reader-1"), 0, -1)
        return len({event_from_json(member).event_id for member in members})

    def wait(self, what: Callable[[], int], value: int) -> None:
        deadline = time.monotonic() + 60
        while (found := what()) != value:
            dead = {name: p.returncode for name, p in self.running.items() if p.poll() is not None}
            logs = {name: (self._var / f"{name}.log").read_text()[-1500:] for name in dead}
            assert not dead, f"{dead} died: {logs}"
            assert time.monotonic() < deadline, f"{what.__name__} is {found}, not {value}: {self.beats()}"
            time.sleep(0.2)

    def beats(self) -> dict[str, object]:
        return {key.decode(): json.loads(self.store.get(key) or b"{}") for key in self.store.keys("heartbeat:*")}


@pytest.fixture
def world(broker: str, valkey: str, tmp_path: Path) -> Iterator[World]:
    made = World(broker, valkey, tmp_path)
    set_clock(made.store, virtual=NOW, speed=1.0)
    for name in PROCESSES:
        made.start(name)
    yield made
    for process in made.running.values():
        process.terminate()
    for process in made.running.values():
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(20)
    made.store.close()


def test_killing_any_process_loses_nothing_and_doubles_nothing(world: World):
    world.publish(30)
    world.wait(lambda: len(world.joined()), 30)
    world.click(5)
    for name in PROCESSES:
        world.kill(name)
        world.publish(10)
        world.click(5)
        world.start(name)
    total, clicks = len(world.sent), world.clicked
    assert (total, clicks) == (90, 35)
    world.wait(lambda: len(world.joined()), total)
    world.wait(world.rows, total)
    world.wait(world.on_page, total)
    world.wait(world.profile, clicks)
    world.wait(world.hot, clicks)
    made = world.changes()
    assert [change.sequence for change in made] == list(range(1, len(made) + 1))
    assert {json.loads(world.store.get(key))["pid"] for key in world.store.keys("heartbeat:*")} == {
        process.pid for process in world.running.values()
    }


def test_they_end_when_asked(world: World):
    world.wait(lambda: len(world.beats()), len(PROCESSES))
    for process in world.running.values():
        process.terminate()
    assert {name: process.wait(25) for name, process in world.running.items()} == dict.fromkeys(PROCESSES, 0)
