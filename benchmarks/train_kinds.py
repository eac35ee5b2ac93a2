"""Learn the shipped model of opinion style: `python -m benchmarks.train_kinds` (FRONTPAGE_DATASETS).

Writes frontpage/adapters/parse/kinds.json: one weight per signal of style (scikit-learn's logistic regression), what is
usual per language, the threshold. Nothing of a text leaves it: the numbers are means and coefficients over thousands.
Held-out publishers (`kinds.held_out`) are not read. `usual` needs reports that people wrote, so a language with fewer
than LEAST of them is not judged at all.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from benchmarks import datasets, kinds
from frontpage.adapters.parse.kind_model import FILE, VERSION, read
from frontpage.domain.kind_cues import FEATURES

#: Reports of a language from which its usual style is taken.
LEAST: Final = 40
#: The world's texts come from few templates: they show where the signals point and must not drown real ones.
WORLD_WEIGHT: Final = 0.2
STRENGTH: Final = 0.1
#: Wanted on publishers outside the fold; the threshold is the lowest of THRESHOLDS from which on it holds.
PRECISION: Final = 0.95
THRESHOLDS: Final = (0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9)

Table = Any
Row = tuple[kinds.Piece, tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class Sample:
    """Pieces with their signals relative to what is usual (float [n, signals]), labels and weights."""

    pieces: list[kinds.Piece]
    table: Table
    labels: Table
    weights: Table
    usual: dict[str, list[float]]


def main() -> None:
    """Fit, choose the threshold out of fold, fit on all training publishers, write."""
    root = datasets.folder("FRONTPAGE_DATASETS")
    sample = _sample(root)
    captured = sample.weights == 1.0
    print(f"{captured.sum()} captured texts, {sample.labels[captured].sum()} of them opinions; {len(captured)} in all")
    content = _content(_fit(sample, slice(None)), sample.usual, _threshold(sample))
    figures, _ = kinds.measure(root, read(content))
    content["held_out"] = {name: round(value, 4) for name, value in figures.items()}
    FILE.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    for name, value in figures.items():
        print(f"{name:28} {value:.4f}")


def _sample(root: Path) -> Sample:
    pieces = [piece for piece in kinds.captured(root) if not piece.held_out]
    pieces += [piece for seed in kinds.WORLDS for piece in kinds.world(seed)]
    rows = [(piece, signals) for piece in pieces if (signals := piece.signals) is not None]
    usual = _usual(rows)
    rows = [(piece, signals) for piece, signals in rows if piece.language in usual]
    return Sample(
        [piece for piece, _ in rows],
        np.array([np.subtract(signals, usual[piece.language]) for piece, signals in rows]),
        np.array([piece.opinion for piece, _ in rows]),
        np.array([WORLD_WEIGHT if piece.source == "world" else 1.0 for piece, _ in rows]),
        usual,
    )


def _usual(rows: list[Row]) -> dict[str, list[float]]:
    reports: dict[str, list[tuple[float, ...]]] = {}
    for piece, signals in rows:
        if not piece.opinion and piece.source != "world":
            reports.setdefault(piece.language, []).append(signals)
    return {
        language: [round(float(value), 4) for value in np.mean(found, axis=0)]
        for language, found in sorted(reports.items())
        if len(found) >= LEAST
    }


def _fit(sample: Sample, rows: Any) -> LogisticRegression:
    table = sample.table[rows]
    spread = table.std(axis=0) + 1e-6
    model = LogisticRegression(C=STRENGTH, max_iter=3000)
    model.fit(table / spread, sample.labels[rows], sample_weight=sample.weights[rows])
    model.coef_ = model.coef_ / spread
    return model


def _threshold(sample: Sample) -> float:
    """The lowest threshold at which, and above which, the flags of unseen publishers are right often enough."""
    groups = [piece.publisher for piece in sample.pieces]
    flags: dict[float, list[bool]] = {at: [] for at in THRESHOLDS}
    for seen, unseen in GroupKFold(5).split(sample.table, sample.labels, groups):
        model = _fit(sample, seen)
        own = [sample.pieces[row] for row in unseen if sample.weights[row] == 1.0]
        for at in THRESHOLDS:
            judge = read(_content(model, sample.usual, at))
            flags[at] += [piece.opinion for piece in kinds.score(own, judge)[1]]
    chosen = THRESHOLDS[-1]
    for at in reversed(THRESHOLDS):
        right, all_ = sum(flags[at]), len(flags[at])
        print(f"threshold {at:.2f}: {right} of {all_} flags right")
        if all_ and right / all_ < PRECISION:
            break
        chosen = at
    return chosen


def _content(model: LogisticRegression, usual: dict[str, list[float]], threshold: float) -> dict[str, Any]:
    return {
        "version": VERSION,
        "about": "Opinion by style: fitted numbers only, no text. How: benchmarks/train_kinds.py. The sets and their "
        "licences: docs/sources.md.",
        "sets": sorted(kinds.FOLDERS.values()),
        "features": list(FEATURES),
        "weights": [round(float(value), 4) for value in model.coef_[0]],
        "bias": round(float(model.intercept_[0]), 4),
        "threshold": threshold,
        "usual": usual,
    }


if __name__ == "__main__":
    main()
