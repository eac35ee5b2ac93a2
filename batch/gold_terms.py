"""Silver to `gold/term_weights`: in how many recent stories each hashed term stands, language by language.

The first article of a story votes, with the words that the clusterer itself counts (`Clusterer._observe`): title and
first sentences, their word pairs, and the heaviest terms of the text. Terms are hashes: no text is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from frontpage.adapters import lake as lakes
from frontpage.adapters.lake import Lake
from frontpage.contracts.tables import ARTICLES, STORIES, STORY_MEMBERS, TERM_WEIGHTS
from frontpage.contracts.vectors import unpack_uint32
from frontpage.domain.ids import digest
from frontpage.domain.term_tables import ENOUGH, WINDOW, TermTable, kept, vote
from frontpage.domain.terms import distinct

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession

_VOTES: Final = "language STRING, term BIGINT, stories BIGINT, weight DOUBLE"


def stories(spark: SparkSession, lake: Lake, now: float) -> DataFrame:
    """language, created_at and the first article's words of each story that began within `WINDOW`."""
    from pyspark.sql import functions as F

    begun = lakes.read(spark, lake, STORIES).where(F.col("alias_of").isNull() & (F.col("created_at") >= now - WINDOW))
    members = lakes.read(spark, lake, STORY_MEMBERS).select("story_id", "article_id", "joined_at")
    first = (
        members.join(begun.select("story_id", "language", "created_at"), "story_id")
        .groupBy("story_id", "language", "created_at")
        .agg(F.min(F.struct("joined_at", "article_id")).alias("_first"))
        .select("language", "created_at", F.col("_first.article_id").alias("article_id"))
    )
    words = lakes.read(spark, lake, ARTICLES).select("article_id", "head", "pairs", F.map_keys("terms").alias("terms"))
    return first.join(words, "article_id")


def build(spark: SparkSession, lake: Lake, now: float) -> int:
    """Replace the table; rows."""
    from pyspark.sql import functions as F

    def votes(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for batch in batches:
            yield counted(batch, now)

    with lakes.cached(stories(spark, lake, now)) as found:
        weight = F.udf(lambda began: vote(now - began), "double", useArrow=False)
        totals = found.groupBy("language").agg(
            F.sum(weight("created_at")).alias("documents"), F.max("created_at").alias("until")
        )
        summed = (
            found.mapInPandas(votes, _VOTES)
            .groupBy("language", "term")
            .agg(F.sum("stories").alias("stories"), F.sum("weight").alias("weight"))
        )
        stands = F.udf(kept, "boolean", useArrow=False)
        rows = summed.join(F.broadcast(totals), "language").where(stands("stories", "weight", "documents"))
        return lakes.replace(spark, lake, TERM_WEIGHTS, rows.withColumn("at", F.lit(now)))


def counted(batch: pd.DataFrame, now: float) -> pd.DataFrame:
    """Votes of some stories (columns as of `stories`), summed by language and term."""
    import pandas as pd

    parts = []
    for language, group in batch.groupby("language"):
        words = [_words(row) for row in group.itertuples()]
        votes = [vote(now - began) for began in group["created_at"]]
        terms, at, number = np.unique(np.concatenate(words), return_inverse=True, return_counts=True)
        weight = np.bincount(at, weights=np.repeat(votes, [len(one) for one in words]), minlength=len(terms))
        parts.append(
            pd.DataFrame({"language": language, "term": terms.astype(np.int64), "stories": number, "weight": weight})
        )
    columns = ["language", "term", "stories", "weight"]
    return pd.concat(parts) if parts else pd.DataFrame(columns=columns)


def _words(row: Any) -> Any:
    head, pairs = (unpack_uint32(value or "") for value in (row.head, row.pairs))
    terms = np.array([int(term) for term in (row.terms if row.terms is not None else ())], dtype=np.uint32)
    return distinct([head, pairs, terms])


def tables(rows: Iterable[dict[str, Any]]) -> dict[str, TermTable]:
    """The rows of `gold/term_weights` as the domain's tables, by language; those of too few stories left out."""
    by_language: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if row["documents"] >= ENOUGH:
            by_language.setdefault(row["language"], []).append(row)
    found = {}
    for language, group in sorted(by_language.items()):
        group.sort(key=lambda row: row["term"])
        ids = np.array([row["term"] for row in group], dtype=np.uint32)
        counts = np.array([row["weight"] for row in group], dtype=np.float32)
        content = digest(f"{ids.tobytes().hex()}{counts.tobytes().hex()}", 8)
        version = f"terms-{language}-{int(group[0]['until'])}-{content}"
        found[language] = TermTable(version, group[0]["documents"], ids, counts, group[0]["until"])
    return found
