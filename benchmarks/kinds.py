"""How well opinion is told from report by style alone, on publishers that the model has not seen.

    python -m benchmarks.kinds [DATASETS] [--list]

The labels are silver: what AllSides' editors and publishers' own paths call opinion, corrected by reading where
`kind_labels.toml` says so (addresses as digests, no texts). The sample world's truth is the second source. Publishers
are split by digest: a third is held out, and `train_kinds` never sees it. Only figures leave this module.
"""

from __future__ import annotations

import hashlib
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from benchmarks import datasets
from data_samples.world import build
from frontpage.adapters.parse.kind_model import opinion_model
from frontpage.domain.hosts import registrable_domain
from frontpage.domain.kind_cues import StyleModel, argues, signals_of
from frontpage.domain.page_kind import kind_of

LABELS: Final = Path(__file__).with_name("kind_labels.toml")
FOLDERS: Final = {
    "allsides": "allsides_roundups_2021",
    "basil": "basil_triples",
    "ground": "ground_news_aug2025",
    "semeval": "semeval2022_task8",
    "telegram": "telegram_categories",
}
#: Worlds to learn from; the one that ships (seed 1) is held out.
WORLDS: Final = (101, 102)
HELD_OUT_WORLD: Final = 1
#: A headline is the first line of a text where the set has no headlines.
_LONGEST_TITLE: Final = 160


@dataclass(frozen=True, slots=True)
class Piece:
    """One labelled text, in memory only."""

    source: str
    publisher: str
    language: str
    title: str
    text: str
    url: str
    opinion: bool

    @property
    def held_out(self) -> bool:
        return held_out(self.publisher) if self.source != "world" else False

    @property
    def signals(self) -> tuple[float, ...] | None:
        return signals_of(self.title, self.text, self.language)


def held_out(publisher: str) -> bool:
    """A third of the publishers, the same on every machine."""
    return int(digest(publisher), 16) % 3 == 0


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def captured(root: Path) -> Iterator[Piece]:
    """The labelled texts of the sets; analyses, fact-checks and live blogs are nobody's and left out."""
    read = {name: set(values) for name, values in tomllib.loads(LABELS.read_text(encoding="utf-8")).items()}
    for name, folder in FOLDERS.items():
        for row in datasets.read(root / folder / "articles.jsonl.gz"):
            piece = _piece(name, row, read)
            if piece is not None:
                yield piece


def _piece(name: str, row: dict[str, Any], read: dict[str, set[str]]) -> Piece | None:
    title, text = row.get("title") or "", row.get("text") or ""
    if not text or row.get("text_flag") == "boilerplate":
        return None
    if not title:
        first, _, rest = text.partition("\n")
        title, text = (first, rest) if rest and len(first) <= _LONGEST_TITLE else ("", text)
    url, label = row["url"], row.get("opinion")
    stated = kind_of(url, title=title)
    opinion = stated == "opinion" or label == "OPINION"
    if digest(url) in read["opinion"]:
        opinion = True
    elif digest(url) in read["neither"] or (label is not None and not opinion) or stated in ("live", "fact_check"):
        return None
    publisher = registrable_domain(urlsplit(url).hostname or "")
    return Piece(name, publisher, row.get("lang") or "en", title, text, url, opinion)


def world(seed: int) -> Iterator[Piece]:
    """The sample world's reports and opinions, as their last version stands."""
    for article in build(seed).articles:
        if article.kind in ("news", "opinion"):
            version = article.versions[-1]
            text = "\n".join(version.paragraphs)
            label = article.kind == "opinion"
            yield Piece("world", article.publisher_id, article.language, version.title, text, article.url, label)


def score(pieces: list[Piece], model: StyleModel) -> tuple[dict[str, float], list[Piece]]:
    """Precision, recall and counts of what the model flags, and what it flags."""
    flagged = [p for p in pieces if argues(p.title, p.text, p.language, model)]
    right = sum(p.opinion for p in flagged)
    opinions = sum(p.opinion for p in pieces)
    figures = {
        "precision": right / len(flagged) if flagged else 1.0,
        "recall": right / opinions if opinions else 0.0,
        "flagged": float(len(flagged)),
        "opinions": float(opinions),
        "news": float(len(pieces) - opinions),
    }
    return figures, flagged


def measure(root: Path, model: StyleModel | None = None) -> tuple[dict[str, float], list[Piece]]:
    """`captured.*` over held-out publishers, `world.*` over the world that ships; and what was flagged of the first."""
    model = model or opinion_model()
    figures: dict[str, float] = {}
    flagged: list[Piece] = []
    for name, pieces in (
        ("captured", [piece for piece in captured(root) if piece.held_out]),
        ("world", list(world(HELD_OUT_WORLD))),
    ):
        found, hits = score(pieces, model)
        figures |= {f"{name}.{key}": value for key, value in found.items()}
        flagged += hits if name == "captured" else []
    return figures, flagged


def run(root: str | Path) -> dict[str, float]:
    """Only the figures."""
    return measure(Path(root))[0]


if __name__ == "__main__":
    arguments = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    numbers, hits = measure(Path(arguments[0]) if arguments else datasets.folder("FRONTPAGE_DATASETS"))
    for key, value in numbers.items():
        print(f"{key:28} {value:.4f}")
    if "--list" in sys.argv:
        for piece in hits:
            print("opinion" if piece.opinion else "NEWS   ", piece.url)
