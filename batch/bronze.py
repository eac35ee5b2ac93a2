"""Kafka to bronze: what was received, once each, by Structured Streaming with `availableNow`.

A run reads each topic from its checkpoint to the committed end at its start and stops. The checkpoint and the Delta
sink's own transaction ids make it exactly once, also when the driver dies between commit and checkpoint. Records that
the contracts refuse are kept with the cause (column `cause`) and go no further. Not here: meaning (`silver.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from frontpage.adapters import lake as lakes
from frontpage.adapters.lake import Lake
from frontpage.contracts import events, rank_events, reader_events, review_events, topics
from frontpage.contracts.envelope import Event
from frontpage.contracts.tables import BRONZE
from frontpage.errors import ServiceUnavailable, UnreadableEvent

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Which schema belongs on which topic.
SCHEMAS: Final[dict[str, type[Event]]] = {
    topics.ITEMS_RAW.name: events.FeedItem,
    topics.POLLS.name: events.PollOutcome,
    topics.ARTICLES.name: events.ArticleEvent,
    topics.STORY_CHANGES.name: events.StoryChange,
    topics.STORY_LINKS.name: events.StoryLink,
    topics.STORY_REVIEWS.name: review_events.StoryReview,
    topics.STORY_RATINGS.name: review_events.PairRating,
    topics.READER_CLICKS.name: reader_events.Click,
    topics.READER_EVENTS.name: reader_events.ReaderEvent,
    topics.RANK_DECISIONS.name: rank_events.RankDecision,
    topics.TRENDS_HOT.name: rank_events.TrendHot,
}
#: Rows a micro-batch may hold, all partitions together: bounds memory when a topic has days of backlog.
MAX_OFFSETS: Final = 200_000
#: Real seconds for one topic's run; a stream that takes longer is stopped and goes on from its checkpoint next time.
TIMEOUT: Final = 900


def refuse(topic: str, value: bytes | None) -> str | None:
    """Why a record of `topic` cannot be used: None when it can, else the cause as in dead letters."""
    if value is None:
        return "tombstone"
    try:
        SCHEMAS[topic].decode(value)
    except UnreadableEvent as error:
        return error.cause
    return None


def received(records: DataFrame, topic: str) -> DataFrame:
    """Kafka source columns to bronze columns; the contracts check each value in Python workers."""
    from pyspark.sql import functions as F

    def cause(value: bytearray | None) -> str | None:
        return refuse(topic, None if value is None else bytes(value))

    checked = records.withColumn("cause", F.udf(cause, "string", useArrow=False)(F.col("value")))
    return checked.select(
        "topic",
        "partition",
        "offset",
        F.col("key").cast("string").alias("key"),
        F.col("timestamp").alias("kafka_at"),
        "value",
        F.when(F.col("cause").isNull(), F.lit(SCHEMAS[topic].schema_name)).alias("schema_name"),
        "cause",
        F.to_date("timestamp").alias("day"),
    )


def ingest(spark: SparkSession, lake: Lake, bootstrap: str, name: str) -> int:
    """Append what is new on the topic of bronze table `name`; number of rows. Raises ServiceUnavailable."""
    return ingest_all(spark, lake, bootstrap, [name])[name]


def ingest_all(spark: SparkSession, lake: Lake, bootstrap: str, names: Sequence[str]) -> dict[str, int]:
    """The same for several tables; their streams run side by side. Rows by table."""
    started = {}
    for name in names:
        table, topic = BRONZE[name]
        path = lakes.ensure(spark, lake, table)
        source = (
            spark.readStream.format("kafka")
            .option("kafka.bootstrap.servers", bootstrap)
            .option("subscribe", topic.name)
            .option("startingOffsets", "earliest")
            .option("kafka.isolation.level", "read_committed")
            # retention may have removed what an old checkpoint points at: take what is left, and say so by the gap
            .option("failOnDataLoss", "false")
            .option("maxOffsetsPerTrigger", MAX_OFFSETS)
            .option("kafka.request.timeout.ms", "20000")
            .load()
        )
        started[name] = (
            received(source, topic.name)
            .writeStream.format("delta")
            .option("checkpointLocation", lake.checkpoint(f"bronze/{name}"))
            .trigger(availableNow=True)
            .queryName(f"bronze/{name}")
            .start(path)
        )
    rows = {}
    for name, query in started.items():
        try:
            finished = query.awaitTermination(TIMEOUT)
        except Exception as error:  # streaming errors reach Python as several classes
            raise ServiceUnavailable(f"bronze/{name}: {error}"[:300]) from error
        if not finished:
            query.stop()
            raise ServiceUnavailable(f"bronze/{name}: not done in {TIMEOUT} s, stopped; the next run goes on")
        rows[name] = sum(int(progress["numInputRows"]) for progress in query.recentProgress)
    return rows


def watermark(rows: DataFrame) -> dict[str, int]:
    """{"topic/partition": next offset} of what `rows` (bronze columns) hold."""
    from pyspark.sql import functions as F

    ends = rows.groupBy("topic", "partition").agg(F.max("offset").alias("last")).collect()
    return {f"{row['topic']}/{row['partition']}": int(row["last"]) + 1 for row in ends}
