"""Local ports: a free one, whether one is taken and by whom, and waiting for an answer."""

from __future__ import annotations

import socket
import time

import psutil

from frontpage.errors import ServiceUnavailable

LOCAL = "127.0.0.1"


def free_port() -> int:
    """A port nobody listens on now. Another process may take it before you do: start at once, retry on failure."""
    with socket.socket() as probe:
        probe.bind((LOCAL, 0))
        return int(probe.getsockname()[1])


def is_open(port: int, host: str = LOCAL, timeout: float = 0.5) -> bool:
    """Whether something accepts connections there within `timeout` real seconds."""
    try:
        with socket.create_connection((host, port), timeout=timeout):
            return True
    except OSError:
        return False


def holder(port: int) -> str | None:
    """Who listens on a local port: "name (pid 12)", "another process" when we may not see it, None when nobody does."""
    try:
        for connection in psutil.net_connections(kind="tcp"):
            if connection.status == psutil.CONN_LISTEN and connection.laddr and connection.laddr.port == port:
                if connection.pid is None:
                    return "another process"
                return f"{psutil.Process(connection.pid).name()} (pid {connection.pid})"
    except psutil.Error:
        pass
    return "another process" if is_open(port) else None


def wait_open(port: int, what: str, timeout: float, host: str = LOCAL) -> None:
    """Return when the port accepts connections; raises ServiceUnavailable after `timeout` real seconds."""
    deadline = time.monotonic() + timeout
    while not is_open(port, host):
        if time.monotonic() > deadline:
            raise ServiceUnavailable(f"{what} does not listen on {host}:{port} after {timeout:.0f} s")
        time.sleep(0.05)
