"""`make soak`: the kill test over and over, with the same accounting as the integration test, then
`crashes.py`, then a week of polling in virtual time (`week.py`).

    python -m benchmarks.soak [--rounds 10]

Each round starts a fresh system, lets the sample world flow, kills every process of ours once and counts articles,
versions, sequences and story members afterwards. One failed round fails the soak; its output is shown.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

from benchmarks import crashes, week
from benchmarks.harness import record

TEST = "tests/integration/platform/test_kill_everything.py"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    rounds = parser.parse_args().rounds
    root, failed, began = Path(__file__).parents[1], 0, time.monotonic()
    for number in range(1, rounds + 1):
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", TEST], cwd=root, capture_output=True, text=True, timeout=1_800,
            check=False,
        )  # fmt: skip
        failed += done.returncode != 0
        print(f"round {number} of {rounds}: {'passed' if done.returncode == 0 else done.stdout}", flush=True)
    record("soak", {"rounds": rounds, "failed": failed, "seconds": time.monotonic() - began})
    print(f"{rounds - failed} passed, {failed} failed")
    broken = [failed > 0, crashes.main([]), week.main([])]
    return int(any(broken))


if __name__ == "__main__":
    sys.exit(main())
