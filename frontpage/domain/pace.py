"""What becomes of due times when time itself jumped: the clock was set back, or nobody polled for a while. Pure.

Pollers note the time of their latest claim. When the clock is earlier than that, every due time is moved back by the
difference, so that no feed waits for a moment that is days ahead. When it is much later, the pollers were stopped: what
is overdue is spread over the next minutes in its order, as new feeds are, instead of being asked for in one second.
Polls beyond what a machine does in that time just take longer.

Not here: the queues (`adapters/feed_pace.py`).
"""

from __future__ import annotations

from typing import Final, Literal

#: Clocks of several pollers differ by less; steps of time services are smaller.
TOLERANCE: Final = 120.0
#: Longer than a poller is away for a restart.
STOPPED: Final = 300.0
#: Real seconds for both, which matter when the clock runs fast: it is read once a second.
TOLERANCE_REAL: Final = 5.0
STOPPED_REAL: Final = 60.0
#: Overdue feeds are spread over so many seconds each, five minutes at most: about 10 a second, like new feeds.
SPREAD_PER_FEED: Final = 0.1
LONGEST_SPREAD: Final = 300.0

Turn = Literal["on", "set-back", "resumed"]


def turn(latest: float | None, now: float, speed: float) -> Turn:
    """What happened since the latest claim (None: there was none). `speed`: virtual seconds in a real one."""
    if latest is None:
        return "on"
    if now < latest - max(TOLERANCE, TOLERANCE_REAL * speed):
        return "set-back"
    return "resumed" if now > latest + max(STOPPED, STOPPED_REAL * speed) else "on"


def moved_back(due: list[float], latest: float, now: float) -> list[float]:
    """Due times as far from `now` as they were from `latest`."""
    return [at - (latest - now) for at in due]


def spread_out(due: list[float], now: float, overdue: int, phase: float = 0.0) -> list[float]:
    """The due times of one of the queues, ascending; those that have passed go, in their order, into the window that
    `overdue` feeds of all queues need. `phase`, below 1: each queue's own, so that they do not begin together.
    """
    window = min(LONGEST_SPREAD, SPREAD_PER_FEED * overdue)
    passed = sum(at <= now for at in due)
    return [now + window * (index + phase) / passed if index < passed else at for index, at in enumerate(due)]
