"""Plays table-write cases (`batches.json`, `expected.json`) through the product's own upsert.

A case lists batches of (key, title, seen) by writer and number; a batch marked `rewrite` compacts the table while the
next one is being written. `run(cases_dir)` returns {case name: [problems]}; an empty list is a pass.
"""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frontpage.adapters import lake as lakes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = "key STRING, title STRING, seen BIGINT"


def play(spark: SparkSession, path: str, batches: list[dict[str, Any]]) -> list[list[Any]]:
    """Rows of the table after all batches, sorted by key."""
    from delta.tables import DeltaTable

    builder = DeltaTable.createIfNotExists(spark).location(path)
    for column in SCHEMA.split(", "):
        builder = builder.addColumn(*column.split(" "))
    builder.execute()
    compacting: list[threading.Thread] = []
    for batch in batches:
        if batch.get("rewrite"):
            compaction = threading.Thread(target=DeltaTable.forPath(spark, path).optimize().executeCompaction)
            compaction.start()
            compacting.append(compaction)
            continue
        rows = spark.createDataFrame([tuple(row) for row in batch["rows"]], SCHEMA)
        lakes.upsert(
            spark, path, rows, keys=["key"], version="seen", batch=lakes.Batch(batch["app"], int(batch["version"]))
        )
    for compaction in compacting:
        compaction.join()
    lakes.require_unique(spark, path, ["key"])
    return [list(row) for row in spark.read.format("delta").load(path).orderBy("key").collect()]


def run(cases_dir: Path, spark: SparkSession | None = None) -> dict[str, list[str]]:
    """Every case folder below `cases_dir` that has batches.json, on `spark` or a session of its own."""
    if spark is None:
        with _session() as own:
            return run(cases_dir, own)
    results: dict[str, list[str]] = {}
    for file in sorted(Path(cases_dir).glob("*/batches.json")):
        expected = json.loads((file.parent / "expected.json").read_text())["rows"]
        with tempfile.TemporaryDirectory() as directory:
            found = play(spark, f"{directory}/table", json.loads(file.read_text())["batches"])
        results[file.parent.name] = [] if found == expected else [f"expected {expected}, found {found}"]
    return results


@contextmanager
def _session() -> Iterator[SparkSession]:
    from frontpage.adapters.services.jars import spark_jars
    from frontpage.adapters.spark import SparkConfig, session
    from frontpage.settings import load

    with tempfile.TemporaryDirectory() as scratch:
        spark = session(SparkConfig(jars=spark_jars(load().cache), scratch=Path(scratch)))
        try:
            yield spark
        finally:
            spark.stop()


def main(cases_dir: str) -> int:
    """Prints a line a case; 1 when one fails or there is none."""
    results = run(Path(cases_dir))
    for name, problems in results.items():
        print(f"{name}: {'pass' if not problems else problems[0]}")
    return int(not results or any(results.values()))


if __name__ == "__main__":
    import sys

    raise SystemExit(main(sys.argv[1]))
