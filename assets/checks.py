"""Asset checks: keys are unique, contracts hold, news is fresh. Read through Arrow and DuckDB, without Spark jobs."""

from collections.abc import Iterator
from typing import Final

import dagster as dg
import duckdb

from assets.system import System
from frontpage.adapters import lake as lakes
from frontpage.contracts import tables
from frontpage.contracts.tables import Table
from frontpage.domain.names import supported

#: More refused records than this share means that a producer and the contracts disagree.
REFUSED: Final = 0.01
#: Virtual seconds without a new article after which something upstream stands still (documents: a stale feed alerts).
STALE: Final = 3_600.0
_KEYED: Final = (*tables.SILVER, *tables.GOLD)


def _key(table: Table) -> dg.AssetKey:
    return dg.AssetKey([table.layer, table.name])


@dg.multi_asset_check(
    specs=[
        dg.AssetCheckSpec(
            "unique_keys", asset=_key(table), description=f"({', '.join(table.keys)}) is unique and never null"
        )
        for table in _KEYED
    ],
    can_subset=True,
)
def unique_keys(
    context: dg.AssetCheckExecutionContext, system: dg.ResourceParam[System]
) -> Iterator[dg.AssetCheckResult]:
    """After each run: the upsert's promise, checked on the whole table."""
    chosen = {key.asset_key for key in context.selected_asset_check_keys}
    with lakes.connect_duckdb(system.lake(), _KEYED) as connection:
        existing = {name for (name,) in connection.execute("SHOW TABLES").fetchall()}
        for table in _KEYED:
            if _key(table) not in chosen:
                continue
            view, keys = table.id.replace("/", "_"), ", ".join(f'"{key}"' for key in table.keys)
            doubled = nulls = total = 0
            if view in existing:
                grouped = f"SELECT count(*) AS n FROM {view} GROUP BY {keys} HAVING n > 1"  # noqa: S608 - our names
                doubled = _one(connection, f"SELECT count(*) FROM ({grouped})")  # noqa: S608
                missing = " OR ".join(f'"{key}" IS NULL' for key in table.keys)
                nulls = _one(connection, f"SELECT count(*) FROM {view} WHERE {missing}")  # noqa: S608
                total = _one(connection, f"SELECT count(*) FROM {view}")  # noqa: S608
            yield dg.AssetCheckResult(
                asset_key=_key(table), check_name="unique_keys", passed=not doubled and not nulls,
                metadata={"rows": total, "doubled keys": doubled, "null keys": nulls},
            )  # fmt: skip


@dg.multi_asset_check(
    specs=[
        dg.AssetCheckSpec(
            "readable", asset=_key(table), description=f"at most {REFUSED:.0%} of the records are refused"
        )
        for table, _ in tables.BRONZE.values()
    ],
    can_subset=True,
)
def readable(context: dg.AssetCheckExecutionContext, system: dg.ResourceParam[System]) -> Iterator[dg.AssetCheckResult]:
    """Refused records stay in the table with their cause; many of them are a fault of ours."""
    chosen = {key.asset_key for key in context.selected_asset_check_keys}
    bronze = [table for table, _ in tables.BRONZE.values() if _key(table) in chosen]
    with lakes.connect_duckdb(system.lake(), bronze) as connection:
        existing = {name for (name,) in connection.execute("SHOW TABLES").fetchall()}
        for table in bronze:
            view, total, causes = table.id.replace("/", "_"), 0, {}
            if view in existing:
                total = _one(connection, f"SELECT count(*) FROM {view}")  # noqa: S608 - our names
                counted = f"SELECT cause, count(*) FROM {view} WHERE cause IS NOT NULL GROUP BY cause"  # noqa: S608
                causes = dict(connection.execute(counted).fetchall())
            refused = sum(causes.values())
            yield dg.AssetCheckResult(
                asset_key=_key(table), check_name="readable", passed=refused <= REFUSED * max(total, 1),
                severity=dg.AssetCheckSeverity.WARN, metadata={"rows": total, "refused": refused, "causes": causes},
            )  # fmt: skip


@dg.asset_check(asset=_key(tables.ARTICLES), description="an article was first seen within the last hour (virtual)")
def articles_are_fresh(system: dg.ResourceParam[System]) -> dg.AssetCheckResult:
    """A warning: nights of a small world are quiet, a silent hour of a large one is not."""
    with lakes.connect_duckdb(system.lake(), [tables.ARTICLES]) as connection:
        latest = connection.execute("SELECT max(first_seen_at) FROM silver_articles").fetchall()[0][0]
    age = None if latest is None else system.now() - float(latest)
    return dg.AssetCheckResult(
        passed=age is not None and age <= STALE, severity=dg.AssetCheckSeverity.WARN,
        metadata={"age_seconds": dg.MetadataValue.float(-1.0 if age is None else age)},
    )  # fmt: skip


@dg.asset_check(asset=_key(tables.TERM_WEIGHTS), description="no term stands in more stories than there are")
def term_weights_are_counts(system: dg.ResourceParam[System]) -> dg.AssetCheckResult:
    """Writers refuse a table with such a count; here it is seen before they are given it."""
    with lakes.connect_duckdb(system.lake(), [tables.TERM_WEIGHTS]) as connection:
        wrong, total = connection.execute(
            "SELECT count(*) FILTER (weight <= 0 OR weight > documents * 1.001 OR weight > stories), count(*)"
            " FROM gold_term_weights"
        ).fetchall()[0]
    return dg.AssetCheckResult(passed=not wrong, metadata={"rows": int(total), "wrong": int(wrong)})


@dg.asset_check(asset=_key(tables.ENTITIES), description="every name has the support that makes it one")
def names_are_supported(system: dg.ResourceParam[System]) -> dg.AssetCheckResult:
    """A candidate of fewer publishers or stories got in around the rule."""
    with lakes.connect_duckdb(system.lake(), [tables.ENTITIES]) as connection:
        pairs = connection.execute("SELECT publishers, stories FROM gold_entities").fetchall()
    wrong = sum(not supported(publishers, stories) for publishers, stories in pairs)
    return dg.AssetCheckResult(passed=not wrong, metadata={"names": len(pairs), "unsupported": wrong})


def _one(connection: duckdb.DuckDBPyConnection, query: str) -> int:
    return int(connection.execute(query).fetchall()[0][0])
