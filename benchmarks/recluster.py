"""Minutes that the 48-hour re-clustering takes for so many articles of one language, and how they grow.

    python -m benchmarks.recluster [--sizes 50000,100000,200000,400000]

Articles are made by `benchmarks/story_generator.py` as records of `bronze/articles` in a lake of this run's own; the
stories that they are said to be in are the generator's labels. The job is the one that Dagster runs, on an embedded
Spark of two cores (`local[2]`), from reading bronze to both gold tables written.

minutes_N is that job's time for N articles; growth is the exponent of time by articles, the slope of the least-squares
line through their logarithms from the smallest to the largest size (without a second size there is none).
f1_N, precision_N, recall_N are B-cubed of the labels against the groups found, as `gold/recluster_agreement` has them.
They say that the work was done; the generated stream is easier than real news (docs/generated-stories.md).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console

from batch import recluster
from benchmarks import story_generator
from benchmarks.harness import HERE, judge, record
from frontpage.adapters import lake as lakes
from frontpage.adapters.lake import Lake
from frontpage.adapters.services import jars
from frontpage.adapters.spark import SparkConfig, session
from frontpage.contracts.events import ArticleCard, ArticleEvent
from frontpage.contracts.story_codec import to_signals
from frontpage.contracts.tables import BRONZE, RECLUSTER_AGREEMENT, STORY_MEMBERS
from frontpage.settings import Settings

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import SparkSession

SIZES = (50_000, 100_000, 200_000, 400_000)
#: Articles of a run that is not counted.
WARM = 1_000
#: The end of the stream: all of its articles are in the window.
NOW = story_generator.START + story_generator.SPAN
#: The JVM, which holds the window's signals until it spills them.
HEAP = "4g"
_MADE = "article_id STRING, story_id STRING, value BINARY, `offset` BIGINT"


def record_of(article: Any) -> bytes:
    """The record on `articles.normalised` of a generated article."""
    card = ArticleCard(
        article_id=article.article_id, version=1, url=f"https://{article.publisher_id}/{article.article_id}",
        title=article.title, publisher_id=article.publisher_id, publisher=article.publisher_id,
        domain=article.publisher_id, language=article.language, first_seen_at=article.at,
    )  # fmt: skip
    event = ArticleEvent(card=card, signals=to_signals(article), content_hash=article.article_id, fetched_url=card.url)
    return event.encode()


def made(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Rows (id: number of a chunk) -> its articles with their labels."""
    import pandas as pd

    for batch in batches:
        for number in batch["id"]:
            found = story_generator.chunk(int(number))
            yield pd.DataFrame({
                "article_id": [article.article_id for article, _ in found],
                "story_id": [label for _, label in found],
                "value": [record_of(article) for article, _ in found],
                "offset": np.arange(len(found)) + number * story_generator.CHUNK,
            })  # fmt: skip


def fill(spark: SparkSession, lake: Lake, articles: int) -> None:
    """Bronze and the writers' members as they would be after so many articles."""
    from pyspark.sql import functions as F

    chunks = -(-articles // story_generator.CHUNK)
    raw, topic = BRONZE["articles"]
    path = f"{lake.uri}/made"
    spark.range(0, chunks, 1, min(chunks, 64)).mapInPandas(made, _MADE).write.parquet(path)
    rows = spark.read.parquet(path).where(F.col("offset") < articles)
    given = {
        "topic": F.lit(topic.name), "partition": F.lit(0), "kafka_at": F.timestamp_seconds(F.lit(NOW)),
        "schema_name": F.lit(topic.name), "day": F.to_date(F.timestamp_seconds(F.lit(NOW))),
    }  # fmt: skip
    _append(spark, lake, raw, rows.select("value", "offset", *[value.alias(name) for name, value in given.items()]))
    _append(
        spark, lake, STORY_MEMBERS,
        rows.select("article_id", "story_id", F.lit("en").alias("language"), F.lit(False).alias("story_closed")),
    )  # fmt: skip


def _append(spark: SparkSession, lake: Lake, table: Any, rows: Any) -> None:
    path = lakes.ensure(spark, lake, table)
    spark.createDataFrame([], spark.read.format("delta").load(path).schema).unionByName(
        rows, allowMissingColumns=True
    ).write.format("delta").mode("append").save(path)


def measure(spark: SparkSession, lake: Lake, articles: int) -> dict[str, float]:
    """Figures of one size."""
    began = time.perf_counter()
    recluster.build(spark, lake, NOW)
    minutes = (time.perf_counter() - began) / 60
    (row,) = lakes.read(spark, lake, RECLUSTER_AGREEMENT).collect()
    if row["articles"] != articles:
        raise SystemExit(f"{row['articles']} of {articles} articles were in the window")
    figures = {"minutes": minutes, **{name: row[name] for name in ("f1", "precision", "recall")}}
    return {f"{name}_{articles}": float(value) for name, value in figures.items()}


def growth(figures: dict[str, float], sizes: list[int]) -> dict[str, float]:
    """Exponent of minutes by articles, as a figure; none for less than two sizes."""
    if len(sizes) < 2:
        return {}
    minutes = [figures[f"minutes_{size}"] for size in sizes]
    return {"growth": float(np.polyfit(np.log(sizes), np.log(minutes), 1)[0])}


def main() -> int:
    """Fill a lake for each size, re-cluster it, print and record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="articles, separated by commas")
    sizes = sorted({int(size) for size in parser.parse_args().sizes.split(",")})
    console, figures, done = Console(), dict[str, float](), list[int]()
    with tempfile.TemporaryDirectory(prefix="frontpage-recluster-") as directory:
        spark_jars = jars.spark_jars(Settings().cache)
        spark = session(
            SparkConfig(jars=spark_jars, master="local[2]", driver_memory=HEAP, scratch=Path(directory) / "spark")
        )
        # the first job of a session pays for starting workers and compiling: not the sizes'
        for turn, size in enumerate((WARM, *sizes)):
            lake = Lake(f"{directory}/{turn}")
            fill(spark, lake, size)
            found = measure(spark, lake, size)
            if turn:
                done.append(size)
                figures |= found | growth(figures | found, done)
                console.print({name: round(value, 3) for name, value in found.items()})
                # after each size: a run that is stopped at a large one has told what the others took
                record("recluster", figures, f"local[2], one language within 48 hours; asked {sizes}, run {done}")
        spark.stop()
    _, broken = judge("recluster", figures, console, HERE / "targets.toml")
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
