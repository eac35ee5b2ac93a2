"""Reader vectors' projection and the slow part of reader profiles.

`fit_projections` keeps the 64 directions in which an encoder's article vectors vary most (uncentred SVD, so that
cosines are kept); it refits only when the articles have doubled, because each version costs readers their vector sums.
`build` folds 90 days of clicks and events with the domain's `fold`, reader by reader in Spark, and records exactly
which offsets went in: the watermark of the rows read, not a time.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from batch.bronze import watermark
from batch.schemas import ddl
from batch.silver import parsed
from frontpage.adapters import lake as lakes
from frontpage.adapters.lake import Lake
from frontpage.contracts import profiles as rows_of
from frontpage.contracts.reader_events import Click, ReaderEvent
from frontpage.contracts.tables import ARTICLES, BRONZE, READER_PROFILES, VECTOR_PROJECTION
from frontpage.contracts.vectors import DIMENSIONS as SIZES
from frontpage.domain.ids import digest
from frontpage.domain.profile import (
    DIMENSIONS,
    Floats,
    Profile,
    ProfileEvent,
    SlowProfile,
    default_projection,
    default_projection_version,
    fold,
    project,
)

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession

#: Personalised-feed document: the slow part is made from 90 days of clicks.
HISTORY: Final = 90 * 86_400.0
#: Fewer article vectors than this do not say in which directions news varies; the fixed projection stays.
MIN_VECTORS: Final = 256
#: Vectors that a fit reads at most, chosen by the hash of their article: 20,000 x 512 float32 are 40 MB.
MAX_VECTORS: Final = 20_000
#: An id weighs less than this share of one engagement: it is left out of the stored profile.
NEGLIGIBLE: Final = 1e-3
_KINDS: Final = ("read", "dwell", "follow", "unfollow", "hide", "unhide", "delete")


def fit(vectors: Floats) -> tuple[Floats, float]:
    """(matrix float32 [d, 64], share of variance kept) of unit rows [n, d]; signs fixed, so equal input, equal output.

    Encoders with fewer than 64 dimensions get zero columns.
    """
    gram = vectors.T.astype(np.float64) @ vectors.astype(np.float64)
    values, directions = np.linalg.eigh(gram)
    order = np.argsort(-values)[:DIMENSIONS]
    chosen = directions[:, order]
    chosen *= np.sign(chosen[np.argmax(np.abs(chosen), axis=0), np.arange(chosen.shape[1])])
    matrix = np.zeros((vectors.shape[1], DIMENSIONS), dtype=np.float32)
    matrix[:, : chosen.shape[1]] = chosen
    return matrix, float(values[order].sum() / max(float(values.sum()), 1e-12))


def comparable(packed: Sequence[bytes], encoder: str) -> Floats:
    """float32 [n, d]: the vectors of the encoder's size (of most vectors', where it is not known) that are numbers.

    The lake keeps what was on the topic, also what the speed layer refused.
    """
    usual = Counter(map(len, packed)).most_common(1)[0][0] if packed else 0
    width = 4 * SIZES[encoder] if encoder in SIZES else usual
    found = [np.frombuffer(value, dtype="<f4") for value in packed if len(value) == width]
    finite = [vector for vector in found if np.isfinite(vector).all()]
    return np.stack(finite) if finite else np.zeros((0, width // 4), dtype=np.float32)


def fit_projections(spark: SparkSession, lake: Lake, now: float, *, force: bool = False) -> dict[str, str]:
    """Fit where an encoder has none or its articles have doubled; {encoder: current version} after it."""
    from pyspark.sql import functions as F

    articles = lakes.read(spark, lake, ARTICLES).where(F.col("encoder").isNotNull() & F.col("vector").isNotNull())
    current = {encoder: (version, fitted) for version, encoder, _, fitted in _current(spark, lake)}
    for row in articles.groupBy("encoder").count().collect():
        encoder, number = row["encoder"], int(row["count"])
        if number < MIN_VECTORS or (not force and encoder in current and number < 2 * current[encoder][1]):
            continue
        sample = articles.where(F.col("encoder") == encoder).orderBy(F.xxhash64("article_id")).limit(MAX_VECTORS)
        packed = [bytes(r["vector"]) for r in sample.select("vector").collect()]
        vectors = comparable(packed, encoder)
        if len(vectors) < MIN_VECTORS:
            continue
        matrix, explained = fit(vectors)
        version = f"{encoder}/svd64@{digest(matrix.tobytes().hex(), 8)}"
        fitted = (version, encoder, int(matrix.shape[0]), matrix.astype("<f4").tobytes(), number, explained, now)
        schema = ", ".join(f"`{column.name}` {column.type}" for column in VECTOR_PROJECTION.columns)
        lakes.write(spark, lake, VECTOR_PROJECTION, spark.createDataFrame([fitted], schema))
    return {encoder: version for version, encoder, _, _ in _current(spark, lake)}


def projections(spark: SparkSession, lake: Lake) -> dict[str, dict[str, Floats]]:
    """{encoder: {version: matrix}}: the current and the one before, so that a change of version loses no reader."""
    found: dict[str, dict[str, Floats]] = {}
    table = lakes.read(spark, lake, VECTOR_PROJECTION).orderBy("at", ascending=False)
    for row in table.collect():
        versions = found.setdefault(row["encoder"], {})
        if len(versions) < 2:
            flat = np.frombuffer(bytes(row["matrix"]), dtype="<f4").astype(np.float32)
            versions[row["version"]] = flat.reshape(int(row["dimension"]), DIMENSIONS)
    return found


def events(spark: SparkSession, lake: Lake, now: float) -> tuple[DataFrame, dict[str, int]]:
    """The profile events of the last 90 days with their article's signals, and the watermark of what was read."""
    from pyspark.sql import functions as F

    bronze = {name: lakes.read_pinned(spark, lake, BRONZE[name][0]) for name in ("clicks", "events")}
    covered = {key: offset for rows in bronze.values() for key, offset in watermark(rows).items()}
    click, event = parsed(bronze["clicks"], ddl(Click)), parsed(bronze["events"], ddl(ReaderEvent))
    place = ("topic", "partition", "offset")
    clicked = click.where(F.col("e.counted")).select(
        *place, F.lit("click").alias("kind"), "e.at", F.col("e.click_id").alias("event_id"), "e.reader", "e.article_id",
        "e.story_id", "e.publisher_id", F.lit(None).cast("double").alias("dwell_seconds"),
        F.lit("").alias("target_kind"), F.lit("").alias("target_id"),
    )  # fmt: skip
    acted = event.where(F.col("e.kind").isin(*_KINDS)).select(
        *place, "e.kind", "e.at", "e.event_id", "e.reader", "e.article_id", "e.story_id", "e.publisher_id",
        "e.dwell_seconds", F.coalesce("e.target_kind", F.lit("")).alias("target_kind"),
        F.coalesce("e.target_id", F.lit("")).alias("target_id"),
    )  # fmt: skip
    switches = F.col("kind").isin("follow", "unfollow", "hide", "unhide", "delete")
    recent = clicked.unionByName(acted).where(F.col("reader").isNotNull() & (switches | (F.col("at") >= now - HISTORY)))
    signals = lakes.read(spark, lake, ARTICLES).select(
        "article_id", "topics", "entities", "sections", "encoder", "vector"
    )
    return recent.join(signals, "article_id", "left"), covered


