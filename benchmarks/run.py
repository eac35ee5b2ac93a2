"""`make bench`: every benchmark in a process of its own, each against `benchmarks/targets.toml`.

    python -m benchmarks.run [NAME ...]

Runs take minutes and the whole machine: stay away from it meanwhile. Results are in `benchmarks/results`.
"""

from __future__ import annotations

import subprocess
import sys

#: In the order in which they run; the slowest last.
BENCHMARKS = ("links", "polls", "enrich", "neighbours", "writer_latency", "decisions", "demo", "freshness", "recluster")


def main(names: list[str]) -> int:
    unknown = set(names) - set(BENCHMARKS)
    if unknown:
        print(f"unknown benchmark {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    broken = []
    for name in names or BENCHMARKS:
        print(f"== {name}", flush=True)
        try:
            failed = subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False, timeout=3_600).returncode
        except subprocess.TimeoutExpired:
            failed = 1
            print(f"{name} was stopped after an hour", file=sys.stderr)
        if failed:
            broken.append(name)
    print(f"{len(names or BENCHMARKS) - len(broken)} passed, {len(broken)} failed")
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
