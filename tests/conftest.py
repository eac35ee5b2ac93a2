"""Fixtures that start the real services; nothing here is imported by unit tests that do not ask for it.

`valkey` is a fresh server for one test, `kafka` one broker for the whole run (use names of your own for groups and
topics), `topic` makes such a topic. All of them stop with the run and leave nothing behind.
"""

from __future__ import annotations

import os
import subprocess
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from running import SHORT_INTERVALS, RunningSystem

from frontpage.adapters.services import jars
from frontpage.adapters.services import kafka as kafka_service
from frontpage.adapters.services import valkey as valkey_service
from frontpage.adapters.services.ports import free_port
from frontpage.contracts.topics import ALL, Topic
from frontpage.settings import Settings

# Laws have no deadline: how fast the machine is today is not what they state. CI draws the same examples every time.
settings.register_profile(
    "house",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),
    print_blob=True,
)
settings.load_profile("house")


def _run(command: list[str], log: Path) -> subprocess.Popen[bytes]:
    with log.open("wb") as out:
        return subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, start_new_session=True)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(20)


@pytest.fixture(scope="session")
def jar_cache() -> Path:
    """Where the jars are, as for the product: FRONTPAGE_CACHE or the default."""
    return Settings().cache


@pytest.fixture(scope="session")
def spark_jars(jar_cache: Path) -> list[Path]:
    """The jars for `spark.jars`."""
    return jars.spark_jars(jar_cache)


@pytest.fixture
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """URL of a fresh Valkey server with the product's configuration."""
    directory = tmp_path_factory.mktemp("valkey")
    port = free_port()
    process = _run(valkey_service.command(directory, port, max_memory=1 << 28), directory / "log")
    try:
        valkey_service.wait_ready(port)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        _stop(process)


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory, jar_cache: Path) -> Iterator[str]:
    """Bootstrap address of one embedded broker for the whole run, with the topics of the contracts."""
    directory = tmp_path_factory.mktemp("kafka")
    port = free_port()
    command = kafka_service.command(directory, jars.java(), jars.kafka_jars(jar_cache), port, free_port())
    process = _run(command, directory / "log")
    bootstrap = f"127.0.0.1:{port}"
    try:
        kafka_service.wait_ready(bootstrap)
        kafka_service.ensure_topics(bootstrap, ALL)
        yield bootstrap
    finally:
        _stop(process)


@pytest.fixture
def make_topic(kafka: str) -> Callable[[int], str]:
    """Make a topic with that many partitions and a name of its own on the shared broker."""

    def make(partitions: int) -> str:
        name = f"test.{uuid.uuid4().hex[:12]}"
        kafka_service.ensure_topics(kafka, [Topic(name, "any", partitions, 3_600_000)])
        return name

    return make


@pytest.fixture
def whole_system(tmp_path_factory: pytest.TempPathFactory, jar_cache: Path) -> Iterator[RunningSystem]:
    """A system of its own with short intervals, nothing started yet; leaves nothing behind, and asserts so."""
    with RunningSystem(tmp_path_factory.mktemp("system"), jar_cache, **SHORT_INTERVALS) as running:
        yield running
