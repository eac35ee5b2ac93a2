"""What `frontpage status` shows: every part with its state, what its heartbeat says, and the memory of all of them."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime
from typing import Any

import psutil

from frontpage.runtime import endpoints
from frontpage.settings import Settings
from frontpage_cli.system.launch import answers, heartbeats, supervisor_of
from frontpage_cli.system.parts import PARTS

#: Facts of a heartbeat that the table shows in columns of their own or not at all.
_PLAIN = {"pid", "since", "at", "clock", "process", "state"}


def status(settings: Settings) -> dict[str, Any]:
    """`{running, endpoints, parts: [{name, group, state, ready, problem, pid, since, facts}]}`; times ISO 8601 UTC."""
    manager = supervisor_of(settings)
    states = manager.states()
    row = endpoints(settings) if states else {}
    beats = heartbeats(row["redis"]) if row else {}
    parts = []
    for part in PARTS:
        state = states.get(part.name)
        if states and state is None:
            continue  # configured elsewhere
        beat = beats.get(state.pid or -1, {}) if state else {}
        problem = answers(part, state, row, beats) if state and state.state != "STOPPED" else ""
        parts.append(
            {
                "name": part.name,
                "group": part.group,
                "state": state.state.lower() if state else "stopped",
                "ready": bool(state and state.state == "RUNNING" and not problem),
                "problem": problem or None,
                "pid": state.pid if state else None,
                "since": _iso(state.since) if state and state.pid else None,
                "facts": {key: value for key, value in beat.items() if key not in _PLAIN},
            }
        )
    return {"running": bool(states), "endpoints": row, "parts": parts}


def memory(settings: Settings) -> dict[str, Any]:
    """`{total, processes: [{name, pid, pss}]}` in bytes: proportional set sizes, which may be added up."""
    manager = supervisor_of(settings)
    names = {state.pid: state.name for state in manager.states().values() if state.pid}
    rows = []
    for process in manager.processes():
        with contextlib.suppress(psutil.Error):
            owner = next((names[p.pid] for p in (process, *process.parents()) if p.pid in names), process.name())
            rows.append({"name": owner, "pid": process.pid, "pss": process.memory_full_info().pss})
    rows.sort(key=lambda found: -found["pss"])
    return {"total": sum(found["pss"] for found in rows), "processes": rows}


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
