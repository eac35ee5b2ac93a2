"""What a ranker is trained on and judged by, as pure functions over arrays.

Requests are groups of rows shown together. Position bias: a story shown first is seen more; clicks are weighed by the
inverse of how likely a reader looks at that rank. Not here: LightGBM and tables (`batch/ranker.py`).
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from frontpage.domain.profile import Doubles

Ints = npt.NDArray[np.int64]

#: Chance of being looked at falls as rank^-ETA (position-based model); 0.5 is mild, as lists are scanned quickly.
ETA: Final = 0.5
#: An inverse propensity above this would let one deep click outweigh a page of others.
MAX_WEIGHT: Final = 5.0
NDCG_AT: Final = 10


def position_weights(ranks: Ints) -> Doubles:
    """Inverse propensity of each row by its served rank (from 1), clipped to MAX_WEIGHT."""
    return np.minimum(MAX_WEIGHT, np.maximum(1.0, ranks.astype(np.float64)) ** ETA)


def group_sizes(requests: npt.NDArray[np.str_]) -> list[int]:
    """Lengths of runs of equal request ids; rows must stand grouped."""
    if not len(requests):
        return []
    starts = np.flatnonzero(np.r_[True, requests[1:] != requests[:-1]])
    return [int(size) for size in np.diff(np.r_[starts, len(requests)])]


def auc(scores: Doubles, labels: Ints) -> float | None:
    """Chance that a clicked row scores above an unclicked one (ties count half); None with one class only."""
    positives = int(labels.sum())
    negatives = len(labels) - positives
    if not positives or not negatives:
        return None
    order = np.argsort(scores, kind="stable")
    ranks = np.empty(len(scores), dtype=np.float64)
    ranks[order] = np.arange(1, len(scores) + 1)
    values, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    sums = np.zeros(len(values))
    np.add.at(sums, inverse, ranks)
    averaged = (sums / counts)[inverse]
    return float((averaged[labels == 1].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def ndcg(
    scores: Doubles, labels: Ints, sizes: list[int], at: int = NDCG_AT, weights: Doubles | None = None
) -> float | None:
    """Mean NDCG over requests with at least one click; ties keep the order given. None when there is none.

    With `weights` (inverse propensities) a click counts for all the looks that its rank did not get, so that the order
    which was served is not favoured for having been served (Joachims, Swaminathan and Schnabel, WSDM 2017).
    """
    values = []
    start = 0
    clicks = labels.astype(np.float64) * (1.0 if weights is None else weights)
    for size in sizes:
        part, gains = scores[start : start + size], clicks[start : start + size]
        start += size
        if not gains.sum():
            continue
        discounts = 1.0 / np.log2(np.arange(2, min(at, size) + 2))
        best = np.sort(gains)[::-1][:at] @ discounts
        values.append(float(gains[np.argsort(-part, kind="stable")][:at] @ discounts / best))
    return float(np.mean(values)) if values else None
