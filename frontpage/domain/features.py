"""The feature registry: every number the personal ranker sees, named once.

Serving (ranking and the impression log), the batch layer (training) and `explain` all read this table. Story-side
features are computed by the ranker into `PoolEntry.features`; request-side features are computed here from candidate,
profile and `now`. Order of the table is the order of the vector: append only, and raise FEATURES_VERSION on any change.
Not here: how features are weighed (`training.py`, the model text) and the shared pages' score (`scoring.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np

from frontpage.domain.editions import EDITIONS
from frontpage.domain.profile import Floats, Profile

FEATURES_VERSION: Final = "personal@1"

#: Tiers document: decay per hour of the fallback score by the kind of story.
LAMBDA_BREAKING: Final = 0.5
LAMBDA_REGULAR: Final = 0.1
LAMBDA_EVERGREEN: Final = 0.02
#: Tiers document: more articles than this in the last hour make the breaking decay.
BREAKING_ARTICLES_PER_HOUR: Final = 20
EVERGREEN_TOPICS: Final = frozenset({"obituary", "historical", "explainer"})


@dataclass(frozen=True, slots=True)
class Feature:
    """`side` "story": the ranker computes it per edition cycle; "request": `vectorise` computes it per reader."""

    name: str
    type: Literal["float", "count", "flag"]
    unit: str
    default: float
    side: Literal["story", "request"]
    how: str


def _story(name: str, type: Literal["float", "count", "flag"], unit: str, default: float, how: str) -> Feature:
    return Feature(name, type, unit, default, "story", how)


def _request(name: str, type: Literal["float", "count", "flag"], unit: str, default: float, how: str) -> Feature:
    return Feature(name, type, unit, default, "request", how)


REGISTRY: Final[tuple[Feature, ...]] = (
    _story("score", "float", "edition score", 0.0, "shared score of the story in this edition before diversity"),
    _story("coverage", "float", "nats", 0.0, "log(1 + sum of authority) over distinct original publishers, last 6 h"),
    _story("velocity", "float", "ratio", 0.0, "originals in the last 30 min against the story's previous rate"),
    _story("freshness", "float", "0..1", 0.0, "decay by the age of the latest original, half-life 4 h"),
    _story("regional", "float", "0..1", 0.0, "share of coverage from the edition's region plus its places"),
    _story("authority", "float", "0..1", 0.3, "authority of the representative's publisher for the story's topic"),
    _story("quality", "float", "0..1", 0.5, "article quality signal of the representative"),
    _story("sources", "count", "publishers", 1.0, "distinct publishers with an original article"),
    _story("articles", "count", "articles", 1.0, "all members, copies included"),
    _story("articles_1h", "count", "articles", 0.0, "members first seen in the last hour"),
    _story("clicks_15m", "count", "clicks", 0.0, "counted clicks of the last 15 min in this edition"),
    _story("click_velocity", "float", "ratio", 0.0, "clicks of the last minute against the 15 min rate"),
    _story("ctr", "float", "0..1", 0.05, "clicks per impression, shrunk to the edition's mean"),
    _story("breaking", "flag", "0/1", 0.0, "the burst rule holds"),
    _request("age_hours", "float", "hours", 24.0, "now minus the story's latest original first seen"),
    _request("fallback", "float", "0..1", 0.0, "authority x e^(-lambda x age_hours)"),
    _request("in_region", "flag", "0/1", 0.0, "the representative's publisher is of the edition's region"),
    _request("paywalled", "flag", "0/1", 0.0, "the representative is paywalled"),
    _request("opinion", "flag", "0/1", 0.0, "the representative is labelled opinion"),
    _request("interest", "float", "cosine", 0.0, "reader's interest vector . story vector, same projection version"),
    _request("topic_affinity", "float", "0..1", 0.0, "reader's decayed share of engagement with the story's topics"),
    _request("section_affinity", "float", "0..1", 0.0, "same for its sections"),
    _request("entity_affinity", "float", "0..1", 0.0, "same for its entities"),
    _request("source_affinity", "float", "0..1", 0.0, "same for the representative's publisher"),
    _request("follows_topic", "flag", "0/1", 0.0, "the reader follows a topic or section of the story"),
    _request("follows_entity", "flag", "0/1", 0.0, "the reader follows an entity of the story"),
    _request("follows_source", "flag", "0/1", 0.0, "the reader follows the representative's publisher"),
    _request("already_read", "flag", "0/1", 0.0, "the story is among the reader's last 200 engagements"),
    _request("history", "float", "nats", 0.0, "log(1 + engagements of the reader)"),
)
NAMES: Final = tuple(feature.name for feature in REGISTRY)
INDEX: Final[Mapping[str, int]] = {name: at for at, name in enumerate(NAMES)}
#: What the ranker must put into PoolEntry.features.
STORY_FEATURES: Final = tuple(feature.name for feature in REGISTRY if feature.side == "story")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A story as the personal ranker sees it; made from a PoolEntry (`contracts/profiles.py: candidate_of`).

    `vector`: unit float32 [64] of projection `projection`, or None. `latest_at`: first-seen time of the latest
    original, seconds. `features`: story-side values; a missing or non-finite one takes its default.
    """

    story_id: str
    publisher_id: str
    country: str = ""
    topics: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    paywalled: bool = False
    opinion: bool = False
    latest_at: float | None = None
    vector: Floats | None = None
    projection: str = ""
    features: Mapping[str, float] = field(default_factory=dict)


