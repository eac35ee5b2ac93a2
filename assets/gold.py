"""Gold: what history teaches. Authority, projection, profiles, training rows, reports."""

from collections.abc import Callable, Iterable
from typing import Final

import dagster as dg

from assets import show
from assets.system import System
from batch import gold_authority, gold_entities, gold_profiles, gold_reports, gold_slogans, gold_terms, gold_training
from frontpage.adapters import lake as lakes
from frontpage.contracts import tables
from frontpage.contracts.tables import Table
from frontpage.domain.term_tables import ENOUGH

GROUP: Final = "gold"
Compute = Callable[..., dg.MaterializeResult[None]]


def gold_asset(table: Table, team: str, deps: Iterable[str]) -> Callable[[Compute], dg.AssetsDefinition]:
    """The decorator of a gold asset: what the contracts say of its table."""
    return dg.asset(
        key=["gold", table.name], group_name=GROUP, owners=[f"team:{team}"], kinds={"deltalake", "spark"},
        description=table.doc, deps=[dg.AssetKey(dep.split("/")) for dep in deps],
    )  # fmt: skip


@gold_asset(
    tables.PUBLISHER_AUTHORITY,
    "ranking",
    ["silver/articles", "silver/article_versions", "silver/copies", "silver/story_members", "silver/stories"],
)
def publisher_authority(system: dg.ResourceParam[System]) -> dg.MaterializeResult[None]:
    """Evidence of original reporting, scored by the domain and shrunk to the registry's prior."""
    spark, lake = system.spark(), system.lake()
    number = gold_authority.build(spark, lake, gold_authority.priors(system.redis()), system.now())
    overall = lakes.read(spark, lake, tables.PUBLISHER_AUTHORITY).where("topic = '*'").collect()
    best = {row["publisher_id"]: row["authority"] for row in overall}
    facts = show.rows(number, publishers=len(best))
    return dg.MaterializeResult(metadata=facts | {"highest": show.bars(best, "Authority", "0..1")})


@gold_asset(tables.VECTOR_PROJECTION, "ranking", ["silver/articles"])
def vector_projection(system: dg.ResourceParam[System]) -> dg.MaterializeResult[None]:
    """Refitted when an encoder's articles have doubled; readers keep sums of the version before as well."""
    spark, lake = system.spark(), system.lake()
    current = gold_profiles.fit_projections(spark, lake, system.now())
    number = lakes.count(spark, lakes.ensure(spark, lake, tables.VECTOR_PROJECTION))
    explained = lakes.read(spark, lake, tables.VECTOR_PROJECTION).select("version", "fitted_on", "explained").collect()
    shown = show.table([row.asDict() for row in explained])
    return dg.MaterializeResult(metadata=show.rows(number, encoders=len(current)) | {"versions": shown})


@gold_asset(
    tables.READER_PROFILES,
    "ranking",
    ["bronze/clicks", "bronze/events", "silver/articles", "gold/vector_projection"],
)
def reader_profiles(system: dg.ResourceParam[System]) -> dg.MaterializeResult[None]:
    """90 days of events folded by the domain, with the vector of offsets that went in."""
    spark, lake = system.spark(), system.lake()
    number = gold_profiles.build(spark, lake, system.now())
    engagements = [r["engagements"] for r in lakes.read(spark, lake, tables.READER_PROFILES).collect()]
    shown = show.histogram(engagements, "Engagements a reader", "engagements")
    return dg.MaterializeResult(metadata=show.rows(number) | {"engagements": shown})


@gold_asset(tables.RANK_TRAINING, "ranking", ["silver/impressions", "silver/clicks", "bronze/events"])
def rank_training(system: dg.ResourceParam[System]) -> dg.MaterializeResult[None]:
    """Impressions with the features of their moment and whether they were opened."""
    spark, lake = system.spark(), system.lake()
    number = gold_training.build(spark, lake)
    clicked = lakes.read(spark, lake, tables.RANK_TRAINING).where("clicked = 1").count()
    return dg.MaterializeResult(metadata=show.rows(number, clicked=clicked))


