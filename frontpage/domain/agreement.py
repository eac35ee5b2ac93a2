"""Agreement of two groupings of the same items: how far online stories and the re-clustering, or labels, are alike.

Precision of an item is the share of its group in `found` that shares its group in `truth`; recall the reverse; figures
are means over items (Bagga and Baldwin 1998). Not for judging against labels with weights (benchmarks/evaluate.py).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Agreement:
    """All in 0..1; 1 for two equal groupings (and for no items at all)."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """Harmonic mean."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def b_cubed(found: Mapping[str, str], truth: Mapping[str, str]) -> Agreement:
    """Agreement of two maps from item to group, over the items that both know."""
    items = found.keys() & truth.keys()
    if not items:
        return Agreement(1.0, 1.0)
    both = Counter((found[item], truth[item]) for item in items)
    left = Counter(found[item] for item in items)
    right = Counter(truth[item] for item in items)
    precision = sum(count * count / left[group] for (group, _), count in both.items()) / len(items)
    recall = sum(count * count / right[group] for (_, group), count in both.items()) / len(items)
    return Agreement(precision, recall)


def pairwise(found: Mapping[str, str], truth: Mapping[str, str]) -> Agreement:
    """The same over unordered pairs: of those together in `found`, the share together in `truth`, and the reverse."""
    items = found.keys() & truth.keys()
    both = _pairs(Counter((found[item], truth[item]) for item in items))
    left, right = _pairs(Counter(found[i] for i in items)), _pairs(Counter(truth[i] for i in items))
    return Agreement(both / left if left else 1.0, both / right if right else 1.0)


def curve(rated: Sequence[tuple[float, bool]]) -> tuple[list[float], list[float]]:
    """(recalls, precisions) of "same" above each score in turn, from the strictest bar on; ([], []) without a positive.

    Equal scores are one step: no bar tells them apart.
    """
    positives = sum(same for _, same in rated)
    recalls: list[float] = []
    precisions: list[float] = []
    hits = taken = 0
    for _, group in itertools.groupby(sorted(rated, key=lambda pair: -pair[0]), key=lambda pair: pair[0]):
        step = [same for _, same in group]
        hits, taken = hits + sum(step), taken + len(step)
        if positives:
            recalls.append(hits / positives)
            precisions.append(hits / taken)
    return recalls, precisions


def _pairs(groups: Counter[str] | Counter[tuple[str, str]]) -> float:
    return sum(size * (size - 1) / 2 for size in groups.values())
