"""The events on the ingestion and story topics. One class per schema; topics are in `topics.py`.

`ArticleEvent` carries everything derived from a page and nothing of its body (licence boundary).
`StoryChange` carries the article card and its signals, so that every consumer, and a clusterer that starts
anew, can rebuild its state from `story.changes` alone.
Reader events are in `reader_events.py`, ranking and trend events in `rank_events.py`.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from frontpage.contracts.envelope import Event, Id, Moment
from frontpage.contracts.vectors import Vector

ArrivedBy = Literal["poll", "websub", "ping", "sitemap", "replay"]
ArticleKind = Literal["news", "opinion", "fact_check", "live", "other"]


class FeedItem(Event):
    """`items.raw`: an item as its feed states it, summary already clipped to the licence; never a page body."""

    schema_name: ClassVar[str] = "items.raw"
    feed_id: str
    feed_url: str
    publisher_id: str
    url: str = Field(min_length=1)
    guid: str = ""
    title: str = ""
    summary: str = ""
    authors: list[str] = []
    categories: list[str] = []
    image: str | None = None
    language: str | None = None
    published_at: Moment | None = None
    updated_at: Moment | None = None
    #: When Frontpage first saw this item (virtual clock); becomes first_seen_at of a new article.
    seen_at: Moment
    arrived_by: ArrivedBy = "poll"
    #: tries of its page so far; and how often it went back to the topic because our own budgets were used up
    attempts: int = 0
    returns: int = 0


class DeadLetter(Event):
    """`items.dead`: what could not be processed. `value_b64` is the original value; `at` is our clock."""

    schema_name: ClassVar[str] = "items.dead"
    topic: str
    partition: int
    offset: int
    key: str | None = None
    value_b64: str | None = None
    cause: str
    detail: str = ""
    attempts: int = 1
    process: str
    at: Moment


class PollOutcome(Event):
    """`polls`: one poll of one feed. `delay` seconds from publication to seen, median of the new items.

    audit: a look beside the schedule, to measure it. Then `new_items` are those that the schedule has found since the
    look before, and `delay` is the seconds that they waited for it, by the looks and not by their own times.
    """

    schema_name: ClassVar[str] = "polls"
    feed_id: str
    feed_url: str
    publisher_id: str
    domain: str
    at: Moment
    status: int | None
    outcome: Literal["new", "unchanged", "not_modified", "error", "refused"]
    cause: str | None = None
    bytes: int = 0
    items: int = 0
    new_items: int = 0
    delay: float | None = None
    next_at: float
    audit: bool = False


class ArticleCard(BaseModel):
    """What is shown of an article and who may see it; part of articles, story changes, pages and pools."""

    model_config = ConfigDict(extra="allow", frozen=True)
    article_id: Id
    version: int = Field(1, ge=1)
    url: str = Field(max_length=8_192)
    #: enrich clips titles to 500 characters and snippets to 200
    title: str = Field(max_length=2_000)
    snippet: str = Field("", max_length=1_000)
    publisher_id: Id
    publisher: str
    domain: str
    country: str = ""
    language: str
    dir: Literal["ltr", "rtl"] = "ltr"
    kind: ArticleKind = "news"
    paywalled: bool = False
    thumb_id: str | None = None
    authors: list[str] = []
    sections: list[str] = []
    topics: list[str] = []
    entities: list[str] = []
    places: list[str] = []
    published_at: Moment | None = None
    modified_at: Moment | None = None
    first_seen_at: Moment


class Signals(BaseModel):
    """Derived features for copies, stories and ranking; none of them lets the body be read back.

    simhash: 16 hex digits. minhash: base64 of 100 little-endian uint32 or None (too short a text).
    terms: hashed term vector {hash (decimal string): weight}, at most 256 heaviest. quality: 0..1.
    """

    model_config = ConfigDict(extra="allow", frozen=True)
    vector: Vector
    simhash: str
    minhash: str | None = None
    #: features of the copy and pair scorers beyond the above, by name (see frontpage/domain/signals.py)
    terms: dict[str, float] = {}
    extra: dict[str, list[str]] = {}
    words: int = 0
    quality: float = 0.5


class ArticleEvent(Event):
    """`articles.normalised`: a new article or a new version of one."""

    schema_name: ClassVar[str] = "articles.normalised"
    card: ArticleCard
    signals: Signals
    content_hash: str
    fetched_url: str
    syndicated_from: str | None = None
    declared_language: str | None = None
    #: True when the page did not answer after the retries and the feed's own fields were used instead.
    from_feed: bool = False
    feed_id: str = ""
    image_url: str | None = None
    arrived_by: ArrivedBy = "poll"
    problems: list[str] = []
    #: who says the card's sections: the publisher, or a section model by its version
    sections_by: str = "publisher"
    #: seconds (virtual clock) of each step, for freshness: {"seen": .., "fetched": .., "normalised": ..}
    trace: dict[str, float] = {}


ChangeKind = Literal["create", "assign", "update", "move", "merge", "split", "close"]


class StoryChange(Event):
    """`story.changes`: one decision of a language's writer, in its total order (`sequence`, gap-free).

    create/assign: `article` and `signals` join `story_id`; `copy_of` names the original of a copy.
    update: a new version of a member. move: a member leaves `from_story` for `story_id` (repair).
    merge: `story_id` survives, `absorbed` become aliases of it. split: `moved` article ids leave `from_story`
    for the new `story_id`. close: the story left the window.
    """

    schema_name: ClassVar[str] = "story.changes"
    change_id: str
    sequence: int = Field(ge=1, le=1 << 53)
    language: str
    kind: ChangeKind
    story_id: str
    at: Moment
    article: ArticleCard | None = None
    signals: Signals | None = None
    copy_of: str | None = None
    from_story: str | None = None
    absorbed: list[str] = []
    moved: list[str] = []
    score: float | None = None
    evidence: dict[str, float | str | list[str]] = {}
    trace: dict[str, float] = {}


class StoryProposal(Event):
    """`story.proposals`: a merge or split found by the batch layer. `watermark`: {"topic/partition": offset}."""

    schema_name: ClassVar[str] = "story.proposals"
    proposal_id: str
    language: str
    kind: Literal["merge", "split"]
    #: merge: the stories to become one. split: the one story, with `groups` of article ids.
    stories: list[str]
    groups: list[list[str]] = []
    evidence: dict[str, float | str | list[str]] = {}
    watermark: dict[str, int] = {}
    at: Moment


class StoryLink(Event):
    """`story.links`: two stories in different languages report one event. score 0..1."""

    schema_name: ClassVar[str] = "story.links"
    link_id: str
    left: str
    left_language: str
    right: str
    right_language: str
    score: float
    at: Moment


class PollRequest(Event):
    """`poll.requests`: poll this feed now, and at its floor until `boost_until`."""

    schema_name: ClassVar[str] = "poll.requests"
    request_id: str
    feed_id: str
    why: str
    boost_until: Moment | None = None
    at: Moment
