"""How important is a story for an edition now? Signals, score, smoothing and the order that does not flap.

Signals per story (editions document, "Ranking"):
- coverage   log(1 + sum of authority) over distinct publishers with an original in the last 6 h; copies add nothing
- standing   the same over the story's whole life, with little weight: it orders stories that nobody reported lately
- velocity   originals of the last 30 min against the story's own previous rate
- freshness  half-life 4 h of the latest original, by first-seen time and never by a claimed date
- relevance  per edition: share of coverage from publishers of its region, plus places in it
- clicks     the click trend of the story in the edition, as one more signal

`measure` is done once per story and cycle and shared by all editions; only `relevance` and clicks differ.
Not here: the burst rule (`burst.py`), who is next to whom on a page (`diversity.py`), whose headline it
is (`representative.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

HALF_HOUR = 1800.0


@dataclass(frozen=True, slots=True)
class ScorePolicy:
    """Windows and half-life are the documents'; the weights are ours, first guesses that `eval ranker` judges."""

    coverage_window: float = 6 * 3600.0
    velocity_window: float = HALF_HOUR
    half_life: float = 4 * 3600.0
    #: Stories without an article for this long are not ranked (documents: articles of the last 24 hours).
    active: float = 24 * 3600.0
    #: A language with fewer active stories than this (a quiet night, a backlog after a stop) also shows older ones,
    #: as long as they are open: an old page is better than a blank one.
    enough: int = 30
    coverage_weight: float = 1.0
    standing_weight: float = 0.05
    velocity_weight: float = 0.35
    #: Below coverage: readers' clicks follow position, so they may tip a balance but not make a front page.
    clicks_weight: float = 0.15
    #: Score of a story with no tie to the region, as a share of one that is wholly of it.
    relevance_floor: float = 0.3
    cycles: int = 5
    swap_gap: float = 0.10


DEFAULT_POLICY = ScorePolicy()


@dataclass(frozen=True, slots=True)
class Report:
    """One article as ranking sees it. `places` are region codes (ISO 3166-1 alpha-2) the text speaks of."""

    publisher_id: str
    country: str
    first_seen: float
    authority: float
    original: bool = True
    places: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Measure:
    """What is the same for all editions. `shares`: authority-weighted part of coverage per country, sums to 1.

    `geo`: share of the articles that name a place of the region. Both are of the last 6 hours, or of the whole story
    when those are empty. Times are seconds since 1970.
    """

    coverage: float
    standing: float
    velocity: float
    freshness: float
    originals_6h: int
    originals_30m: int
    publishers: int
    latest: float
    shares: Mapping[str, float]
    geo: Mapping[str, float]


def measure(reports: Sequence[Report], now: float, policy: ScorePolicy = DEFAULT_POLICY) -> Measure | None:
    """Signals of a story from its members; None when it has no original at all."""
    originals = [report for report in reports if report.original]
    if not originals:
        return None
    latest = max(report.first_seen for report in originals)
    counted = [report for report in originals if now - report.first_seen <= policy.coverage_window]
    covering = _by_publisher(counted)
    basis = counted or originals
    authority = covering or _by_publisher(originals)
    country = {report.publisher_id: report.country for report in basis}
    total = sum(authority.values())
    shares: dict[str, float] = {}
    # a story that nobody of authority covers still has a region: count such publishers equally
    for publisher, region in country.items():
        part = authority[publisher] / total if total > 0 else 1 / len(country)
        shares[region] = shares.get(region, 0.0) + part
    geo: dict[str, float] = {}
    for report in basis:
        for place in report.places:
            geo[place] = geo.get(place, 0.0) + 1 / len(basis)
    recent = sum(1 for report in counted if now - report.first_seen <= policy.velocity_window)
    return Measure(
        coverage=math.log1p(sum(covering.values())),
        standing=math.log1p(sum(_by_publisher(originals).values())),
        velocity=velocity([report.first_seen for report in originals], now, policy),
        freshness=0.5 ** (max(0.0, now - latest) / policy.half_life),
        originals_6h=len(counted),
        originals_30m=recent,
        publishers=len(covering),
        latest=latest,
        shares=shares,
        geo=geo,
    )


