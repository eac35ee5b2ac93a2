"""Silver to the tables people look at: freshness, the polling scorecard. Stories: `gold_clusters.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from frontpage.adapters import lake as lakes
from frontpage.adapters.lake import Lake
from frontpage.contracts.tables import (
    ARTICLES,
    FRESHNESS,
    POLL_REPORT,
    POLLS,
    STORY_MEMBERS,
)

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

#: A claimed publication time further back than this before first seen is an old piece, not a slow discovery.
PLAUSIBLE: Final = 6 * 3_600.0
#: Reports look back this far.
WINDOW: Final = 7 * 86_400.0


def freshness(spark: SparkSession, lake: Lake, now: float) -> int:
    """Replace `gold/freshness`: by language, by publisher within it, and over all; rows."""
    from pyspark.sql import functions as F

    members = lakes.read(spark, lake, STORY_MEMBERS).select("article_id", "joined_at")
    articles = lakes.read(spark, lake, ARTICLES).where(F.col("first_seen_at") >= now - WINDOW)
    lag = F.col("first_seen_at") - F.col("published_at")
    steps = articles.join(members, "article_id", "left").select(
        "language", "publisher_id", "first_seen_at",
        F.when(lag.between(0.0, PLAUSIBLE), lag).alias("discovery"),
        # a corrected article was normalised again: its delay says nothing of its first version
        F.when(F.col("version") == 1, F.col("normalised_at") - F.col("first_seen_at")).alias("enrich"),
        (F.col("joined_at") - F.col("first_seen_at")).alias("story"),
    )  # fmt: skip
    figures = [
        F.percentile_approx(name, share, 1_000).alias(f"{name}_p{int(share * 100)}")
        for name in ("discovery", "enrich", "story")
        for share in (0.5, 0.95)
    ]
    rows = steps.cube("language", "publisher_id").agg(
        F.count("*").alias("articles"),
        *figures,
        F.max("first_seen_at").alias("latest"),
        F.grouping("language").alias("_any_language"),
        F.grouping("publisher_id").alias("_any_publisher"),
    )
    # a publisher over all languages is not asked for: cube gives (language, publisher), (language, *), (*, *)
    kept = rows.where((F.col("_any_language") == 0) | (F.col("_any_publisher") == 1)).select(
        F.when(F.col("_any_language") == 1, "*").otherwise(F.col("language")).alias("language"),
        F.when(F.col("_any_publisher") == 1, "*").otherwise(F.col("publisher_id")).alias("publisher_id"),
        *[c for c in FRESHNESS.column_names() if c not in ("language", "publisher_id", "at")],
        F.lit(now).alias("at"),
    )
    return lakes.replace(spark, lake, FRESHNESS, kept)


def poll_report(spark: SparkSession, lake: Lake, now: float) -> int:
    """Replace `gold/poll_report`; rows."""
    from pyspark.sql import functions as F

    polls: DataFrame = lakes.read(spark, lake, POLLS).where(F.col("at") >= now - WINDOW)
    audit = F.coalesce(F.col("audit"), F.lit(False))
    looks = (
        polls.where(audit)
        .groupBy("feed_id")
        .agg(
            F.count("*").alias("audits"),
            F.percentile_approx("delay", 0.5).alias("audit_delay_p50"),
            F.percentile_approx("delay", 0.9).alias("audit_delay_p90"),
        )
    )
    minutes = F.greatest((F.max("at") - F.min("at")) / 60.0, F.lit(1.0))
    scheduled = (
        polls.where(~audit)
        .groupBy("feed_id")
        .agg(
            F.max_by("publisher_id", "at").alias("publisher_id"),
            F.max_by("domain", "at").alias("domain"),
            F.count("*").alias("polls"),
            F.avg((F.col("outcome") == "not_modified").cast("double")).alias("not_modified_share"),
            F.avg((F.col("new_items") == 0).cast("double")).alias("waste"),
            _count(F.col("outcome").isin("error", "refused")).alias("errors"),
            F.sum("new_items").alias("new_items"),
            F.percentile_approx("delay", 0.5).alias("delay_p50"),
            F.percentile_approx("delay", 0.9).alias("delay_p90"),
            (F.count("*") / minutes).alias("per_minute"),
            F.lit(now).alias("at"),
        )
    )
    rows = scheduled.join(looks, "feed_id", "left").withColumn("audits", F.coalesce(F.col("audits"), F.lit(0)))
    return lakes.replace(spark, lake, POLL_REPORT, rows)


def _count(condition: Column) -> Column:
    from pyspark.sql import functions as F

    return F.count(F.when(condition, 1))
