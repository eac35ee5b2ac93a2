"""Accuracy of the shipped section models on `telegram_categories`: articles with a category, English and Russian.

    FRONTPAGE_DATASETS=... python -m benchmarks.sections

Our sections stand for the set's categories as in `CATEGORY`; articles that are not news, or "other", are left out. The
publisher's own label is not used (no path is read): this is what an article without one gets. Nothing learnt from it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from benchmarks import datasets
from frontpage.adapters.article_file import row_text
from frontpage.adapters.encoder import EncoderSet
from frontpage.adapters.section_store import shipped
from frontpage.domain.section_model import SAY

#: section -> category of the set: politics, accidents and crime are its "society".
CATEGORY: Final = {
    "world": "society", "politics": "society", "business": "economy", "technology": "technology", "science": "science",
    "climate": "science", "health": "science", "sports": "sports", "entertainment": "entertainment",
}  # fmt: skip
CATEGORIES: Final = tuple(sorted(set(CATEGORY.values())))
LANGUAGES: Final = ("en", "ru")


def measure(root: Path, encoders: EncoderSet) -> dict[str, dict[str, float]]:
    """By language: `articles`, `accuracy` of the likeliest category, `said` above the bar, `right` of it (shares)."""
    rows = datasets.read(root / "telegram_categories" / "articles.jsonl.gz")
    found: dict[str, dict[str, float]] = {}
    for language in LANGUAGES:
        chosen = [row for row in rows if row["lang"] == language and row["category"] in CATEGORY.values()]
        encoder = encoders.for_language(language)
        model = shipped()[encoder.version]
        vectors = np.asarray(encoder.encode([row_text(row) for row in chosen]), dtype=np.float32)
        chances = model.probabilities(vectors)
        # A category is as likely as its sections together: a piece may be politics or world, but society for sure.
        belongs = np.array([[CATEGORY[name] == category for category in CATEGORIES] for name in model.classes])
        likely = [CATEGORIES[at] for at in np.argmax(chances @ belongs, axis=1)]
        right = np.array([guess == row["category"] for guess, row in zip(likely, chosen, strict=True)])
        said = chances.max(axis=1) >= SAY
        found[language] = {
            "articles": float(len(chosen)), "accuracy": float(right.mean()), "said": float(said.mean()),
            "right": float(right[said].mean()) if said.any() else 0.0,
        }  # fmt: skip
    return found


def table(rows: dict[str, dict[str, float]]) -> str:
    """Markdown, as in docs/sections.md."""
    lines = ["| language | articles | accuracy | said | of those right |", "|---|---|---|---|---|"]
    for language, row in rows.items():
        figures = " | ".join(f"{row[name]:.2f}" for name in ("accuracy", "said", "right"))
        lines.append(f"| {language} | {row['articles']:.0f} | {figures} |")
    return "\n".join(lines)


def main() -> None:
    """Entry point."""
    root = datasets.folder("FRONTPAGE_DATASETS")
    print(table(measure(root, EncoderSet.from_names("minilm", "use"))))


if __name__ == "__main__":
    main()
