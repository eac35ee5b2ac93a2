"""A reader's own order of stories: the fast pass, the second stage, diversity with hard limits, and why in words.

Pure arithmetic over candidates and their feature rows (`features.py`); gathering candidates, models and caching are
serving's. The stages (four-tiers and personalised-feed documents):

1. fast pass over all of about 1,000 candidates: the fallback score `authority x e^(-lambda x age)`, raised by what
   the reader follows and reads. For a reader without history it is the fallback score itself.
2. a learned model reorders the best 100, when there is one and it is in time; the rest keep the fast order below them.
3. maximal marginal relevance over the best 500 down to 200, under limits that are never relaxed: the list ends
   rather than breaks one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from frontpage.domain.features import INDEX, Candidate
from frontpage.domain.profile import Floats, Profile

#: Documents: rerank the top 100; MMR over about 500; keep a ranked list of 200.
RERANKED: Final = 100
DIVERSIFIED: Final = 500
LIST_LENGTH: Final = 200
#: Four-tiers document: 0.7 balances, 0.9 personalises heavily, 0.5 explores.
DEFAULT_ALPHA: Final = 0.7
#: How much each reader feature raises the fallback score at its full value. First guesses that a trained model
#: replaces: an explicit follow outweighs what was only observed, and observed tastes can at most about triple a score.
BOOSTS: Final[Mapping[str, float]] = {
    "follows_topic": 1.5, "follows_entity": 1.5, "follows_source": 1.2, "interest": 1.0, "topic_affinity": 1.0,
    "section_affinity": 0.5, "entity_affinity": 0.8, "source_affinity": 0.5, "in_region": 0.1, "breaking": 0.5,
}  # fmt: skip
#: A story that was read already is worth this much of its score: it returns only when little else is left.
READ_AGAIN: Final = 0.25


@dataclass(frozen=True, slots=True)
class Limits:
    """Hard limits of the three documents. Heads count positions from the top of the whole list, over all its pages."""

    per_source: int = 2
    source_head: int = 20
    per_topic: int = 2
    topic_head: int = 10
    #: a top story of the edition stands at this position at the latest
    top_story_by: int = 5


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a card is there: a code that serving puts into the reader's language, and what it names."""

    code: str
    subject: str = ""


def fast_scores(rows: Floats) -> Floats:
    """Stage 1. rows float32 [n, len(REGISTRY)] -> float32 [n], at least 0."""
    boost = np.ones(len(rows), dtype=np.float32)
    for name, weight in BOOSTS.items():
        boost += np.float32(weight) * np.maximum(rows[:, INDEX[name]], 0.0)
    return _demote_read(rows[:, INDEX["fallback"]] * boost, rows)


def fallback_scores(rows: Floats) -> Floats:
    """The documents' plain fallback, for when there is no time for anything else."""
    scores: Floats = rows[:, INDEX["fallback"]].astype(np.float32)
    return scores


def best(scores: Floats, count: int) -> list[int]:
    """Indices of the greatest scores, best first; equal scores keep their order."""
    return [int(at) for at in np.argsort(-scores, kind="stable")[:count]]


def relevance(fast: Floats, reranked: Sequence[int], model_scores: Floats | None, rows: Floats) -> Floats:
    """0..1 per candidate: the second stage's part in 0.5..1, the rest in 0..0.5 by the fast pass.

    `reranked` are the indices the model scored, `model_scores` float [len(reranked)]; None when there is no model.
    """
    if model_scores is None or not len(reranked):
        return _spread(fast)
    result = 0.5 * _spread(fast)
    chosen = np.asarray(reranked, dtype=np.int64)
    result[chosen] = 0.5 + 0.5 * _demote_read(_spread(model_scores.astype(np.float32)), rows[chosen])
    return result.astype(np.float32)


