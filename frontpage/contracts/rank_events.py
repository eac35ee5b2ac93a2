"""Events of the ranker and of trend aggregation."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from frontpage.contracts.envelope import Event, Moment


class RankDecision(Event):
    """`rank.decisions`: who represents a story on a page version, and which close calls lost and why."""

    schema_name: ClassVar[str] = "rank.decisions"
    decision_id: str
    edition: str
    section: str
    page_version: int
    story_id: str
    #: place on the page, from 1
    rank: int = Field(ge=1)
    score: float
    parts: dict[str, float] = {}
    representative: str
    publisher_id: str
    #: close calls: [{"article_id", "publisher_id", "score", "why"}]
    lost: list[dict[str, str | float]] = []
    label: str | None = None
    at: Moment


class BreakingAlert(Event):
    """`alerts.breaking`: a confirmed burst, once per story and edition, for the notification system."""

    schema_name: ClassVar[str] = "alerts.breaking"
    alert_id: str
    story_id: str
    editions: list[str]
    headline: str
    language: str
    originals: int
    publishers: int
    tail_probability: float
    #: when the burst's densest window ended; the label and the pin last two hours from here
    burst_at: Moment | None = None
    at: Moment


class TrendPartial(Event):
    """`trends.partials`: one aggregator partition's top articles of a window (at most 2K = 1,000 rows).

    rows: [[article_id, story_id, publisher_id, edition, clicks_1m, clicks_15m]]
    """

    schema_name: ClassVar[str] = "trends.partials"
    partition: int = Field(ge=0)
    window_end: Moment
    rows: list[tuple[str, str, str, str, int, int]]


class TrendHot(Event):
    """`trends.hot`: merged top K of an edition (`edition` "*" is global). rows: [[story_id, velocity, clicks_15m]]"""

    schema_name: ClassVar[str] = "trends.hot"
    edition: str
    window_end: Moment
    stories: list[tuple[str, float, int]]
    publishers: list[tuple[str, float, int]] = []
