"""How stories fare, as tables: `cluster_health`, `id_churn`, and what persons said of pairs (`pair_ratings`).

Front pages come from the ranker's decisions: the newest version of each edition's `top` is its front page now. Not
here: the re-clustering whose proposals are counted (`recluster.py`), the other reports (`gold_reports.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from batch.schemas import ddl
from batch.silver import parsed
from frontpage.adapters import lake as lakes
from frontpage.adapters.lake import Lake
from frontpage.adapters.story_models import policy_for
from frontpage.contracts import story_codec
from frontpage.contracts.events import ArticleEvent
from frontpage.contracts.review_events import PairRating, StoryReview
from frontpage.contracts.tables import (
    BRONZE,
    CLUSTER_HEALTH,
    ID_CHURN,
    PAIR_RATINGS,
    RECLUSTER_AGREEMENT,
    RECLUSTERS,
    STORIES,
)

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

#: Stories of a front page that are looked at (design: duplicates in the top 10).
TOP: Final = 10
#: Seconds; the health of repair is that of the last day.
DAY: Final = 86_400.0
#: Days whose churn is computed anew, and real days of records that are read for it: an article that an absorbed story
#: held joined it within its life of a few days.
CHURN, LOOKED = 7, 14
_REPAIRS: Final = ("merge", "split", "move")


def cluster_health(spark: SparkSession, lake: Lake, now: float) -> int:
    """Replace `gold/cluster_health`; rows."""
    from pyspark.sql import functions as F

    stories = lakes.read(spark, lake, STORIES)
    alive = F.col("alias_of").isNull() & (F.col("articles") > 0)
    shape = stories.groupBy("language").agg(
        _count(alive).alias("stories"),
        _count(F.col("alias_of").isNotNull()).alias("aliases"),
        F.sum("articles").alias("articles"),
        F.sum(F.col("articles") - F.col("originals")).alias("copies"),
        _count(alive & (F.col("articles") == 1)).alias("singles"),
        F.avg(F.when(alive, F.col("articles"))).alias("mean_size"),
        F.max("articles").cast("bigint").alias("largest"),
    )
    changes = _changes(spark, lake)
    totals = changes.groupBy("language").agg(
        _count(F.col("kind") == "merge").alias("merges"), _count(F.col("kind") == "split").alias("splits")
    )
    known = lakes.read(spark, lake, RECLUSTER_AGREEMENT).select("language", F.col("f1").alias("agreement"))
    front = _front(spark, lake)
    touched = (
        changes.where(F.col("kind").isin(*_REPAIRS) & (F.col("at") > now - DAY))
        .select("language", "change_id", F.explode(_stories_of()).alias("story_id"))
        .join(front.where(F.col("at") > now - DAY).select("story_id").distinct(), "story_id")
        .groupBy("language")
        .agg(F.countDistinct("change_id").alias("front_repairs"))
    )
    reviews = parsed(lakes.read(spark, lake, BRONZE["story_reviews"][0]), ddl(StoryReview))
    held = (
        reviews.where((F.col("e.kind") == "held") & (F.col("e.at") > now - DAY))
        .groupBy(F.col("e.language").alias("language"))
        .agg(F.countDistinct("e.review_id").alias("held"))
    )
    rows = shape
    for more in (totals, known, _duplicates(spark, lake, front), touched, held):
        rows = rows.join(more, "language", "left")
    counted = rows.na.fill(0, ["merges", "splits", "duplicates_top10", "front_repairs", "held"])
    return lakes.replace(spark, lake, CLUSTER_HEALTH, counted.withColumn("at", F.lit(now)))


def id_churn(spark: SparkSession, lake: Lake, now: float) -> int:
    """Bring the last `CHURN` days of `gold/id_churn` up to date; rows. The days before them stay as they are."""
    from pyspark.sql import functions as F

    changes = _changes(spark, lake, LOOKED).withColumn("day", F.to_date(F.timestamp_seconds("at")))
    absorbed = F.col("kind") == "merge"
    split = F.col("kind") == "split"
    carried = F.when(F.col("kind").isin("move", "split"), F.size("moved")).otherwise(0)
    by_day = changes.groupBy("language", "day").agg(
        F.count("*").alias("changes"),
        _count(F.col("kind") == "create").alias("created"),
        F.sum(F.when(absorbed, F.size("absorbed")).otherwise(0)).alias("merged"),
        _count(split).alias("split"),
        F.sum(carried).alias("moved"),
        _count(F.col("kind").isin("create", "assign")).alias("assigned"),
    )
    alive = (
        changes.select("language", "day", F.explode(_stories_of()).alias("story_id"))
        .groupBy("language", "day")
        .agg(F.countDistinct("story_id").alias("alive"))
    )
    # an absorbed story's articles bear the survivor's id from then on: those that had joined it before
    placed = changes.where(F.col("kind").isin("create", "assign")).select(
        F.col("story_id").alias("old"), F.col("at").alias("joined"), "article_id"
    )
    renamed = (
        changes.where(absorbed)
        .select("language", "day", "at", F.explode("absorbed").alias("old"))
        .join(placed, "old")
        .where(F.col("joined") <= F.col("at"))
        .groupBy("language", "day")
        .agg(F.countDistinct("article_id").alias("_renamed"))
    )
    since = F.to_date(F.timestamp_seconds(F.lit(now - CHURN * DAY)))
    rows = (
        by_day.where(F.col("day") >= since)
        .join(alive, ["language", "day"])
        .join(renamed, ["language", "day"], "left")
        .na.fill(0, ["_renamed"])
    )
    found = rows.select(
        *[name for name in ID_CHURN.column_names() if name not in ("id_churn", "article_churn", "at")],
        ((F.col("merged") + F.col("split")) / F.col("alive")).alias("id_churn"),
        F.try_divide(F.col("moved") + F.col("_renamed"), F.col("assigned")).alias("article_churn"),
        F.lit(now).alias("at"),
    )
    lakes.write(spark, lake, ID_CHURN, found)
    return lakes.count(spark, lake.path(ID_CHURN))


def pair_ratings(spark: SparkSession, lake: Lake) -> int:
    """Bring `gold/pair_ratings` up to date: each person's latest word on a pair; rows."""
    from pyspark.sql import functions as F

    said = parsed(lakes.read(spark, lake, BRONZE["story_ratings"][0]), ddl(PairRating))
    plain = [F.col(f"e.{name}") for name in ("pair_id", "by", "language", "kind", "same", "cosine", "seen", "at")]
    sides = [
        F.col(f"e.{side}.{field}").alias(side if name == "" else f"{side}_{name}")
        for side in ("left", "right")
        for field, name in (
            ("article_id", ""), ("title", "title"), ("snippet", "snippet"), ("publisher_id", "publisher"),
            ("first_seen_at", "at"),
        )
    ]  # fmt: skip
    lakes.write(spark, lake, PAIR_RATINGS, said.select(*plain, *sides))
    return lakes.count(spark, lake.path(PAIR_RATINGS))


