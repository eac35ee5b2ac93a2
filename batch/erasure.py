"""Reader deletion in the tables: rows of readers who asked to be forgotten, up to the moment at which they asked.

A request is the `delete` event of `reader.events` (sent by `DELETE /v1/me` and `frontpage reader delete`). The events
that ask stay: they are what makes a profile that is computed again come out empty, and they say nothing but the keyed
hash and a time. What a reader does after the request is a new history. Deleted rows stay in a table's older versions
and change feed until VACUUM has passed its retention (`upkeep.RETENTION`), which runs after this in the same job.

Streams that read these tables skip the deleting commits (`skipChangeCommits` in `silver.py`). Not here: Redis (serving
and trends forget at once), Kafka (retention of days).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from batch.schemas import ddl
from frontpage.adapters import lake as lakes
from frontpage.adapters.lake import Lake
from frontpage.contracts.reader_events import ReaderEvent
from frontpage.contracts.tables import BRONZE, CLICKS, IMPRESSIONS, RANK_TRAINING, Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Personal:
    """A table with rows of readers: SQL for the reader, the moment and what may go, over columns of alias `t`."""

    table: Table
    reader: str = "t.reader"
    at: str = "t.at"
    only: str = "true"


# bronze keeps refused records too: what has no readable moment there goes with the first request
_VALUE: Final = "CAST(t.value AS STRING)"
_IN_VALUE: Final = {
    "reader": f"get_json_object({_VALUE}, '$.reader')",
    "at": f"COALESCE(TRY_CAST(get_json_object({_VALUE}, '$.at') AS DOUBLE), 0)",
}
#: Every table that holds a row about one reader; a test compares this with the columns of all contracts.
PERSONAL: Final = (
    Personal(BRONZE["clicks"][0], **_IN_VALUE),
    Personal(
        BRONZE["events"][0], **_IN_VALUE, only=f"NOT get_json_object({_VALUE}, '$.kind') <=> 'delete'"
    ),
    Personal(CLICKS),
    Personal(IMPRESSIONS),
    Personal(RANK_TRAINING),
)  # fmt: skip


def requests(spark: SparkSession, lake: Lake) -> DataFrame:
    """`reader`, `until`: the latest request of each reader who ever asked."""
    from pyspark.sql import functions as F

    received = lakes.read(spark, lake, BRONZE["events"][0]).where(F.col("cause").isNull())
    events = received.select(F.from_json(F.col("value").cast("string"), ddl(ReaderEvent)).alias("e")).select("e.*")
    asked = events.where((F.col("kind") == "delete") & F.col("reader").isNotNull())
    return asked.groupBy("reader").agg(F.max("at").alias("until"))


def run(spark: SparkSession, lake: Lake) -> list[dict[str, Any]]:
    """Delete; one row a table that exists, with what went. Running it again deletes nothing more."""
    from delta.tables import DeltaTable
    from pyspark.sql import functions as F

    done = []
    with lakes.cached(requests(spark, lake)) as asked:
        for personal in PERSONAL:
            path = lake.path(personal.table)
            if not lakes.exists(spark, path):
                continue
            theirs = f"{personal.reader} = s.reader AND {personal.at} <= s.until AND {personal.only}"
            rows = spark.read.format("delta").load(path).alias("t")
            found = rows.join(asked.alias("s"), F.expr(theirs), "left_semi").count()
            if found:  # a merge that matches nothing would still add a version
                table = DeltaTable.forPath(spark, path).alias("t")
                table.merge(asked.alias("s"), theirs).whenMatchedDelete().execute()
            done.append({"table": personal.table.id, "rows deleted": found})
    return done
