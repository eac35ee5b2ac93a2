"""Short-hands for stories in tests: articles of our own making and a policy whose scorer is readable."""

from __future__ import annotations

import numpy as np
from fakes.encoder import HashEncoder

from frontpage.domain.article import ArticleSignals, derive, embedding_text
from frontpage.domain.clustering import Policy
from frontpage.domain.copies import COPY_FEATURES, CopyModel
from frontpage.domain.joining import StoryScorer
from frontpage.domain.similarity import LogisticModel, PairScorer
from frontpage.domain.terms import TermWeights

ENCODER = HashEncoder()

FERRY = (
    "A ferry with ninety people on board sank off the harbour of Port Sela on Monday night after it struck a reef in "
    "heavy rain, the coast guard said. Fishing boats pulled most of the passengers from the water within an hour. The "
    "harbour master ordered an inquiry and closed the northern channel until the wreck has been moved. Relatives were "
    "waiting in the fish market hall, where the town had put up beds and a list of names."
)
BUDGET = (
    "Parliament passed the budget by a single vote early on Friday after a debate of eleven hours about school "
    "buildings, pensions and a tax on empty flats. The finance minister called it a compromise that nobody loves and "
    "everybody can live with. The opposition wants to go to the constitutional court over the flats."
)


def article(
    article_id: str, title: str, body: str = "", *, publisher: str = "", at: float | None = None, version: int = 1
) -> ArticleSignals:
    signals = derive(
        article_id=article_id,
        title=title,
        body=body,
        language="en",
        publisher_id=publisher or f"{article_id}.example",
        at=at,
        version=version,
    )
    return signals.with_vector(ENCODER.encode([embedding_text(title, "", body)])[0], ENCODER.version)


def policy(_: str = "en") -> Policy:
    """Log-odds = 12 (head + title) - 4 for a pair; a story is the mean of its members."""
    scorer = PairScorer(
        LogisticModel(("head", "title"), np.array([12.0, 12.0], dtype=np.float32), -4.0), TermWeights(), None
    )
    stories = StoryScorer(LogisticModel(("mean",), np.array([1.0], dtype=np.float32), 0.0), None)
    weights = np.zeros(len(COPY_FEATURES), dtype=np.float32)
    weights[COPY_FEATURES.index("lead_inside")] = 10.0
    return Policy(scorer=scorer, stories=stories, copies=CopyModel(weights, -5.0, 0.0), join=0.0, merge=0.5, part=-1.0)
