"""The labelled sets as rows and signals, for training and evaluation. Texts stay in memory; nothing is written back.

A row is what `frontpage cluster` reads: id, title, text, url, publisher, lang, published_at; and `story`, its label.
Times are nulled where they give the label away (UCI crawl times, AllSides round-up times; see the sets' notes).
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from frontpage.adapters.article_file import row_signals, row_text
from frontpage.domain.article import ArticleSignals

Row = dict[str, Any]
FOLDERS: Final = {
    "ground": "ground_news_aug2025",
    "allsides": "allsides_roundups_2021",
    "neus": "neus_allsides_triples",
    "basil": "basil_triples",
    "ktlab": "ktlab_vi_200",
    "uci": "uci_news_aggregator_head",
    "semeval": "semeval2022_task8",
}
#: Sets whose times identify the story.
LEAKING: Final = frozenset({"uci", "allsides"})

#: One event under two labels (known noise of the ground set): counted as one story in the `one_label` figures.
ONE_EVENT: Final = {"gn-67f8c7d88b": "gn-4b3badfada", "gn-7ecbcaf6f2": "gn-0dda41afc1"}


def folder(variable: str) -> Path:
    """The directory named by an environment variable; exits with one clear line when it is missing."""
    value = os.environ.get(variable)
    if not value or not Path(value).is_dir():
        raise SystemExit(f"{variable} must name the directory of the labelled data (see CONTRIBUTING.md)")
    return Path(value)


def read(path: Path) -> list[Row]:
    """Rows of a .jsonl or .jsonl.gz file."""
    opener: Any = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream if line.strip()]


def load(root: Path, name: str) -> list[Row]:
    """A set's articles in file order, leaking times nulled."""
    rows = read(root / FOLDERS[name] / "articles.jsonl.gz")
    return [{**row, "published_at": None} for row in rows] if name in LEAKING else rows


def signals(rows: Sequence[Row], encode: Callable[[list[str]], Any], version: str) -> list[ArticleSignals]:
    """Signals with vectors, in the order of rows."""
    vectors = np.asarray(encode([row_text(row) for row in rows]), dtype=np.float32)
    return [row_signals(row).with_vector(vectors[at], version) for at, row in enumerate(rows)]


def without_time(articles: Sequence[ArticleSignals]) -> list[ArticleSignals]:
    """The same articles at unknown times."""
    return [replace(article, at=None) for article in articles]
