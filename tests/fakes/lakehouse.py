"""The embedded Spark session for tests, one for the whole run (`getOrCreate`), and a fresh lake a test."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from frontpage.adapters.kafka_bus import KafkaBus
from frontpage.adapters.lake import Lake
from frontpage.adapters.services import jars
from frontpage.adapters.services import kafka as kafka_service
from frontpage.adapters.services import valkey as valkey_service
from frontpage.adapters.services.ports import free_port
from frontpage.adapters.spark import SparkConfig, session
from frontpage.contracts.table_types import Table
from frontpage.contracts.topics import ALL


@pytest.fixture(scope="session")
def spark(spark_jars: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The session; it stays up until the run ends, as Spark starts only once a process."""
    return session(SparkConfig(jars=spark_jars, master="local[2]", scratch=tmp_path_factory.mktemp("spark")))


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """An empty lake."""
    return Lake(str(tmp_path / "lake"))


@dataclass
class Services:
    """A broker and a store of this module's own: nobody else's records are on the topics."""

    bootstrap: str
    redis_url: str


@contextlib.contextmanager
def services(directory: Path, cache: Path) -> Iterator[Services]:
    """Start both, stop both."""
    broker_port, store_port = free_port(), free_port()
    (directory / "kafka").mkdir()
    (directory / "valkey").mkdir()
    commands = {
        "kafka": kafka_service.command(
            directory / "kafka", jars.java(), jars.kafka_jars(cache), broker_port, free_port()
        ),
        "valkey": valkey_service.command(directory / "valkey", store_port, max_memory=1 << 28),
    }
    running = []
    try:
        for name, command in commands.items():
            with (directory / f"{name}.log").open("wb") as out:
                running.append(subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, start_new_session=True))
        valkey_service.wait_ready(store_port)
        bootstrap = f"127.0.0.1:{broker_port}"
        kafka_service.wait_ready(bootstrap)
        kafka_service.ensure_topics(bootstrap, ALL)
        yield Services(bootstrap, f"redis://127.0.0.1:{store_port}/0")
    finally:
        for process in running:
            process.terminate()
        for process in running:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


@dataclass
class FakeSystem:
    """`assets.system.System` over given services; the clock stands where the test puts it."""

    session: Any
    where: Lake
    kafka: str
    store: Any
    at: float

    def spark(self) -> Any:
        return self.session

    def lake(self) -> Lake:
        return self.where

    def bootstrap(self) -> str:
        return self.kafka

    def bus(self) -> KafkaBus:
        return KafkaBus(self.kafka)

    def redis(self) -> Any:
        return self.store

    def now(self) -> float:
        return self.at


def kind_of(ddl: str) -> pa.DataType:
    if ddl.startswith("ARRAY<"):
        return pa.list_(kind_of(ddl[6:-1]))
    if ddl.startswith("MAP<"):
        key, value = ddl[4:-1].split(", ")
        return pa.map_(kind_of(key), kind_of(value))
    return {
        "STRING": pa.string(), "INT": pa.int32(), "BIGINT": pa.int64(), "DOUBLE": pa.float64(), "FLOAT": pa.float32(),
        "BOOLEAN": pa.bool_(), "BINARY": pa.binary(), "DATE": pa.date32(), "TIMESTAMP": pa.timestamp("us", "UTC"),
    }[ddl]  # fmt: skip


def fill(lake: Lake, table: Table, rows: list[dict[str, Any]]) -> None:
    """A table of the contracts without Spark: it takes milliseconds."""
    schema = pa.schema([(column.name, kind_of(column.type)) for column in table.columns])
    values = [{name: row.get(name) for name in table.column_names()} for row in rows]
    write_deltalake(
        lake.path(table), pa.Table.from_pylist(values, schema), partition_by=list(table.partition_by) or None
    )
