"""The Kafka topics: name, key, partitions, retention. CONTRACTS: change only with a migration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from frontpage.domain.languages import LANGUAGE_PARTITIONS

DAY_MS: Final = 86_400_000


@dataclass(frozen=True, slots=True)
class Topic:
    """`key` says in words what the record key is; `partitions` applies when the topic is created."""

    name: str
    key: str
    partitions: int
    retention_ms: int


ITEMS_RAW: Final = Topic("items.raw", "hash of the item's URL", 8, DAY_MS)
ITEMS_DEAD: Final = Topic("items.dead", "original key", 1, 14 * DAY_MS)
POLLS: Final = Topic("polls", "feed id", 4, 3 * DAY_MS)
ARTICLES: Final = Topic("articles.normalised", "language (explicit map)", LANGUAGE_PARTITIONS, 3 * DAY_MS)
STORY_CHANGES: Final = Topic("story.changes", "language (explicit map)", LANGUAGE_PARTITIONS, 7 * DAY_MS)
STORY_PROPOSALS: Final = Topic("story.proposals", "language (explicit map)", LANGUAGE_PARTITIONS, DAY_MS)
STORY_REVIEWS: Final = Topic("story.reviews", "language (explicit map)", LANGUAGE_PARTITIONS, 7 * DAY_MS)
STORY_SNAPSHOTS: Final = Topic("story.snapshots", "language (explicit map)", LANGUAGE_PARTITIONS, 3 * DAY_MS)
STORY_RATINGS: Final = Topic("story.ratings", "pair id", 1, 7 * DAY_MS)
STORY_LINKS: Final = Topic("story.links", "story id", 1, 3 * DAY_MS)
READER_CLICKS: Final = Topic("reader.clicks", "article id", 4, 3 * DAY_MS)
READER_EVENTS: Final = Topic("reader.events", "article id", 4, 3 * DAY_MS)
RANK_DECISIONS: Final = Topic("rank.decisions", "edition", 1, 3 * DAY_MS)
TRENDS_PARTIALS: Final = Topic("trends.partials", "window", 1, DAY_MS)
TRENDS_HOT: Final = Topic("trends.hot", "window", 1, DAY_MS)
POLL_REQUESTS: Final = Topic("poll.requests", "feed id", 4, DAY_MS)
ALERTS_BREAKING: Final = Topic("alerts.breaking", "story id", 1, 7 * DAY_MS)

ALL: Final = (
    ITEMS_RAW, ITEMS_DEAD, POLLS, ARTICLES, STORY_CHANGES, STORY_PROPOSALS, STORY_REVIEWS, STORY_SNAPSHOTS,
    STORY_RATINGS, STORY_LINKS, READER_CLICKS, READER_EVENTS, RANK_DECISIONS, TRENDS_PARTIALS, TRENDS_HOT,
    POLL_REQUESTS, ALERTS_BREAKING,
)  # fmt: skip
