"""Silver to `gold/entities`: names learnt from what independent publishers write in headlines and snippets.

A candidate (`domain/name_candidates.py`) that enough publishers use in enough stories is a name (`domain/names.py`).
Copies do not count: a reprint is no second voice. The dictionary grows: a name once learnt stays for `KEPT` after it
was last seen, and its spelling follows its use.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from frontpage.adapters import lake as lakes
from frontpage.adapters.lake import Lake
from frontpage.contracts.tables import ARTICLES, ENTITIES, STORY_MEMBERS
from frontpage.domain.ids import digest
from frontpage.domain.name_candidates import candidates
from frontpage.domain.names import LARGEST, Entry, form, supported

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession

#: Seconds of articles that are read, as long as term weights look back; and how long a name outlives its last use.
WINDOW: Final = 30 * 86_400.0
KEPT: Final = 365 * 86_400.0
_FOUND: Final = (
    "language STRING, key STRING, name STRING, alone BOOLEAN, publisher_id STRING, story_id STRING, seen DOUBLE"
)


def found(spark: SparkSession, lake: Lake, now: float) -> DataFrame:
    """Each candidate of each original article of the last `WINDOW`, columns as in `_FOUND`."""
    from pyspark.sql import functions as F

    members = lakes.read(spark, lake, STORY_MEMBERS).where(F.col("copy_of").isNull()).select("article_id", "story_id")
    articles = (
        lakes.read(spark, lake, ARTICLES)
        .where((F.col("first_seen_at") >= now - WINDOW) & F.col("syndicated_from").isNull())
        .select("article_id", "language", "title", "snippet", "publisher_id", F.col("first_seen_at").alias("seen"))
    )
    return articles.join(members, "article_id").mapInPandas(_candidates, _FOUND)


def build(spark: SparkSession, lake: Lake, now: float) -> int:
    """Bring the table up to date; rows. Names not seen for `KEPT` leave it."""
    from pyspark.sql import functions as F

    keep = F.udf(supported, "boolean", useArrow=False)
    learnt = (
        found(spark, lake, now)
        .groupBy("language", "key", "alone")
        .agg(
            F.mode("name", deterministic=True).alias("name"),
            F.count_distinct("publisher_id").alias("publishers"),
            F.count_distinct("story_id").alias("stories"),
            F.max("seen").alias("seen_at"),
        )
        .where(keep("publishers", "stories"))
        .withColumn("learnt_at", F.lit(now))
        .withColumn("at", F.lit(now))
    )
    before = lakes.read(spark, lake, ENTITIES).where(F.col("seen_at") >= now - KEPT)
    since = before.select("language", "key", "alone", F.col("learnt_at").alias("_since"))
    keys = ["language", "key", "alone"]
    fresh = (
        learnt.join(since, keys, "left")
        .withColumn("learnt_at", F.least("learnt_at", F.coalesce("_since", "learnt_at")))
        .drop("_since")
    )
    grown = fresh.unionByName(before.join(fresh.select(keys), keys, "left_anti"))
    with lakes.cached(grown) as rows:
        rows.count()  # computed before the table it is read from is replaced
        return lakes.replace(spark, lake, ENTITIES, rows)


def _candidates(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    import pandas as pd

    columns = ["language", "key", "name", "alone", "publisher_id", "story_id", "seen"]
    for batch in batches:
        rows = [
            (row.language, form(name, row.language), name, alone, row.publisher_id, row.story_id, row.seen)
            for row in batch.itertuples()
            for name, alone in candidates(row.title or "", row.snippet or "", row.language or "").items()
        ]
        yield pd.DataFrame(rows, columns=columns)


def dictionaries(rows: Iterable[dict[str, Any]]) -> dict[str, tuple[str, list[Entry]]]:
    """The rows of `gold/entities` by language: a version by its content, and the entries, most stories first."""
    by_language: dict[str, list[Entry]] = {}
    for row in rows:
        entry = Entry(row["name"], row["publishers"], row["stories"], row["alone"])
        by_language.setdefault(row["language"], []).append(entry)
    result = {}
    for language, entries in sorted(by_language.items()):
        entries.sort(key=lambda entry: (-entry.stories, -entry.publishers, entry.name, entry.alone))
        kept = entries[:LARGEST]
        content = digest("\n".join(f"{entry.name}\t{entry.alone}" for entry in sorted(kept, key=_by_name)), 12)
        result[language] = (f"names-{language}-{content}", kept)
    return result


def _by_name(entry: Entry) -> tuple[str, bool]:
    return entry.name, entry.alone
