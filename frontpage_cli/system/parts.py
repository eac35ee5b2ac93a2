"""What the whole system consists of: each part's command, order and how one sees that it answers.

To add a process, add a row here; supervisor, `status`, `doctor` and the tests follow.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from frontpage.adapters.services import dagster_home, jars
from frontpage.adapters.services import kafka as kafka_service
from frontpage.adapters.services import valkey as valkey_service
from frontpage.adapters.services.ports import LOCAL, free_port, holder, is_open
from frontpage.adapters.services.supervisor import Program
from frontpage.errors import ConfigurationError
from frontpage.settings import Settings

Ready = Literal["kafka", "redis", "heartbeat", "http", "port", "daemon"]


@dataclass(frozen=True, slots=True)
class Part:
    """`module` is run with `python -m`; `ready` says how to see that it answers; `group` is a name for `up`."""

    name: str
    group: Literal["services", "speed", "serving", "batch", "world"]
    ready: Ready
    module: tuple[str, ...] = ()
    priority: int = 500
    what: str = ""


PARTS: Final = (
    Part("valkey", "services", "redis", priority=10, what="Redis-compatible store"),
    Part("kafka", "services", "kafka", priority=20, what="the bus"),
    Part("world", "world", "http", ("data_samples.serve",), 100, "sample publishers (demo)"),
    Part("poller", "speed", "heartbeat", ("streaming.ingest.poller",), 200, "polls feeds"),
    Part("enrich", "speed", "heartbeat", ("streaming.ingest.enrich",), 200, "fetches and reads pages"),
    Part("writer", "speed", "heartbeat", ("streaming.cluster.writer",), 200, "groups articles into stories"),
    Part("store", "speed", "heartbeat", ("streaming.cluster.store",), 200, "writes story rows"),
    Part("links", "speed", "heartbeat", ("streaming.cluster.links",), 200, "links stories across languages"),
    Part("clicks", "speed", "heartbeat", ("streaming.trends.clicks",), 200, "counts clicks"),
    Part("merge", "speed", "heartbeat", ("streaming.trends.merge",), 200, "merges trends"),
    Part("ranker", "speed", "heartbeat", ("streaming.rank.ranker",), 200, "ranks the pages"),
    Part("serving", "serving", "http", ("serving.main",), 300, "API and reader page"),
    Part("dagster-code", "batch", "port", priority=400, what="Dagster's code server"),
    Part("dagster-webserver", "batch", "http", priority=410, what="Dagster UI"),
    Part("dagster-daemon", "batch", "daemon", priority=420, what="schedules, sensors, run queue"),
)
BY_NAME: Final = {part.name: part for part in PARTS}
GROUPS: Final = ("services", "speed", "serving", "batch", "world")


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where everything of this run listens; written to `var/endpoints.json` for other commands."""

    kafka: str
    redis: str
    serving_port: int
    dagster_port: int
    code_port: int
    world_port: int
    embedded: frozenset[str]
    kafka_controller_port: int = 0

    def row(self) -> dict[str, str]:
        """As `frontpage.runtime.endpoints` reads it back."""
        return {
            "kafka": self.kafka,
            "redis": self.redis,
            "page": self.page,
            "dagster": self.dagster,
            "code_port": str(self.code_port),
            "world_port": str(self.world_port),
        }

    @property
    def page(self) -> str:
        """The reader page and API."""
        return f"http://{LOCAL}:{self.serving_port}"

    @property
    def dagster(self) -> str:
        """The Dagster UI."""
        return f"http://{LOCAL}:{self.dagster_port}"


def chosen(names: Iterable[str], embedded: Iterable[str], *, world: bool) -> list[Part]:
    """The parts that `up NAMES` starts, in starting order; none named means all. Raises ConfigurationError."""
    wanted = set(names)
    unknown = wanted - set(BY_NAME) - set(GROUPS)
    if unknown:
        raise ConfigurationError(f"unknown part {', '.join(sorted(unknown))}; parts: {', '.join([*GROUPS, *BY_NAME])}")
    missing_services = {"valkey", "kafka"} - set(embedded)
    parts = []
    for part in PARTS:
        if part.name in missing_services:
            continue
        named = part.name in wanted or part.group in wanted
        # Everything needs the bus and the store; the sample world only runs when asked for.
        if (
            named
            or part.group == "services"
            or (not wanted and part.group != "world")
            or (world and part.group == "world")
        ):
            parts.append(part)
    return parts


