"""Learnt term weights: how the batch layer counts words of stories, and how its counts join the shipped prior.

One vote a story (its first article), as the clusterer itself counts, halved every week: what is said everywhere this
month tells stories apart less. A table covers stories begun up to `until`; the clusterer counts those after it, so
that batch and speed view never count one story twice. Not here: Spark (`batch/gold_terms.py`), idf (`terms.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from frontpage.domain.terms import Floats, Ids, TermWeights

#: Seconds in which a story's vote halves, and after which it is not read at all (a twentieth is left).
HALF_LIFE: Final = 7 * 86_400.0
WINDOW: Final = 30 * 86_400.0
#: A table of fewer stories is not published: the smallest that ships (Vietnamese) has 359 articles.
ENOUGH: Final = 300.0
#: A term of fewer stories is left out, as in the shipped tables ...
FEWEST: Final = 3
#: ... and one in a smaller share of them: 3 of the 5,963 articles of the English table. "Not in the table" must go on
#: to mean "not a word of the language" (`TermWeights.unknown`) when many more are counted. It also bounds the table.
RAREST: Final = 3.0 / 5_963.0


@dataclass(frozen=True, slots=True, eq=False)
class TermTable:
    """Learnt counts of one language. ids ascending uint32 [n]; counts float32 [n], decayed stories with the term.

    documents: decayed stories counted; until: virtual time up to which stories that began are in it.
    """

    version: str
    documents: float
    ids: Ids
    counts: Floats
    until: float


def vote(age: float) -> float:
    """What a story that began `age` seconds ago counts: 1 now, 1/2 after `HALF_LIFE`."""
    return float(0.5 ** (max(0.0, age) / HALF_LIFE))


def kept(stories: int, weight: float, documents: float) -> bool:
    """Whether a term of `stories` stories, `weight` after decay, of `documents` stands in the table."""
    return stories >= FEWEST and weight >= RAREST * documents


def joined(shipped: TermWeights, learnt: TermTable) -> TermWeights:
    """Fresh weights from both tables, each speaking with the number of its documents; nothing observed yet."""
    ids, counts = shipped.table()
    every = np.union1d(ids, learnt.ids).astype(np.uint32)
    total = np.zeros(len(every), dtype=np.float32)
    total[np.searchsorted(every, ids)] += counts.astype(np.float32)
    total[np.searchsorted(every, learnt.ids)] += learnt.counts
    return TermWeights(
        shipped.documents + learnt.documents, every, total, version=learnt.version, until=learnt.until
    )  # fmt: skip
