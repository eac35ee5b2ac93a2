"""What a burst changes: the label, the pin for up to two hours, one alert, and closer polling of matching sources.

`Breaking` remembers which stories burst and in which editions that was said. It is rebuilt from `alerts.breaking` at
the start, so a restart neither forgets a pin nor alerts twice (the alert's id is that of the story and the editions).
The rule itself is `frontpage/domain/burst.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from frontpage.adapters.bus import Outgoing
from frontpage.contracts.events import PollRequest
from frontpage.contracts.rank_events import BreakingAlert
from frontpage.contracts.topics import ALERTS_BREAKING, POLL_REQUESTS
from frontpage.domain.burst import BurstPolicy, detect
from frontpage.domain.editions import Edition
from frontpage.domain.ids import digest
from frontpage.domain.scoring import Measure, relevance
from streaming.rank.sources import Sources
from streaming.rank.state import RankStory

#: A burst matters to an edition when a fifth of its coverage is of the region or speaks of it,
RELEVANT: Final = 0.2
#: or when authoritative publishers of this many countries report it: that is news everywhere.
COUNTRIES: Final = 4
#: Feeds boosted per burst: enough for a region's press, too few to hurt the poller's budget (350 polls/s).
BOOSTED: Final = 50
#: Virtual seconds of closer polling (documents: "every minute for the next hour").
BOOST: Final = 3600.0


@dataclass(frozen=True, slots=True)
class Press:
    """Publishers and their feeds (publisher id -> feed ids), for choosing whom to poll closer."""

    sources: Sources
    feeds: Mapping[str, list[str]]


@dataclass(slots=True)
class Pin:
    """A story that burst: when its densest window ended, and in which editions that has been announced."""

    since: float
    editions: set[str] = field(default_factory=set)


class Breaking:
    """The bursts of the last two hours."""

    def __init__(self, policy: BurstPolicy | None = None) -> None:
        self.policy = policy or BurstPolicy()
        self.pins: dict[str, Pin] = {}
        self._facts: dict[str, tuple[int, int, float]] = {}

    def restore(self, alerts: Iterable[BreakingAlert]) -> None:
        """Take up what was announced before."""
        for alert in alerts:
            since = alert.at if alert.burst_at is None else alert.burst_at
            pin = self.pins.setdefault(alert.story_id, Pin(since))
            pin.since = min(pin.since, since)
            pin.editions.update(alert.editions)

    def look(self, story: RankStory, now: float, baseline: float | None = None) -> bool:
        """Judge a story; True while it is breaking (confirmed now, or within the last two hours)."""
        pin = self.pins.get(story.story_id)
        if pin is not None:
            return now - pin.since <= self.policy.pinned
        originals = [(r.first_seen, r.publisher_id, r.authority) for r in story.reports if r.original]
        if len(originals) < self.policy.originals:
            return False
        burst = detect(originals, now=now, baseline=baseline, policy=self.policy)
        if burst is None:
            return False
        self.pins[story.story_id] = Pin(burst.ended)
        self._facts[story.story_id] = (burst.originals, burst.publishers, burst.tail)
        return True

    def merged(self, resolve: Mapping[str, str]) -> None:
        """Follow merges: the survivor inherits the pin."""
        for old, survivor in resolve.items():
            pin = self.pins.pop(old, None)
            if pin is not None:
                kept = self.pins.setdefault(survivor, Pin(pin.since))
                kept.since = min(kept.since, pin.since)
                kept.editions |= pin.editions

    def forget(self, now: float) -> None:
        """Drop pins that ended long ago; a story may burst again after twice the pin."""
        for story_id in [id for id, pin in self.pins.items() if now - pin.since > 2 * self.policy.pinned]:
            del self.pins[story_id]
            self._facts.pop(story_id, None)

    def announce(
        self, story: RankStory, editions: Iterable[str], headline: str, now: float, press: Press
    ) -> list[Outgoing]:
        """The alert for editions that have not had it, and poll requests with the first alert."""
        pin = self.pins.get(story.story_id)
        fresh = sorted(set(editions) - (pin.editions if pin is not None else set()))
        if pin is None or not fresh:
            return []
        first = not pin.editions
        originals, publishers, tail = self._facts.get(story.story_id, (0, 0, 0.0))
        alert = BreakingAlert(
            alert_id=digest(f"{story.story_id}|{','.join(fresh)}"),
            story_id=story.story_id,
            editions=fresh,
            headline=headline,
            language=story.language,
            originals=originals,
            publishers=publishers,
            tail_probability=tail,
            burst_at=pin.since,
            at=now,
        )
        pin.editions.update(fresh)
        out = [Outgoing(ALERTS_BREAKING.name, story.story_id, alert.encode())]
        return out + (_boosts(story, now, press) if first else [])


def _boosts(story: RankStory, now: float, press: Press) -> list[Outgoing]:
    """Sources that match by region or by covering the story already; the latter first."""
    covering = story.publishers()
    regions = {r.country for r in story.reports if r.original} | {p for r in story.reports for p in r.places}
    near = {id for region in regions for id in press.sources.of_region(region)} - covering
    ordered = [*sorted(covering), *sorted(near, key=lambda id: (-press.sources.authority(id), id))]
    chosen = [feed for publisher in ordered for feed in press.feeds.get(publisher, ())][:BOOSTED]
    requests = [
        PollRequest(
            request_id=digest(f"burst|{story.story_id}|{feed}"),
            feed_id=feed,
            why=f"burst of story {story.story_id}",
            boost_until=now + BOOST,
            at=now,
        )
        for feed in chosen
    ]
    return [Outgoing(POLL_REQUESTS.name, request.feed_id, request.encode()) for request in requests]


def matters(measured: Measure, story: RankStory, edition: Edition, policy: BurstPolicy) -> bool:
    """Is a burst relevant to the edition: by region, by its own authoritative press, or because it is everywhere?"""
    if relevance(measured, edition.region) >= RELEVANT:
        return True
    strong = {(r.publisher_id, r.country) for r in story.reports if r.original and r.authority > policy.authority}
    at_home = {publisher for publisher, country in strong if country == edition.region}
    return len(at_home) >= 2 or len({country for _, country in strong}) >= COUNTRIES
