"""Starting and stopping the whole system. Ready means answering: each part is asked, not just started.

`up` may be repeated: what runs stays, what is missing is started. `down` leaves no process, port or socket, and all
data; the next `up` finds it.
"""

from __future__ import annotations

import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import redis

from frontpage.adapters.redis_store import open_redis
from frontpage.adapters.services import kafka as kafka_service
from frontpage.adapters.services import valkey as valkey_service
from frontpage.adapters.services.ports import LOCAL, is_open
from frontpage.adapters.services.supervisor import ProgramState, Supervisor
from frontpage.contracts.topics import ALL
from frontpage.contracts.views import HEARTBEAT
from frontpage.errors import ServiceUnavailable
from frontpage.runtime import endpoints
from frontpage.settings import Settings
from frontpage_cli.system.parts import BY_NAME, Addresses, Part, choose_addresses, chosen, programs

Say = Callable[[str], None]
#: Real seconds until a part must answer. Loading torch and the encoders takes 15 to 40 s on two busy cores; enrich
#: answered after 120 to 178 s where a load of 20 stood on them. What crashes is told at once (`CRASHES`).
PATIENCE: Final = 600.0
#: Real seconds until Kafka must answer: 3 s on an idle machine, more after a hard stop or beside a busy one.
SERVICE_PATIENCE: Final = 60.0
#: A part that was started so many times and still does not answer will not.
CRASHES: Final = 6


def supervisor_of(settings: Settings) -> Supervisor:
    """The process manager of this `var`."""
    return Supervisor(settings.var / "supervisor")


def up(settings: Settings, names: Iterable[str], say: Say, *, world: bool = False) -> dict[str, str]:
    """Start the named parts (all when none is named) and wait until they answer; returns the endpoints.

    Raises ServiceUnavailable, also when another `up` is at it or `down` comes in between.
    """
    manager = supervisor_of(settings)
    with manager.alone():
        return _up(settings, manager, names, say, world=world)


def _up(settings: Settings, manager: Supervisor, names: Iterable[str], say: Say, *, world: bool) -> dict[str, str]:
    running = manager.running()
    if running:
        row = endpoints(settings)
        embedded = {"valkey", "kafka"} & set(manager.states())
    else:
        manager.shutdown()  # what a killed supervisor left behind
        where = choose_addresses(settings)
        row, embedded = where.row(), {*where.embedded}
        say("starting the process manager")
        manager.launch(programs(settings, where, world=world))
        _write_endpoints(settings, where)
    parts = chosen(names, embedded, world=world)
    states = manager.states()
    if any(part.name not in states for part in parts):
        raise ServiceUnavailable(
            "the process manager was stopped meanwhile, or knows other parts: `frontpage down` first"
        )
    todo = [part for part in parts if states[part.name].state not in ("RUNNING", "STARTING")]
    try:
        for part in todo:
            if part.group == "services":
                say(f"starting {part.name} ({part.what})")
                manager.start(part.name)
        _wait_services(manager, row)
        made = kafka_service.ensure_topics(row["kafka"], ALL)
        if made:
            say(f"made {len(made)} topics")
        told = {part.name for part in parts if part not in todo or part.group == "services"}
        others = [part for part in todo if part.group != "services"]
        if others:
            say(f"starting {', '.join(part.name for part in others)}")
        # Dagster's webserver and daemon load the definitions from the code server: it has to be there first.
        later = [part for part in others if part.name in ("dagster-webserver", "dagster-daemon")]
        for part in others:
            if part not in later:
                manager.start(part.name)
        if later:
            _wait_parts(manager, row, [BY_NAME["dagster-code"]], say, told)
        for part in later:
            manager.start(part.name)
        _wait_parts(manager, row, parts, say, told)
    except ServiceUnavailable:
        if not running and not any(state.state == "RUNNING" for state in manager.states().values()):
            manager.shutdown()
        raise
    return row


def down(settings: Settings, names: Iterable[str], say: Say) -> None:
    """Stop the named parts, or everything and the process manager. Nothing running is not an error."""
    manager = supervisor_of(settings)
    wanted = set(names)
    if wanted:
        for part in reversed(chosen(wanted, {"valkey", "kafka"}, world=False)):
            if part.name in wanted or part.group in wanted:
                say(f"stopping {part.name}")
                manager.stop(part.name)
        return
    say("stopping everything")
    manager.shutdown()
    # An `up` that was at work has noticed and gives up; what it may have started meanwhile goes as well.
    with manager.alone(wait=True):
        manager.shutdown()
    (settings.var / "endpoints.json").unlink(missing_ok=True)


def answers(part: Part, state: ProgramState | None, row: dict[str, str], beats: dict[int, dict[str, object]]) -> str:
    """ "" when the part answers, else what is missing, in a few words."""
    if state is not None and state.state != "RUNNING":
        return state.state.lower()
    if part.ready == "redis":
        return "" if is_open(_port_of(row["redis"])) else "does not listen"
    if part.ready == "kafka":
        return "" if is_open(_port_of(row["kafka"])) else "does not listen"
    if part.ready == "heartbeat":
        beat = beats.get(state.pid or -1) if state else None
        if beat is None:
            return "no heartbeat yet"
        return "starting" if beat.get("state") == "starting" else ""
    if part.ready == "http":
        return _http_answers(_url_of(part, row))
    if part.ready == "port":
        return "" if is_open(int(row["code_port"])) else "does not listen"
    return _daemon_answers(row["dagster"])


