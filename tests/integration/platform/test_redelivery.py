"""A worker slower than the poll interval loses its partition in the middle of a batch; another runs the batch again.

Against the real broker and the real store: every article once, every unreadable record dead-lettered once, the
tombstone skipped, the offset past the end, and the slow worker neither crashes nor commits late.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable

import redis

from frontpage.adapters.bus import Outgoing, Record
from frontpage.adapters.clock import SystemClock
from frontpage.adapters.kafka_bus import KafkaBus
from frontpage.adapters.loop import decoded, run_transactional
from frontpage.contracts.events import DeadLetter, FeedItem
from frontpage.domain.ids import article_id


def item(url: str, title: str) -> bytes:
    return FeedItem(feed_id="f1", feed_url="https://paper.example/rss", publisher_id="paper", url=url,
                    title=title, seen_at=1.0).encode()  # fmt: skip


INPUT: list[tuple[str, bytes | None]] = [
    ("a", item("https://paper.example/harbour", "Harbour reopens")),
    ("b", item("https://paper.example/bridge", "Bridge closes")),
    ("a", item("https://paper.example/harbour", "Harbour reopens")),
    ("c", b"\x80\x81 broken"),
    ("d", None),
    ("e", item("https://paper.example/later", "x").replace(b'"version":1', b'"version":42')),
    ("f", b'{"schema":{"name":"items.raw","version":1},"title":"no address"}'),
    ("b", item("https://paper.example/bridge?utm_source=mail", "Bridge closes")),
    ("g", item("https://paper.example/museum", "Museum opens")),
]


class Indexer:
    """Keyed, conditional writes; an article's event is repeated until its transaction is known to have committed."""

    def __init__(self, name: str, store: redis.Redis, target: str, delay: float) -> None:
        self._name, self._store, self._target, self._delay = name, store, target, delay
        self.runs = 0
        self.offsets: list[int] = []

    def handle(self, records: list[Record]) -> list[Outgoing]:
        good, out = decoded(records, FeedItem, self._name, at=1.0)
        emitted = set()
        for _, event in good:
            identity = article_id(event.url.split("?")[0])
            if self._store.hsetnx(f"row:{identity}", "url", event.url.split("?")[0]):
                self._store.incr("index-writes")
            if identity not in emitted and not self._store.hexists(f"row:{identity}", "in-kafka"):
                out.append(Outgoing(self._target, identity, event.encode(), 0))
                emitted.add(identity)
        self.runs += 1
        if self.runs == 1:
            time.sleep(self._delay)
        return out

    def committed(self, records: list[Record]) -> None:
        self.offsets += [record.offset for record in records]
        good, _ = decoded(records, FeedItem, self._name, at=1.0)
        for _, event in good:
            self._store.hset(f"row:{article_id(event.url.split('?')[0])}", "in-kafka", 1)


def test_a_batch_run_twice_has_its_effects_once(kafka: str, valkey: str, make_topic: Callable[[int], str]) -> None:
    source, target, group = make_topic(1), make_topic(1), f"g-{uuid.uuid4().hex[:8]}"
    store = redis.Redis.from_url(valkey)
    bus = KafkaBus(kafka)
    dead_before = sum(bus.end_offsets("items.dead").values())
    producer = bus.producer()
    producer.send([Outgoing(source, key, value, 0) for key, value in INPUT])
    producer.close()

    stop = threading.Event()
    failures: list[BaseException] = []
    workers = {
        "slow": Indexer("slow", store, target, delay=6.0),
        "other": Indexer("other", store, target, delay=0.0),
    }

    def run(name: str, poll_interval: float) -> None:
        try:
            run_transactional(
                KafkaBus(kafka, max_poll_interval=poll_interval), process=name, group=group, topics=[source],
                transactional_id=f"{group}-{name}", work=workers[name], clock=SystemClock(), stop=stop,
                after_commit=workers[name].committed,
            )  # fmt: skip
        except BaseException as error:  # noqa: BLE001 - shown by the assertion below
            failures.append(error)

    threads = [threading.Thread(target=run, args=("slow", 2.0))]
    threads[0].start()
    deadline = time.monotonic() + 60
    while workers["slow"].runs == 0 and not store.exists("index-writes"):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    threads.append(threading.Thread(target=run, args=("other", 300.0)))
    threads[1].start()
    while workers["slow"].runs == 0 or bus.committed(group, source).get(0, 0) < len(INPUT):
        assert time.monotonic() < deadline, (workers["slow"].runs, workers["other"].runs)
        time.sleep(0.2)
    time.sleep(2.0)  # room for the late commit that must not come
    alive = all(thread.is_alive() for thread in threads)
    stop.set()
    for thread in threads:
        thread.join(30)

    assert alive, "a worker crashed"
    assert failures == []
    assert workers["slow"].offsets == [], "the slow worker's late batch was dropped"
    assert workers["other"].offsets == list(range(9))
    end = bus.end_offsets(target)[0]
    articles = [FeedItem.decode(record.value) for record in bus.read(target, 0, 0, end)]
    assert sorted(a.url for a in articles if a) == [
        "https://paper.example/bridge", "https://paper.example/harbour", "https://paper.example/museum"
    ]  # fmt: skip
    dead_end = bus.end_offsets("items.dead")[0]
    letters = [DeadLetter.decode(record.value) for record in bus.read("items.dead", 0, dead_before, dead_end)]
    assert [(d.offset, d.cause, d.key) for d in letters if d and d.topic == source] == [
        (3, "not-utf8", "c"), (5, "unknown-version", "e"), (6, "invalid-fields", "f")
    ]  # fmt: skip
    assert dict(bus.committed(group, source)) == {0: 9}
    assert store.get("index-writes") == b"3"
