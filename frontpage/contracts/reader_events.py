"""What readers do, as events. Reader ids are keyed hashes (`frontpage/domain/tokens.py`), never account ids."""

from __future__ import annotations

from typing import ClassVar, Literal

from frontpage.contracts.envelope import Event


class Click(Event):
    """`reader.clicks`: one use of `/r/{token}`. `reader` is None for a shared (anonymous) card.

    `counted` is False for an old token or a bot: the redirect worked, the click is not a signal.
    """

    schema_name: ClassVar[str] = "reader.clicks"
    click_id: str
    at: float
    article_id: str
    story_id: str
    publisher_id: str
    url: str
    surface: Literal["top", "section", "local", "topic", "story", "feed"]
    section: str = ""
    position: int
    edition: str
    reader: str | None = None
    impression_id: str | None = None
    counted: bool = True
    why_not: str | None = None


class ReaderEvent(Event):
    """`reader.events`: impressions (with what ranked them), reads, dwell, follows, hides and their undoing.

    An impression logs the served rank and features, so that training sees exactly what serving saw.
    """

    schema_name: ClassVar[str] = "reader.events"
    event_id: str
    kind: Literal[
        "impression", "read", "dwell", "follow", "unfollow", "hide", "unhide", "pause", "resume", "delete", "report"
    ]
    at: float
    edition: str
    reader: str | None = None
    story_id: str = ""
    article_id: str = ""
    publisher_id: str = ""
    surface: str = ""
    impression_id: str | None = None
    rank: int | None = None
    #: values in the order of the feature registry version named by `features_version`
    features: list[float] = []
    features_version: str | None = None
    model_version: str | None = None
    dwell_seconds: float | None = None
    target_kind: Literal["topic", "entity", "source", "story", ""] = ""
    target_id: str = ""
    #: of a report ("not about this story"), which names no reader
    reason: str = ""
