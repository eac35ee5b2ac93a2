"""Whether a feed is under-polled: its items are always found at the very end of an interval. Pure.

Items fall anywhere between two polls, so that on average an item has waited half of the interval in which it is found.
A feed whose items have nearly always waited all of it publishes right after our polls: the same number of polls, or a
few more, at other times would find them much sooner. Such a feed is marked and its interval halved, again while that
persists, down to an eighth; when its items fall anywhere again, the interval grows back step by step.

When an item came is taken from its stated time where that lies between the two polls (then it can be true). One that
states a time before the last poll, which did not see it, was late by itself: the more such items, the less can ours be
the fault. Of feeds that the audit watches (`domain/audit.py`), it knows better. Not here: the interval (`schedule.py`).
"""

from __future__ import annotations

from typing import Final

#: Weight of a new observation: the mean over about the last ten finds.
WEIGHT: Final = 0.1
#: What is expected: anywhere in the interval. Ten such finds average within 0.1 of it (standard deviation 0.07).
USUAL: Final = 0.5
#: "always found at the very end of an interval" (editions document): four deviations above what chance does.
END: Final = 0.8
#: After a step the mean starts here, so that the next step, either way, is earned by finds made since.
AGAIN: Final = 0.65
#: The most by which an interval is divided.
DEEPEST: Final = 8


#: What an item counts that was late by itself: enough below what is usual that a feed of such items is never marked.
BY_ITSELF: Final = 0.3
#: Older stated times are old news shown again.
RECENT: Final = 86_400.0


def waited(published: float, before: float, found: float) -> float | None:
    """The share of the interval (`before`, `found`] that an item waited, by the time that it states; None: it says none
    that could be true.
    """
    if not found - RECENT <= published <= found:
        return None
    return (found - published) / (found - before) if published > before else BY_ITSELF


def observed(late: float, divisor: int, share: float) -> tuple[float, int]:
    """The mean and the interval's divisor (1, 2, 4 or 8) after one more find. `share` from `waited`, 0 to 1."""
    late += WEIGHT * (min(max(share, 0.0), 1.0) - late)
    if late >= END and divisor < DEEPEST:
        return AGAIN, divisor * 2
    if late <= USUAL and divisor > 1:
        return (USUAL if divisor == 2 else AGAIN), divisor // 2
    return late, divisor
