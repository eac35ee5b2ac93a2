"""The polling scorecard of a group of feeds, from their rows: what `frontpage feeds report` shows.

Counts are since a feed was added; `gold/poll_report` has the last days from the `polls` topic.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from frontpage.adapters.feed_rows import FeedRow
    from frontpage.domain.audit import Watch


def score(name: str, rows: Iterable[FeedRow], watches: Mapping[str, Watch], now: float) -> dict[str, Any]:
    """One line: `watches` are the audited feeds by id. Shares of polls; delays in seconds, None where not measured.

    audit_missed: items that left the feed unseen. under_polled: feeds that are polled sooner than their rhythm asks,
    because their items were always found at the very end of an interval. outran: whose document lately had nothing
    left that was known.
    """
    members = list(rows)
    states = [row.state for row in members]
    audits = [watch for row in members if (watch := watches.get(row.source.feed_id)) is not None]
    measured = [watch.delay for watch in audits if watch.delay is not None]
    polls = sum(state.polls for state in states)
    fruitful = sum(state.fruitful for state in states)
    # the rate counts from the first poll, a virtual minute at least
    first = min((state.first_at for state in states if state.first_at is not None), default=now)
    minutes = max(1.0, (now - first) / 60)
    delays = [state.delay for state in states if state.delay is not None]
    return {
        "name": name,
        "feeds": len(states),
        "polls": polls,
        "not_modified_share": _share(sum(state.not_modified for state in states), polls),
        "waste_share": _share(polls - fruitful, polls),
        "failed_share": _share(sum(state.failed for state in states), polls),
        "new_items": sum(state.new_items for state in states),
        "delay_seconds": sum(delays) / len(delays) if delays else None,
        "audited": len(audits),
        "audit_delay_seconds": sum(measured) / len(measured) if measured else None,
        "audit_missed": sum(watch.missed for watch in audits),
        "under_polled": sum(state.hurry > 1 for state in states),
        "outran": sum(state.outrun > 1 for state in states),
        "polls_per_minute": polls / minutes,
        "stopped": sum(state.stopped is not None for state in states),
    }


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0
