"""A disk that fills under Kafka: the broker stops, and when there is room again every record has its effect once."""

from __future__ import annotations

import resource
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from running import wait_for

from frontpage.adapters.bus import Outgoing, Record
from frontpage.adapters.clock import SystemClock
from frontpage.adapters.kafka_bus import KafkaBus
from frontpage.adapters.loop import run_transactional
from frontpage.adapters.services import jars
from frontpage.adapters.services import kafka as kafka_service
from frontpage.adapters.services.ports import free_port
from frontpage.contracts.topics import Topic

RECORDS = 60
#: Kafka allocates indexes of 10 MiB in advance; what is written in all is more than this limit of a file.
LIMIT = 11 << 20
PAYLOAD = b"x" * 250_000


@contextmanager
def a_broker(directory: Path, cache: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """Over the same directory each time, as after a restart."""
    command = kafka_service.command(directory / "kafka", jars.java(), jars.kafka_jars(cache), port, free_port())
    with (directory / "broker.log").open("ab") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, start_new_session=True)
    try:
        kafka_service.wait_ready(f"127.0.0.1:{port}")
        yield process
    finally:
        process.kill()
        process.wait(20)


class Copying:
    """Makes of each small record a large one."""

    def handle(self, records: list[Record]) -> list[Outgoing]:
        return [Outgoing("full.out", record.key, PAYLOAD, 0) for record in records]


def test_a_disk_that_fills_under_kafka_loses_no_record_and_doubles_none(tmp_path: Path, jar_cache: Path) -> None:
    port, stop = free_port(), threading.Event()
    bus = KafkaBus(f"127.0.0.1:{port}")
    copied = threading.Thread(
        target=run_transactional,
        args=(bus,),
        kwargs={
            "process": "copy", "group": "copy", "topics": ["full.in"], "transactional_id": "copy", "work": Copying(),
            "clock": SystemClock(), "stop": stop, "max_records": 4,
        },
    )  # fmt: skip
    try:
        with a_broker(tmp_path, jar_cache, port) as broker:
            kafka_service.ensure_topics(
                f"127.0.0.1:{port}", [Topic(name, "any", 1, 3_600_000) for name in ("full.in", "full.out")]
            )
            producer = bus.producer()
            producer.send([Outgoing("full.in", f"{n}", b"{}", 0) for n in range(RECORDS)])
            producer.close()
            resource.prlimit(broker.pid, resource.RLIMIT_FSIZE, (LIMIT, resource.RLIM_INFINITY))
            copied.start()
            wait_for(lambda: broker.poll() is not None, 120, "the broker outlived a full disk")
        with a_broker(tmp_path, jar_cache, port):
            wait_for(lambda: bus.committed("copy", "full.in").get(0, 0) >= RECORDS, 120, "the copies did not go on")
            found = Counter(record.key for record in bus.read("full.out", 0, 0, bus.end_offsets("full.out")[0]))
            stop.set()
            copied.join(60)
        assert found == Counter(f"{n}" for n in range(RECORDS))
        assert "No space" in (log := (tmp_path / "broker.log").read_text(errors="replace")) or "File too large" in log
    finally:
        stop.set()
        if copied.ident is not None:
            copied.join(60)
