"""A Valkey of its own for a benchmark: started empty, stopped at the end."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from frontpage.adapters.services import valkey as service
from frontpage.adapters.services.ports import free_port


@contextmanager
def running(directory: Path) -> Iterator[str]:
    """Its URL; data in `directory`."""
    port = free_port()
    with (directory / "log").open("wb") as out:
        process = subprocess.Popen(service.command(directory, port, max_memory=1 << 30), stdout=out, stderr=out)
    try:
        service.wait_ready(port)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.terminate()
        process.wait(20)
