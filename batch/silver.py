"""Bronze to silver, record by record: articles and their versions, polls, links, impressions, clicks.

Each bronze table is read as a stream with its own checkpoint; each micro-batch goes through the lake's upsert under the
stream's id and batch number, so a repeated or late batch changes nothing. Stories need all changes of a writer in
order and are in `silver_stories.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from batch.schemas import ddl
from frontpage.adapters import lake as lakes
from frontpage.adapters.lake import Batch, Lake
from frontpage.contracts import events, reader_events
from frontpage.contracts.tables import (
    ARTICLE_VERSIONS,
    ARTICLES,
    BRONZE,
    CLICKS,
    IMPRESSIONS,
    POLLS,
    STORY_LINKS,
    Table,
)
from frontpage.errors import ServiceUnavailable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

#: A click this long after its impression is still its answer (readers leave tabs open over night).
ATTRIBUTION: Final = 86_400.0
_PLACE: Final = ("topic", "partition", "offset")

Refined = list[tuple[Table, "DataFrame"]]


def parsed(bronze: DataFrame, schema: str) -> DataFrame:
    """Readable rows with the event as the struct column `e`, beside its place in the log."""
    from pyspark.sql import functions as F

    readable = bronze.where(F.col("cause").isNull())
    return readable.select(*_PLACE, F.from_json(F.col("value").cast("string"), schema).alias("e"))


def articles(bronze: DataFrame) -> Refined:
    """`articles.normalised` to the article rows and their versions."""
    from pyspark.sql import functions as F

    rows = parsed(bronze, ddl(events.ArticleEvent))
    from_card = (
        "article_id", "version", "url", "title", "snippet", "publisher_id", "publisher", "domain", "country",
        "language", "kind", "authors", "sections", "topics", "entities", "places", "published_at",
        "modified_at", "first_seen_at",
    )  # fmt: skip
    flat = rows.select(
        *[_field(name, "card.") for name in from_card],
        F.coalesce(F.col("e.card.paywalled"), F.lit(False)).alias("paywalled"),
        F.col("e.trace")["normalised"].alias("normalised_at"),
        *[
            _field(name)
            for name in ("content_hash", "syndicated_from", "from_feed", "feed_id", "arrived_by", "problems")
        ],
        F.coalesce(F.col("e.sections_by"), F.lit("publisher")).alias("sections_by"),
        *[_field(name, "signals.") for name in ("simhash", "minhash", "terms", "words", "quality")],
        *[F.col("e.signals.extra")[name][0].alias(name) for name in ("head", "pairs")],
        F.col("e.signals.vector.version").alias("encoder"),
        F.unbase64(F.col("e.signals.vector.data")).alias("vector"),
        *_PLACE,
    )
    return [(ARTICLES, flat), (ARTICLE_VERSIONS, flat)]


def polls(bronze: DataFrame) -> Refined:
    """`polls` flattened."""
    return [(POLLS, parsed(bronze, ddl(events.PollOutcome)).select("e.*", *_PLACE))]


def links(bronze: DataFrame) -> Refined:
    """`story.links` flattened."""
    return [(STORY_LINKS, parsed(bronze, ddl(events.StoryLink)).select("e.*"))]


def impressions(bronze: DataFrame) -> Refined:
    """The impressions among `reader.events`."""
    from pyspark.sql import functions as F

    rows = parsed(bronze, ddl(reader_events.ReaderEvent)).where(F.col("e.kind") == "impression")
    return [(IMPRESSIONS, rows.select("e.*", *_PLACE))]


def clicks(bronze: DataFrame, shown: DataFrame) -> Refined:
    """Counted `reader.clicks` with the impression they answer, from `shown` (silver impressions)."""
    from pyspark.sql import functions as F

    rows = parsed(bronze, ddl(reader_events.Click)).where(F.col("e.counted")).select("e.*", *_PLACE)
    return [(CLICKS, joined(rows, shown))]


def joined(rows: DataFrame, shown: DataFrame) -> DataFrame:
    """Click rows with `impression_event_id`, `impression_at` and `joined`: the list's latest showing before the click.

    A list may show a story once a page view; of several showings the last one within a day before the click counts.
    """
    from pyspark.sql import functions as F

    bare = rows.drop("impression_event_id", "impression_at", "joined")
    answer = shown.where(F.col("impression_id").isNotNull()).select(
        F.col("impression_id").alias("_list"),
        F.col("story_id").alias("_story"),
        F.struct(F.col("at").alias("shown_at"), F.col("event_id")).alias("_shown"),
    )
    found = bare.join(
        answer,
        (F.col("impression_id") == F.col("_list"))
        & (F.col("story_id") == F.col("_story"))
        & F.col("at").between(F.col("_shown.shown_at"), F.col("_shown.shown_at") + ATTRIBUTION),
        "left",
    )
    latest = found.groupBy("click_id").agg(F.max("_shown").alias("_shown"))
    return bare.join(latest, "click_id", "left").select(
        *bare.columns,
        F.col("_shown.event_id").alias("impression_event_id"),
        F.col("_shown.shown_at").alias("impression_at"),
        F.col("_shown").isNotNull().cast("int").alias("joined"),
    )


def rejoin_clicks(spark: SparkSession, lake: Lake) -> None:
    """Give clicks that came before their impression another look; a found one replaces the row without."""
    from pyspark.sql import functions as F

    waiting = lakes.read(spark, lake, CLICKS).where((F.col("joined") == 0) & F.col("impression_id").isNotNull())
    if waiting.isEmpty():
        return
    lakes.write(spark, lake, CLICKS, joined(waiting, lakes.read(spark, lake, IMPRESSIONS)).where("joined = 1"))


def refine(spark: SparkSession, lake: Lake, source: str, transform: Callable[[DataFrame], Refined]) -> int:
    """Run `transform` over what is new in bronze table `source` and upsert its results; rows read.

    One stream a `source`: several results of one source are one transform. Raises ServiceUnavailable.
    """
    table, _ = BRONZE[source]
    path = lakes.ensure(spark, lake, table)
    stream = (
        spark.readStream.format("delta")
        .option("maxFilesPerTrigger", 1_000)
        # bronze only grows, but for readers who asked to be forgotten (`erasure.py`)
        .option("skipChangeCommits", "true")
        .load(path)
    )

    def apply(rows: DataFrame, number: int) -> None:
        with lakes.cached(rows) as batch_rows:
            if batch_rows.isEmpty():
                return
            session = batch_rows.sparkSession
            writer = _stream_id(session)
            for target, refined in transform(batch_rows):
                batch = None if writer is None else Batch(f"{target.id}/{writer}", number)
                lakes.write(session, lake, target, refined, batch)

    query = (
        stream.writeStream.foreachBatch(apply)
        .option("checkpointLocation", lake.checkpoint(f"silver/{source}"))
        .trigger(availableNow=True)
        .queryName(f"silver/{source}")
        .start()
    )
    try:
        query.awaitTermination()
    except Exception as error:  # streaming errors reach Python as several classes
        raise ServiceUnavailable(f"silver from bronze/{source}: {error}"[:500]) from error
    return sum(int(progress["numInputRows"]) for progress in query.recentProgress)


def refine_all(spark: SparkSession, lake: Lake, sources: Sequence[str] | None = None) -> dict[str, int]:
    """All record-by-record silver tables, impressions before clicks. Rows read by bronze table."""
    steps: dict[str, Callable[[DataFrame], Refined]] = {
        "articles": articles,
        "polls": polls,
        "story_links": links,
        "events": impressions,
        "clicks": lambda rows: clicks(rows, lakes.read(rows.sparkSession, lake, IMPRESSIONS)),
    }
    read = {name: refine(spark, lake, name, steps[name]) for name in sources or steps}
    if "clicks" in read:
        rejoin_clicks(spark, lake)
    return read


def _field(name: str, of: str = "") -> Column:
    from pyspark.sql import functions as F

    return F.col(f"e.{of}{name}").alias(name)


def _stream_id(spark: SparkSession) -> str | None:
    """Id of the running stream, kept in its checkpoint: a new checkpoint is a new writer. None under Spark Connect.

    Without it the batch number is not recorded, and keys and versions alone make repeats harmless.
    """
    try:
        value = spark.sparkContext.getLocalProperty("sql.streaming.queryId")
    except Exception:  # noqa: BLE001 - Connect has no SparkContext and says so in its own classes
        return None
    return None if value is None else str(value)
