"""What the sample world is made of, as plain values: publishers, articles with their versions, events, readers, clicks.

Times are float seconds since the epoch (UTC). Ids of articles are Frontpage's own (`ids.article_id` of the canonical
URL), so that the truth joins with what a running system stores. Nothing here generates or serves anything.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["news", "opinion", "fact_check", "live", "other"]
Form = Literal[
    "report", "followup", "wire", "copy_full", "copy_cut", "copy_extended", "rewrite", "viral", "opinion", "fact_check",
    "roundup", "live", "weather", "result", "market",
]  # fmt: skip
FeedKind = Literal["rss", "atom", "json", "sitemap"]
Tier = Literal["national", "local", "wire", "rewriter"]


@dataclass(frozen=True, slots=True)
class Publisher:
    """A made-up site. `authority` is a prior in 0..1; `place` names the town of a local paper."""

    id: str
    name: str
    host: str
    country: str
    language: str
    tier: Tier
    authority: float
    place: str | None = None
    snippet_allowed: bool = True
    thumb_allowed: bool = True
    paywalled: bool = False
    opted_out: bool = False
    #: how its site is built: address pattern, page template, feed kinds; see `sites.py`
    style: int = 0

    @property
    def wire(self) -> bool:
        """Whether others reprint it."""
        return self.tier == "wire"


@dataclass(frozen=True, slots=True)
class Version:
    """One state of an article: visible from `at`; `claimed_at` is the date that the page shows."""

    at: float
    claimed_at: float
    title: str
    summary: str
    paragraphs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Article:
    """An article and its truth. `event_id` is None for what reports no single event; `touches` lists a round-up's."""

    id: str
    number: int
    url: str
    publisher_id: str
    language: str
    section: str
    kind: Kind
    form: Form
    event_id: str | None
    copy_of: str | None
    author: str
    paywalled: bool
    schema_type: str | None
    image: bool
    place: str | None
    versions: tuple[Version, ...]
    touches: tuple[str, ...] = ()
    credit: str | None = None

    @property
    def published_at(self) -> float:
        """When the address first answered."""
        return self.versions[0].at

    @property
    def title(self) -> str:
        """The first headline."""
        return self.versions[0].title

    @property
    def text(self) -> str:
        """The first body, paragraphs separated by blank lines."""
        return "\n\n".join(self.versions[0].paragraphs)

    def version_at(self, now: float) -> Version | None:
        """The state visible at `now`, None before publication."""
        visible = [version for version in self.versions if version.at <= now]
        return visible[-1] if visible else None

    @property
    def redated(self) -> bool:
        """Whether a later version claims a new date for the same text."""
        return any(
            later.claimed_at > self.versions[0].claimed_at and later.paragraphs == self.versions[0].paragraphs
            for later in self.versions[1:]
        )

    @property
    def corrected(self) -> bool:
        """Whether a later version has another headline."""
        return any(later.title != self.title for later in self.versions[1:])


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, as one language reports it; `group` is equal for the same event in other languages."""

    id: str
    group: str
    kind: str
    section: str
    language: str
    place: str
    country: str
    starts_at: float
    label: str
    sheet: dict[str, str] = field(hash=False, compare=False)


@dataclass(frozen=True, slots=True)
class Reader:
    """A simulated reader. `sections` and `places` give the taste: weight 0..1 by section, towns followed."""

    id: str
    language: str
    country: str
    edition: str
    sections: dict[str, float] = field(hash=False)
    places: tuple[str, ...] = ()
    disliked_publishers: tuple[str, ...] = ()
    activity: float = 1.0


@dataclass(frozen=True, slots=True)
class Impression:
    """An article or card that a reader saw at `position` (0 is the top)."""

    at: float
    reader_id: str
    article_id: str
    publisher_id: str
    section: str
    position: int
    place: str | None = None


@dataclass(frozen=True, slots=True)
class Click:
    """A click of a simulated reader, `dwell` seconds of reading after it."""

    at: float
    reader_id: str
    article_id: str
    publisher_id: str
    section: str
    position: int
    edition: str
    dwell: float
