"""Whether one article is a syndicated copy of another: the sure, fast path and the calibrated decision behind it.

Sure: SimHash distance 3 or less, or estimated Jaccard of 5-word shingles above 0.8, both texts long enough. Papers cut
and extend wire copy, so that finds about half of the real copies; the rest is settled by a logistic decision over how
much of the shorter beginning the other contains, titles, words, names, shared credits and the ratio of lengths.
A copy joins the original's story and counts once for coverage. Not for which story that is (clustering.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from frontpage.domain import fingerprint
from frontpage.domain.article import ArticleSignals
from frontpage.domain.similarity import FEATURES, Matrix, Prepared
from frontpage.domain.terms import Floats

#: Columns of `similarity.FEATURES` that the decision reads, and what it adds of its own.
PAIR_COLUMNS: Final = ("lead_inside", "minhash", "title", "head", "terms", "names", "numbers_shared", "dense")
COPY_FEATURES: Final = (*PAIR_COLUMNS, "credits_shared", "length_ratio", "simhash_near")
#: Beginnings of fewer 3-word shingles are too short to show copying (a lead has 25 to 70 words).
MIN_LEAD: Final = 15
#: Equal headlines of at least this many words on different sites are one report when there is no text to compare.
MIN_TITLE: Final = 6
#: What `sure` cannot be true below, with a margin for rounding.
_MAYBE, _MAYBE_DISTANCE = fingerprint.MINHASH_JACCARD - 0.05, fingerprint.SIMHASH_DISTANCE


@dataclass(frozen=True, slots=True, eq=False)
class CopyModel:
    """`bias + weights . COPY_FEATURES`; a copy above `threshold` (log-odds)."""

    weights: Floats
    bias: float
    threshold: float

    def logits(self, one: Prepared, others: Sequence[Prepared], table: Matrix) -> Floats:
        """float32 [n]; `table` is `PairScorer.features(one, others)`. -20 where a copy is out of the question."""
        values = copy_features(one, others, table) @ self.weights + np.float32(self.bias)
        a, minhash = one.article, table[:, FEATURES.index("minhash")].tolist()
        short = len(a.lead) < MIN_LEAD
        for row, other in enumerate(others):
            b = other.article
            # The estimated Jaccard is a column already; what is far below the bar needs no second look.
            if (minhash[row] > _MAYBE or fingerprint.distance(a.simhash, b.simhash) <= _MAYBE_DISTANCE) and sure(a, b):
                values[row] = 20.0
            elif same_headline(one, other):
                values[row] = max(float(values[row]), self.threshold + 1.0)
            elif short or len(b.lead) < MIN_LEAD:
                values[row] = -20.0
        return values.astype(np.float32)


def sure(a: ArticleSignals, b: ArticleSignals) -> bool:
    """The fast path: equal texts but for a few words."""
    if a.words < fingerprint.MIN_WORDS or b.words < fingerprint.MIN_WORDS:
        return False
    if fingerprint.distance(a.simhash, b.simhash) <= fingerprint.SIMHASH_DISTANCE:
        return True
    return fingerprint.jaccard(a.minhash, b.minhash) > fingerprint.MINHASH_JACCARD


def same_headline(one: Prepared, other: Prepared) -> bool:
    """Equal headlines on two sites where a side has no text: the usual look of a reprint behind a paywall."""
    a, b = one.article, other.article
    if a.publisher_id == b.publisher_id or min(len(a.lead), len(b.lead)) >= MIN_LEAD:
        return False
    if len(one.headline.words) < MIN_TITLE or one.headline.words != other.headline.words or one.headline.standing:
        return False
    return a.at is None or b.at is None or abs(a.at - b.at) <= 2 * 86_400.0


def copy_features(one: Prepared, others: Sequence[Prepared], table: Matrix) -> Matrix:
    """float32 [n, len(COPY_FEATURES)]."""
    columns = [FEATURES.index(name) for name in PAIR_COLUMNS]
    a = one.article
    extra = np.array(
        [
            (
                not a.credits.isdisjoint(b.credits),
                min(a.words, b.words) / max(a.words, b.words, 1),
                max(0, 16 - (a.simhash ^ b.simhash).bit_count()) / 16,
            )
            for b in (other.article for other in others)
        ],
        dtype=np.float32,
    ).reshape(len(others), 3)
    return np.hstack([table[:, columns], extra]).astype(np.float32)
