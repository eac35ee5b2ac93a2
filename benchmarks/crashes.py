"""Crashes of writer, broker and Redis under load, over and over, and how fast the standby takes over.

    python -m benchmarks.crashes [--rounds 50] [--seed 0] [--keep FOLDER]

Runs `tests/integration/speed/test_speed_crashes.py` in blocks of ten rounds, each on services of its own; a block that
fails is shown and fails the run. With `--keep`, blocks that a run before has passed are not run again. Failover is from
the fault of the writer that holds the lease to the first decision of the other one that a consumer sees, real seconds.
Part of `make soak`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from rich.console import Console

from benchmarks.harness import HERE, judge, record

TEST: Final = "tests/integration/speed/test_speed_crashes.py"
BLOCK: Final = 10


def block(rounds: int, seed: int) -> dict[str, list[float]] | None:
    """What was measured in so many rounds, None when an article was lost, doubled or forked, or nobody took over."""
    with tempfile.TemporaryDirectory() as folder:
        figures = Path(folder) / "figures.json"
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", TEST], cwd=HERE.parent, capture_output=True, text=True, check=False,
            env={**os.environ, "CRASH_ROUNDS": str(rounds), "CRASH_SEED": str(seed), "CRASH_FIGURES": str(figures)},
            timeout=240 + 60 * rounds,
        )  # fmt: skip
        if done.returncode:
            print(done.stdout[-8_000:])
            return None
        measured: dict[str, list[float]] = json.loads(figures.read_text(encoding="utf-8"))
        return measured


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=None)
    options = parser.parse_args(arguments)
    found: dict[str, list[float]] = {"failovers": [], "articles": [], "changes": []}
    failed = 0
    for number, start in enumerate(range(0, options.rounds, BLOCK)):
        kept = None if options.keep is None else options.keep / f"{options.seed + number}.json"
        if kept is not None and kept.exists():
            measured = json.loads(kept.read_text(encoding="utf-8"))
        else:
            measured = block(min(BLOCK, options.rounds - start), options.seed + number)
        if kept is not None and measured is not None:
            kept.write_text(json.dumps(measured), encoding="utf-8")
        failed += measured is None
        for name, values in (measured or {}).items():
            found[name] += values
        print(f"{len(found['failovers'])} of {options.rounds} rounds passed", flush=True)
    figures: dict[str, float] = {"rounds": len(found["failovers"]), "failed_blocks": failed}
    if found["failovers"]:
        figures |= {
            "failover_median_s": statistics.median(found["failovers"]), "failover_max_s": max(found["failovers"]),
            "articles": sum(found["articles"]), "changes": sum(found["changes"]),
        }  # fmt: skip
    record("crashes", figures, "a round: the writer killed or frozen, then the broker or Redis killed, under load")
    _, broken = judge("crashes", figures, Console(), HERE / "targets.toml")
    return int(bool(failed or broken))


if __name__ == "__main__":
    sys.exit(main())
