"""Links across languages on a real broker and Valkey: found once whatever dies, in both rows, through merges."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fakes.speed import NOW, EventClusterer, article

import frontpage
from frontpage.adapters.bus import Outgoing
from frontpage.adapters.clock import set_clock
from frontpage.adapters.feed_rows import FeedRow, FeedRows, FeedSource
from frontpage.adapters.kafka_bus import KafkaBus
from frontpage.adapters.redis_store import open_redis
from frontpage.contracts.events import ArticleEvent, PollRequest, StoryLink
from frontpage.contracts.rank_events import BreakingAlert
from frontpage.contracts.story_codec import article_signals, to_event
from frontpage.contracts.topics import ALERTS_BREAKING, POLL_REQUESTS, STORY_CHANGES, STORY_LINKS
from frontpage.contracts.views import HEARTBEAT, STORY, StoryRow
from frontpage.domain.ids import feed_id
from frontpage.domain.languages import partition_of
from frontpage.domain.schedule import FeedState
from frontpage.domain.story import StoryBook

ROOT = Path(frontpage.__file__).parent.parent
PROCESSES = {"links": "streaming.cluster.links", "store": "streaming.cluster.store"}

#: One event in three languages, and two others of the same town: what is not about the quake must stay apart.
QUAKE = {
    "en": "Magnitude 6.4 earthquake shakes Valparaíso, hundreds flee their homes",
    "de": "Erdbeben der Stärke 6,4 erschüttert Valparaíso, Hunderte fliehen aus ihren Häusern",
    "es": "Un terremoto de magnitud 6,4 sacude Valparaíso y cientos de personas huyen de sus casas",
}
OTHERS = {
    "en": "Valparaíso opens a museum of modern photography in its old port",
    "de": "Stadtrat von Valparaíso erhöht die Gebühren für die Müllabfuhr",
}


class Wire:
    """Writes stories as their writers would, and reads what came of them."""

    def __init__(self, broker: str, valkey: str, var: Path) -> None:
        self.bus = KafkaBus(broker)
        self.store = open_redis(valkey)
        self.environment = {
            **os.environ, "KAFKA_BOOTSTRAP_SERVERS": broker, "REDIS_URL": valkey, "FRONTPAGE_VAR": str(var),
            "PYTHONPATH": str(ROOT),
        }  # fmt: skip
        self._var = var
        self._minds: dict[int, EventClusterer] = {}
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self._offset = 0

    def start(self, name: str) -> None:
        with (self._var / f"{name}.log").open("ab") as log:
            command = [sys.executable, "-m", PROCESSES[name]]
            self.running[name] = subprocess.Popen(command, env=self.environment, stderr=log, cwd=self._var)

    def kill(self, name: str) -> None:
        process = self.running.pop(name)
        process.send_signal(signal.SIGKILL)
        process.wait(20)

    def mind(self, language: str) -> EventClusterer:
        partition = partition_of(language)
        return self._minds.setdefault(partition, EventClusterer(StoryBook(), partition))

    def tell(self, language: str, event: str, title: str, publisher: str = "") -> str:
        """One article; returns its story."""
        publisher = publisher or f"press-{language}"
        made: ArticleEvent = article(
            f"{event}-{len(self.mind(language).book.story_of)}", event=event, publisher=publisher, language=language,
            title=title, at=NOW, places=["Valparaíso, CL"],
        )  # fmt: skip
        made = made.model_copy(
            update={"card": made.card.model_copy(update={"entities": [event, "Valparaíso, CL"], "snippet": ""})}
        )
        self._offset += 1
        source = ("articles.normalised", partition_of(language), self._offset)
        changes = self.mind(language).decide(article_signals(made), NOW, source, made.card)
        self._send(language, [to_event(change).encode() for change in changes])
        return changes[0].story_id

    def merge(self, language: str, survivor: str, absorbed: str) -> None:
        mind = self.mind(language)
        self._offset += 1
        source = ("repair", 0, self._offset)
        change = mind.change("merge", survivor, language, NOW, source=source, ordinal=0, absorbed=(absorbed,))
        mind.book.apply(change)
        self._send(language, [to_event(change).encode()])

    def _send(self, language: str, values: list[bytes]) -> None:
        producer = self.bus.producer()
        producer.send([Outgoing(STORY_CHANGES.name, language, value, partition_of(language)) for value in values])
        producer.close()

    def read(self, topic: str, kind: Any) -> list[Any]:
        ends = self.bus.end_offsets(topic)
        return [kind.decode(r.value) for p, end in ends.items() for r in self.bus.read(topic, p, 0, end)]

    def links(self) -> list[StoryLink]:
        return self.read(STORY_LINKS.name, StoryLink)

    def row(self, story: str) -> StoryRow | None:
        value: Any = self.store.get(STORY.key(story=story))
        return StoryRow.model_validate_json(value) if value else None

    def linked(self, story: str) -> list[str]:
        row = self.row(story)
        return row.links if row is not None else []

    def beat(self) -> dict[str, Any]:
        value: Any = self.store.get(HEARTBEAT.key(process="cluster.links"))
        return json.loads(value) if value else {}

    def wait(self, what: Callable[[], Any], why: str, seconds: float = 60) -> None:
        deadline = time.monotonic() + seconds
        while not what():
            dead = {name: p.returncode for name, p in self.running.items() if p.poll() is not None}
            logs = {name: (self._var / f"{name}.log").read_text()[-1500:] for name in dead}
            assert not dead, f"{dead} died: {logs}"
            assert time.monotonic() < deadline, f"{why}; {self.beat()}"
            time.sleep(0.2)

    def settled(self, stories: int) -> None:
        """Until the process has looked at that many stories, some time after now."""
        since = time.time()
        self.wait(
            lambda: (b := self.beat()).get("stories") == stories and not b["waiting"] and b["at"] > since + 1.5,
            f"not {stories} stories",
        )


@pytest.fixture
def wire(broker: str, valkey: str, tmp_path: Path) -> Iterator[Wire]:
    made = Wire(broker, valkey, tmp_path)
    # three virtual minutes pass in the shortest time between two cycles
    set_clock(made.store, virtual=NOW, speed=36.0)
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


def test_one_event_in_three_languages_is_linked_once_a_pair_through_kills_merges_and_bursts(wire: Wire):
    en = wire.tell("en", "quake", QUAKE["en"])
    de = wire.tell("de", "beben", QUAKE["de"])
    others = {wire.tell(language, f"other-{language}", title) for language, title in OTHERS.items()}
    wire.wait(lambda: wire.linked(en) == [de] and wire.linked(de) == [en], "the rows do not show the link")
    wire.settled(4)
    assert {(link.left, link.right) for link in wire.links()} == {tuple(sorted((en, de)))}
    assert all(wire.linked(story) == [] for story in others)

    # killed and started again: the pair is known, a new story of a third language is linked to both
    for name in PROCESSES:
        wire.kill(name)
    es = wire.tell("es", "sismo", QUAKE["es"], publisher="press-es")
    for name in PROCESSES:
        wire.start(name)
    wire.wait(lambda: wire.linked(es) == sorted([en, de]), "the third language is not linked")
    wire.wait(lambda: wire.linked(en) == sorted([de, es]) and wire.linked(de) == sorted([en, es]), "rows of all three")
    wire.settled(5)
    made = wire.links()
    assert len(made) == len({link.link_id for link in made}) == 3
    assert {frozenset((link.left_language, link.right_language)) for link in made} == {
        frozenset(pair) for pair in (("en", "de"), ("en", "es"), ("de", "es"))
    }
    assert all(0.7 <= link.score <= 1 for link in made)

    # an article more keeps the links of the row that is written anew; a merge hands them to the survivor
    wire.tell("de", "beben", QUAKE["de"] + " in der Nacht", publisher="press-de-2")
    wire.wait(lambda: len(wire.row(de).members) == 2, "the second article")
    assert wire.linked(de) == sorted([en, es])
    older = next(story for story in others if wire.row(story).language == "de")
    wire.merge("de", older, de)
    wire.wait(lambda: wire.row(de).alias_of == older, "the merge")
    assert wire.linked(older) == sorted([en, es])
    wire.settled(4)
    assert len(wire.links()) == 3, "the merged story was linked again"

    # a burst in English asks for closer polling of those who cover it in German and Spanish
    rows = FeedRows(wire.store)
    for language in QUAKE:
        site = f"press-{language}"
        rows.put(FeedRow(FeedSource(feed_id(site), f"https://{site}.example/rss", site, site), FeedState()))
    now = NOW + 600
    alert = BreakingAlert(
        alert_id="a1", story_id=en, editions=["en-GB"], headline=QUAKE["en"], language="en", originals=15,
        publishers=9, tail_probability=1e-5, at=now,
    )  # fmt: skip
    producer = wire.bus.producer()
    producer.send([Outgoing(ALERTS_BREAKING.name, en, alert.encode())])
    producer.close()
    wire.wait(lambda: len(wire.read(POLL_REQUESTS.name, PollRequest)) == 2, "no requests")
    wire.kill("links")
    wire.start("links")
    wire.settled(4)
    requests = wire.read(POLL_REQUESTS.name, PollRequest)
    assert {request.feed_id for request in requests} == {feed_id("press-de"), feed_id("press-es")}
    assert len(requests) == 2, "the burst was followed twice"
    assert all(en in request.why and request.boost_until == now + 3600 for request in requests)
