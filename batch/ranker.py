"""Training and registry of the personal ranker: LightGBM LambdaRank over `gold/rank_training`.

Reads the table without Spark (Arrow), so the same functions serve the nightly asset and `frontpage train ranker`. A
trained model is a row of `gold/models` with its figures beside the fallback's on the same test requests; it becomes
current by itself only when it beats the fallback, else a person promotes it. Serving gets it from `publish.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from frontpage.adapters import lake as lakes
from frontpage.adapters.lake import Lake
from frontpage.contracts.tables import MODELS, RANK_TRAINING
from frontpage.domain.features import FEATURES_VERSION, INDEX, NAMES
from frontpage.domain.ids import digest
from frontpage.domain.profile import Doubles, Floats
from frontpage.domain.training import Ints, auc, group_sizes, ndcg, position_weights
from frontpage.errors import NotFound

#: With fewer clicks than this a model of 29 features only learns noise.
MIN_CLICKS: Final = 50
#: 100 small trees score 1,000 rows in about 2.3 ms (measured, one thread), within serving's budget.
PARAMETERS: Final[dict[str, Any]] = {
    "objective": "lambdarank", "num_leaves": 15, "learning_rate": 0.08, "min_data_in_leaf": 20, "feature_fraction": 0.8,
    "bagging_fraction": 0.8, "bagging_freq": 1, "lambda_l2": 1.0, "seed": 7, "deterministic": True, "num_threads": 2,
    "force_row_wise": True, "verbosity": -1, "label_gain": [0, 1],
}  # fmt: skip
ROUNDS: Final = 100


class TooFewClicks(NotFound):
    """There is not enough to learn from yet. Serving goes on with the fallback; train again when readers have read."""


@dataclass(frozen=True, slots=True)
class Examples:
    """Rows grouped by request, requests in time order; `features` float32 [n, len(REGISTRY)]."""

    features: Floats
    labels: Ints
    ranks: Ints
    requests: Any

    @property
    def sizes(self) -> list[int]:
        """Rows per request."""
        return group_sizes(self.requests)


def load(lake: Lake, split: str) -> Examples:
    """The "train" or "test" rows of the present registry version."""
    table = lakes.read_arrow(lake, RANK_TRAINING).to_pandas()
    rows = table[(table["split"] == split) & (table["features_version"] == FEATURES_VERSION)]
    starts = rows.groupby("request")["at"].transform("min")
    rows = rows.assign(_start=starts).sort_values(["_start", "request", "rank", "event_id"])
    features = np.array([np.asarray(f, dtype=np.float32) for f in rows["features"]], dtype=np.float32)
    return Examples(
        features.reshape(len(rows), len(NAMES)),
        rows["clicked"].to_numpy(dtype=np.int64),
        rows["rank"].fillna(1).to_numpy(dtype=np.int64),
        rows["request"].to_numpy(dtype=str),
    )


def evaluate(scores: Doubles, examples: Examples) -> dict[str, float]:
    """AUC and position-corrected NDCG@10 of `scores`; a figure that the rows cannot give is left out."""
    weights = position_weights(examples.ranks)
    figures = {
        "auc": auc(scores, examples.labels),
        "ndcg10": ndcg(scores, examples.labels, examples.sizes, weights=weights),
    }
    return {name: value for name, value in figures.items() if value is not None}


def compare(model_text: str, examples: Examples) -> dict[str, float]:
    """Figures of the model, of the fallback score and of the order served, on the same rows."""
    import lightgbm

    booster = lightgbm.Booster(model_str=model_text)
    model = np.asarray(booster.predict(examples.features, num_threads=1), dtype=np.float64)
    fallback = examples.features[:, INDEX["fallback"]].astype(np.float64)
    served = -examples.ranks.astype(np.float64)
    figures = {"rows": float(len(examples.labels)), "clicks": float(examples.labels.sum())}
    for name, scores in (("model", model), ("fallback", fallback), ("served", served)):
        figures |= {f"{name}_{figure}": value for figure, value in evaluate(scores, examples).items()}
    return figures


def train(lake: Lake, now: float) -> dict[str, Any]:
    """Train on the "train" rows, judge on the "test" rows; the row for `gold/models`. Raises TooFewClicks."""
    import lightgbm

    rows, test = load(lake, "train"), load(lake, "test")
    clicks = int(rows.labels.sum())
    if clicks < MIN_CLICKS:
        raise TooFewClicks(f"{clicks} clicked impressions to learn from, {MIN_CLICKS} are needed")
    data = lightgbm.Dataset(
        rows.features, rows.labels, group=rows.sizes, feature_name=list(NAMES), free_raw_data=True,
        weight=np.where(rows.labels == 1, position_weights(rows.ranks), 1.0),
    )  # fmt: skip
    text = lightgbm.train(PARAMETERS, data, num_boost_round=ROUNDS).model_to_string()
    metrics = compare(text, test)
    better = metrics.get("model_ndcg10", 0.0) > metrics.get("fallback_ndcg10", 0.0)
    return {
        "version": f"ranker-{int(now)}-{digest(text, 8)}", "kind": "ranker", "features_version": FEATURES_VERSION,
        "names": list(NAMES), "model_text": text, "metrics": metrics, "trained_on": len(rows.labels), "at": now,
        "stage": "current" if better else "candidate", "changed_at": now,
    }  # fmt: skip


def register(spark: Any, lake: Lake, row: dict[str, Any]) -> None:
    """Write a trained model; one that is current retires the others."""
    _write(spark, lake, [row])
    if row["stage"] == "current":
        promote(spark, lake, row["version"], row["changed_at"])


def promote(spark: Any, lake: Lake, version: str, now: float) -> None:
    """Make `version` the current model of its kind (and encoder) and retire the one before. Raises NotFound."""
    rows = models(lake)
    chosen = next((row for row in rows if row["version"] == version), None)
    if chosen is None:
        raise NotFound(f"no model {version}; `frontpage models list` shows them")
    rows = [row for row in rows if _place(row) == _place(chosen)]
    changed = []
    for row in rows:
        stage = "current" if row["version"] == version else "retired" if row["stage"] == "current" else row["stage"]
        if stage != row["stage"]:
            changed.append({**row, "stage": stage, "changed_at": max(now, row["changed_at"] + 1e-3)})
    if changed:
        _write(spark, lake, changed)


def models(lake: Lake) -> list[dict[str, Any]]:
    """Rows of `gold/models`, newest first; [] when there is no table."""
    from deltalake.exceptions import TableNotFoundError

    try:
        rows: list[dict[str, Any]] = lakes.read_arrow(lake, MODELS).to_pylist()
    except TableNotFoundError:
        return []
    for row in rows:
        row["metrics"] = dict(row["metrics"] or [])
    return sorted(rows, key=lambda row: -row["at"])


def current(lake: Lake, kind: str = "ranker") -> dict[str, Any] | None:
    """The row of the current ranker, or the newest current one of another kind."""
    return next((row for row in models(lake) if row["kind"] == kind and row["stage"] == "current"), None)


def _place(row: dict[str, Any]) -> tuple[str, str]:
    """What only one current model fills: the ranker's, whatever its features, or the sections' of an encoder."""
    return row["kind"], "" if row["kind"] == "ranker" else row["features_version"]


def _write(spark: Any, lake: Lake, rows: list[dict[str, Any]]) -> None:
    schema = ", ".join(f"`{column.name}` {column.type}" for column in MODELS.columns)
    values = [tuple(row[name] for name in MODELS.column_names()) for row in rows]
    lakes.write(spark, lake, MODELS, spark.createDataFrame(values, schema))
