"""What every benchmark shares: the machine's description, the result file, and the comparison with targets.

A result is `benchmarks/results/{name}.json`: {"name", "at", "machine", "figures": {name: number}, "notes"}. Targets are
in `benchmarks/targets.toml`: [name], then `figure = { min | max, source }`. Figures without a target are just printed.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import time
import tomllib
from collections.abc import Mapping
from pathlib import Path

import psutil
from rich.console import Console
from rich.table import Table

HERE = Path(__file__).parent
RESULTS = HERE / "results"


def machine() -> dict[str, str | int | float]:
    """Processor, its speed at this moment, cores, memory (GiB), load before the run, system and Python."""
    model = next(
        (
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        )
        if Path("/proc/cpuinfo").exists()
        else iter(()),
        platform.processor() or "unknown",
    )
    return {
        "processor": model,
        "cores": os.cpu_count() or 0,
        "sha256_mb_s": round(hashing_speed()),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "load_1m": round(os.getloadavg()[0], 2),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def hashing_speed() -> float:
    """MB a second that one core hashes with SHA-256: shared machines change their speed from hour to hour."""
    block, began = bytes(16 << 20), time.perf_counter()
    for _ in range(4):
        hashlib.sha256(block).digest()
    return 4 * len(block) / 1e6 / (time.perf_counter() - began)


def record(name: str, figures: Mapping[str, float], notes: str = "", results: Path = RESULTS) -> Path:
    """Write one result file and return its path."""
    results.mkdir(parents=True, exist_ok=True)
    path = results / f"{name}.json"
    body = {
        "name": name,
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "machine": machine(),
        "figures": {key: round(value, 4) for key, value in figures.items()},
        "notes": notes,
    }
    path.write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")
    return path


def judge(name: str, figures: Mapping[str, float], console: Console, limits: Path) -> tuple[int, int]:
    """Print each figure beside its bound in `limits` (a TOML file); returns (kept, broken)."""
    bounds = tomllib.loads(limits.read_text(encoding="utf-8")).get(name, {}) if limits.exists() else {}
    table = Table("figure", "value", "bound", "", title=name, title_justify="left")
    kept = broken = 0
    for figure, value in figures.items():
        bound = bounds.get(figure, {})
        ok = value >= bound.get("min", value) and value <= bound.get("max", value)
        if bound:
            kept, broken = kept + ok, broken + (not ok)
        words = " ".join(f"{word} {bound[word]}" for word in ("min", "max") if word in bound)
        table.add_row(figure, f"{value:,.4g}", words, "" if not bound else "ok" if ok else "[red]broken[/red]")
    for figure in bounds:
        if figure not in figures:
            broken += 1
            table.add_row(figure, "missing", str(bounds[figure]), "[red]broken[/red]")
    console.print(table)
    return kept, broken