def choose_addresses(settings: Settings) -> Addresses:
    """Configured ports, or free ones; raises ConfigurationError when a configured port is taken, and says by whom."""
    embedded = set()
    kafka, store = settings.kafka_bootstrap_servers, settings.redis_url
    if kafka is None:
        embedded.add("kafka")
        kafka = f"{LOCAL}:{_port(settings.kafka_port, 'FRONTPAGE_KAFKA_PORT')}"
    if store is None:
        embedded.add("valkey")
        store = f"redis://{LOCAL}:{_port(settings.redis_port, 'FRONTPAGE_REDIS_PORT')}/0"
    return Addresses(
        kafka=kafka,
        redis=store,
        serving_port=_port(settings.serving_port, "FRONTPAGE_SERVING_PORT"),
        dagster_port=_port(settings.dagster_port, "FRONTPAGE_DAGSTER_PORT"),
        code_port=free_port(),
        world_port=_port(settings.world_port, "FRONTPAGE_WORLD_PORT"),
        embedded=frozenset(embedded),
        kafka_controller_port=free_port(),
    )


def programs(settings: Settings, where: Addresses, *, world: bool) -> list[Program]:
    """The supervised processes for these addresses; prepares the directories of embedded services and of Dagster."""
    var = settings.var.resolve()
    workspace = dagster_home.write(var / "dagster", where.code_port)
    environment = _environment(settings, where, world=world)
    batch = {**environment, "FRONTPAGE_LOG_LEVEL": settings.log_level}
    tools = Path(sys.executable).parent
    dagster_commands = {
        "dagster-code": [
            str(tools / "dagster"), "api", "grpc", "-m", "dagster_project.definitions", "-h", LOCAL,
            "-p", str(where.code_port), "--use-python-environment-entry-point", "--log-level", "warning",
            "--inject-env-vars-from-instance", "--location-name", "frontpage", "--max-workers", "4",
        ],
        "dagster-webserver": [
            str(tools / "dagster-webserver"), "-w", str(workspace), "-h", LOCAL, "-p", str(where.dagster_port),
            "--log-level", "warning",
        ],
        "dagster-daemon": [str(tools / "dagster-daemon"), "run", "-w", str(workspace), "--log-level", "warning"],
    }  # fmt: skip
    found = []
    for part in PARTS:
        command: list[str]
        if part.name == "valkey":
            if "valkey" not in where.embedded:
                continue
            port = int(where.redis.rsplit(":", 1)[1].split("/")[0])
            command = valkey_service.command(var / "valkey", port, max_memory=settings.redis_max_memory)
        elif part.name == "kafka":
            if "kafka" not in where.embedded:
                continue
            port = int(where.kafka.rsplit(":", 1)[1])
            command = kafka_service.command(
                var / "kafka", jars.java(), jars.kafka_jars(settings.cache), port, where.kafka_controller_port
            )
        elif part.name in dagster_commands:
            command = dagster_commands[part.name]
        else:
            command = [sys.executable, "-m", *part.module]
        own = {} if part.group == "services" else (batch if part.group == "batch" else environment)
        found.append(Program(part.name, command, part.priority, own))
    return found


def _environment(settings: Settings, where: Addresses, *, world: bool) -> dict[str, str]:
    var = settings.var.resolve()
    environment = {
        "KAFKA_BOOTSTRAP_SERVERS": where.kafka,
        "REDIS_URL": where.redis,
        "FRONTPAGE_VAR": str(var),
        "FRONTPAGE_CACHE": str(settings.cache.expanduser().resolve()),
        "FRONTPAGE_SERVING_PORT": str(where.serving_port),
        "FRONTPAGE_DAGSTER_PORT": str(where.dagster_port),
        "FRONTPAGE_WORLD_PORT": str(where.world_port),
        "DAGSTER_HOME": str(var / "dagster"),
        "PYTHONUNBUFFERED": "1",
        # A dozen processes share the cores: pools of threads in each of them only cost memory.
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "MALLOC_ARENA_MAX": "2",
    }
    if world:
        environment["FRONTPAGE_RESOLVER"] = f"{LOCAL}:{where.world_port}"
        # A hundred busy sites: polled as the document polls authoritative sources, since there is no long tail.
        environment["FRONTPAGE_POLL_CEILING"] = str(min(settings.poll_ceiling, 300.0))
    if not settings.lake_uri:
        environment["LAKE_URI"] = str(var / "lake")
    return environment


def _port(configured: int, name: str) -> int:
    if configured == 0:
        return free_port()
    if is_open(configured):
        raise ConfigurationError(f"port {configured} is taken by {holder(configured)}: stop it or set {name}")
    return configured