def build(spark: SparkSession, lake: Lake, now: float) -> int:
    """Upsert the profile of every reader with events; number of profiles."""
    joined, covered = events(spark, lake, now)
    matrices = projections(spark, lake)

    def apply(group: pd.DataFrame) -> pd.DataFrame:
        import pandas as pd

        reader = str(group["reader"].iloc[0])
        profile = fold((event_of(row, matrices) for row in group.to_dict("records")), now)
        stored = rows_of.slow_to_json(SlowProfile(reader, _trimmed(profile), covered, now)).decode()
        on = sum(register.on for register in profile.registers.values())
        row = (reader, now, profile.engagements, sorted(profile.vectors), on, covered, stored)
        return pd.DataFrame([row], columns=READER_PROFILES.column_names())

    schema = ", ".join(f"`{column.name}` {column.type}" for column in READER_PROFILES.columns)
    with lakes.cached(joined.groupBy("reader").applyInPandas(apply, schema)) as profiles:
        lakes.write(spark, lake, READER_PROFILES, profiles)
        return int(profiles.count())


def event_of(row: Mapping[str, Any], matrices: Mapping[str, Mapping[str, Floats]]) -> ProfileEvent:
    """A joined row as the domain folds it; null columns are empty."""
    encoder, packed = row["encoder"], row["vector"]
    vectors = {}
    if isinstance(encoder, str) and packed is not None:
        vector = np.frombuffer(bytes(packed), dtype="<f4").astype(np.float32)
        vectors = project_all(encoder, vector, matrices.get(encoder, {}))
    dwell = row["dwell_seconds"]
    return ProfileEvent(
        row["topic"], int(row["partition"]), int(row["offset"]), row["kind"], float(row["at"]), row["event_id"],
        row["article_id"] or "", row["story_id"] or "", row["publisher_id"] or "", _names(row["topics"]),
        _names(row["entities"]), _names(row["sections"]), vectors,
        None if dwell is None or math.isnan(dwell) else float(dwell), row["target_kind"], row["target_id"],
    )  # fmt: skip


def project_all(encoder: str, vector: Floats, fitted: Mapping[str, Floats]) -> dict[str, Floats]:
    """`vector` under each fitted projection of its encoder; under the fixed one while there is none."""
    known = dict(fitted) or {default_projection_version(encoder): default_projection(encoder, len(vector))}
    return {version: project(vector, matrix) for version, matrix in known.items() if matrix.shape[0] == len(vector)}


def _names(values: Any) -> tuple[str, ...]:
    return () if values is None or isinstance(values, float) else tuple(str(value) for value in values)


def _trimmed(profile: Profile) -> Profile:
    """Without ids that weigh next to nothing, so that a stored profile stays at about 5 kB."""
    kept = {k: {id: v for id, v in sums.items() if v >= NEGLIGIBLE} for k, sums in profile.affinities.items()}
    return replace(profile, affinities=kept)


def _current(spark: SparkSession, lake: Lake) -> list[tuple[str, str, int, int]]:
    """(version, encoder, dimension, fitted_on) of the newest projection of each encoder."""
    from pyspark.sql import functions as F

    table = lakes.read(spark, lake, VECTOR_PROJECTION)
    newest = table.groupBy("encoder").agg(F.max_by(F.struct("version", "dimension", "fitted_on"), "at").alias("n"))
    return [
        (r["n"]["version"], r["encoder"], int(r["n"]["dimension"]), int(r["n"]["fitted_on"])) for r in newest.collect()
    ]