def _by_publisher(reports: Iterable[Report]) -> dict[str, float]:
    authority: dict[str, float] = {}
    for report in reports:
        authority[report.publisher_id] = max(authority.get(report.publisher_id, 0.0), report.authority)
    return authority


def velocity(first_seen: Iterable[float], now: float, policy: ScorePolicy = DEFAULT_POLICY) -> float:
    """log((1 + originals of the last 30 min) / (1 + the story's previous originals per 30 min)).

    The previous rate is over the story's own life before that window, at most 6 hours of it; 0 for a new
    story. Positive while coverage speeds up, negative while it slows.
    """
    times = [time for time in first_seen if now - time <= policy.coverage_window]
    edge = now - policy.velocity_window
    recent = sum(1 for time in times if time > edge)
    before = [time for time in times if time <= edge]
    previous = 0.0
    if before:
        span = max(policy.velocity_window, edge - min(before))
        previous = len(before) * policy.velocity_window / span
    return math.log((1 + recent) / (1 + previous))


def relevance(measured: Measure, region: str) -> float:
    """0..1: coverage share of the region's publishers, raised by the share of articles that name its places."""
    share = min(1.0, measured.shares.get(region, 0.0))
    return min(1.0, share + (1 - share) * measured.geo.get(region, 0.0))


def score(
    measured: Measure, *, region: str, clicks_per_minute: float = 0.0, policy: ScorePolicy = DEFAULT_POLICY
) -> tuple[float, dict[str, float]]:
    """The story's score for an edition of `region` and its parts, for `explain` and `rank.decisions`."""
    fit = relevance(measured, region)
    clicks = math.log1p(max(0.0, clicks_per_minute))
    weight = (
        policy.coverage_weight * measured.coverage
        + policy.standing_weight * measured.standing
        + policy.velocity_weight * max(0.0, measured.velocity)
        + policy.clicks_weight * clicks
    )
    value = weight * measured.freshness * (policy.relevance_floor + (1 - policy.relevance_floor) * fit)
    parts = {
        "coverage": round(measured.coverage, 4),
        "velocity": round(measured.velocity, 4),
        "freshness": round(measured.freshness, 4),
        "relevance": round(fit, 4),
        "clicks": round(clicks, 4),
    }
    return value, parts


def smooth(history: Sequence[float], policy: ScorePolicy = DEFAULT_POLICY) -> float:
    """Mean of the last five cycles' scores (fewer for a story that is newer than that)."""
    recent = history[-policy.cycles :]
    return sum(recent) / len(recent) if recent else 0.0


def settle(previous: Sequence[str], scores: Mapping[str, float], gap: float = DEFAULT_POLICY.swap_gap) -> list[str]:
    """The new order: two stories change places only when their scores differ by more than `gap`.

    `previous` is the last order (ids without a score now are dropped); stories new to it enter where their score
    puts them. Neighbours are then swapped while the lower beats the upper by more than the gap, so every pair that
    changed its relative order differed by more than that. Ties are broken by id: equal input, equal page.
    """
    order = [story for story in previous if story in scores]
    known = set(order)
    at = 0  # a lower newcomer never enters above a higher one
    for story in sorted((s for s in scores if s not in known), key=lambda s: (-scores[s], s)):
        while at < len(order) and scores[order[at]] >= scores[story]:
            at += 1
        order.insert(at, story)
    for end in range(1, len(order)):
        at = end
        while at > 0 and scores[order[at]] > scores[order[at - 1]] * (1 + gap):
            order[at - 1], order[at] = order[at], order[at - 1]
            at -= 1
    return order
