"""The audit poll: how late the schedule finds what a fixed fine schedule sees beside it. Pure.

A few hundred feeds, another sample every week, are also polled at their floor whatever their rhythm, with a memory of
their own. An item that the audit sees came between its last two looks; when the schedule has found it, the delay is the
time from the middle of those two to that poll, whatever the item says of its own time. What the audit finds is
not handed on: it would no longer measure the schedule. The share of the schedule's interval that items waited goes
to `lateness.py`, for feeds without honest times too.

Not here: polling (`streaming/ingest/auditor.py`), rows (`adapters/audit_rows.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from frontpage.domain.ids import digest
from frontpage.domain.poll_policy import DAY, Policy
from frontpage.domain.schedule import FeedState

WEEK: Final = 7 * DAY
#: Of the feeds on file at most this share: an audited feed costs up to its floor's polls, an hour's worth of others.
SHARE: Final = 0.05
#: Half of the sample are top feeds, for which discovery is promised.
TOP_SHARE: Final = 0.5
#: An item that the schedule has not found for so long is missed: it has left the feed, or the schedule was stopped.
MISSED_AFTER: Final = 2 * DAY
#: Items waited for at once; feeds show fewer.
OPEN: Final = 200
#: Weight of a new delay in a feed's mean, as in the schedule's own.
WEIGHT: Final = 0.1


@dataclass(frozen=True, slots=True)
class Watch:
    """One audited feed. Times are virtual seconds.

    state: the audit's own schedule and memory of the feed. looked_at: its last look that had an answer. open: {guid
    digest: [last look without it, first look with it]}. polled: the schedule's last two polls, the earlier first.
    found, missed: items by what became of them. delay: exponentially smoothed mean, seconds.
    """

    feed_id: str
    state: FeedState
    looked_at: float | None = None
    open: dict[str, list[float]] = field(default_factory=dict)
    polled: tuple[float, float] = (0.0, 0.0)
    found: int = 0
    missed: int = 0
    delay: float | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """An item that the schedule found: seconds since it came, and that as a share of the interval when it is known."""

    delay: float
    share: float | None


def policy(base: Policy) -> Policy:
    """The fixed fine schedule: every feed at its floor, whatever it publishes. What servers ask for holds as ever."""
    fine = base.floor
    return replace(
        base, ceiling=fine, main_ceiling=fine, busy_ceiling=fine, silent_ceiling=fine, backstop=fine, sooner=1.0
    )


def week(now: float) -> int:
    """Number of the week, from Monday 00:00 UTC: one sample holds so long."""
    return int((now + 3 * DAY) // WEEK)


def size(wanted: int, feeds: int) -> int:
    """How many of so many feeds are audited; at least one where any are wanted."""
    return min(wanted, max(1, int(feeds * SHARE))) if feeds else 0


def order(feed_ids: Iterable[str], number: int) -> list[str]:
    """All feeds in the order in which the sample of that week is drawn: repeatable, another one every week."""
    return sorted(feed_ids, key=lambda feed: digest(f"audit:{number}:{feed}", 16))


def sample(candidates: Sequence[tuple[str, bool]], count: int) -> list[str]:
    """`count` feeds of (feed, is a top feed), as drawn: half of them top feeds, as far as there are any."""
    top = [feed for feed, is_top in candidates if is_top][: int(count * TOP_SHARE)]
    others = [feed for feed, _ in candidates if feed not in set(top)]
    return top + others[: count - len(top)]


def looked(before: Watch, state: FeedState, schedule: FeedState, now: float) -> tuple[Watch, list[Found]]:
    """After one look: `state` is the audit's new memory, `schedule` the schedule's at that moment.

    An answer that says nothing (an error) leaves the time of the last look: what comes may have come since then.
    """
    if before.looked_at is not None and before.looked_at > now:  # by a clock that has since been set back: begin anew
        before = replace(before, looked_at=None, open={}, polled=(0.0, 0.0))
    last = schedule.last_at or 0.0
    polled = before.polled if last == before.polled[1] else (before.polled[1], last)
    answered = state.errors == 0
    known = {guid.split(":")[0] for guid in schedule.guids}
    waiting = dict(before.open)
    if answered and before.looked_at is not None:
        old = {guid.split(":")[0] for guid in before.state.guids}
        fresh = [name for guid in state.guids if (name := guid.split(":")[0]) not in old]
        waiting |= {guid: [before.looked_at, now] for guid in fresh[: max(0, OPEN - len(waiting))]}
    at = (
        schedule.last_new_at
        if schedule.last_new_at is not None and schedule.last_new_at > (before.looked_at or 0)
        else last
    )
    found = [_found(waiting.pop(guid), at, polled) for guid in list(waiting) if guid in known]
    late = [guid for guid, (_, seen) in waiting.items() if now - seen > MISSED_AFTER]
    for guid in late:
        del waiting[guid]
    delay = before.delay
    for one in found:
        delay = one.delay if delay is None else (1 - WEIGHT) * delay + WEIGHT * one.delay
    return (
        Watch(
            before.feed_id,
            state,
            now if answered else before.looked_at,
            waiting,
            polled,
            before.found + len(found),
            before.missed + len(late),
            delay,
        ),
        found,
    )


def _found(came: list[float], at: float, polled: tuple[float, float]) -> Found:
    """It came between the looks, and before it was found if that was earlier."""
    after, by = came
    delay = max(0.0, at - (after + max(after, min(by, at))) / 2)
    interval = at - polled[0] if polled[1] == at and polled[0] > 0 else 0.0
    return Found(delay, min(1.0, delay / interval) if interval > 0 else None)
