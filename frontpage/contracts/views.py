"""What Redis holds: each key pattern with its type, time to live and owner, and the JSON shapes stored there.

This table is the only place that spells a key. A test compares it with what the processes write.
TTLs are real seconds; None means that the owner removes the key itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel, ConfigDict

from frontpage.contracts.events import ArticleCard
from frontpage.contracts.vectors import Vector


@dataclass(frozen=True, slots=True)
class View:
    """One key pattern. `kind` is the Redis type; `owner` the only process that writes it."""

    pattern: str
    kind: str
    ttl: int | None
    owner: str
    what: str

    def key(self, **parts: str | int) -> str:
        """The concrete key, for example `PAGE.key(edition="en-US", section="top", n=3)`."""
        return self.pattern.format(**parts)


PAGE: Final = View("page:{edition}:{section}:v{n}", "string", 86_400, "ranker", "immutable PageSnapshot JSON")
PAGE_LATEST: Final = View("page:{edition}:{section}:latest", "string", None, "ranker", "version number, moved by CAS")
PAGE_HISTORY: Final = View("page:{edition}:{section}:versions", "zset", 86_400, "ranker", "versions by publish time")
POOL: Final = View("pool:{edition}", "string", 3_600, "ranker", "CandidatePool JSON, about 1,000 stories")
PAGES_CHANNEL: Final = View("pages", "pubsub", None, "ranker", "`edition/section/version` whenever a pointer moves")
STORY: Final = View("story:{story}", "string", 7 * 86_400, "story-store", "StoryRow JSON, or an alias row")
STORIES_APPLIED: Final = View("stories:applied:{partition}", "string", None, "story-store", "last applied sequence")
ARTICLE: Final = View("article:{article}", "hash", 7 * 86_400, "enrich", "version, content hash, first seen, pending")
CONTENT: Final = View("content:{hash}", "string", 7 * 86_400, "enrich", "article id that first had this text")
THUMB: Final = View("thumb:{thumb}", "string", 7 * 86_400, "enrich", "resized JPEG bytes")
FEED: Final = View("feed:{feed}", "string", None, "poller", "source and FeedState")
FEEDS_DUE: Final = View("feeds:due:{partition}", "zset", None, "poller", "feed ids by next poll time (virtual)")
FEEDS_CLOCK: Final = View("feeds:clock", "string", None, "poller", "virtual time at which feeds were claimed last")
AUDIT: Final = View("audit:{feed}", "string", 7 * 86_400, "poller", "Watch JSON of an audited feed")
AUDIT_DUE: Final = View("audit:due", "zset", None, "poller", "audited feeds by next look (virtual)")
AUDIT_WEEK: Final = View("audit:week", "string", None, "poller", "week and size of the audited sample")
WEBSUB: Final = View(
    "websub:sub:{subscription}",
    "string",
    None,
    "poller, and serving by compare-and-set",
    "Subscription JSON with its secret",
)
WEBSUB_FEED: Final = View("websub:feed:{feed}", "string", None, "poller", "id of the feed's subscription")
WEBSUB_DUE: Final = View("websub:due", "zset", None, "poller, serving", "subscription ids by next request (virtual)")
PUSH_PING: Final = View("push:ping:{feed}", "string", 3_600, "serving", "the latest ping's own time: older is a replay")
PUSH_KEY: Final = View("push:key:{publisher}", "string", None, "publishers key", "the publisher's ping key")
PUBLISHER: Final = View("publisher:{publisher}", "string", None, "feeds import", "Publisher JSON: licence, authority")
PUBLISHERS: Final = View("publishers", "set", None, "feeds import", "all publisher ids")
ROBOTS: Final = View("robots:{host}", "string", 86_400, "fetch tier", "robots.txt body and status")
BUDGET: Final = View("budget:{domain}", "hash", 600, "fetch tier", "token bucket and open connections")
LEASE: Final = View("lease:{name}", "string", 6, "holder", "holder's fencing token")
FENCE: Final = View("fence:{name}", "string", None, "holder", "last fencing number given out")
PROFILE_SLOW: Final = View(
    "profile:slow:{reader}", "string", 90 * 86_400, "batch publish", "SlowProfile JSON with watermark"
)
PROFILE_FAST: Final = View(
    "profile:fast:{reader}", "zset", 7 * 86_400, "trends", "events after the watermark, by offset"
)
PROFILE_EXPLICIT: Final = View(
    "profile:explicit:{reader}", "hash", None, "serving", "follows, hides, settings: written through"
)
RANKED: Final = View("ranked:{reader}:{edition}:{snapshot}", "string", 300, "serving", "ranked list of 200 story ids")
RANKED_LATEST: Final = View("ranked:{reader}:{edition}", "string", 300, "serving", "id of the current ranked list")
TRENDS: Final = View("trends:{edition}", "string", 900, "trends", "TrendHot JSON")
CLICKS_BATCH: Final = View("clicks:batch", "string", None, "batch publish", "click counts per story with watermark")
AUTHORITY: Final = View("authority", "string", None, "batch publish", "publisher x topic authority, version")
PROJECTION: Final = View(
    "projection:{version}", "string", None, "batch publish", "64-d projection matrix of one encoder"
)
VERSIONS: Final = View("versions", "hash", None, "batch publish", "current version of each model, projection, table")
MODEL: Final = View("model:{version}", "string", None, "batch publish", "LightGBM model text with its feature registry")
TERMS: Final = View("terms:{version}", "string", None, "batch publish", "TermsDocument JSON: stories by hashed term")
NAMES: Final = View("names:{version}", "string", None, "batch publish", "NamesDocument JSON: learnt names")
SLOGANS: Final = View("slogans", "string", None, "batch publish", "SlogansDocument JSON: publishers' title slogans")
CLOCK: Final = View("clock", "hash", None, "frontpage", "real epoch, virtual epoch, speed, until")
HEARTBEAT: Final = View("heartbeat:{process}", "string", 30, "each process", "JSON: pid, since, lag, last work")


class PageCard(BaseModel):
    """A story on a page, without click tokens (serving signs them when it loads the page)."""

    model_config = ConfigDict(extra="allow", frozen=True)
    story_id: str
    headline: str
    top: ArticleCard
    supporting: list[ArticleCard] = []
    also_published_by: list[str] = []
    sources: int
    articles: int
    label: str | None = None
    reason: str = ""
    updated_at: float
    first_seen_at: float
    score: float
    parts: dict[str, float] = {}
    sections: list[str] = []
    topics: list[str] = []
    entities: list[str] = []
    places: list[str] = []
    lang: str
    dir: str = "ltr"


class PageSnapshot(BaseModel):
    """`page:{edition}:{section}:v{n}`. `watermark` is the story.changes vector the page was made from."""

    model_config = ConfigDict(extra="allow", frozen=True)
    edition: str
    section: str
    version: int
    generated_at: float
    cards: list[PageCard]
    watermark: dict[str, int] = {}


class PoolEntry(BaseModel):
    """A candidate story for personal ranking. `features` holds the story-side values of the feature registry."""

    model_config = ConfigDict(extra="allow", frozen=True)
    card: PageCard
    vector: Vector
    features: dict[str, float] = {}


class CandidatePool(BaseModel):
    """`pool:{edition}`: at most about 1,000 stories, best first. Vectors are 64-d (projection version inside)."""

    model_config = ConfigDict(extra="allow", frozen=True)
    edition: str
    version: int
    generated_at: float
    entries: list[PoolEntry]


class StoryMember(BaseModel):
    """An article of a story with why it is there."""

    model_config = ConfigDict(extra="allow", frozen=True)
    article: ArticleCard
    copy_of: str | None = None
    joined_at: float
    score: float | None = None
    evidence: dict[str, float | str | list[str]] = {}


class StoryRow(BaseModel):
    """`story:{id}`. An alias row has `alias_of` and no members; counters can be recomputed from members."""

    model_config = ConfigDict(extra="allow", frozen=True)
    story_id: str
    language: str
    alias_of: str | None = None
    created_at: float = 0.0
    updated_at: float = 0.0
    members: list[StoryMember] = []
    history: list[dict[str, float | str | list[str]]] = []
    #: stories that report the same event in other languages (from `story.links`)
    links: list[str] = []
    closed: bool = False


class Publisher(BaseModel):
    """`publisher:{id}`: the registry row. `snippet_allowed`/`thumb_allowed` are licence flags; authority 0..1."""

    model_config = ConfigDict(extra="allow", frozen=True)
    publisher_id: str
    name: str
    domains: list[str]
    country: str
    language: str
    authority: float = 0.3
    place: str | None = None
    snippet_allowed: bool = True
    thumb_allowed: bool = True
    paywalled: bool = False
    opted_out: bool = False
    wire: bool = False
    agencies: list[str] = []
