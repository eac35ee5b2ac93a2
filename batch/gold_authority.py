"""Silver to `gold/publisher_authority`: the evidence per publisher and topic, scored by the domain.

Evidence looks at the last `WINDOW` seconds of articles. Priors come from the publisher registry; a publisher without a
row in it has the domain's default.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from frontpage.adapters import lake as lakes
from frontpage.adapters.lake import Lake
from frontpage.adapters.redis_store import store_errors
from frontpage.contracts.tables import ARTICLE_VERSIONS, ARTICLES, COPIES, PUBLISHER_AUTHORITY, STORIES, STORY_MEMBERS
from frontpage.contracts.views import PUBLISHER, PUBLISHERS, Publisher
from frontpage.domain.authority import DEFAULT_PRIOR, TOPIC_ARTICLES, Evidence, score

if TYPE_CHECKING:
    import redis
    from pyspark.sql import DataFrame, SparkSession

#: Seconds of articles that count: as long as profiles look back.
WINDOW: Final = 90 * 86_400.0
_COUNTS: Final = ("originals", "copies", "copied_by", "cited_by", "firsts", "shared", "corrections")


def priors(store: redis.Redis) -> dict[str, float]:
    """Authority of each publisher as its registry row states it; rows that cannot be read are left out."""
    found: dict[str, float] = {}
    with store_errors():
        members: Any = store.smembers(PUBLISHERS.key())
        ids = sorted(member.decode() for member in members)
        for start in range(0, len(ids), 1_000):
            rows: Any = store.mget([PUBLISHER.key(publisher=id) for id in ids[start : start + 1_000]])
            for row in rows:
                with contextlib.suppress(ValidationError):
                    publisher = Publisher.model_validate_json(row or b"")
                    found[publisher.publisher_id] = publisher.authority
    return found


def evidence(spark: SparkSession, lake: Lake, now: float) -> DataFrame:
    """publisher_id, topic ("*" over all) and the counts of `domain.authority.Evidence`."""
    from pyspark.sql import functions as F

    articles = lakes.read(spark, lake, ARTICLES).where(F.col("first_seen_at") >= now - WINDOW)
    copies = lakes.read(spark, lake, COPIES).select("article_id", "copy_of", "original_publisher_id")
    members = lakes.read(spark, lake, STORY_MEMBERS).where(F.col("copy_of").isNull())
    shared_stories = lakes.read(spark, lake, STORIES).where("alias_of IS NULL AND sources > 1").select("story_id")
    shared = members.join(shared_stories, "story_id", "left_semi")
    first = shared.groupBy("story_id").agg(F.min(F.struct("first_seen_at", "article_id")).alias("_first"))
    reported = shared.join(first, "story_id").select(
        "article_id", (F.col("_first.article_id") == F.col("article_id")).cast("int").alias("firsts"),
        F.lit(1).alias("shared"),
    )  # fmt: skip
    versions = lakes.read(spark, lake, ARTICLE_VERSIONS).groupBy("article_id").agg(F.count("*").alias("_versions"))
    reprinted = (
        copies.where(F.col("original_publisher_id").isNotNull())
        .groupBy(F.col("copy_of").alias("article_id"))
        .agg(F.count("*").alias("copied_by"))
    )
    cited = (
        articles.where(F.col("syndicated_from").isNotNull())
        .groupBy(F.col("syndicated_from").alias("url"))
        .agg(F.count("*").alias("cited_by"))
    )
    per_article = (
        articles.select("article_id", "publisher_id", "url", F.array_union(F.array(F.lit("*")), "topics").alias("_in"))
        .join(copies.select("article_id", F.lit(1).alias("copies")), "article_id", "left")
        .join(reprinted, "article_id", "left")
        .join(cited, "url", "left")
        .join(reported, "article_id", "left")
        .join(versions, "article_id", "left")
        .na.fill(0, ["copies", "copied_by", "cited_by", "firsts", "shared"])
        .withColumn("originals", 1 - F.col("copies"))
        .withColumn("corrections", F.greatest(F.col("_versions") - 1, F.lit(0)))
        .withColumn("topic", F.explode("_in"))
    )
    return per_article.groupBy("publisher_id", "topic").agg(*[F.sum(name).alias(name) for name in _COUNTS])


def build(spark: SparkSession, lake: Lake, priors: Mapping[str, float], now: float) -> int:
    """Replace the table; rows. Topics with fewer than `TOPIC_ARTICLES` articles are left to the overall value."""
    from pyspark.sql import functions as F

    known = dict(priors)

    def scored(publisher_id: str, *counts: int) -> float:
        return score(Evidence(*(int(count or 0) for count in counts)), known.get(publisher_id, DEFAULT_PRIOR))

    def prior(publisher_id: str) -> float:
        return known.get(publisher_id, DEFAULT_PRIOR)

    enough = (F.col("topic") == "*") | (F.col("originals") + F.col("copies") >= TOPIC_ARTICLES)
    rows = (
        evidence(spark, lake, now)
        .where(enough)
        .withColumn("authority", F.udf(scored, "double", useArrow=False)("publisher_id", *_COUNTS))
        .withColumn("prior", F.udf(prior, "double", useArrow=False)("publisher_id"))
        .withColumn("at", F.lit(now))
    )
    return lakes.replace(spark, lake, PUBLISHER_AUTHORITY, rows)
