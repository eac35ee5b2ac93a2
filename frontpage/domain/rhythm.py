"""How often a feed publishes, by hour of the week, learnt with decay: the number that its schedule follows. Pure.

The rate is a decayed count per hour of the week (half-life four weeks), shrunk towards the feed's mean. Not here: what
interval follows from it (`schedule.py`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from frontpage.domain.schedule import Entry, FeedState

HOUR: Final = 3600.0
DAY: Final = 86_400.0
#: Decay of the publishing rate: four weeks remember a weekly rhythm and forget a summer.
HALF_LIFE: Final = 28 * DAY
HOURS_OF_WEEK: Final = 168


def expected_gap(state: FeedState, now: float, limit: float) -> float:
    """Seconds until one item is expected, walking the hours of the week from `now`; at most `limit`."""
    return _walk(state, now, now, now + limit, 1.0)[0]


def expected_items(state: FeedState, start: float, now: float, enough: float) -> float:
    """How many items were expected from `start` to `now`, as we see the feed now; counted up to `enough`."""
    return _walk(state, now, start, now, enough)[1]


def items_a_day(state: FeedState, now: float) -> float:
    """What the feed has shown, without any belief of ours: decayed items over the days observed, one at least."""
    observed = max(0.0, now - (state.since if state.since is not None else now))
    days = HALF_LIFE / math.log(2) * (1 - 2 ** (-observed / HALF_LIFE)) / DAY
    return sum(state.rate.values()) * 2 ** (-max(0.0, now - state.rate_at) / HALF_LIFE) / max(1.0, days)


def _walk(state: FeedState, now: float, start: float, end: float, enough: float) -> tuple[float, float]:
    """Seconds from `start` to `end`, or to where `enough` items are expected, and the items expected there."""
    observed = now - (state.since if state.since is not None else now)
    # hours observed, decayed like the counts: the integral of 2^(-t/half-life)
    exposure = HALF_LIFE / math.log(2) * (1 - 2 ** (-max(0.0, observed) / HALF_LIFE)) / HOUR
    fading = 2 ** (-max(0.0, now - state.rate_at) / HALF_LIFE)
    # one item in one hour is what we believe of a feed we know nothing of: a first interval of 30 minutes
    mean = (sum(state.rate.values()) * fading + 1.0) / (exposure + 1.0)
    seen, at = 0.0, start
    while at < end:
        step = min(HOUR - at % HOUR, end - at)
        # one week's worth of belief in the mean, until the hour has its own history
        per_hour = (state.rate.get(hour_of_week(at), 0.0) * fading + mean) / (exposure / HOURS_OF_WEEK + 1.0)
        if seen + per_hour * step / HOUR >= enough:
            return at + (enough - seen) * HOUR / per_hour - start, enough
        seen += per_hour * step / HOUR
        at += step
    return end - start, seen


def hour_of_week(at: float) -> int:
    """0 is Monday 00:00 UTC (1970-01-01 was a Thursday)."""
    return int(at // HOUR + 72) % HOURS_OF_WEEK


def counted(state: FeedState, fresh: list[Entry], first: bool, now: float) -> dict[int, float]:
    """The counts with the `fresh` items added: `{hour of the week: items}`, decayed to `now`."""
    fading = 2 ** (-max(0.0, now - state.rate_at) / HALF_LIFE)
    rate = {hour: round(kept, 4) for hour, count in state.rate.items() if (kept := count * fading) > 0.001}
    for entry in fresh:
        published = entry.published_at
        sane = published is not None and now - 7 * DAY <= published <= now
        if first and not sane:
            continue  # a backlog without dates says nothing about the rate
        hour = hour_of_week(published if sane and published is not None else now)
        rate[hour] = round(rate.get(hour, 0.0) + 1.0, 4)
    return rate


def since(state: FeedState, entries: tuple[Entry, ...], now: float) -> float:
    """From when on the feed is observed: on first sight, from its oldest item of the last week."""
    if state.since is not None:
        return state.since
    dated = [p for entry in entries if (p := entry.published_at) is not None and now - 7 * DAY <= p <= now]
    return min(dated, default=now)


def newest(entries: tuple[Entry, ...], now: float) -> float:
    """The latest stated time that is not in the future, else `now`."""
    return max((p for entry in entries if (p := entry.published_at) is not None and p <= now), default=now)
