"""How stories fare: their health, the churn of their ids, what persons said of pairs; with plots in the Dagster UI."""

from typing import Any, Final

import dagster as dg

from assets import show
from assets.gold import gold_asset
from assets.system import System
from batch import gold_clusters
from frontpage.adapters import lake as lakes
from frontpage.contracts import tables
from frontpage.domain.agreement import curve

_HEALTH_FROM: Final = (
    "silver/stories", "bronze/story_changes", "bronze/decisions", "bronze/story_reviews", "bronze/articles",
    "gold/reclusters", "gold/recluster_agreement", "gold/id_churn", "gold/pair_ratings",
)  # fmt: skip


@gold_asset(tables.CLUSTER_HEALTH, "stories", _HEALTH_FROM)
def cluster_health(system: dg.ResourceParam[System]) -> dg.MaterializeResult[None]:
    """Shape and repairs of the stories; plots of their sizes, of the churn of ids, of precision against recall."""
    spark, lake = system.spark(), system.lake()
    number = gold_clusters.cluster_health(spark, lake, system.now())
    found = [row.asDict() for row in lakes.read(spark, lake, tables.CLUSTER_HEALTH).orderBy("language").collect()]
    sizes = lakes.read(spark, lake, tables.STORIES).where("articles > 0").select("articles").collect()
    churn: dict[str, tuple[list[Any], list[float]]] = {}
    for row in lakes.read(spark, lake, tables.ID_CHURN).orderBy("day").collect():
        days, shares = churn.setdefault(row["language"], ([], []))
        days.append(row["day"])
        shares.append(row["id_churn"])
    agreement = lakes.read(spark, lake, tables.RECLUSTER_AGREEMENT).collect()
    points = {row["language"]: (row["recall"], row["precision"]) for row in agreement}
    rated = gold_clusters.rated_scores(spark, lake)
    facts = show.rows(number, rated_pairs=len(rated)) | {
        "by language": show.table(found),
        "sizes": show.histogram([row["articles"] for row in sizes], "Articles a story", "articles"),
        "churn": show.lines(churn, "Merged and split ids as a share of the day's", "day", "share"),
        "precision and recall": show.lines(
            {"pairs that persons rated": curve(rated)} if rated else {},
            "Present scorer, and stories against the batch", "recall", "precision", points=points,
        ),
    }  # fmt: skip
    return dg.MaterializeResult(metadata=facts)


@gold_asset(tables.ID_CHURN, "stories", ["bronze/story_changes"])
def id_churn(system: dg.ResourceParam[System]) -> dg.MaterializeResult[None]:
    """What repair and re-clustering did to story ids, day by day."""
    spark, lake = system.spark(), system.lake()
    number = gold_clusters.id_churn(spark, lake, system.now())
    latest = lakes.read(spark, lake, tables.ID_CHURN).orderBy("day", "language", ascending=[False, True]).limit(15)
    return dg.MaterializeResult(
        metadata=show.rows(number) | {"latest": show.table([r.asDict() for r in latest.collect()])}
    )


@gold_asset(tables.PAIR_RATINGS, "stories", ["bronze/story_ratings"])
def pair_ratings(system: dg.ResourceParam[System]) -> dg.MaterializeResult[None]:
    """Each person's latest word on each pair that `frontpage rate` asked about."""
    spark, lake = system.spark(), system.lake()
    number = gold_clusters.pair_ratings(spark, lake)
    kinds = (
        lakes.read(spark, lake, tables.PAIR_RATINGS).groupBy("kind", "same").count().orderBy("kind", "same").collect()
    )
    return dg.MaterializeResult(metadata=show.rows(number) | {"answers": show.table([row.asDict() for row in kinds])})
