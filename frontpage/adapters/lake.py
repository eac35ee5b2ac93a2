"""The Delta lake: where tables are, and the one idempotent upsert that every table write goes through.

Optimistic transactions do not make a job idempotent: a merge inserts both rows when a batch holds a new key twice, a
retried batch is applied twice, an old batch replayed late puts old values back. `upsert` therefore picks one row a key
before merging, updates only with newer rows, commits the writer's batch number in the same transaction (Delta skips a
number that the writer has committed), and on a conflict redoes reading and deciding, not only the commit.
Append-only bronze streams have the same guarantee from the Delta sink (query id, batch id); whole-table results use
`replace`. Reading without Spark: `read_arrow`, `connect_duckdb`.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from frontpage.contracts.tables import Table
from frontpage.errors import FrontpageError, ServiceUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

#: A merge takes about 3 s here; five tries cover four writers that finish one after another.
MERGE_ATTEMPTS: Final = 5
#: io.delta.exceptions.*: another transaction changed what this one read or writes.
_CONFLICTS: Final = ("Concurrent", "MetadataChangedException", "ProtocolChangedException")
_APP: Final = "spark.databricks.delta.write.txnAppId"
_VERSION: Final = "spark.databricks.delta.write.txnVersion"


class DuplicateKeys(FrontpageError):
    """A table holds two rows of one key: some writer went around `upsert`. Restore the version before, find it."""


@dataclass(frozen=True, slots=True)
class Batch:
    """`app` names the writer (stable over its restarts), `number` grows with each batch; a known one is skipped."""

    app: str
    number: int


@dataclass(frozen=True, slots=True)
class Lake:
    """Addresses under one root: a folder, or any URI that Spark and deltalake both understand (s3a, abfss)."""

    uri: str

    def path(self, table: Table | str) -> str:
        """Address of `layer/name`."""
        name = table if isinstance(table, str) else table.id
        return f"{self.uri.rstrip('/')}/{name}"

    def checkpoint(self, name: str) -> str:
        """Address of a stream's checkpoint, beside the tables."""
        return f"{self.uri.rstrip('/')}/_checkpoints/{name}"


def exists(spark: SparkSession, path: str) -> bool:
    """True when `path` is a Delta table."""
    from delta.tables import DeltaTable

    return bool(DeltaTable.isDeltaTable(spark, path))


def ensure(spark: SparkSession, lake: Lake, table: Table) -> str:
    """Create the table of a contract when absent (columns, comments, partitioning, change feed); its path.

    A table of an earlier version gets the columns that it lacks, null in the rows that are there.
    """
    from delta.tables import DeltaTable

    path = lake.path(table)
    if exists(spark, path):
        present = set(spark.read.format("delta").load(path).columns)
        lacking = [f"`{column.name}` {column.type}" for column in table.columns if column.name not in present]
        if lacking:
            spark.sql(f"ALTER TABLE delta.`{path}` ADD COLUMNS ({', '.join(lacking)})")
        return path
    builder = DeltaTable.createIfNotExists(spark).location(path).comment(table.doc)
    for column in table.columns:
        builder = builder.addColumn(column.name, column.type, comment=column.doc)
    if table.partition_by:
        builder = builder.partitionedBy(*table.partition_by)
    if table.change_feed:
        builder = builder.property("delta.enableChangeDataFeed", "true")
    builder.execute()
    return path


def read(spark: SparkSession, lake: Lake, table: Table) -> DataFrame:
    """The table's rows; empty with the contract's columns when it does not exist yet."""
    return spark.read.format("delta").load(ensure(spark, lake, table))


def read_pinned(spark: SparkSession, lake: Lake, table: Table) -> DataFrame:
    """The table as of its present version: every action on the frame sees the same rows.

    A plain `read` looks for newer versions at each action, so a watermark taken from it may not be that of the rows.
    """
    from delta.tables import DeltaTable

    path = ensure(spark, lake, table)
    latest = DeltaTable.forPath(spark, path).history(1).select("version").first()
    if latest is None:
        raise ServiceUnavailable(f"{path} has no history")
    return spark.read.format("delta").option("versionAsOf", int(latest["version"])).load(path)


@contextmanager
def cached(rows: DataFrame) -> Iterator[DataFrame]:
    """`rows` computed once inside the block and forgotten after it.

    Forgetting matters: Spark serves a later read of the same path from a frame that was left cached, however old.
    """
    kept = rows.persist()
    try:
        yield kept
    finally:
        kept.unpersist()


