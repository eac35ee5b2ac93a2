"""What a process of ours starts with: settings, bus, Redis, clock, logging, a stop signal, a heartbeat.

Only process entry points use this module (`streaming/*/...main()`, serving's app factory, the CLI, Dagster resources).
Addresses come from the settings; where those are empty, from `var/endpoints.json`, which `frontpage up` writes for the
services it embeds.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from frontpage.adapters.clock import Clock, ReplayClock
from frontpage.adapters.kafka_bus import KafkaBus
from frontpage.adapters.lake import Lake
from frontpage.adapters.redis_store import open_redis, store_errors
from frontpage.contracts.views import HEARTBEAT
from frontpage.errors import ConfigurationError, FrontpageError, ServiceUnavailable
from frontpage.settings import Settings, load

if TYPE_CHECKING:
    import redis

    from frontpage.adapters.bus import Bus

log = logging.getLogger(__name__)

#: Heartbeats closer together than this (real seconds) are not sent: callers may beat on every turn of their loop.
HEARTBEAT_EVERY: Final = 1.0


@dataclass
class Runtime:
    """A process's connections. `redis` answers bytes; `clock` follows an accelerated replay."""

    settings: Settings
    bus: Bus
    redis: redis.Redis
    clock: Clock
    bootstrap: str
    redis_url: str
    _since: float = field(default_factory=time.time)
    _beats: dict[str, float] = field(default_factory=dict)

    def heartbeat(self, process: str, **facts: Any) -> None:
        """Say that `process` is alive and what it is at: JSON values such as lag or counts. Never raises.

        A process that is silent for 30 real seconds counts as not ready. At most one beat a second is sent.
        """
        now = time.monotonic()
        if now - self._beats.get(process, float("-inf")) < HEARTBEAT_EVERY:
            return
        self._beats[process] = now
        row = {"pid": os.getpid(), "since": self._since, "at": time.time(), "clock": self.clock.now(), **facts}
        try:
            with store_errors():
                self.redis.set(HEARTBEAT.key(process=process), json.dumps(row), ex=HEARTBEAT.ttl)
        except ServiceUnavailable as error:
            log.warning("%s: no heartbeat: %s", process, error)


def endpoints(settings: Settings) -> dict[str, str]:
    """What `frontpage up` wrote about the services it runs ({} when it never ran here)."""
    path = settings.var / "endpoints.json"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise ConfigurationError(f"{path} is damaged, run `frontpage up` again: {error}") from None
    return {str(k): str(v) for k, v in found.items()}


def resolver(settings: Settings) -> str | None:
    """Where made-up hosts resolve: as set; in a demo's directory, to the sample world that it plays."""
    port = endpoints(settings).get("world_port")
    if settings.resolver or settings.profile == "production" or not port or not (settings.var / "demo").exists():
        return settings.resolver
    return f"127.0.0.1:{port}"


def addresses(settings: Settings) -> tuple[str, str]:
    """(Kafka bootstrap, Redis URL); raises ConfigurationError when nothing is configured and nothing runs."""
    embedded = endpoints(settings)
    bootstrap = settings.kafka_bootstrap_servers or embedded.get("kafka")
    url = settings.redis_url or embedded.get("redis")
    if not bootstrap or not url:
        missing = "KAFKA_BOOTSTRAP_SERVERS" if not bootstrap else "REDIS_URL"
        raise ConfigurationError(f"no {missing}, and no system was started here: run `frontpage up` first")
    return bootstrap, url


def lake_of(settings: Settings) -> Lake:
    """LAKE_URI, or `lake` under the state folder."""
    return Lake(settings.lake_uri or str((settings.var / "lake").resolve()))


def connect(settings: Settings) -> Runtime:
    """Connections to the configured or embedded services; they connect at first use."""
    bootstrap, url = addresses(settings)
    store = open_redis(url)
    return Runtime(settings, KafkaBus(bootstrap), store, ReplayClock(store), bootstrap, url)


def run_process(name: str, main: Callable[[Runtime, threading.Event], None]) -> None:
    """Run `main(runtime, stop)` as the process `name`; SIGTERM and SIGINT set `stop`.

    A deliberate error becomes one line on standard error and exit code 1; the supervisor starts the process again.
    """
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    try:
        settings = load()
        set_logging(settings.log_level)
        runtime = connect(settings)
        runtime.heartbeat(name, state="starting")
        main(runtime, stop)
    except FrontpageError as error:
        print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)  # noqa: T201 - the process's own voice
        sys.exit(1)


def set_logging(level: str) -> None:
    """One line a record on standard error; libraries that talk on every reconnect only from WARNING on."""
    logging.basicConfig(level=level, stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    for noisy in ("kafka", "urllib3", "asyncio", "py4j", "sentence_transformers"):
        logging.getLogger(noisy).setLevel(logging.ERROR if noisy == "kafka" else logging.WARNING)
