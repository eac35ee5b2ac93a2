"""How well an article fits a story as a whole: a second, small model over what its members and its sum say.

A short report shares little with any single member of a large story but much with the story's gathered vocabulary, and
one certain pair does not carry a story of doubtful ones: so mean, best and best three pair log-odds, the centroid, and
the vocabulary decide together. Size and publisher are left out: in labelled sets they give the label away.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Final

import numpy as np

from frontpage.domain.index import Open, weighed_words
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
    # A handful of numbers a story: lists are several times as fast as arrays of that size.
    clipped = np.clip(log_odds, -CLIP, CLIP).tolist()
    before = clipped if plain is None else np.clip(plain, -CLIP, CLIP).tolist()
    words, total = weighed_words(one)
    start = 0
    like: list[float] = []
    for row, (story, sample) in enumerate(zip(stories, samples, strict=True)):
        count = len(sample)
        values = sorted(clipped[start : start + count])
        like.append(sum(before[start : start + count]) / count)
        start += count
        top = values[-3:]
        table[row, 0], table[row, 1], table[row, 2] = sum(values) / count, values[-1], sum(top) / len(top)
        vector = one.article.vector
        if story.centroid is not None and len(vector) == len(story.centroid):
            table[row, 3] = float(vector @ story.centroid)
            table[row, 4] = (table[row, 3] - one.mean) / one.deviation / 10.0
        inside = any(member is one for member in story.originals)
        table[row, 5], table[row, 6] = story.vocabulary(words, total, without=inside)
        table[row, 7] = count == 1
    padding = [_UNRELATED] * max(0, _OTHERS - len(like) + 1)
    for row in range(len(stories)):
        table[row, 8] = table[row, 0] - median([*like[:row], *like[row + 1 :], *padding])
    return table
