"""Rates pairs of articles: copy, same event, and a score of similarity 0..1. For `similarity` and `inspect pair`.

`same_story` is the clusterer's own question asked of two articles alone. `score` is a fitted scale of likeness (same
event near 1, same affair about half, unrelated near 0), which also compares across languages with the multilingual
encoder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from frontpage.adapters.article_file import Row, encode_rows, row_language, row_signals, row_text
from frontpage.adapters.encoder import EncoderSet
from frontpage.adapters.story_models import policy_for, similarity_scale
from frontpage.domain.article import ArticleSignals
from frontpage.domain.clustering import COPY_FLOOR, Policy
from frontpage.domain.index import Open
from frontpage.domain.joining import story_rows
from frontpage.domain.similarity import FEATURES


@dataclass(frozen=True, slots=True)
class Rating:
    """`signals` are the features of the pair by name, with `log_odds` of one event and of a copy."""

    copy: bool
    same_story: bool
    score: float
    signals: dict[str, float]


def rate_pairs(pairs: Sequence[tuple[Row, Row]], encoders: EncoderSet) -> list[Rating]:
    """Ratings in the order of pairs; each article is encoded once."""
    unique = {row["id"] + "\0" + row_text(row): row for pair in pairs for row in pair}
    keys = {key: at for at, key in enumerate(unique)}
    rows = list(unique.values())
    signals = encode_rows(rows, encoders)
    crossing = sorted(
        {
            keys[row["id"] + "\0" + row_text(row)]
            for left, right in pairs
            if row_language(left) != row_language(right)
            for row in (left, right)
        }
    )
    multilingual: dict[int, ArticleSignals] = {}
    if crossing:
        encoder = encoders.for_language("und")
        vectors = encoder.encode([row_text(rows[at]) for at in crossing])
        for at, vector in zip(crossing, vectors, strict=True):
            multilingual[at] = row_signals(rows[at]).with_vector(vector, encoder.version)
    policies: dict[str, Policy] = {}
    ratings = []
    for left, right in pairs:
        one, other = (keys[row["id"] + "\0" + row_text(row)] for row in (left, right))
        language = row_language(left)
        if language != row_language(right):
            ratings.append(_rate(multilingual[one], multilingual[other], "cross", policies))
        else:
            ratings.append(_rate(signals[one], signals[other], language, policies))
    return ratings


def _rate(one: ArticleSignals, other: ArticleSignals, language: str, policies: dict[str, Policy]) -> Rating:
    policy = policies.get(language)
    if policy is None:
        policy = policies[language] = policy_for(language)
    a, b = policy.scorer.prepare(one), policy.scorer.prepare(other)
    table = policy.scorer.features(a, [b])
    log_odds = float(policy.scorer.judge(a, [b], table)[0])
    copy = float(policy.copies.logits(a, [b], table)[0])
    scale = similarity_scale(language)
    likeness = float(scale.logits(table[:, [FEATURES.index(name) for name in scale.features]])[0])
    signals: dict[str, Any] = {name: round(float(value), 4) for name, value in zip(FEATURES, table[0], strict=True)}
    signals |= {"log_odds": round(log_odds, 3), "copy_log_odds": round(copy, 3)}
    same_language = language != "cross"
    is_copy = same_language and copy > policy.copies.threshold and log_odds > COPY_FLOOR
    story = Open("pair")
    story.originals, story.centroid = [b], b.article.vector if len(b.article.vector) else None
    story.gather(b)
    fit = float(policy.stories.logits(story_rows(a, [story], [[b]], np.array([log_odds], dtype=np.float32)))[0])
    signals["story_log_odds"] = round(fit, 3)
    return Rating(
        copy=is_copy,
        same_story=same_language and (is_copy or fit > policy.join),
        score=round(float(1.0 / (1.0 + np.exp(-likeness))), 5),
        signals=signals,
    )
