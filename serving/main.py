"""The serving process: `python -m serving.main`. Reads settings, connects, follows pages, answers until it is stopped.

Starts although Redis or Kafka are away: pages appear when Redis does, and clicks wait in memory for Kafka.
"""

from __future__ import annotations

import threading
from typing import Final

import redis
import uvicorn

from frontpage.runtime import Runtime, run_process
from frontpage.settings import Settings
from serving.app import create_app
from serving.state import Options, Serving

#: Real seconds that a request waits for Redis (documents: profile 10 ms, slack 50 ms; beyond that we degrade).
REQUEST_TIMEOUT: Final = 0.25


def options_of(settings: Settings) -> Options:
    """The part of the settings that serving uses."""
    return Options(
        token_keys=settings.token_keys.get_secret_value(),
        jwt_secret=settings.jwt_secret.get_secret_value(),
        base=settings.public_url or f"http://127.0.0.1:{settings.serving_port}",
        rate=settings.serving_rate,
        burst=settings.serving_burst,
        trusted_proxies=frozenset(filter(None, (p.strip() for p in settings.trusted_proxies.split(",")))),
        development=settings.profile == "development",
    )


def build(runtime: Runtime) -> Serving:
    """The parts, wired to the runtime's services."""
    quick = redis.Redis.from_url(
        runtime.redis_url, socket_timeout=REQUEST_TIMEOUT, socket_connect_timeout=REQUEST_TIMEOUT, max_connections=64
    )
    return Serving.build(
        options_of(runtime.settings), store=quick, slow_store=runtime.redis, clock=runtime.clock,
        connect=runtime.bus.producer, bus=runtime.bus,
    )  # fmt: skip


def serve(runtime: Runtime, stop: threading.Event) -> None:
    """Answer until `stop`: finish open requests, send waiting clicks, leave."""
    serving = build(runtime)
    settings = runtime.settings
    config = uvicorn.Config(
        create_app(serving), host=settings.serving_host, port=settings.serving_port, log_level="warning",
        access_log=False, server_header=False, proxy_headers=False, timeout_graceful_shutdown=10,
    )  # fmt: skip
    server = _Server(config)

    def watch() -> None:
        stop.wait()
        server.should_exit = True

    threading.Thread(target=watch, name="stop", daemon=True).start()
    threads = serving.follow(
        stop, lambda: runtime.heartbeat("serving", pages=len(serving.memory.pages), port=settings.serving_port)
    )
    try:
        server.run()
    finally:
        stop.set()
        for thread in threads:
            thread.join(2.0)
        serving.sender.close()


class _Server(uvicorn.Server):
    """Leaves signals to `run_process`, which sets `stop`."""

    def install_signal_handlers(self) -> None:
        """Nothing to install."""

    def capture_signals(self):  # type: ignore[no-untyped-def]
        """Nothing to capture."""
        import contextlib

        return contextlib.nullcontext()


def main() -> None:
    """Entry point."""
    run_process("serving", serve)


if __name__ == "__main__":
    main()