def heartbeats(url: str) -> dict[int, dict[str, object]]:
    """The living heartbeats by process id; {} when Redis does not answer."""
    try:
        with open_redis(url) as store:
            keys = list(store.scan_iter(HEARTBEAT.key(process="*"), count=100))
            rows = store.mget(keys) if keys else []
    except redis.RedisError:
        return {}
    found: dict[int, dict[str, object]] = {}
    for key, value in zip(keys, rows, strict=True):
        if value:
            beat = json.loads(value)
            found[int(beat["pid"])] = {**beat, "process": key.decode().split(":", 1)[1]}
    return found


def _wait_services(manager: Supervisor, row: dict[str, str]) -> None:
    if row["redis"].startswith(f"redis://{LOCAL}:"):
        valkey_service.wait_ready(_port_of(row["redis"]))
    deadline = time.monotonic() + SERVICE_PATIENCE
    while True:
        try:
            kafka_service.wait_ready(row["kafka"], timeout=3.0)
            return
        except ServiceUnavailable:
            if not manager.running():
                raise ServiceUnavailable("the process manager was stopped meanwhile") from None
            if time.monotonic() > deadline:
                why = f"{manager.last_words('kafka', 1)[:200]}; `frontpage doctor` looks for the cause"
                told = f"Kafka does not answer on {row['kafka']} after {SERVICE_PATIENCE:.0f} s: {why}"
                raise ServiceUnavailable(told) from None


def _wait_parts(manager: Supervisor, row: dict[str, str], parts: list[Part], say: Say, told: set[str]) -> None:
    """Until all answer; `told` holds those that need no announcement (any more). Raises ServiceUnavailable."""
    deadline = time.monotonic() + PATIENCE
    waiting = {part.name for part in parts}
    lives: dict[str, set[int]] = {part.name: set() for part in parts}
    while True:
        states, beats = manager.states(), heartbeats(row["redis"])
        if not states:
            raise ServiceUnavailable("the process manager was stopped meanwhile")
        problems = {name: answers(BY_NAME[name], states.get(name), row, beats) for name in waiting}
        for name in sorted(waiting):
            if not problems[name] and name not in told:
                say(f"{name} answers")
                told.add(name)
        waiting = {name for name, problem in problems.items() if problem}
        if not waiting:
            return
        for name in waiting:
            lives[name].add(states[name].pid or 0 if name in states else 0)
        hopeless = any(len(lives[name]) > CRASHES for name in waiting)
        if hopeless or time.monotonic() > deadline:
            why_not = "; ".join(f"{name}: {problems[name]} ({manager.last_words(name, 1)})" for name in sorted(waiting))
            why = "crashing again and again" if hopeless else f"not answering after {PATIENCE:.0f} s"
            raise ServiceUnavailable(f"{why}: {why_not}; logs in {manager.logs}")
        time.sleep(0.5)


def _write_endpoints(settings: Settings, where: Addresses) -> None:
    path = settings.var / "endpoints.json"
    scratch = Path(f"{path}.{os.getpid()}")
    scratch.write_text(json.dumps(where.row(), indent=1) + "\n", encoding="utf-8")
    scratch.replace(path)


def _port_of(address: str) -> int:
    return urlsplit(address if "//" in address else f"//{address.partition(',')[0]}").port or 0


def _url_of(part: Part, row: dict[str, str]) -> str:
    if part.name == "serving":
        return f"{row['page']}/readyz"
    if part.name == "world":
        return f"http://{LOCAL}:{row['world_port']}/"
    return f"{row['dagster']}/server_info"


def _http_answers(url: str) -> str:
    try:
        with urllib.request.urlopen(url, timeout=3):  # noqa: S310 - our own http address
            return ""
    except urllib.error.HTTPError as error:
        # The sample world answers 404 for a host it does not know: it answers.
        return "" if error.code in (404, 421) else f"answers {error.code}"
    except (OSError, ValueError):
        return "does not answer"


def _daemon_answers(dagster: str) -> str:
    query = {"query": "{instance{daemonHealth{allDaemonStatuses{daemonType required healthy}}}}"}
    request = urllib.request.Request(  # noqa: S310 - our own http address
        f"{dagster}/graphql", json.dumps(query).encode(), {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=5) as response:  # noqa: S310
            rows = json.load(response)["data"]["instance"]["daemonHealth"]["allDaemonStatuses"]
    except (OSError, ValueError, KeyError, TypeError):
        return "cannot ask the webserver about it"
    silent = sorted(row["daemonType"].lower() for row in rows if row["required"] and not row["healthy"])
    return f"no heartbeat of {', '.join(silent)}" if silent else ""
