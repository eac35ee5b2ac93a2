"""Silver: current rows, one a key, made from bronze by the domain's own code."""

from collections.abc import Iterator, Mapping
from typing import Final

import dagster as dg

from assets import show
from assets.system import System
from batch import silver, silver_stories
from frontpage.adapters import lake as lakes
from frontpage.contracts import tables
from frontpage.contracts.tables import Table

GROUP: Final = "silver"
OWNERS: Final = ["team:data"]

#: silver table -> the bronze tables it is made from
_FROM: Final[Mapping[str, tuple[str, ...]]] = {
    "articles": ("articles",),
    "article_versions": ("articles",),
    "polls": ("polls",),
    "story_links": ("story_links",),
    "impressions": ("events",),
    "clicks": ("clicks", "events"),
}


def _spec(table: Table, sources: tuple[str, ...]) -> dg.AssetSpec:
    return dg.AssetSpec(
        key=["silver", table.name], group_name=GROUP, owners=OWNERS, kinds={"deltalake", "spark"},
        deps=[dg.AssetKey(["bronze", source]) for source in sources], description=table.doc,
        metadata={"keys": ", ".join(table.keys), "columns": len(table.columns)},
    )  # fmt: skip


_BY_NAME: Final = {table.name: table for table in tables.SILVER}


@dg.multi_asset(name="silver", specs=[_spec(_BY_NAME[name], sources) for name, sources in _FROM.items()])
def silver_tables(system: dg.ResourceParam[System]) -> Iterator[dg.MaterializeResult[None]]:
    """What is new in bronze, record by record, through the idempotent upsert."""
    spark, lake = system.spark(), system.lake()
    read = silver.refine_all(spark, lake)
    for name, sources in _FROM.items():
        number = lakes.count(spark, lakes.ensure(spark, lake, _BY_NAME[name]))
        yield dg.MaterializeResult(
            asset_key=["silver", name], metadata=show.rows(number, read=sum(read.get(source, 0) for source in sources))
        )


_STORY_TABLES: Final = (tables.STORIES, tables.STORY_MEMBERS, tables.COPIES)


@dg.multi_asset(name="silver_stories", specs=[_spec(table, ("story_changes",)) for table in _STORY_TABLES])
def story_tables(system: dg.ResourceParam[System]) -> Iterator[dg.MaterializeResult[None]]:
    """Story changes applied partition by partition by the same StoryBook that the writer and the ranker use."""
    spark, lake = system.spark(), system.lake()
    replayed = silver_stories.build(spark, lake)
    sizes = [row["articles"] for row in lakes.read(spark, lake, tables.STORIES).select("articles").collect()]
    for table in _STORY_TABLES:
        facts = show.rows(lakes.count(spark, lake.path(table)), replayed=replayed[table.id])
        if table is tables.STORIES and sizes:
            facts["sizes"] = show.histogram([size for size in sizes if size], "Articles a story", "articles")
        yield dg.MaterializeResult(asset_key=["silver", table.name], metadata=facts)
