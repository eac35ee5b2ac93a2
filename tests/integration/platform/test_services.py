"""The embedded services under the process manager: up, what they hold, down, up again; and what keeps them from it."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import redis
from running import RunningSystem, wait_for

from frontpage.adapters.bus import Outgoing
from frontpage.adapters.kafka_bus import KafkaBus
from frontpage.adapters.redis_store import store_errors
from frontpage.adapters.services.supervisor import Supervisor
from frontpage.errors import ConfigurationError, StoreFull


@pytest.fixture
def system(tmp_path: Path, jar_cache: Path) -> Iterator[RunningSystem]:
    """A system of which each test starts what it needs."""
    with RunningSystem(tmp_path, jar_cache) as running:
        yield running


def test_up_finds_its_data_again_and_down_leaves_nothing(system: RunningSystem) -> None:
    first = system.up("services")
    with system.redis() as store:
        store.set("kept", "yes")
        assert store.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
    producer = system.bus.producer()
    producer.send([Outgoing("items.raw", "k", b"kept", 0)])
    producer.close()
    pids = system.processes()
    assert len(pids) == 3, "supervisord, Valkey and Kafka"

    assert system.up("services") == first, "a second up changes nothing"
    assert sorted(system.processes()) == sorted(pids)

    system.__exit__()
    assert system.frontpage("status").returncode == 1

    system.up("services")
    with system.redis() as store:
        assert store.get("kept") == b"yes"
    assert [record.value for record in system.bus.read("items.raw", 0, 0, 9)] == [b"kept"]


def test_killed_services_come_back_with_their_data(system: RunningSystem) -> None:
    row = system.up("services")
    bus, store = KafkaBus(row["kafka"]), system.redis()
    store.set("kept", "yes")
    time.sleep(1.2)  # appendfsync everysec
    producer = bus.producer()
    producer.send([Outgoing("items.raw", "k", b"before", 0)])
    for name in ("valkey", "kafka"):
        system.kill(name)

    def answers() -> bool:
        try:
            return bool(store.get("kept") == b"yes" and bus.end_offsets("items.raw")[0] == 1)
        except Exception:  # noqa: BLE001 - not yet
            return False

    wait_for(answers, 60)
    producer.send([Outgoing("items.raw", "k", b"after", 0)])
    producer.close()
    assert [record.value for record in bus.read("items.raw", 0, 0, 9)] == [b"before", b"after"]
    store.close()


def test_what_a_killed_process_manager_left_is_ended_by_the_next_up(system: RunningSystem) -> None:
    system.up("services")
    before = system.processes()
    supervisor = int((system.var / "supervisor" / "supervisord.pid").read_text())
    os.kill(supervisor, signal.SIGKILL)
    wait_for(lambda: supervisor not in system.processes())
    system.up("services")
    after = system.processes()
    assert len(after) == 3
    assert not set(before) & set(after)


def test_a_taken_port_is_named_with_its_holder(system: RunningSystem) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        done = system.frontpage("up", "services", FRONTPAGE_SERVING_PORT=str(port))
        assert done.returncode == 1
        assert f"port {port} is taken by" in done.stderr
        assert f"(pid {os.getpid()})" in done.stderr
        assert "FRONTPAGE_SERVING_PORT" in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
        doctor = system.frontpage("doctor", FRONTPAGE_SERVING_PORT=str(port))
        assert doctor.returncode == 1
        problems = [line for line in doctor.stdout.splitlines() if line.startswith("PROBLEM")]
        assert len(problems) == 1
        assert f"port {port} is taken by" in problems[0]
    assert system.processes() == []


def test_no_java_and_unreachable_services_get_one_line_each(system: RunningSystem) -> None:
    done = system.frontpage(
        "doctor", "--json", JAVA_HOME="/nonexistent", REDIS_URL="redis://:secret@127.0.0.1:1/0",
        KAFKA_BOOTSTRAP_SERVERS="127.0.0.1:1",
    )  # fmt: skip
    assert done.returncode == 1
    problems = {row["check"]: row["detail"] for row in json.loads(done.stdout) if not row["ok"]}
    assert set(problems) == {"java", "redis", "kafka"}
    assert problems["java"].startswith("Java 17 or 21 is missing: install it with")
    assert "check REDIS_URL" in problems["redis"]
    assert "secret" not in done.stdout
    assert "check KAFKA_BOOTSTRAP_SERVERS" in problems["kafka"]
    assert all("\n" not in detail for detail in problems.values())


def test_configured_services_are_used_and_not_embedded(
    tmp_path: Path, jar_cache: Path, kafka: str, valkey: str
) -> None:
    with RunningSystem(tmp_path, jar_cache, KAFKA_BOOTSTRAP_SERVERS=kafka, REDIS_URL=valkey) as system:
        assert system.up("store")["kafka"] == kafka
        parts = system.parts()
        assert {"valkey", "kafka"} & set(parts) == set()
        assert [name for name, part in parts.items() if part["ready"]] == ["store"]
        assert len(system.processes()) == 2, "supervisord and the store"


def fill(store: redis.Redis) -> None:
    with store_errors():
        for number in range(64):
            store.set(f"filler:{number}", b"x" * (256 << 10))


def test_a_full_redis_is_told_apart_and_nothing_is_lost(tmp_path: Path, jar_cache: Path) -> None:
    with RunningSystem(tmp_path, jar_cache, FRONTPAGE_REDIS_MAX_MEMORY=str(8 << 20)) as system:
        system.up("services")
        with system.redis() as store:
            with pytest.raises(StoreFull, match="FRONTPAGE_REDIS_MAX_MEMORY"):
                fill(store)
            doctor = system.frontpage("doctor")
            assert doctor.returncode == 1
            assert "raise FRONTPAGE_REDIS_MAX_MEMORY" in doctor.stdout
            assert store.get("filler:0") is not None, "nothing was evicted"


def test_two_ups_do_not_end_each_other_and_down_ends_an_up_at_work(system: RunningSystem) -> None:
    with ThreadPoolExecutor() as pool:
        ups = [pool.submit(system.frontpage, "up", "services") for _ in range(3)]
        done = [up.result() for up in ups]
        told = sorted(up.stderr.strip().splitlines()[-1] for up in done if up.returncode)
        assert 0 in {up.returncode for up in done}
        assert all("another `frontpage up` is starting the system" in line for line in told)
        assert len(system.processes()) == 3, "supervisord, Valkey and Kafka"
        system.__exit__()

        late = pool.submit(system.frontpage, "up", "services")
        wait_for(lambda: late.done() or system.processes(), 120.0, "no process was started")
        assert system.frontpage("down").returncode == 0
        assert system.processes() == []
        assert late.result().returncode == 1
        assert "stopped meanwhile" in late.result().stderr.strip().splitlines()[-1]
        assert "Traceback" not in late.result().stderr
    assert system.processes() == []


@pytest.mark.parametrize("character", ["%", '"', "'", "\\", ",", "\n", " ;", " #"])
def test_a_directory_that_services_cannot_work_in_is_refused_in_one_line(tmp_path: Path, character: str) -> None:
    manager = Supervisor(tmp_path / f"a{character}b" / "supervisor")
    with pytest.raises(ConfigurationError, match="FRONTPAGE_VAR") as caught:
        manager.launch([])
    assert "\n" not in str(caught.value)
    assert not manager.running()


def test_a_directory_may_have_spaces_and_letters_of_any_script(tmp_path: Path, jar_cache: Path) -> None:
    with RunningSystem(tmp_path / "ein; Ort für נתונים", jar_cache) as system:
        system.up("services")
        assert {name for name, part in system.parts().items() if part["ready"]} == {"valkey", "kafka"}
