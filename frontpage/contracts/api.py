"""The JSON that readers, apps and publishers see (`/v1`, OpenAPI). Times are ISO 8601 UTC strings or null.

`StoryCard` and `ArticleRef` are the personalised-feed document's shapes, joined with the label, reason,
`also_published_by`, `lang` and `dir` that CONTRACTS.md adds. `cluster_id` is that document's name for `story_id`; both
are present and equal. Requests are strict: unknown fields are refused, so that a misspelt one is not lost silently.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from frontpage.domain.editions import EDITIONS

Label = Literal["breaking", "opinion", "fact-check", "live", "paywall"]
FollowKind = Literal["topic", "entity", "source"]


def iso(seconds: float | None) -> str | None:
    """Virtual seconds since 1970 as `2026-03-02T12:00:00Z`; None and impossible numbers give None."""
    if seconds is None:
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    except (OverflowError, ValueError, OSError):
        return None


class Shape(BaseModel):
    """Base of all answers."""

    model_config = ConfigDict(frozen=True)


class ArticleRef(Shape):
    """An article as shown. `click_url` is ours (`/r/{token}`); `url` of the publisher is inside the token only."""

    article_id: str
    title: str
    snippet: str
    publisher: str
    publisher_id: str
    published_at: str | None
    first_seen_at: str | None
    thumb_url: str | None
    click_url: str
    label: Label | None = None
    paywalled: bool = False
    also_published_by: list[str] = []
    local: bool = False
    lang: str
    dir: Literal["ltr", "rtl"] = "ltr"


class StoryCard(Shape):
    """A story in a list. `sources` counts distinct publishers with a report of their own (a reprint is none),
    `more_sources` those besides the top article's.
    """

    story_id: str
    cluster_id: str
    headline: str
    top_article: ArticleRef
    supporting: list[ArticleRef] = []
    also_published_by: list[str] = []
    sources: int
    more_sources: int
    articles: int
    label: Label | None = None
    reason: str = ""
    updated_at: str | None
    first_seen_at: str | None
    story_url: str
    topics: list[str] = []
    sections: list[str] = []
    #: on private surfaces: name it in `POST /v1/events` so that reads and dwell find what was served
    impression_id: str | None = None
    lang: str
    dir: Literal["ltr", "rtl"] = "ltr"


class EditionInfo(Shape):
    """One edition and the sections that have a page now."""

    edition: str
    name: str
    region: str
    language: str
    dir: Literal["ltr", "rtl"]
    sections: list[str]


class EditionList(Shape):
    """`GET /v1/editions`."""

    default: str
    editions: list[EditionInfo]


class Page(Shape):
    """`GET /v1/editions/{edition}/{section}` and local pages. `stale` is true when ranking has stopped."""

    edition: str
    section: str
    version: int
    generated_at: str | None
    stale: bool = False
    age_seconds: int | None = None
    items: list[StoryCard]


class Top(Shape):
    """`GET /v1/top`: the personalised-feed document's shape of the same list."""

    locale: str
    as_of: str | None
    stale: bool = False
    items: list[StoryCard]


class TopicInfo(Shape):
    """A topic, entity or section by id."""

    id: str
    name: str


class Topic(Shape):
    """`GET /v1/topics/{topic_id}`, newest first; no `next_cursor` on the last page."""

    topic: TopicInfo
    edition: str
    items: list[StoryCard]
    next_cursor: str | None = None


class Versions(Shape):
    """`GET /v1/editions/{edition}/version`: tiny and edge-cached; an open app asks once a minute."""

    edition: str
    sections: dict[str, int]


class TimelineEntry(Shape):
    """One moment of a story: the first report, a correction, a merge."""

    at: str | None
    what: Literal["first_report", "article", "corrected", "merged", "split"]
    article_id: str | None = None
    title: str = ""
    publisher: str = ""


class LinkedStory(Shape):
    """The same event in another language."""

    story_id: str
    language: str
    dir: Literal["ltr", "rtl"]
    headline: str
    sources: int
    story_url: str


class Story(Shape):
    """`GET /v1/stories/{id}`: Full Coverage. Originals only in `articles`; copies stand under their original."""

    story_id: str
    cluster_id: str
    headline: str
    language: str
    dir: Literal["ltr", "rtl"]
    sources: int
    first_seen_at: str | None
    updated_at: str | None
    articles: list[ArticleRef]
    local: list[ArticleRef] = []
    opinion: list[ArticleRef] = []
    fact_checks: list[ArticleRef] = []
    timeline: list[TimelineEntry] = []
    publishers: list[str] = []
    related_topics: list[str] = []
    other_languages: list[LinkedStory] = []


