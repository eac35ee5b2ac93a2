"""OPTIMIZE and VACUUM of all tables: few large files for readers, no files that nobody can ask for any more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from frontpage.adapters import lake as lakes
from frontpage.adapters.lake import Lake
from frontpage.contracts import tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Hours of history that stay readable; Delta's own minimum for safe concurrent readers.
RETENTION: Final = 168.0


def run(spark: SparkSession, lake: Lake) -> list[dict[str, Any]]:
    """One row a table that exists. A compaction that meets another writer's commit fails and is done next time."""
    from delta.tables import DeltaTable

    done = []
    for table in tables.ALL:
        path = lake.path(table)
        if not lakes.exists(spark, path):
            continue
        delta = DeltaTable.forPath(spark, path)
        metrics = delta.optimize().executeCompaction().select("metrics").first()
        delta.vacuum(RETENTION)
        removed = 0 if metrics is None else int(metrics["metrics"]["numFilesRemoved"])
        done.append({"table": table.id, "small files joined": removed})
    return done
