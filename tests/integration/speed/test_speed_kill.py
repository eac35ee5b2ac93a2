"""The writer against a real broker and Valkey: killed in mid-stream, superseded, and end to end to a page.

Everything is read back from the read-committed log: what a consumer sees is what counts. With a standby, and with
crashes of the services: `test_speed_crashes.py`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis
from fakes.speed import NOW, EventClusterer, article

import frontpage
from frontpage.adapters.bus import Outgoing
from frontpage.adapters.clock import ReplayClock, set_clock
from frontpage.adapters.kafka_bus import KafkaBus
from frontpage.adapters.lease import HeldLease
from frontpage.adapters.pages import PageStore
from frontpage.adapters.redis_store import open_redis
from frontpage.contracts.events import ArticleEvent, DeadLetter, StoryChange
from frontpage.contracts.topics import ARTICLES, ITEMS_DEAD, STORY_CHANGES
from frontpage.contracts.views import STORY, StoryRow
from frontpage.errors import Fenced
from frontpage.runtime import Runtime
from frontpage.settings import Settings
from streaming.cluster import store as story_store
from streaming.cluster.writer import Tenures
from streaming.rank.ranker import Ranker

ROOT = Path(frontpage.__file__).parent.parent


@pytest.fixture
def bus(broker: str) -> KafkaBus:
    return KafkaBus(broker)


@pytest.fixture
def store(valkey: str) -> Iterator[redis.Redis]:
    client = open_redis(valkey)
    set_clock(client, virtual=NOW, speed=1.0)
    yield client
    client.close()


@pytest.fixture
def start_writer(broker: str, valkey: str, tmp_path: Path) -> Iterator[Callable[[int], subprocess.Popen[bytes]]]:
    started: list[subprocess.Popen[bytes]] = []

    def start(partition: int) -> subprocess.Popen[bytes]:
        environment = {
            **os.environ, "KAFKA_BOOTSTRAP_SERVERS": broker, "REDIS_URL": valkey, "FRONTPAGE_VAR": str(tmp_path),
            "PYTHONPATH": os.pathsep.join([str(ROOT / "tests"), str(ROOT)]),
        }  # fmt: skip
        command = [sys.executable, str(ROOT / "tests" / "fakes" / "writer_process.py"), str(partition)]
        with (tmp_path / f"writer{len(started)}.log").open("wb") as log:
            started.append(subprocess.Popen(command, env=environment, stderr=log, cwd=tmp_path))
        return started[-1]

    yield start
    for process in started:
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.kill()
        process.wait(20)


def send(bus: KafkaBus, partition: int, *events: ArticleEvent | bytes) -> None:
    producer = bus.producer()
    values = [event if isinstance(event, bytes) else event.encode() for event in events]
    producer.send([Outgoing(ARTICLES.name, "x", value, partition) for value in values])
    producer.close()


def changes(bus: KafkaBus, partition: int) -> list[StoryChange]:
    end = bus.end_offsets(STORY_CHANGES.name)[partition]
    found = [StoryChange.decode(record.value) for record in bus.read(STORY_CHANGES.name, partition, 0, end)]
    return [change for change in found if change is not None]


def wait_for(what: Callable[[], bool], seconds: float, why: str) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, why
        time.sleep(0.1)


def stream(language: str, start: int, count: int) -> list[ArticleEvent]:
    """Articles of a few events, each by its own publisher."""
    return [
        article(f"{language}{i}", event=f"event{i % 7}", publisher=f"pub-{i % 11}", language=language, at=NOW + i)
        for i in range(start, start + count)
    ]


def exactly_once(made: list[StoryChange], expected: list[ArticleEvent]) -> None:
    assert [change.sequence for change in made] == list(range(1, len(made) + 1)), "the sequence has gaps or repeats"
    assert len({change.change_id for change in made}) == len(made)
    joined = Counter(
        change.article.article_id for change in made if change.article and change.kind in ("create", "assign")
    )
    assert joined == Counter({event.card.article_id: 1 for event in expected})
    stories: dict[str, set[str]] = {}
    for change in made:
        if change.article is not None:
            stories.setdefault(change.article.entities[0], set()).add(change.story_id)
    assert all(len(found) == 1 for found in stories.values()), f"ids forked: {stories}"


def test_a_writer_killed_in_mid_stream_assigns_each_article_once(bus, store, start_writer):
    """SIGKILL while articles keep coming and nobody stands by; the next one waits until the lease of the dead ends."""
    partition, sent = 1, stream("es", 0, 400)
    process = start_writer(partition)
    feeder = threading.Thread(target=lambda: [send(bus, partition, *sent[i : i + 20]) for i in range(0, 400, 20)])
    feeder.start()
    wait_for(lambda: len(changes(bus, partition)) > 30, 40, "nothing was decided")
    process.kill()
    process.wait(20)
    feeder.join()
    send(bus, partition, *sent[:50])  # redelivery
    start_writer(partition)
    wait_for(lambda: len(changes(bus, partition)) >= len(sent), 40, "the backlog was not drained")
    time.sleep(1.5)
    exactly_once(changes(bus, partition), sent)


def test_a_writer_whose_successor_has_opened_the_producer_is_fenced(bus, store):
    """Even with a lease that it believes in: Kafka refuses the transaction."""
    partition = 3
    clock = ReplayClock(store)
    send(bus, partition, article("fr1", event="quake", language="fr"))
    successor: list[object] = []

    def check() -> None:
        if not successor:
            successor.append(bus.transactional(f"cluster-{partition}"))

    with pytest.raises(Fenced):
        Tenures(bus, clock, partition, minds=EventClusterer, repair_interval=600).serve(check, threading.Event())
    assert changes(bus, partition) == []


def test_a_lease_is_held_by_one_and_passes_on_when_released(store):
    one, other = HeldLease(store, "x", "one"), HeldLease(store, "x", "other")
    stop = threading.Event()
    assert one.wait(stop)
    waiting = threading.Thread(target=other.wait, args=(stop,))
    waiting.start()
    time.sleep(1.0)
    assert other.fence is None
    with pytest.raises(Fenced):
        other.check()
    first = one.fence
    one.release()
    waiting.join(5)
    other.check()
    assert other.fence is not None
    assert first is not None
    assert other.fence > first
    other.release()


def test_articles_become_rows_and_a_page(bus, store, broker, valkey):
    """Writer, store and ranker in one process over the real services, poison among the articles."""
    partition, stop = 0, threading.Event()
    runtime = Runtime(Settings(editions="en-GB"), bus, store, ReplayClock(store), broker, valkey)
    tenures = Tenures(bus, runtime.clock, partition, minds=EventClusterer, repair_interval=600)
    threads = [
        threading.Thread(target=tenures.run, args=(HeldLease(store, "cluster-0", "test"), stop)),
        threading.Thread(target=story_store.main, args=(runtime, stop)),
    ]
    for thread in threads:
        thread.start()
    try:
        events = [article(f"en{i}", event=f"event{i % 3}", publisher=f"pub-{i}", at=NOW - 60) for i in range(9)]
        send(bus, partition, *events[:5], b"not json at all", *events[5:])
        wait_for(lambda: len(changes(bus, partition)) == 9, 40, "the articles were not clustered")
        story_ids = {change.story_id for change in changes(bus, partition)}
        assert len(story_ids) == 3
        keys = [STORY.key(story=id) for id in sorted(story_ids)]

        def complete() -> bool:
            rows = [StoryRow.model_validate_json(value) for value in store.mget(keys) if value]
            return sorted(len(row.members) for row in rows) == [3, 3, 3]

        wait_for(complete, 40, "the rows did not come")
        producer = bus.transactional("ranker")
        ranker = Ranker(bus, store, producer, editions="en-GB")
        ranker.restore(NOW)
        ranker.cycle(runtime.clock.now())
        ranker.close()
        producer.close()
        page = PageStore(store).read("en-GB", "top")
        assert page is not None
        assert {card.story_id for card in page.cards} == story_ids
        assert [card.sources for card in page.cards] == [3, 3, 3]
    finally:
        stop.set()
        for thread in threads:
            thread.join(20)
    end = bus.end_offsets(ITEMS_DEAD.name)[0]
    letters = [DeadLetter.decode(record.value) for record in bus.read(ITEMS_DEAD.name, 0, 0, end)]
    assert [letter.cause for letter in letters if letter and letter.topic == ARTICLES.name] == ["not-json"]