class Feed(Shape):
    """`GET /v1/feed`. `label` is "For you", or "Top stories" when the feed could not be personalised."""

    edition: str
    label: Literal["For you", "Top stories"]
    degraded: str | None = None
    generated_at: str | None
    model_version: str | None = None
    items: list[StoryCard]
    next_cursor: str | None = None


class Follow(Shape):
    """One follow."""

    kind: FollowKind
    id: str
    since: str | None


class Hidden(Shape):
    """One hidden source, topic or story."""

    kind: Literal["source", "story", "topic"]
    id: str
    since: str | None


class Me(Shape):
    """`GET /v1/me`."""

    edition: str
    place: str | None
    alpha: float
    subscriptions: list[str]
    history_paused: bool
    follows: list[Follow]
    hidden: list[Hidden]
    reads_remembered: int


def _known_edition(value: object) -> object:
    if value is not None and not (isinstance(value, str) and value in EDITIONS):
        raise ValueError("no such edition, see /v1/editions")
    return value


class Request(BaseModel):
    """Base of all request bodies."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


#: Control characters are in no id, name or place: they would only forge lines in logs and headers downstream.
PRINTABLE: Final = r"^[^\x00-\x1f\x7f]*$"
Id = Annotated[str, Field(min_length=1, max_length=128, pattern=PRINTABLE)]


class MePatch(Request):
    """`PATCH /v1/me`: absent fields stay. `alpha` 0.5 explores, 0.9 personalises heavily (four-tiers document)."""

    edition: Annotated[str | None, BeforeValidator(_known_edition)] = None
    place: Annotated[str, Field(max_length=80, pattern=PRINTABLE)] | None = None
    alpha: Annotated[float, Field(ge=0.5, le=0.9)] | None = None
    subscriptions: Annotated[list[Id], Field(max_length=100)] | None = None


class HideRequest(Request):
    """`POST|DELETE /v1/me/hide`: exactly one of them; `cluster_id` is the document's name of `story_id`."""

    source_id: Id | None = None
    story_id: Id | None = None
    cluster_id: Id | None = None
    topic_id: Id | None = None

    @model_validator(mode="after")
    def _one(self) -> HideRequest:
        if sum(value is not None for value in (self.source_id, self.story_id, self.cluster_id, self.topic_id)) != 1:
            raise ValueError("name exactly one of source_id, story_id, topic_id")
        return self

    @property
    def target(self) -> tuple[Literal["source", "story", "topic"], str]:
        """(kind, id)."""
        if self.source_id is not None:
            return "source", self.source_id
        if self.topic_id is not None:
            return "topic", self.topic_id
        return "story", self.story_id or self.cluster_id or ""


class ClientEvent(Request):
    """One thing the app saw happen. `dwell_seconds` is real seconds on the publisher's page, at most an hour."""

    kind: Literal["impression", "read", "dwell"]
    story_id: Id
    article_id: Annotated[str, Field(max_length=128)] = ""
    publisher_id: Annotated[str, Field(max_length=128)] = ""
    surface: Literal["top", "section", "local", "topic", "story", "feed"] = "top"
    impression_id: Annotated[str, Field(max_length=64)] | None = None
    rank: Annotated[int, Field(ge=0, le=10_000)] | None = None
    dwell_seconds: Annotated[float, Field(ge=0, le=3_600)] | None = None


class EventsRequest(Request):
    """`POST /v1/events`: at most 100 at a time."""

    edition: Annotated[str, BeforeValidator(_known_edition)]
    events: Annotated[list[ClientEvent], Field(min_length=1, max_length=100)]


class Accepted(Shape):
    """How many events were taken; `paused` when the reader has paused history and nothing was kept."""

    accepted: int
    paused: bool = False


class ReportRequest(Request):
    """`POST /v1/stories/{id}/reports`: "not about this story". Evidence for the repair, never shown."""

    article_id: Id
    reason: Literal["not-about-this-story", "wrong-label", "broken-link", "other"] = "not-about-this-story"


class PublisherDashboard(Shape):
    """`GET /v1/publishers/{id}/dashboard`: what the pages in memory and the batch layer's report say."""

    publisher_id: str
    name: str
    authority: float
    headlines: list[dict[str, str | int]]
    headlines_now: int
    headline_share_by_edition: dict[str, float]
    supporting_now: int
    copies_now: int
    lost_close_calls: list[dict[str, str | float]] = []
    rules: list[str]


class Problem(Shape):
    """RFC 9457 problem details, `application/problem+json`."""

    type: str
    title: str
    status: int
    detail: str = ""
    instance: str | None = None
    errors: list[dict[str, str]] | None = None