def upsert(
    spark: SparkSession,
    path: str,
    rows: DataFrame | Callable[[], DataFrame],
    *,
    keys: Sequence[str],
    version: str,
    batch: Batch | None = None,
    attempts: int = MERGE_ATTEMPTS,
    verify: bool = True,
) -> None:
    """Merge `rows` into the Delta table at `path`, one row a key, newest `version` wins; repeats change nothing.

    `rows` as a function is called again after a conflict, so that what it read and decided is redone. Among rows of one
    key and version the greatest content hash wins (a fixed tie-break). Raises ServiceUnavailable after `attempts`
    conflicts and DuplicateKeys when the written keys are not unique afterwards.
    """
    from delta.tables import DeltaTable

    for attempt in range(1, attempts + 1):
        picked = one_per_key(rows() if callable(rows) else rows, keys, version)
        same = " AND ".join(f"t.`{key}` <=> s.`{key}`" for key in keys)
        newer = f"s.`{version}` > t.`{version}` OR (t.`{version}` IS NULL AND s.`{version}` IS NOT NULL)"
        merge = (
            DeltaTable.forPath(spark, path)
            .alias("t")
            .merge(picked.alias("s"), same)
            .whenMatchedUpdateAll(condition=newer)
            .whenNotMatchedInsertAll()
        )
        try:
            with _recorded(spark, batch):
                merge.execute()
            break
        except Exception as error:
            if not _is_conflict(error):
                raise
            if attempt == attempts:
                raise ServiceUnavailable(f"{path}: {attempts} write conflicts in a row") from error
            time.sleep(random.uniform(0.1, 0.5) * attempt)
    if verify:
        require_unique(spark, path, keys)


def one_per_key(rows: DataFrame, keys: Sequence[str], version: str) -> DataFrame:
    """The row of each key with the greatest (version, content hash); columns in the order given."""
    from pyspark.sql import functions as F

    columns = rows.columns
    content = F.xxhash64(F.to_json(F.struct(*[F.col(f"`{c}`") for c in columns])))
    order = F.struct(F.col(f"`{version}`"), content)
    best = rows.groupBy(*[F.col(f"`{key}`") for key in keys]).agg(
        F.max_by(F.struct(*[F.col(f"`{c}`") for c in columns]), order).alias("_best")
    )
    return best.select(*[F.col("_best").getField(c).alias(c) for c in columns])


def duplicates(spark: SparkSession, path: str, keys: Sequence[str]) -> int:
    """How many keys have more than one row."""
    from pyspark.sql import functions as F

    table = spark.read.format("delta").load(path)
    return int(table.groupBy(*keys).count().where(F.col("count") > 1).count())


def require_unique(spark: SparkSession, path: str, keys: Sequence[str]) -> None:
    """Raises DuplicateKeys; one aggregation over the key columns only."""
    found = duplicates(spark, path, keys)
    if found:
        raise DuplicateKeys(f"{path}: {found} keys of ({', '.join(keys)}) have more than one row")


def replace(spark: SparkSession, lake: Lake, table: Table, rows: DataFrame) -> int:
    """Make `rows` the whole content of `table` in one transaction; number of rows."""
    path = ensure(spark, lake, table)
    _conform(rows, table).write.format("delta").mode("overwrite").save(path)
    return count(spark, path)


def write(spark: SparkSession, lake: Lake, table: Table, rows: DataFrame, batch: Batch | None = None) -> None:
    """`upsert` into a table of the contracts, by its keys and version column."""
    path = ensure(spark, lake, table)
    upsert(spark, path, _conform(rows, table), keys=table.keys, version=table.version, batch=batch)


def count(spark: SparkSession, path: str) -> int:
    """Rows, from the table's statistics."""
    return int(spark.read.format("delta").load(path).count())


def read_arrow(lake: Lake, table: Table | str) -> pa.Table:
    """The table without Spark (deltalake); raises deltalake's TableNotFoundError when absent."""
    from deltalake import DeltaTable

    return DeltaTable(lake.path(table)).to_pyarrow_table()


def connect_duckdb(lake: Lake, tables: Sequence[Table]) -> duckdb.DuckDBPyConnection:
    """DuckDB with a view `layer_name` for each existing table, read through Arrow (no extension to download)."""
    import duckdb
    from deltalake import DeltaTable

    connection = duckdb.connect()
    for table in tables:
        if DeltaTable.is_deltatable(lake.path(table)):
            connection.register(table.id.replace("/", "_"), DeltaTable(lake.path(table)).to_pyarrow_dataset())
    return connection


def _conform(rows: DataFrame, table: Table) -> DataFrame:
    """Columns of the contract, in its order and types; a missing one is an error, not a null."""
    from pyspark.sql import functions as F

    return rows.select(*[F.col(c.name).cast(c.type).alias(c.name) for c in table.columns])


def _is_conflict(error: Exception) -> bool:
    """Delta's conflicts reach Python as classes, raw JVM errors or Connect errors: their names are what they share."""
    java = getattr(error, "java_exception", None)  # py4j's raw form says only "an error occurred" itself
    name = type(error).__name__ if java is None else str(java.getClass().getName())
    return any(conflict in name or f"io.delta.exceptions.{conflict}" in str(error) for conflict in _CONFLICTS)


@contextmanager
def _recorded(spark: SparkSession, batch: Batch | None) -> Iterator[None]:
    """Delta writes (app, number) into the transaction and skips it when the app has committed that number or later."""
    if batch is None:
        yield
        return
    spark.conf.set(_APP, batch.app)
    spark.conf.set(_VERSION, str(batch.number))
    try:
        yield
    finally:
        spark.conf.unset(_APP)
        spark.conf.unset(_VERSION)
