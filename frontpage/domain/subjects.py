"""What two articles are about, where neither knows of the other's: the sign of one template filled in twice.

Results, forecasts, closing reports, draws, dockets, death notices and quakes of different places share a wording, and
so words and vectors; what they do not share is whom and where they name. When both texts are there to be asked, and
the names in each title are in neither title nor text of the other, the two are hardly one event, and the less so when
their numbers or scores differ as well. Titles alone are judged by templates.py, since a headline may leave a name out.

Measured on pairs with texts of the labelled English sets that the scorer holds possible: where four of five names are
unsaid, two in three are two events, else three in ten; one pair of an event in a hundred loses anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import ceil
from typing import Final

import numpy as np

from frontpage.domain.terms import Floats, Ids

#: Texts of fewer words say too little for a missing name to mean anything.
MIN_WORDS: Final = 20
#: Share of each side's names, by weight, that must be unsaid, and the TF-IDF cosine of all names below which it counts:
#: less is asked when the numbers differ as well. Leads name witnesses as each reporter likes, so where one title
#: names nobody nothing is said against a pair whose numbers agree, and where neither does nothing at all.
_MOST, _HALF = 0.7, 0.5
_FEW, SHARED = 0.1, 0.3
#: Log-odds lost for names, for numbers besides, for scores. A pair of equal wording reaches about +3.
_NAMES, _NUMBERS, _SCORES = 4.0, 3.0, 5.0
#: Log-odds lost by equal texts with other names: as much as equal titles with other names lose.
_EXCHANGED: Final = 20.0
#: Letters, and share of the shorter name, from which two names with one beginning are forms of one name.
_STEM, _KIN = 4, 0.75
#: Share of unsaid names from which two different scores are two matches rather than two minutes of one.
_SCORED: Final = 0.2


@dataclass(frozen=True, slots=True, eq=False)
class Subjects:
    """ids: ascending term ids of what the article names, weights: their idf; known: all term ids of title and text.

    titled: whether the names are those of the title, shown by its capitals.
    """

    ids: Ids
    weights: Floats
    total: float
    known: Ids
    titled: bool

    def unsaid(self, other: Subjects) -> float:
        """Share of the weight of these names that the other article does not mention; 0 without names."""
        if self.total <= 0.0 or not len(other.known):
            return 0.0
        at = np.minimum(np.searchsorted(other.known, self.ids), len(other.known) - 1)
        return float(self.weights[other.known[at] != self.ids].sum()) / self.total


def subjects(title_names: Ids, names: Ids, idf: Callable[[Ids], Floats], *, known: Ids, telling: bool) -> Subjects:
    """Subjects of an article; `idf` weighs ids, `names` are those of title and lead, asked when the title has none.

    telling: whether the title's capitals show its names.
    """
    ids = title_names if len(title_names) else names
    weights = idf(ids)
    return Subjects(ids, weights, float(weights.sum()), known, telling and len(title_names) > 0)


def contradiction(
    one: Subjects, other: Subjects, *, names: float, numbers_differ: bool, scores_differ: bool, versions: bool
) -> float:
    """Log-odds to take away from a pair whose texts are both known: 0 when each side's names are said by the other.

    names: TF-IDF cosine of the names of title and lead. versions: the texts begin alike. Then they are one report, and
    what their titles say does not matter, unless the names were exchanged throughout: nothing is as like as that.
    """
    unsaid = min(one.unsaid(other), other.unsaid(one))
    titled = one.titled and other.titled
    if versions:
        return _EXCHANGED if titled and unsaid >= _HALF else 0.0
    lost = _SCORES if scores_differ and unsaid >= _SCORED else 0.0
    if not one.titled and not other.titled:
        return lost
    if unsaid >= _MOST and names < _FEW and (titled or numbers_differ):
        lost += _NAMES
    if numbers_differ and unsaid >= _HALF and names < (SHARED if titled else _FEW):
        lost += _NUMBERS
    return lost


def akin(left: Iterable[str], right: Iterable[str]) -> bool:
    """Whether a name on one side is another form of one on the other: they begin alike (`Gaza`, `Gazans`)."""
    # A name shorter than the stem is cut whole, and so equals no longer one's beginning.
    return any(
        one != other and one[: (size := max(_STEM, ceil(_KIN * min(len(one), len(other)))))] == other[:size]
        for one in left
        for other in right
    )
