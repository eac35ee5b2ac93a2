"""Whether a feed outruns us: every item of its document is new, so that others may have come and gone unseen. Pure.

A document shows a feed's newest items. While one that we know is left in it, nothing was lost between two polls; when
none is, we cannot know. Then the interval is divided by two, again when it happens again, down to an eighth. The poll
that finds a quarter of the document new, or less, would find room at twice the interval: with each such poll the
divisor goes back a little, so that what one morning taught lasts for ten polls, and a paper that replaces its whole
list once a day costs no more than those.

Only waits that were ours count: after a stop of ours, a failure or a server's own word an empty-handed document is no
surprise. Not here: items that wait long without being lost (`lateness.py`), the interval (`schedule.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from frontpage.domain.lateness import DEEPEST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from frontpage.domain.schedule import FeedState
    from frontpage.domain.seen_items import Entry

#: Of a document, the part up to which new items leave room for twice as many and as many again.
ROOM: Final = 0.25
#: Ten polls with room take back one halving.
EASE: Final = 2.0**-0.1
#: Polls come up to a tenth late by themselves; later than this, in intervals, the wait was not the planned one.
PUNCTUAL: Final = 1.5


def nothing_known(known: Sequence[str], entries: tuple[Entry, ...]) -> bool:
    """Whether no item of a document is among the known ones, neither by guid nor by title and address.

    known: `Entry.known_as` of each. Guids that are made anew with every answer are no new items.
    """
    if not known or not entries:
        return False
    parts = {part for one in known for part in one.split(":")}
    return not any(part in parts for entry in entries for part in entry.known_as.split(":"))


def planned(state: FeedState, now: float) -> bool:
    """Whether the poll at `now` came after the wait that we chose, by the state before it."""
    before, due = state.last_at, state.next_at
    if before is None or due is None or state.errors or state.fresh_until is not None:
        return False
    return before < due and 0.0 < now - before <= PUNCTUAL * (due - before)


def divisor(before: float, fresh: int, listed: int, *, outran: bool) -> float:
    """What the interval is divided by (1 to 8) after a poll that found so many of the listed items new (0 of 0: a 304).

    outran: nothing known was left, after a wait of ours.
    """
    if outran:
        return min(before * 2.0, float(DEEPEST))
    if before > 1.0 and fresh <= ROOM * listed:
        eased = round(before * EASE, 3)
        return eased if eased > 1.0 else 1.0
    return before
