"""Bronze: each Kafka topic as received, appended once."""

from collections.abc import Iterator
from typing import Final

import dagster as dg

from assets import show
from assets.system import System
from batch import bronze
from frontpage.adapters import lake as lakes
from frontpage.contracts.tables import BRONZE

GROUP: Final = "bronze"
OWNERS: Final = ["team:ingestion"]
#: Reader events first: whatever they speak of was published before them, so the tables read later know it.
_FIRST: Final = ("clicks", "events")

SPECS: Final = [
    dg.AssetSpec(
        key=["bronze", name], group_name=GROUP, owners=OWNERS, kinds={"kafka", "deltalake", "spark"},
        description=f"{table.doc} Records the contracts refuse stay with their cause.",
        metadata={"topic": topic.name, "kept in Kafka": f"{topic.retention_ms // 3_600_000} h"},
        skippable=True,
    )
    for name, (table, topic) in BRONZE.items()
]  # fmt: skip


@dg.multi_asset(name="bronze", specs=SPECS, can_subset=True)
def bronze_tables(
    context: dg.AssetExecutionContext, system: dg.ResourceParam[System]
) -> Iterator[dg.MaterializeResult[None]]:
    """Kafka to Delta with checkpoints; topics side by side."""
    chosen = [name for name in BRONZE if dg.AssetKey(["bronze", name]) in context.selected_asset_keys]
    spark, lake = system.spark(), system.lake()
    read: dict[str, int] = {}
    for wave in ([n for n in chosen if n in _FIRST], [n for n in chosen if n not in _FIRST]):
        if wave:
            read |= bronze.ingest_all(spark, lake, system.bootstrap(), wave)
    for name in chosen:
        path = lakes.ensure(spark, lake, BRONZE[name][0])
        yield dg.MaterializeResult(
            asset_key=["bronze", name], metadata=show.rows(lakes.count(spark, path), received=read[name])
        )
