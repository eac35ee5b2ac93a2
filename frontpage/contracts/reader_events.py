"""What readers do, as events. Reader ids are keyed hashes (`frontpage/domain/tokens.py`), never account ids."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from frontpage.contracts.envelope import Event, Id, Moment


class Click(Event):
    """`reader.clicks`: one use of `/r/{token}`. `reader` is None for a shared (anonymous) card.

    `counted` is False for an old token or a bot: the redirect worked, the click is not a signal.
    """

    schema_name: ClassVar[str] = "reader.clicks"
    click_id: Id
    at: Moment
    article_id: Id
    story_id: Id
    publisher_id: Id
    url: str = Field(max_length=8_192)
    surface: Literal["top", "section", "local", "topic", "story", "feed"]
    section: Id = ""
    position: int
    edition: Id
    reader: Id | None = None
    impression_id: Id | None = None
    counted: bool = True
    why_not: str | None = None


class ReaderEvent(Event):
    """`reader.events`: impressions (with what ranked them), reads, dwell, follows, hides and their undoing.

    An impression logs the served rank and features, so that training sees exactly what serving saw.
    """

    schema_name: ClassVar[str] = "reader.events"
    event_id: Id
    kind: Literal[
        "impression", "read", "dwell", "follow", "unfollow", "hide", "unhide", "pause", "resume", "delete", "report"
    ]
    at: Moment
    edition: Id
    reader: Id | None = None
    story_id: Id = ""
    article_id: Id = ""
    publisher_id: Id = ""
    surface: Id = ""
    impression_id: Id | None = None
    rank: int | None = None
    #: values in the order of the feature registry version named by `features_version`
    features: list[float] = []
    features_version: str | None = None
    model_version: str | None = None
    dwell_seconds: float | None = None
    target_kind: Literal["topic", "entity", "source", "story", ""] = ""
    target_id: Id = ""
    #: of a report ("not about this story"), which names no reader
    reason: Id = ""
