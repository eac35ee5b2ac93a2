"""A whole system in a directory of its own, driven through the command line as a user does. Helper of fixtures.

    with RunningSystem(tmp_path, cache) as system:
        system.up("services")              # or nothing for everything; raises with what the command said
        system.endpoints["redis"], system.pid("writer"), system.kill("writer"), system.wait_ready("writer")

Leaving the block stops everything and asserts that no process, port or socket is left.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from frontpage.adapters.kafka_bus import KafkaBus
from frontpage.adapters.redis_store import open_redis
from frontpage.adapters.services.ports import is_open
from frontpage.adapters.services.supervisor import MARK

#: What a test wants to see within seconds: pages every two virtual seconds, feeds polled up to every second.
SHORT_INTERVALS = {
    "FRONTPAGE_RANK_INTERVAL": "2",
    "FRONTPAGE_POLL_FLOOR": "1",
    "FRONTPAGE_POLL_CEILING": "10",
    "FRONTPAGE_REPAIR_INTERVAL": "20",
}


class RunningSystem:
    """See the module. `more` are environment variables for every command."""

    def __init__(self, directory: Path, cache: Path, **more: str) -> None:
        self.var = directory / "var"
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("FRONTPAGE_", "KAFKA_", "REDIS_", MARK))}
        self.environment = {
            **clean,
            "FRONTPAGE_VAR": str(self.var),
            "FRONTPAGE_CACHE": str(cache),
            "FRONTPAGE_SERVING_PORT": "0",
            "FRONTPAGE_DAGSTER_PORT": "0",
            **more,
        }

    def __enter__(self) -> RunningSystem:
        return self

    def __exit__(self, *_: object) -> None:
        ports = self._ports()
        self.frontpage("down")
        left = [psutil.Process(pid).cmdline() for pid in self.processes()]
        assert left == [], "down left processes"
        assert [port for port in ports if is_open(port)] == [], "down left ports"
        assert list(self.var.rglob("*.sock")) == [], "down left sockets"

    def frontpage(self, *arguments: str, timeout: float = 300.0, **more: str) -> subprocess.CompletedProcess[str]:
        """Run the command line; does not look at the exit code."""
        return subprocess.run(
            [sys.executable, "-c", "from frontpage_cli.main import app; app()", *arguments],
            env=self.environment | more, capture_output=True, text=True, timeout=timeout, check=False,
        )  # fmt: skip

    def up(self, *parts: str) -> dict[str, str]:
        """`frontpage up PARTS`; fails with what it said."""
        done = self.frontpage("up", *parts)
        assert done.returncode == 0, done.stderr
        return self.endpoints

    @property
    def endpoints(self) -> dict[str, str]:
        """Addresses of what runs."""
        found: dict[str, str] = json.loads((self.var / "endpoints.json").read_text())
        return found

    @property
    def bus(self) -> KafkaBus:
        """The system's Kafka."""
        return KafkaBus(self.endpoints["kafka"])

    def redis(self) -> Any:
        """A client of the system's Redis."""
        return open_redis(self.endpoints["redis"])

    def parts(self) -> dict[str, dict[str, Any]]:
        """Rows of `frontpage status --json` by name."""
        return {part["name"]: part for part in json.loads(self.frontpage("status", "--json").stdout)["parts"]}

    def pid(self, part: str) -> int:
        """The process id of a part that runs."""
        pid = self.parts()[part]["pid"]
        assert pid, f"{part} does not run"
        return int(pid)

    def kill(self, part: str) -> int:
        """SIGKILL to one part; returns the id it had. The process manager starts it again."""
        pid = self.pid(part)
        os.kill(pid, signal.SIGKILL)
        return pid

    def wait_ready(self, part: str, *, not_pid: int | None = None, seconds: float = 120.0) -> None:
        """Until the part answers (as another process than `not_pid`)."""
        wait_for(
            lambda: (row := self.parts()[part])["ready"] and row["pid"] != not_pid, seconds, f"{part} is not ready"
        )

    def processes(self) -> list[int]:
        """Living processes of this system, found by their mark, independently of the product's own search."""
        found = []
        for process in psutil.process_iter():
            try:
                mark = process.environ().get(MARK)
                if mark == str(self.var / "supervisor") and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process.pid)
            except (psutil.Error, OSError):
                continue
        return found

    def _ports(self) -> list[int]:
        try:
            row = self.endpoints
        except FileNotFoundError:
            return []
        configured = {self.environment.get("KAFKA_BOOTSTRAP_SERVERS"), self.environment.get("REDIS_URL")}
        ours = [value for value in row.values() if value not in configured]
        return [int(value.rstrip("/").rsplit(":", 1)[-1].split("/")[0]) for value in ours]


def wait_for(condition: Callable[[], Any], seconds: float = 90.0, what: str = "it did not happen in time") -> None:
    """Ask until the answer is true; fails after so many real seconds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)