def diversify(
    candidates: Sequence[Candidate],
    scores: Floats,
    *,
    top_stories: Collection[str] = (),
    pinned: str | None = None,
    alpha: float = DEFAULT_ALPHA,
    count: int = LIST_LENGTH,
    limits: Limits | None = None,
) -> list[int]:
    """Indices into `candidates` in serving order (at most `count`). scores: float32 [n] in 0..1.

    Each pick maximises alpha x score - (1 - alpha) x greatest cosine with what is already picked, among those that
    the limits allow. `pinned` (a breaking story) goes first. One of `top_stories` stands at `top_story_by` at
    the latest, or as soon as the other limits allow one. Equal values keep the candidates' order.
    """
    limits = limits or Limits()
    shortlist = best(scores, DIVERSIFIED)
    known = set(shortlist)
    # a top story must be able to get its place even when this reader's scores leave it far behind
    shortlist += [at for at, c in enumerate(candidates) if c.story_id in top_stories and at not in known]
    if not shortlist:
        return []
    pool = [candidates[at] for at in shortlist]
    value = alpha * scores[np.asarray(shortlist)]
    vectors, version = _vectors(pool)
    closest = np.zeros(len(pool), dtype=np.float32)
    sources = np.unique([c.publisher_id for c in pool], return_inverse=True)[1]
    topics = [frozenset(c.topics) for c in pool]
    # a story without topics of its own is varied by its section instead, as long as others are left
    sections = [frozenset() if c.topics else frozenset(f"section/{s}" for s in c.sections[:1]) for c in pool]
    is_top = np.array([c.story_id in top_stories for c in pool])
    free = np.ones(len(pool), dtype=bool)
    used_sources = np.zeros(len(pool), dtype=np.int64)
    used_topics: dict[str, int] = {}
    has_top = not is_top.any()
    picked: list[int] = []
    while len(picked) < count:
        place = len(picked)
        allowed = free.copy()
        if picked:
            allowed &= sources != sources[picked[-1]]
        if place < limits.source_head:
            allowed &= used_sources[sources] < limits.per_source
        if place < limits.topic_head:
            full = {topic for topic, times in used_topics.items() if times >= limits.per_topic}
            if full:
                allowed &= np.array([full.isdisjoint(words) for words in topics])
                varied = allowed & np.array([full.isdisjoint(words) for words in sections])
                allowed = varied if varied.any() else allowed
        if place == 0 and pinned is not None:
            first = np.array([c.story_id == pinned for c in pool])
            allowed = allowed & first if (allowed & first).any() else allowed
        elif not has_top and place + 1 >= limits.top_story_by and (allowed & is_top).any():
            allowed &= is_top
        if not allowed.any():
            break
        choice = int(np.argmax(np.where(allowed, value - (1 - alpha) * closest, -np.inf)))
        picked.append(choice)
        free[choice] = False
        has_top = has_top or bool(is_top[choice])
        used_sources[sources[choice]] += 1
        for topic in topics[choice] | sections[choice]:
            used_topics[topic] = used_topics.get(topic, 0) + 1
        same = version == version[choice]
        closest = np.maximum(closest, np.where(same, vectors @ vectors[choice], 0.0))
    return [shortlist[at] for at in picked]


def explain(candidate: Candidate, row: Floats, profile: Profile, *, is_top: bool) -> Reason:
    """The strongest true statement about why this card is here."""
    if row[INDEX["breaking"]] > 0:
        return Reason("breaking")
    for kind, words in (
        ("topic", (*candidate.topics, *candidate.sections)),
        ("entity", candidate.entities),
        ("source", (candidate.publisher_id,)),
    ):
        followed = profile.switched_on("follow", kind)
        hit = next((word for word in words if word in followed), None)
        if hit is not None:
            return Reason(f"follow_{kind}", hit)
    for kind, words, bar in (
        ("entity", candidate.entities, 0.08),
        ("topic", (*candidate.topics, *candidate.sections), 0.15),
        ("source", (candidate.publisher_id,), 0.15),
    ):
        strongest = _strongest(profile, kind, words, bar)
        if strongest:
            return Reason(f"read_{kind}", strongest)
    if row[INDEX["interest"]] >= 0.5:
        return Reason("interest")
    if is_top:
        return Reason("top_story")
    if row[INDEX["click_velocity"]] > 1.0:
        return Reason("trending")
    if row[INDEX["in_region"]] > 0:
        return Reason("region")
    return Reason("coverage")


def _strongest(profile: Profile, kind: str, words: Sequence[str], bar: float) -> str:
    """The word the reader read most of, when its share of all reading reaches `bar` (of the decayed sums)."""
    sums = profile.affinities.get(kind) or (profile.affinities.get("section", {}) if kind == "topic" else {})
    total = profile.total
    if not sums or total <= 0:
        return ""
    word = max(words, key=lambda w: sums.get(w, 0.0), default="")
    return word if word and sums.get(word, 0.0) >= bar * total else ""


def _vectors(pool: Sequence[Candidate]) -> tuple[Floats, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """([n, 64] with zero rows where there is none, projection code [n]); cosines across versions mean nothing."""
    width = max((len(c.vector) for c in pool if c.vector is not None), default=1)
    vectors = np.zeros((len(pool), width), dtype=np.float32)
    for row, candidate in zip(vectors, pool, strict=True):
        if candidate.vector is not None and len(candidate.vector) == width:
            row[:] = candidate.vector
    codes: np.ndarray[tuple[int], np.dtype[np.int64]] = np.unique([c.projection for c in pool], return_inverse=True)[1]
    return vectors, codes


def _spread(scores: Floats) -> Floats:
    """Scores stretched to 0..1; all equal gives all 1."""
    if not len(scores):
        return scores
    low, high = float(scores.min()), float(scores.max())
    spread: Floats = ((scores - low) / (high - low) if high > low else np.ones_like(scores)).astype(np.float32)
    return spread


def _demote_read(scores: Floats, rows: Floats) -> Floats:
    demoted: Floats = np.where(rows[:, INDEX["already_read"]] > 0, READ_AGAIN * scores, scores).astype(np.float32)
    return demoted
