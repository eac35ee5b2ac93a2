"""The 48-hour re-clustering and what it proposes."""

from collections.abc import Iterator
from typing import Final

import dagster as dg

from assets import show
from assets.system import System
from batch import recluster
from frontpage.adapters import lake as lakes
from frontpage.contracts import tables

_TABLES: Final = (tables.RECLUSTERS, tables.RECLUSTER_AGREEMENT)
_DEPS: Final = [["bronze", "articles"], ["bronze", "story_changes"], ["silver", "story_members"]]


@dg.multi_asset(
    name="recluster_window",
    specs=[
        dg.AssetSpec(
            key=["gold", table.name], group_name="gold", owners=["team:stories"], kinds={"deltalake", "spark"},
            deps=[dg.AssetKey(key) for key in _DEPS], description=table.doc,
        )
        for table in _TABLES
    ],
)  # fmt: skip
def reclusters(system: dg.ResourceParam[System]) -> Iterator[dg.MaterializeResult[None]]:
    """Candidate pairs by LSH and time blocks, the online scorer, components cut by cohesion, mapping to stories."""
    spark, lake = system.spark(), system.lake()
    written = recluster.build(spark, lake, system.now())
    found = [row.asDict() for row in lakes.read(spark, lake, tables.RECLUSTER_AGREEMENT).orderBy("language").collect()]
    for table in _TABLES:
        facts = show.rows(written[table.id])
        if table is tables.RECLUSTER_AGREEMENT:
            chart = show.bars({row["language"]: row["f1"] for row in found}, "B-cubed F1, online against batch", "F1")
            facts |= {"by language": show.table(found), "agreement": chart}
        yield dg.MaterializeResult(asset_key=["gold", table.name], metadata=facts)
