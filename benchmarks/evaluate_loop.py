"""The whole loop on real input and table cases: the second half of `make eval`.

    python -m benchmarks.evaluate_loop

Needs FRONTPAGE_DATASETS and FRONTPAGE_CASES. Captured feeds are played through the real ingest (own Kafka and Valkey);
the counts must add up. The table-write cases run through the product's own upsert on Spark and Delta.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from benchmarks import case_tables, real_feeds


def main() -> int:
    roots = [os.environ.get(name) for name in ("FRONTPAGE_DATASETS", "FRONTPAGE_CASES")]
    if not all(roots):
        print("set FRONTPAGE_DATASETS and FRONTPAGE_CASES to the folders of labelled data and cases", file=sys.stderr)
        return 1
    datasets, cases = (Path(str(root)) for root in roots)
    passed = failed = 0
    counts = real_feeds.run(datasets)
    print(f"captured feeds: {json.dumps(counts)}", flush=True)
    passed, failed = passed + bool(counts["adds_up"]), failed + (not counts["adds_up"])
    results = case_tables.run(cases)
    for name, problems in results.items():
        print(f"{name}: {'right' if not problems else problems[0]}")
        passed, failed = passed + (not problems), failed + bool(problems)
    if not results:
        print(f"no table-write case in {cases}", file=sys.stderr)
        failed += 1
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
