"""How much a publisher's word weighs: authority 0..1 from what it did, shrunk to the registry's prior.

Editions document: a per-source, per-topic score "built from original reporting, citations by other publishers and
corrections history"; copies add nothing. With little evidence the prior stands. Corrections are not a fault in
themselves (they are honest), only far above what is usual do they cost. Not here: gathering the evidence (`batch/`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

#: For publishers the registry does not know (contracts/views.py: Publisher.authority has the same default).
DEFAULT_PRIOR: Final = 0.3
#: Articles after which the evidence weighs as much as the prior: about a week of a small newsroom's output.
PRIOR_ARTICLES: Final = 40.0
#: Shares of the three signals of original reporting; a first guess, to be fitted to raters' judgements.
ORIGINALITY, INFLUENCE, FIRSTS = 0.45, 0.35, 0.20
#: Reprints and citations per original article at which influence reaches 1 - 1/e.
INFLUENCE_SCALE: Final = 0.5
#: Corrections per article that are usual; each share above it costs as much authority, at most COSTLIEST.
USUAL_CORRECTIONS: Final = 0.10
COSTLIEST: Final = 0.25
#: What a publisher of nothing but reprints loses in the end.
COPYING: Final = 0.5
#: A topic counts by itself from this many articles on; below, the overall value serves.
TOPIC_ARTICLES: Final = 10


@dataclass(frozen=True, slots=True)
class Evidence:
    """Counts for one publisher, in one topic or over all.

    originals/copies: its articles that were not/were reprints. copied_by: reprints of its articles by others. cited_by:
    articles of others that name it as source. shared: stories of several sources that it reported with an original;
    firsts: of them those it reported first. corrections: versions beyond the first.
    """

    originals: int = 0
    copies: int = 0
    copied_by: int = 0
    cited_by: int = 0
    firsts: int = 0
    shared: int = 0
    corrections: int = 0


def score(evidence: Evidence, prior: float = DEFAULT_PRIOR) -> float:
    """Authority 0..1. Monotone: more reprints by others or more firsts never lower it, more copying never raises it."""
    articles = evidence.originals + evidence.copies
    if not articles:
        return _clip(prior)
    originality = evidence.originals / articles
    influence = 1.0 - math.exp(-(evidence.copied_by + evidence.cited_by) / (INFLUENCE_SCALE * articles))
    firsts = (evidence.firsts + 1.0) / (evidence.shared + 4.0)
    # originality counts in proportion to the prior: fifty rewriters do not earn authority by rewriting well
    observed = ORIGINALITY * originality * _clip(2 * prior) + INFLUENCE * influence + FIRSTS * firsts
    excess = evidence.corrections / max(1, evidence.originals) - USUAL_CORRECTIONS
    weight = evidence.originals / (evidence.originals + PRIOR_ARTICLES)
    earned = (1.0 - weight) * prior + weight * (observed - min(COSTLIEST, max(0.0, excess)))
    return _clip(earned * (1.0 - COPYING * evidence.copies / (articles + PRIOR_ARTICLES)))


def _clip(value: float) -> float:
    return min(1.0, max(0.0, value))
