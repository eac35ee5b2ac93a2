"""Faults under load: two story writers on one partition, a broker and a Redis of their own, and the accounting.

A round is one fault of the writer that holds the partition (killed, or frozen until it wakes as a zombie) and one of a
service (broker or Redis, killed and started again), while articles and repeats of articles keep coming. Used by
`tests/integration/speed/test_speed_crashes.py` (three rounds) and through it by `make soak` (fifty).
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final, Self

from fakes.speed import NOW, article

import frontpage
from frontpage.adapters.bus import Consumer, Outgoing
from frontpage.adapters.clock import set_clock
from frontpage.adapters.kafka_bus import KafkaBus
from frontpage.adapters.redis_store import open_redis
from frontpage.adapters.services import jars
from frontpage.adapters.services import kafka as kafka_service
from frontpage.adapters.services import valkey as valkey_service
from frontpage.adapters.services.ports import free_port
from frontpage.contracts.events import StoryChange
from frontpage.contracts.story_codec import from_event
from frontpage.contracts.topics import ALL, ARTICLES, STORY_CHANGES
from frontpage.contracts.views import LEASE
from frontpage.domain.story import StoryBook
from frontpage.errors import ServiceUnavailable
from streaming.cluster.rebuild import rebuild

ROOT: Final = Path(frontpage.__file__).parent.parent
PARTITION: Final = 1
#: Articles a turn, and real seconds between turns: about 25 a second, each tenth a repeat of an earlier one.
_BATCH, _EVERY = 5, 0.2
#: Real seconds after which a wait has failed: several times what it takes on a busy machine.
PATIENCE: Final = 90.0
#: (fault of the writer, service that is killed), in the order of the rounds.
FAULTS: Final = (("kill", "redis"), ("freeze", "kafka"), ("kill", "kafka"), ("freeze", "redis"))


class Arena:
    """Everything of a run; use as a context. Afterwards nothing is left running."""

    def __init__(self, directory: Path, cache: Path, seed: int = 0) -> None:
        self._directory = directory
        self._chance = random.Random(seed)
        kafka_port, redis_port = free_port(), free_port()
        self._commands = {
            "kafka": kafka_service.command(
                directory / "kafka", jars.java(), jars.kafka_jars(cache), kafka_port, free_port()
            ),
            "redis": valkey_service.command(directory / "redis", redis_port, max_memory=1 << 28),
        }
        self.bootstrap, self._url = f"127.0.0.1:{kafka_port}", f"redis://127.0.0.1:{redis_port}/0"
        self._redis_port = redis_port
        self._services: dict[str, subprocess.Popen[bytes]] = {}
        self._writers: dict[int, subprocess.Popen[bytes]] = {}
        self.bus, self.store = KafkaBus(self.bootstrap), open_redis(self._url)
        self.feeder = Feeder(self.bus)
        self.log = Log(self.bus)

    def __enter__(self) -> Self:
        try:
            for name in self._commands:
                self.start(name)
            kafka_service.ensure_topics(self.bootstrap, ALL)
            set_clock(self.store, virtual=NOW, speed=1.0)
            for _ in range(2):
                self.start_writer()
            self.feeder.start()
            self.log.wait(lambda: bool(self.log.joined), "no writer began")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.feeder.stop()
        self.log.close()
        for process in (*self._writers.values(), *self._services.values()):
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.wait(20)
        self.store.close()

    def round(self, number: int) -> float:
        """One round and its accounting; real seconds from the writer's fault to the standby's first decision."""
        fault, service = FAULTS[number % len(FAULTS)]
        time.sleep(self._chance.uniform(0.0, 1.0))  # anywhere between two renewals of the lease
        holder = self._holder()
        began = time.monotonic()
        holder.send_signal(signal.SIGKILL if fault == "kill" else signal.SIGSTOP)
        before = self.feeder.sent()
        self.log.wait(lambda: not self.log.joined.keys() <= before, f"round {number}: nobody took over")
        seconds = time.monotonic() - began
        if fault == "kill":
            holder.wait(20)
            del self._writers[holder.pid]
            self.start_writer()
        else:
            holder.send_signal(signal.SIGCONT)
        self._services[service].kill()
        self._services[service].wait(20)
        self.start(service)
        before = self.feeder.sent()
        self.log.wait(lambda: not self.log.joined.keys() <= before, f"round {number}: nobody went on after {service}")
        self.account(number)
        return seconds

    def account(self, number: int) -> None:
        """Every article that was sent is assigned once, in one order, and the book is the sum of the log."""
        sent = self.feeder.pause()
        try:
            self.log.wait(lambda: self.log.joined.keys() >= sent, f"round {number}: articles are missing")
            self.log.read_for(1.0)
            assert set(self.log.joined.values()) == {1}, "an article was assigned twice"
            assert self.log.joined.keys() == sent, "an article that nobody sent"
            assert all(len(found) == 1 for found in self.log.stories_of.values()), "ids forked"
            rebuilt = rebuild(self.bus, PARTITION)
            assert (rebuilt.sequence, rebuilt.story_of) == (self.log.book.sequence, self.log.book.story_of)
            died = [pid for pid, process in self._writers.items() if process.poll() is not None]
            assert died == [], f"writers died: {self._last_words()}"
        finally:
            self.feeder.resume()

    def start(self, service: str) -> None:
        """Start a service and wait until it answers."""
        with (self._directory / f"{service}.log").open("ab") as out:
            self._services[service] = subprocess.Popen(
                self._commands[service], stdout=out, stderr=subprocess.STDOUT, start_new_session=True
            )
        if service == "kafka":
            kafka_service.wait_ready(self.bootstrap, PATIENCE)
        else:
            valkey_service.wait_ready(self._redis_port, PATIENCE)

    def start_writer(self) -> None:
        environment = {
            **os.environ, "KAFKA_BOOTSTRAP_SERVERS": self.bootstrap, "REDIS_URL": self._url,
            "FRONTPAGE_VAR": str(self._directory), "OMP_NUM_THREADS": "1",
            "PYTHONPATH": os.pathsep.join([str(ROOT / "tests"), str(ROOT)]),
        }  # fmt: skip
        command = [sys.executable, str(ROOT / "tests" / "fakes" / "writer_process.py"), str(PARTITION)]
        with (self._directory / "writers.log").open("ab") as out:
            process = subprocess.Popen(command, env=environment, stderr=out, cwd=self._directory)
        self._writers[process.pid] = process

    def _holder(self) -> subprocess.Popen[bytes]:
        """The writer that has the lease, once the other one is there to stand by."""
        found: list[subprocess.Popen[bytes]] = []

        def held() -> bool:
            value = self.store.get(LEASE.key(name=f"cluster-{PARTITION}"))
            pid = int(bytes(value).rsplit(b":", 1)[1]) if value else 0
            found[:] = [self._writers[pid]] if pid in self._writers else []
            return bool(found) and all(self._stands_by(process.pid) for process in self._writers.values())

        self.log.wait(held, "nobody holds the partition")
        return found[0]

    def _stands_by(self, pid: int) -> bool:
        """It has finished starting: a signal handler of Python's own is installed when `run_process` begins."""
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
        caught = int(next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt")), 16)
        return bool(caught >> (signal.SIGTERM - 1) & 1)

    def _last_words(self) -> str:
        return (self._directory / "writers.log").read_text(encoding="utf-8", errors="replace")[-3_000:]


class Feeder:
    """Sends articles of a few events on a thread of its own, whatever happens to the broker meanwhile."""

    def __init__(self, bus: KafkaBus) -> None:
        self._bus = bus
        self._lock = threading.Lock()
        self._stop, self._go = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="feeder")
        self._values: list[bytes] = []
        self._sent: set[str] = set()

    def start(self) -> None:
        self._go.set()
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._go.set()
        if self._thread.ident is not None:
            self._thread.join(PATIENCE)

    def sent(self) -> frozenset[str]:
        """The ids of all that has been sent so far."""
        with self._lock:
            return frozenset(self._sent)

    def pause(self) -> frozenset[str]:
        """Stop sending, not in the middle of a batch; the ids of all that has been sent."""
        self._go.clear()
        return self.sent()

    def resume(self) -> None:
        self._go.set()

    def _run(self) -> None:
        chance, number = random.Random(1), 0
        while not self._stop.is_set():
            self._go.wait()
            with self._lock:
                if not self._go.is_set() or self._stop.is_set():
                    continue
                made = [
                    article(
                        f"es{n}", event=f"event{n % 7}x{n // 500}", publisher=f"pub-{n % 11}", language="es", at=NOW
                    )
                    for n in range(number, number + _BATCH)
                ]
                number += _BATCH
                values = [event.encode() for event in made]
                self._values = (self._values + values)[-500:]
                if chance.random() < 0.5:
                    values.append(chance.choice(self._values))
                self._send(values)
                self._sent |= {event.card.article_id for event in made}
            time.sleep(_EVERY)

    def _send(self, values: list[bytes]) -> None:
        """Until it is there: a repeat of what did arrive must not matter."""
        while not self._stop.is_set():
            try:
                producer = self._bus.producer()
                try:
                    producer.send([Outgoing(ARTICLES.name, "es", value, PARTITION) for value in values])
                finally:
                    producer.close()
                return
            except ServiceUnavailable:
                time.sleep(0.2)


