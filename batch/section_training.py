"""Training of the section models on articles whose publishers say the section; rows of the model registry.

Reads silver articles without Spark. Articles that a model labelled teach nothing: `sections_by` says who did.
A new model of an encoder becomes current when it beats the one in use on the latest fifth of the labelled articles.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from frontpage.adapters import lake as lakes
from frontpage.adapters.lake import Lake
from frontpage.adapters.section_store import from_text, shipped, to_text
from frontpage.contracts.tables import ARTICLES
from frontpage.domain.ids import digest
from frontpage.domain.section_model import CLASSES, SectionModel, label
from frontpage.domain.terms import Floats

#: Articles of a class below which it is not learnt, and classes below which there is no model: set by hand.
FEWEST: Final = 40
FEWEST_CLASSES: Final = 4
#: Articles of a class that are used, the latest: more cost time and teach no more of a linear model.
MOST: Final = 5_000
#: Inverse of the ridge penalty: of 3, 10 and 30 the best on `telegram_categories` in both languages (docs/sections.md).
STRENGTH: Final = 3.0
KIND: Final = "sections"


def fit(vectors: Floats, labels: list[str], encoder: str, version: str = "") -> SectionModel:
    """A model over unit vectors float32 [n, d]; classes weigh the same whatever their numbers."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=STRENGTH, class_weight="balanced", max_iter=500)
    model.fit(vectors, labels)
    return SectionModel(
        version, encoder, tuple(model.classes_), model.coef_.astype(np.float32), model.intercept_.astype(np.float32)
    )


def accuracy(model: SectionModel, vectors: Floats, labels: list[str]) -> float:
    """Share of the articles whose likeliest section is their publisher's."""
    best = np.argmax(model.probabilities(vectors), axis=1)
    return float(np.mean([model.classes[at] == name for at, name in zip(best, labels, strict=True)]))


def examples(lake: Lake) -> dict[str, tuple[Floats, list[str]]]:
    """By encoder version: vectors float32 [n, d] and labels, oldest first; classes of too few articles left out."""
    from deltalake.exceptions import TableNotFoundError

    try:
        table = lakes.read_arrow(lake, ARTICLES)
    except TableNotFoundError:
        return {}
    columns = ["sections", "sections_by", "encoder", "vector", "first_seen_at"]
    rows = [row for row in table.select(columns).to_pylist() if row["sections_by"] == "publisher" and row["vector"]]
    rows.sort(key=lambda row: row["first_seen_at"])
    by_encoder: dict[str, dict[str, list[tuple[int, bytes]]]] = {}
    for at, row in enumerate(rows):
        name = label(row["sections"] or [])
        if name is not None:
            by_encoder.setdefault(row["encoder"], {}).setdefault(name, []).append((at, row["vector"]))
    found = {}
    for encoder, classes in by_encoder.items():
        kept = sorted(
            (at, name, vector)
            for name, members in classes.items()
            if len(members) >= FEWEST
            for at, vector in members[-MOST:]
        )
        if len({name for _, name, _ in kept}) >= FEWEST_CLASSES:
            vectors = np.stack([np.frombuffer(vector, dtype="<f4") for _, _, vector in kept]).astype(np.float32)
            found[encoder] = vectors, [name for _, name, _ in kept]
    return found


def train(lake: Lake, current: Mapping[str, str], now: float) -> list[dict[str, Any]]:
    """Rows for `gold/models`, one an encoder with enough examples. `current`: model texts by encoder."""
    rows = []
    for encoder, (vectors, labels) in examples(lake).items():
        cut = len(labels) * 4 // 5
        if len(set(labels[:cut])) < FEWEST_CLASSES:
            continue
        text = current.get(encoder)
        used = from_text("current", text) if text else shipped().get(encoder)
        model = fit(vectors[:cut], labels[:cut], encoder)
        metrics = {"accuracy": accuracy(model, vectors[cut:], labels[cut:]), "rows": float(len(labels) - cut)}
        if used is not None:
            metrics["used_accuracy"] = accuracy(used, vectors[cut:], labels[cut:])
        text = to_text(model)
        rows.append({
            "version": f"{KIND}-{encoder}-{int(now)}-{digest(text, 8)}", "kind": KIND, "features_version": encoder,
            "names": [name for name in CLASSES if name in model.classes], "model_text": text, "metrics": metrics,
            "trained_on": cut, "at": now, "changed_at": now,
            "stage": "current" if metrics["accuracy"] > metrics.get("used_accuracy", 0.0) else "candidate",
        })  # fmt: skip
    return rows