@gold_asset(tables.TERM_WEIGHTS, "stories", ["silver/articles", "silver/stories", "silver/story_members"])
def term_weights(system: dg.ResourceParam[System]) -> dg.MaterializeResult[None]:
    """Decayed counts of hashed terms over first articles; the writers weigh words by them once published."""
    spark, lake = system.spark(), system.lake()
    number = gold_terms.build(spark, lake, system.now())
    rows = lakes.read(spark, lake, tables.TERM_WEIGHTS)
    languages = rows.groupBy("language").agg({"documents": "max", "term": "count"}).collect()
    counted = {row["language"]: row["max(documents)"] for row in languages}
    ranks = {
        language: [row["weight"] for row in rows.where(rows.language == language).orderBy("weight", ascending=False)
                   .select("weight").limit(2_000).collect()]
        for language in sorted(counted, key=lambda name: -counted[name])[:4]
    }  # fmt: skip
    curves = {name: (list(range(1, len(found) + 1)), found) for name, found in ranks.items()}
    facts = show.rows(number, languages=len(counted), published=sum(n >= ENOUGH for n in counted.values()))
    return dg.MaterializeResult(metadata=facts | {
        "stories": show.bars(counted, "Stories that voted, decayed", "stories"),
        "terms by rank": show.lines(curves, "Stories with a term, by its rank", "rank", "stories"),
    })  # fmt: skip


@gold_asset(tables.ENTITIES, "stories", ["silver/articles", "silver/story_members"])
def entities(system: dg.ResourceParam[System]) -> dg.MaterializeResult[None]:
    """Names that independent publishers use in several stories; enrich knows them once published."""
    spark, lake = system.spark(), system.lake()
    number = gold_entities.build(spark, lake, system.now())
    rows = lakes.read(spark, lake, tables.ENTITIES)
    languages = {row["language"]: row["count"] for row in rows.groupBy("language").count().collect()}
    most = rows.orderBy("stories", "name", ascending=[False, True]).select("language", "name", "publishers", "stories")
    facts = show.rows(number, new=rows.where(rows.learnt_at == rows["at"]).count(), languages=len(languages))
    return dg.MaterializeResult(metadata=facts | {
        "by language": show.bars(languages, "Names known", "names"),
        "most stories": show.table([row.asDict() for row in most.limit(15).collect()]),
    })  # fmt: skip


@gold_asset(tables.TITLE_SLOGANS, "ingestion", ["silver/articles"])
def title_slogans(system: dg.ResourceParam[System]) -> dg.MaterializeResult[None]:
    """Parts that stand in most titles of their publisher; enrich cuts them once published."""
    spark, lake = system.spark(), system.lake()
    number = gold_slogans.build(spark, lake, system.now())
    latest = lakes.read(spark, lake, tables.TITLE_SLOGANS).orderBy("seen_at", "slogan", ascending=[False, True])
    shown = latest.select("publisher_id", "slogan", "titles", "articles").limit(15).collect()
    return dg.MaterializeResult(metadata=show.rows(number) | {"latest": show.table([r.asDict() for r in shown])})


@gold_asset(tables.FRESHNESS, "ingestion", ["silver/articles", "silver/story_members"])
def freshness(system: dg.ResourceParam[System]) -> dg.MaterializeResult[None]:
    """Delays by language and publisher."""
    spark, lake = system.spark(), system.lake()
    number = gold_reports.freshness(spark, lake, system.now())
    found = lakes.read(spark, lake, tables.FRESHNESS).where("publisher_id = '*'").collect()
    delays = {row["language"]: row["story_p95"] for row in found if row["story_p95"] is not None}
    chart = show.bars(delays, "First seen to story, p95", "seconds")
    return dg.MaterializeResult(metadata=show.rows(number) | {"p95": chart})


@gold_asset(tables.POLL_REPORT, "ingestion", ["silver/polls"])
def poll_report(system: dg.ResourceParam[System]) -> dg.MaterializeResult[None]:
    """The scorecard of each feed: polls, 304 share, waste, delay."""
    spark, lake = system.spark(), system.lake()
    number = gold_reports.poll_report(spark, lake, system.now())
    worst = lakes.read(spark, lake, tables.POLL_REPORT).orderBy("waste", ascending=False).limit(15).collect()
    return dg.MaterializeResult(metadata=show.rows(number) | {"most waste": show.table([r.asDict() for r in worst])})