def decay_rate(articles_1h: float, topics: Iterable[str]) -> float:
    """Lambda per hour: breaking above 20 articles in the last hour, evergreen by topic, else regular."""
    if articles_1h > BREAKING_ARTICLES_PER_HOUR:
        return LAMBDA_BREAKING
    return LAMBDA_EVERGREEN if EVERGREEN_TOPICS.intersection(topics) else LAMBDA_REGULAR


def fallback_score(authority: float, age_hours: float, articles_1h: float = 0.0, topics: Iterable[str] = ()) -> float:
    """authority x e^(-lambda x age): the ranking when the model is missing or late, and a feature of it."""
    return authority * math.exp(-decay_rate(articles_1h, topics) * max(0.0, age_hours))


def vectorise(candidate: Candidate, profile: Profile, edition: str, now: float) -> Floats:
    """float32 [len(REGISTRY)] in registry order."""
    return vectorise_all([candidate], profile, edition, now).reshape(-1)


def vectorise_all(candidates: Sequence[Candidate], profile: Profile, edition: str, now: float) -> Floats:
    """float32 [n, len(REGISTRY)]; the profile's sets are built once (1,000 candidates: a few ms)."""
    region = EDITIONS[edition].region if edition in EDITIONS else ""
    followed = {kind: profile.switched_on("follow", kind) for kind in ("topic", "entity", "source")}
    read = profile.read_stories()
    history = math.log1p(profile.engagements)
    interests: dict[str, Floats | None] = {}
    rows = np.empty((len(candidates), len(REGISTRY)), dtype=np.float32)
    for row, candidate in zip(rows, candidates, strict=True):
        story = [_finite(candidate.features.get(f.name), f.default) for f in REGISTRY if f.side == "story"]
        values = dict(zip(STORY_FEATURES, story, strict=True))
        age = 24.0 if candidate.latest_at is None else max(0.0, (now - candidate.latest_at) / 3600.0)
        if candidate.projection not in interests:
            interests[candidate.projection] = profile.interest(candidate.projection)
        interest = interests[candidate.projection]
        cosine = 0.0 if interest is None or candidate.vector is None else float(interest @ candidate.vector)
        row[: len(story)] = story
        row[len(story) :] = (
            age,
            fallback_score(values["authority"], age, values["articles_1h"], candidate.topics),
            float(bool(region) and candidate.country == region),
            float(candidate.paywalled),
            float(candidate.opinion),
            cosine,
            profile.affinity("topic", candidate.topics, now),
            profile.affinity("section", candidate.sections, now),
            profile.affinity("entity", candidate.entities, now),
            profile.affinity("source", (candidate.publisher_id,), now),
            float(not followed["topic"].isdisjoint((*candidate.topics, *candidate.sections))),
            float(not followed["entity"].isdisjoint(candidate.entities)),
            float(candidate.publisher_id in followed["source"]),
            float(candidate.story_id in read),
            history,
        )
    return rows


def _finite(value: float | None, default: float) -> float:
    return default if value is None or not math.isfinite(value) else value
