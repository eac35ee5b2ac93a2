"""How well an article fits a story as a whole: a second, small model over what its members and its sum say.

A short report shares little with any single member of a large story but much with the story's gathered vocabulary, and
one certain pair does not carry a story of doubtful ones: so mean, best and best three pair log-odds, the centroid, and
the vocabulary decide together. Size and publisher are left out: in labelled sets they give the label away.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from frontpage.domain.index import Open
from frontpage.domain.similarity import Background, Matrix, Model, Prepared
from frontpage.domain.terms import Floats

#: Log-odds beyond this say no more.
CLIP: Final = 8.0
STORY_FEATURES: Final = (
    "mean",  # mean pair log-odds over sampled originals, clipped
    "best",  # the highest
    "top3",  # mean of the highest three
    "centroid",  # cosine with the story's centroid
    "centroid_z",  # the same, in deviations from the article's cosines with the background
    "words",  # TF-IDF cosine with the story's gathered words
    "known",  # share of the article's word weight that the story has
    "alone",  # 1 when the story has a single original
)


class StoryScorer:
    """Log-odds that an article belongs to a story; 0 means as likely as not on the training mix."""

    def __init__(self, model: Model, background: Background | None) -> None:
        self.model = model
        self.background = background
        self._columns = [STORY_FEATURES.index(name) for name in model.features]

    def logits(self, table: Matrix) -> Floats:
        """float32 [n] for float32 [n, len(STORY_FEATURES)]."""
        return self.model.logits(table[:, self._columns])


def story_row(one: Prepared, story: Open, members: Sequence[Prepared], log_odds: Floats) -> Floats:
    """float32 [len(STORY_FEATURES)]; `log_odds` are those of `one` against `members`, which leave `one` itself out."""
    row = np.zeros(len(STORY_FEATURES), dtype=np.float32)
    clipped = np.sort(np.clip(log_odds, -CLIP, CLIP))
    row[0], row[1], row[2] = clipped.mean(), clipped[-1], clipped[-3:].mean()
    vector = one.article.vector
    if story.centroid is not None and len(vector) == len(story.centroid):
        row[3] = float(vector @ story.centroid)
        row[4] = (row[3] - one.mean) / one.deviation / 10.0
    inside = any(member is one for member in story.originals)
    row[5], row[6] = story.vocabulary(one, without=inside)
    row[7] = len(members) == 1
    return row