def rated_scores(spark: SparkSession, lake: Lake) -> list[tuple[float, bool]]:
    """(log-odds of one event by the present scorer, what persons said) of the rated pairs whose articles bronze has.

    The scorer sees the signals that the writer saw. A pair that persons disagree on counts by the majority, or not.
    """
    from pyspark.sql import functions as F

    votes = F.avg(F.when(F.col("same"), 1.0).otherwise(0.0)).alias("share")
    rated = lakes.read(spark, lake, PAIR_RATINGS).groupBy("left", "right").agg(votes).where("share != 0.5").collect()
    wanted = sorted({row[side] for row in rated for side in ("left", "right")})
    if not wanted:
        return []
    value = F.col("value").cast("string")
    latest = (
        lakes.read(spark, lake, BRONZE["articles"][0])
        .where(F.col("cause").isNull())
        .withColumn("article_id", F.get_json_object(value, "$.card.article_id"))
        .join(spark.createDataFrame([(name,) for name in wanted], "article_id STRING"), "article_id")
        .groupBy("article_id")
        .agg(F.max_by("value", F.struct("partition", "offset")).alias("value"))
    )
    known = {}
    for row in latest.collect():
        event = ArticleEvent.decode(bytes(row["value"]))
        if event is not None:
            known[row["article_id"]] = story_codec.article_signals(event)
    found = []
    for row in rated:
        one, other = known.get(row["left"]), known.get(row["right"])
        if one is not None and other is not None and one.language == other.language and one.encoder == other.encoder:
            scorer = policy_for(one.language).scorer
            score = float(scorer.logits(scorer.prepare(one), [scorer.prepare(other)])[0])
            found.append((score, bool(row["share"] > 0.5)))
    return found


