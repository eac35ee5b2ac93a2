"""Silver to `gold/rank_training`: what was shown, with the features of that moment, and whether it was opened.

Point in time: features are those that serving logged when it ranked, never recomputed; a label looks only at clicks and
reads after the impression and within the attribution window; test requests are later than all training requests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from batch.schemas import ddl
from batch.silver import ATTRIBUTION, parsed
from frontpage.adapters import lake as lakes
from frontpage.adapters.lake import Lake
from frontpage.contracts.reader_events import ReaderEvent
from frontpage.contracts.tables import BRONZE, CLICKS, IMPRESSIONS, RANK_TRAINING
from frontpage.domain.features import FEATURES_VERSION, REGISTRY

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: One reader's impressions in one edition within this time are one request: as long as a ranked list is kept.
REQUEST: Final = 300.0
#: Share of requests, the latest, that are kept for testing.
TEST_SHARE: Final = 0.2


def examples(spark: SparkSession, lake: Lake) -> DataFrame:
    """Rows of the table. Only impressions whose logged features are of the present registry version."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    shown = lakes.read(spark, lake, IMPRESSIONS).where(
        (F.col("features_version") == FEATURES_VERSION)
        & (F.size("features") == len(REGISTRY))
        & F.col("reader").isNotNull()
    )
    clicked = lakes.read(spark, lake, CLICKS).select("reader", "story_id", F.col("at").alias("_acted"))
    read = (
        parsed(lakes.read(spark, lake, BRONZE["events"][0]), ddl(ReaderEvent))
        .where(F.col("e.kind") == "read")
        .select("e.reader", "e.story_id", F.col("e.at").alias("_acted"))
    )
    acts = clicked.unionByName(read).where(F.col("reader").isNotNull()).distinct()
    # a click answers the last showing of its story to the reader before it, so one click labels one impression
    answered = (
        shown.select("event_id", "reader", "story_id", "at")
        .join(acts, ["reader", "story_id"])
        .where(F.col("_acted").between(F.col("at"), F.col("at") + ATTRIBUTION))
        .groupBy("reader", "story_id", "_acted")
        .agg(F.max(F.struct("at", "event_id")).alias("_last"))
        .select(F.col("_last.event_id").alias("event_id"))
        .distinct()
        .withColumn("clicked", F.lit(1))
    )
    request = F.concat_ws(":", "reader", "edition", "surface", F.floor(F.col("at") / REQUEST))
    rows = shown.join(answered, "event_id", "left").na.fill(0, ["clicked"]).withColumn("request", request)
    starts = rows.groupBy("request").agg(F.min("at").alias("_start"))
    by_time = Window.orderBy("_start", "request")
    split = starts.withColumn("_place", F.percent_rank().over(by_time)).select(
        "request", F.when(F.col("_place") > 1.0 - TEST_SHARE, "test").otherwise("train").alias("split")
    )
    return rows.join(split, "request")


def build(spark: SparkSession, lake: Lake) -> int:
    """Replace the table; rows."""
    return lakes.replace(spark, lake, RANK_TRAINING, examples(spark, lake))
