"""Silver to `gold/title_slogans`: what each publisher writes beside most of its headlines.

Headlines are kept without the slogans already known, so what was learnt stays until its publisher has shown nothing of
it for `KEPT`: it would otherwise be forgotten by being used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from frontpage.adapters import lake as lakes
from frontpage.adapters.lake import Lake
from frontpage.contracts.tables import ARTICLES, TITLE_SLOGANS
from frontpage.domain.slogans import ends, is_slogan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Seconds of headlines that are read; and how long a slogan is kept.
WINDOW: Final = 30 * 86_400.0
KEPT: Final = 365 * 86_400.0


def build(spark: SparkSession, lake: Lake, now: float) -> int:
    """Bring the table up to date; rows."""
    from pyspark.sql import functions as F

    titles = lakes.read(spark, lake, ARTICLES).where(F.col("first_seen_at") >= now - WINDOW)
    titles = titles.select("publisher_id", "title", "first_seen_at")
    parts = F.udf(lambda title: ends(title or ""), "array<string>", useArrow=False)
    learnt = F.udf(is_slogan, "boolean", useArrow=False)
    totals = titles.groupBy("publisher_id").agg(F.count("*").alias("articles"))
    found = (
        titles.withColumn("slogan", F.explode(parts("title")))
        .groupBy("publisher_id", "slogan")
        .agg(F.count("*").alias("titles"), F.max("first_seen_at").alias("seen_at"))
        .join(totals, "publisher_id")
        .where(learnt("titles", "articles"))
        .withColumn("at", F.lit(now))
    )
    before = lakes.read(spark, lake, TITLE_SLOGANS).where(F.col("seen_at") >= now - KEPT)
    keys = ["publisher_id", "slogan"]
    grown = found.unionByName(before.join(found.select(keys), keys, "left_anti"))
    with lakes.cached(grown) as rows:
        rows.count()  # computed before the table it is read from is replaced
        return lakes.replace(spark, lake, TITLE_SLOGANS, rows)
