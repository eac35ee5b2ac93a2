"""What the generated stream has in common with the labelled sets: quantiles of story sizes and of likeness.

    FRONTPAGE_DATASETS=DIR python -m benchmarks.story_likeness

Prints, for each labelled English set and for the generator, the quantiles that `docs/generated-stories.md` shows: the
size of a story, cosine of vectors and TF-IDF cosine of title and lead (the scorer's own features `dense`, `head`,
`title`, `terms`), of two originals of a story, of two articles of different stories, and of an article and the nearest
article of another story; and the share of pairs of a story that are copies. The sets' texts are read, never kept.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks import datasets
from benchmarks.story_generator import generate
from frontpage.adapters.encoder import MiniLmEncoder
from frontpage.adapters.story_models import policy_for
from frontpage.domain.article import ArticleSignals
from frontpage.domain.copies import sure
from frontpage.domain.similarity import FEATURES

SETS: Final = ("ground", "allsides", "neus", "basil")
COLUMNS: Final = ("dense", "head", "title", "terms")
QUANTILES: Final = (0.05, 0.25, 0.5, 0.75, 0.95)
#: Articles of a set that are compared, and those of them that look for their nearest: enough for two digits.
MOST, LOOKING = 600, 150


def describe(articles: Sequence[ArticleSignals], labels: Sequence[str]) -> dict[str, list[float]]:
    """Quantiles by name: `size`, and `within`, `apart` and `near` of each column; `copies`, `long`: shares."""
    scorer = policy_for("en").scorer
    prepared = [scorer.prepare(article) for article in articles]
    stories: dict[str, list[int]] = defaultdict(list)
    for at, label in enumerate(labels):
        stories[label].append(at)
    found: dict[str, list[float]] = {"size": _quantiles([len(members) for members in stories.values()])}
    chance = np.random.default_rng(11)
    within, copies, pairs = [], 0, 0
    for members in stories.values():
        some = [prepared[at] for at in members[:12]]
        for at in range(1, len(some)):
            table = scorer.features(some[at], some[:at])
            alike = np.array([sure(some[at].article, other.article) for other in some[:at]])
            copies, pairs = copies + int(alike.sum()), pairs + len(alike)
            within.append(_columns(table[~alike]))
    apart, near = [], []
    for at in chance.choice(len(prepared), min(LOOKING, len(prepared)), replace=False).tolist():
        others = [other for other in range(len(prepared)) if labels[other] != labels[at]]
        table = _columns(scorer.features(prepared[at], [prepared[other] for other in others]))
        apart.append(table[chance.choice(len(table), min(200, len(table)), replace=False)])
        near.append(table[[int(table[:, 0].argmax())]])
    for name, tables in (("within", within), ("apart", apart), ("near", near)):
        joined = np.concatenate(tables)
        for column, values in zip(COLUMNS, joined.T, strict=True):
            found[f"{name} {column}"] = _quantiles(values)
    found["copies"] = [copies / max(pairs, 1)]
    found["long"] = [float(np.mean([article.words > 0 for article in articles]))]
    found["words"] = _quantiles([article.words for article in articles if article.words])
    found["head words"] = _quantiles([len(article.head) for article in articles])
    return found


def _columns(table: np.ndarray) -> np.ndarray:
    return table[:, [FEATURES.index(column) for column in COLUMNS]]


def _quantiles(values: Sequence[float] | np.ndarray) -> list[float]:
    return np.quantile(np.asarray(values, dtype=float), QUANTILES).round(3).tolist() if len(values) else []


def of_set(root: Path, name: str) -> dict[str, list[float]]:
    """The first articles of a labelled set, stories whole."""
    rows = datasets.load(root, name)
    encoder = MiniLmEncoder()
    rows = rows[:MOST]
    return describe(datasets.signals(rows, encoder.encode, encoder.version), [str(row["story"]) for row in rows])


def show(columns: Mapping[str, Mapping[str, list[float]]]) -> None:
    """A Markdown table, one row a figure."""
    print(f"| quantiles {' '.join(f'{q:g}' for q in QUANTILES)} |" + "".join(f" {name} |" for name in columns))
    print("|---|" + "---|" * len(columns))
    for key in next(iter(columns.values())):
        cells = (" ".join(f"{value:.3g}" for value in column[key]) for column in columns.values())
        print(f"| {key} |" + "".join(f" {cell} |" for cell in cells))


def main() -> int:
    root = datasets.folder("FRONTPAGE_DATASETS")
    columns = {name: of_set(root, name) for name in SETS}
    made = list(generate(MOST))
    columns["generated"] = describe([article for article, _ in made], [story for _, story in made])
    show(columns)
    return 0


if __name__ == "__main__":
    sys.exit(main())
