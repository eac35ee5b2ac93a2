"""Encoders side by side: what each is worth and what it costs. The table of docs/encoders.md explains the defaults.

    FRONTPAGE_DATASETS=... python -m benchmarks.encoders

Quality: B-cubed F1 of the shipped clusterer, online, on BASIL (English) and KTLab (Vietnamese) with the encoder's
vectors, and with none (words alone); Pearson of plain cosine with minus the rating on SemEval-2022 pairs of English, of
German with English, and of Spanish. The scorers were trained for the default of their language, so a B-cubed of the
other encoder is what a change of the setting gives without training again. Cost: documents a second of processor time,
on one thread.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks import datasets
from benchmarks.evaluate import scores, story_of
from frontpage.adapters.article_file import row_signals, row_text
from frontpage.adapters.encoder import Encoder, MiniLmEncoder, UseEncoder, keep_to_one_thread
from frontpage.adapters.story_models import policy_for
from frontpage.domain.batch_clustering import cluster_all

SETS: Final = ("basil", "ktlab")
PAIRS: Final = (("en", "en"), ("de", "en"), ("es", "es"))
#: Pairs of a kind that are rated, the first of the file: encoding all takes minutes.
MOST: Final = 250


def f1(rows: Sequence[Any], encoder: Encoder | None) -> float:
    """B-cubed F1 of the shipped clusterer on a set's rows; without an encoder by words alone."""
    articles = [row_signals(row) for row in rows]
    if encoder is not None:
        vectors = encoder.encode([row_text(row) for row in rows])
        articles = [one.with_vector(v, encoder.version) for one, v in zip(articles, vectors, strict=True)]
    gold = {row["id"]: row["story"] for row in rows if row.get("story")}
    return scores(gold, story_of(cluster_all(articles, policy_for, repaired=False), gold))["b3_f1"]


def pearson(root: Path, encoder: Encoder, languages: tuple[str, str]) -> float:
    """Of cosine with minus the rating, over at most `MOST` pairs of two languages in either order."""
    rows = {row["id"]: row for row in datasets.load(root, "semeval")}
    pairs = [
        pair
        for pair in datasets.read(root / datasets.FOLDERS["semeval"] / "pairs.jsonl.gz")
        if pair.get("overall") is not None and pair["id1"] in rows and pair["id2"] in rows
        and sorted((rows[pair["id1"]]["lang"], rows[pair["id2"]]["lang"])) == sorted(languages)
    ][:MOST]  # fmt: skip
    left, right = (encoder.encode([row_text(rows[pair[side]]) for pair in pairs]) for side in ("id1", "id2"))
    cosines = np.einsum("ij,ij->i", left, right)
    return float(np.corrcoef(cosines, [-float(pair["overall"]) for pair in pairs])[0, 1])


def speed(rows: Sequence[Any], encoder: Encoder) -> float:
    """Documents a second of processor time, with the model loaded and one thread."""
    texts = [row_text(row) for row in rows]
    encoder.encode(texts[:8])
    keep_to_one_thread()
    began = time.process_time()
    encoder.encode(texts)
    return len(texts) / (time.process_time() - began)


def main() -> None:
    """Print the table."""
    root = datasets.folder("FRONTPAGE_DATASETS")
    loaded = {name: datasets.load(root, name) for name in SETS}
    heads = [f"{name} B-cubed F1" for name in SETS] + [
        f"SemEval {a}-{b}" if a != b else f"SemEval {a}" for a, b in PAIRS
    ]
    print("| encoder | " + " | ".join([*heads, "documents/s, English", "documents/s, Vietnamese"]) + " |")
    print("|---" * (len(heads) + 3) + "|")
    minilm = {kind: MiniLmEncoder(bfloat16=kind == "bfloat16") for kind in ("float32", "bfloat16")}
    named: dict[str, Encoder] = {f"{encoder.version}, {kind}": encoder for kind, encoder in minilm.items()}
    for name, encoder in {**named, UseEncoder.version: UseEncoder()}.items():
        speeds = [f"{speed(rows, encoder):.0f}" for rows in loaded.values()]
        figures = [f1(rows, encoder) for rows in loaded.values()] + [pearson(root, encoder, pair) for pair in PAIRS]
        print(f"| {name} | " + " | ".join([f"{figure:.3f}" for figure in figures] + speeds) + " |", flush=True)
    words = [f"{f1(rows, None):.3f}" for rows in loaded.values()]
    print("| none (words alone) | " + " | ".join(words + ["-"] * (len(PAIRS) + 2)) + " |")


if __name__ == "__main__":
    main()
