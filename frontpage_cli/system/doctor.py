"""What `frontpage doctor` looks at: one line for each thing that is wrong, with what to do about it."""

from __future__ import annotations

import importlib.metadata
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import redis
from kafka import errors

from frontpage.adapters.redis_store import open_redis
from frontpage.adapters.services import jars
from frontpage.adapters.services import kafka as kafka_service
from frontpage.adapters.services.ports import holder, is_open
from frontpage.errors import ConfigurationError, ServiceUnavailable
from frontpage.runtime import endpoints
from frontpage.settings import Settings
from frontpage_cli.system.launch import supervisor_of

#: Two days of the sample world with Delta history take about 1 GB; Kafka stops hard on a full disk.
LEAST_DISK: Final = 2 << 30
#: Packages whose version must match jars, wire protocol or stored data exactly.
EXACT: Final = ("pyspark", "delta-spark", "kafka-python")


@dataclass(frozen=True, slots=True)
class Finding:
    """`detail` is one line; for a problem it ends with what to do."""

    check: str
    ok: bool
    detail: str


def examine(settings: Settings) -> list[Finding]:
    """All checks, in an order in which fixing makes sense. Never raises for what it finds."""
    checks: tuple[Callable[[Settings], list[Finding]], ...] = (
        _python, _packages, _java, _jars, _disk, _ports, _services,
    )  # fmt: skip
    return [finding for check in checks for finding in check(settings)]


def prepare(settings: Settings, say: Callable[[str], None]) -> None:
    """Fetch the jars that are missing; raises ConfigurationError or ServiceUnavailable."""
    for jar_set in jars.ALL:
        jars.fetch(jar_set, settings.cache, say)


def _python(_: Settings) -> list[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    ok = sys.version_info >= (3, 11)
    return [Finding("python", ok, version if ok else f"{version}: Frontpage needs Python 3.11 or newer")]


def _packages(_: Settings) -> list[Finding]:
    wrong = []
    for name, pinned in _pins().items():
        try:
            installed = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            wrong.append(f"{name} is missing (needs {pinned})")
            continue
        if installed != pinned:
            wrong.append(f"{name} is {installed}, tested with {pinned}")
    if not wrong:
        return [Finding("packages", True, "versions as pinned")]
    return [Finding("packages", False, f"{'; '.join(wrong[:5])}: run `make setup`")]


def _java(_: Settings) -> list[Finding]:
    try:
        return [Finding("java", True, jars.java())]
    except ConfigurationError as error:
        return [Finding("java", False, str(error))]


def _jars(settings: Settings) -> list[Finding]:
    found = []
    for jar_set in jars.ALL:
        wrong = jars.missing(jar_set, settings.cache, thorough=True)
        place = settings.cache / jar_set.name
        if not wrong:
            found.append(Finding("jars", True, f"{jar_set.name} in {place}"))
        elif not place.exists():
            found.append(Finding("jars", False, f"{jar_set.name} is not fetched yet: run `frontpage doctor --setup`"))
        else:
            found.append(
                Finding(
                    "jars", False, f"{jar_set.name}: {len(wrong)} missing or damaged in {place} ({wrong[0]}):"
                    " run `frontpage doctor --setup`",
                )
            )  # fmt: skip
    return found


def _disk(settings: Settings) -> list[Finding]:
    found = []
    for what, path in (("var", settings.var), ("cache", settings.cache)):
        existing = path.expanduser().resolve()
        while not existing.exists():
            existing = existing.parent
        free = shutil.disk_usage(existing).free
        told = f"{free / (1 << 30):.1f} GiB free for {what} in {existing}"
        if free < LEAST_DISK:
            name = "FRONTPAGE_VAR" if what == "var" else "FRONTPAGE_CACHE"
            told += f", at least {LEAST_DISK >> 30} needed: free space or set {name}"
        found.append(Finding("disk", free >= LEAST_DISK, told))
    return found


def _ports(settings: Settings) -> list[Finding]:
    if supervisor_of(settings).running():
        return [Finding("ports", True, "in use by the running system")]
    wanted = {
        "FRONTPAGE_SERVING_PORT": settings.serving_port,
        "FRONTPAGE_DAGSTER_PORT": settings.dagster_port,
        "FRONTPAGE_WORLD_PORT": settings.world_port,
    }
    if not settings.kafka_bootstrap_servers:
        wanted["FRONTPAGE_KAFKA_PORT"] = settings.kafka_port
    if not settings.redis_url:
        wanted["FRONTPAGE_REDIS_PORT"] = settings.redis_port
    taken = [
        Finding("ports", False, f"port {port} is taken by {holder(port)}: stop it or set {name}")
        for name, port in wanted.items()
        if port and is_open(port)
    ]
    return taken or [Finding("ports", True, "free")]


def _services(settings: Settings) -> list[Finding]:
    running = endpoints(settings)
    found = []
    url = settings.redis_url or running.get("redis")
    if url:
        found.append(_redis(url, "REDIS_URL" if settings.redis_url else None))
    bootstrap = settings.kafka_bootstrap_servers or running.get("kafka")
    if bootstrap:
        hint = "check KAFKA_BOOTSTRAP_SERVERS" if settings.kafka_bootstrap_servers else "run `frontpage up`"
        try:
            kafka_service.wait_ready(bootstrap, timeout=0.0)
            found.append(Finding("kafka", True, f"answers at {bootstrap}"))
        except (ServiceUnavailable, errors.KafkaError):
            found.append(Finding("kafka", False, f"Kafka does not answer at {bootstrap}: {hint}"))
    return found or [Finding("services", True, "embedded, not running")]


def _redis(url: str, configured: str | None) -> Finding:
    hint = f"check {configured}" if configured else "run `frontpage up`"
    try:
        with open_redis(url) as store:
            facts = store.info("memory")
            policy = facts.get("maxmemory_policy", "")
            used, limit = int(facts["used_memory"]), int(facts["maxmemory"])
    except (redis.RedisError, ValueError) as error:
        return Finding("redis", False, f"Redis does not answer at {_without_password(url)} ({error}): {hint}")
    if policy != "noeviction":
        return Finding("redis", False, f"Redis evicts keys ({policy}): set maxmemory-policy noeviction")
    if limit and used > 0.9 * limit:
        return Finding(
            "redis", False, f"Redis is {used / limit:.0%} full: raise FRONTPAGE_REDIS_MAX_MEMORY and run `up` again"
        )
    return Finding("redis", True, f"answers at {_without_password(url)}, {used >> 20} MiB used")


def _pins() -> dict[str, str]:
    """Exact versions: of the lock file in a checkout, else of our own metadata."""
    lock = Path(__file__).parents[2] / "requirements.txt"
    if lock.is_file():
        return dict(
            re.findall(r"^([A-Za-z0-9_.-]+)==([^\s;\\]+)\s*\\?$", lock.read_text(encoding="utf-8"), re.MULTILINE)
        )
    required = importlib.metadata.requires("frontpage") or []
    pinned = (re.fullmatch(r"([A-Za-z0-9_.-]+)==([^\s;]+)", line.strip()) for line in required)
    return {found[1]: found[2] for found in pinned if found and found[1] in EXACT}


def _without_password(url: str) -> str:
    return re.sub(r"//[^@/]*@", "//", url)
