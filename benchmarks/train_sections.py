"""Trains the shipped section models (frontpage/adapters/sections_prior.json) on the sections in publishers' addresses.

    FRONTPAGE_DATASETS=... python -m benchmarks.train_sections

`sports/` in an article's address is its publisher's label, read by the same rule as everywhere (`sections_of`). Both
encoders learn from all articles that they read, MiniLM from the English ones, and from the labels themselves, as sport
and climate are rare in the addresses of the sets. What leaves the texts are weights.
The categories of `telegram_categories` are not read: they judge (`benchmarks/sections.py`).
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, Final

import numpy as np

from batch.section_training import accuracy, fit
from benchmarks import datasets
from frontpage.adapters.article_file import row_text
from frontpage.adapters.encoder import MiniLmEncoder, UseEncoder
from frontpage.adapters.section_store import PRIOR, to_text
from frontpage.domain.section_model import CLASSES, label
from frontpage.domain.sections import labels_of, sections_of

SETS: Final = ("ground", "semeval", "allsides", "neus", "basil", "uci")
#: Articles of one section of one set that are used, so that no set's taste decides.
MOST: Final = 300
#: Labels in one text of `words_of`.
HANDFUL: Final = 4


def labelled() -> list[tuple[Any, str]]:
    """Rows with the section in their address."""
    root, found, taken = datasets.folder("FRONTPAGE_DATASETS"), [], Counter[tuple[str, str]]()
    for name in SETS:
        for row in datasets.load(root, name):
            section = label(sections_of(None, row.get("url") or ""))
            if section is not None and row_text(row) and taken[name, section] < MOST:
                taken[name, section] += 1
                found.append((row, section))
    return found


def words_of(section: str, *, english: bool) -> list[str]:
    """The labels that publishers of many languages use for a section, a handful a text: what no address taught."""
    labels = [label.replace("-", " ") for label in labels_of(section) if not english or label.isascii()]
    return [", ".join(labels[at : at + HANDFUL]) for at in range(0, len(labels), HANDFUL)]


def main() -> None:
    """Train, print accuracy on a held-out fifth, write the file."""
    rows = labelled()
    print(Counter(section for _, section in rows))
    models = {}
    for encoder in (MiniLmEncoder(), UseEncoder()):
        chosen = [(r, s) for r, s in rows if encoder.dimension != 384 or (r.get("lang") or "en") == "en"]
        vectors = np.asarray(encoder.encode([row_text(row) for row, _ in chosen]), dtype=np.float32)
        labels = [section for _, section in chosen]
        seeds = [(text, name) for name in CLASSES for text in words_of(name, english=encoder.dimension == 384)]
        taught = np.asarray(encoder.encode([text for text, _ in seeds]), dtype=np.float32)
        held = np.arange(len(labels)) % 5 == 0
        names = [s for s, h in zip(labels, held, strict=True) if not h] + [name for _, name in seeds]
        judged = fit(np.concatenate([vectors[~held], taught]), names, encoder.version)
        figure = accuracy(judged, vectors[held], [s for s, h in zip(labels, held, strict=True) if h])
        print(f"{encoder.version}: {len(labels)} articles, accuracy on a held-out fifth {figure:.3f}", flush=True)
        whole = fit(np.concatenate([vectors, taught]), labels + [name for _, name in seeds], encoder.version)
        models[f"sections-{encoder.version}-shipped"] = to_text(whole)
    PRIOR.write_text(json.dumps({"version": 1, "models": models}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
