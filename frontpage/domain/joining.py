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
    "above",  # mean log-odds less the median of the other candidates': how much this story stands out from its like
)
#: Mean log-odds of an unrelated candidate, which stands in where there are fewer than `_OTHERS` others.
_UNRELATED, _OTHERS = -5.0, 5


class StoryScorer:
    """Log-odds that an article belongs to a story; 0 means as likely as not on the training mix."""

    def __init__(self, model: Model, background: Background | None) -> None:
        self.model = model
        self.background = background
        self._columns = [STORY_FEATURES.index(name) for name in model.features]

    def logits(self, table: Matrix) -> Floats:
        """float32 [n] for float32 [n, len(STORY_FEATURES)]."""
        return self.model.logits(table[:, self._columns])


def story_rows(
    one: Prepared,
    stories: Sequence[Open],
    samples: Sequence[Sequence[Prepared]],
    log_odds: Floats,
    plain: Floats | None = None,
) -> Matrix:
    """float32 [n, len(STORY_FEATURES)] of an article against candidate stories.

    `samples` are the members of each that it was compared with (never itself), `log_odds` theirs, joined; `plain` those
    before look-alikes were told apart, which is how far a story's like usually are: that one of them is told apart
    makes no other stand out.
    """
    table = np.zeros((len(stories), len(STORY_FEATURES)), dtype=np.float32)
    start = 0
    like = np.zeros(len(stories), dtype=np.float32)
    for row, (story, sample) in enumerate(zip(stories, samples, strict=True)):
        clipped = np.sort(np.clip(log_odds[start : start + len(sample)], -CLIP, CLIP))
        before = log_odds if plain is None else plain
        like[row] = np.clip(before[start : start + len(sample)], -CLIP, CLIP).mean()
        start += len(sample)
        table[row, 0], table[row, 1], table[row, 2] = clipped.mean(), clipped[-1], clipped[-3:].mean()
        vector = one.article.vector
        if story.centroid is not None and len(vector) == len(story.centroid):
            table[row, 3] = float(vector @ story.centroid)
            table[row, 4] = (table[row, 3] - one.mean) / one.deviation / 10.0
        inside = any(member is one for member in story.originals)
        table[row, 5], table[row, 6] = story.vocabulary(one, without=inside)
        table[row, 7] = len(sample) == 1
    means = table[:, 0]
    for row in range(len(stories)):
        others = np.delete(like, row)
        padded = np.append(others, np.full(max(0, _OTHERS - len(others)), _UNRELATED, dtype=np.float32))
        table[row, 8] = means[row] - np.median(padded)
    return table