def _changes(spark: SparkSession, lake: Lake, days: int | None = None) -> DataFrame:
    """Readable story changes of the last real `days` (or all) with the few fields that reports need."""
    from pyspark.sql import functions as F

    value = F.col("value").cast("string")
    recent = F.lit(True) if days is None else F.col("day") >= F.date_sub(F.current_date(), days)
    return (
        lakes.read(spark, lake, BRONZE["story_changes"][0])
        .where(F.col("cause").isNull() & recent)
        .select(
            *[
                F.get_json_object(value, f"$.{name}").alias(name)
                for name in ("language", "kind", "story_id", "from_story", "change_id")
            ],
            F.get_json_object(value, "$.at").try_cast("double").alias("at"),
            F.get_json_object(value, "$.article.article_id").alias("article_id"),
            *[
                F.coalesce(F.from_json(F.get_json_object(value, f"$.{name}"), "ARRAY<STRING>"), F.array()).alias(name)
                for name in ("absorbed", "moved")
            ],
        )
    )


def _stories_of() -> Column:
    """All stories that a change touches."""
    from pyspark.sql import functions as F

    return F.array_distinct(F.concat(F.array_compact(F.array("story_id", "from_story")), F.col("absorbed")))


def _front(spark: SparkSession, lake: Lake) -> DataFrame:
    """(edition, page_version, story_id, at) of the first `TOP` stories of every version of a front page."""
    from pyspark.sql import functions as F

    value = F.col("value").cast("string")
    decisions = lakes.read(spark, lake, BRONZE["decisions"][0]).where(F.col("cause").isNull())
    fields = {
        "edition": "string", "section": "string", "story_id": "string", "page_version": "bigint", "rank": "int",
        "at": "double",
    }  # fmt: skip
    rows = decisions.select(*[F.get_json_object(value, f"$.{n}").try_cast(t).alias(n) for n, t in fields.items()])
    return rows.where((F.col("section") == "top") & (F.col("rank") <= TOP)).drop("section", "rank")


def _duplicates(spark: SparkSession, lake: Lake, front: DataFrame) -> DataFrame:
    """(language, duplicates_top10): merges that the last re-clustering proposes within a front page of now."""
    from pyspark.sql import functions as F

    newest = front.groupBy("edition").agg(F.max("page_version").alias("page_version"))
    shown = front.join(newest, ["edition", "page_version"]).select("edition", "story_id").distinct()
    merges = lakes.read(spark, lake, RECLUSTERS).where(F.col("kind") == "merge")
    pairs = merges.select("proposal_id", "language", F.explode("stories").alias("story_id")).join(shown, "story_id")
    both = pairs.groupBy("proposal_id", "language", "edition").agg(F.countDistinct("story_id").alias("n"))
    return (
        both.where(F.col("n") > 1)
        .groupBy("language")
        .agg(F.countDistinct("proposal_id").alias("duplicates_top10"))
    )  # fmt: skip


def _count(condition: Column) -> Column:
    from pyspark.sql import functions as F

    return F.count(F.when(condition, 1))
