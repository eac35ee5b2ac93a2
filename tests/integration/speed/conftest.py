"""A broker of this folder's own: it writes to the language topics, whose partitions other tests use as well."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from frontpage.adapters.services import jars
from frontpage.adapters.services import kafka as kafka_service
from frontpage.adapters.services.ports import free_port
from frontpage.contracts.topics import ALL


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory, jar_cache: Path) -> Iterator[str]:
    """Bootstrap address, with empty topics."""
    directory = tmp_path_factory.mktemp("kafka-speed")
    port = free_port()
    command = kafka_service.command(directory, jars.java(), jars.kafka_jars(jar_cache), port, free_port())
    with (directory / "log").open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        kafka_service.wait_ready(f"127.0.0.1:{port}")
        kafka_service.ensure_topics(f"127.0.0.1:{port}", ALL)
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(20)