class Log:
    """What consumers see of `story.changes`, checked as it comes."""

    def __init__(self, bus: KafkaBus) -> None:
        self._bus = bus
        self._consumer: Consumer | None = None
        self._offset = 0
        self.joined: Counter[str] = Counter()
        self.stories_of: dict[str, set[str]] = {}
        self.book = StoryBook()
        self._ids: set[str] = set()

    def close(self) -> None:
        if self._consumer is not None:
            self._consumer.close()
            self._consumer = None

    def wait(self, what: Callable[[], bool], why: str) -> None:
        """Read until `what`."""
        deadline = time.monotonic() + PATIENCE
        while not what():
            assert time.monotonic() < deadline, why
            self._read()

    def read_for(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self._read()

    def _read(self) -> None:
        try:
            if self._consumer is None:
                self._consumer = self._bus.consumer("reader", [STORY_CHANGES.name], partitions=[PARTITION])
                self._consumer.seek((STORY_CHANGES.name, PARTITION), self._offset)
            records = self._consumer.poll(500, 0.05)
        except ServiceUnavailable:
            self.close()
            time.sleep(0.1)
            return
        for record in records:
            self._offset = record.offset + 1
            event = StoryChange.decode(record.value)
            assert event is not None
            assert event.sequence == self.book.sequence + 1, "the sequence has gaps or repeats"
            assert event.change_id not in self._ids, "a change was made twice"
            self._ids.add(event.change_id)
            self.book.apply(from_event(event))
            if event.article is not None:
                self.stories_of.setdefault(event.article.entities[0], set()).add(event.story_id)
                if event.kind in ("create", "assign"):
                    self.joined[event.article.article_id] += 1
