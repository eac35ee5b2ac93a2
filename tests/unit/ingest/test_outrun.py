"""A document in which nothing known is left: the feed may have outrun us, and is polled sooner for a while."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontpage.domain.outrun import divisor
from frontpage.domain.schedule import DAY, HOUR, Answer, Entry, FeedState, Policy, Terms, boosted, decide

NOW = 1_780_000_000.0
#: A feed of a month's standing with an item every five hours, so that its interval is its ceiling of an hour.
USUAL = dict.fromkeys(range(168), 0.8)


def document(first: int, count: int = 20, mark: str = "i") -> tuple[Entry, ...]:
    return tuple(Entry(f"{mark}{n}", f"title {mark}{n}") for n in range(first + count, first, -1))


def poll(state: FeedState, *entries: Entry, wait: float | None = None, status: int = 200) -> FeedState:
    """One poll when it is due, or after `wait`."""
    now = state.next_at if wait is None else state.last_at + wait
    answer = Answer(status, {}, entries if status == 200 else None)
    return decide(state, answer, Terms("f0", 60.0, Policy(), now)).state


@pytest.fixture
def known() -> FeedState:
    first = decide(FeedState(), Answer(200, {}, document(0)), Terms("f0", 60.0, Policy(), NOW)).state
    return replace(first, rate=USUAL, since=NOW - 30 * DAY, last_new_at=NOW)


def wait(state: FeedState) -> float:
    """What the schedule would wait after an answer without news."""
    quiet = replace(state, rate=USUAL, rate_at=state.last_at, outrun=state.outrun)
    return poll(quiet, status=304).next_at - quiet.next_at


def test_all_new_halves_the_interval_again_and_again_down_to_an_eighth(known: FeedState):
    assert known.outrun == 1.0, "the first document is all new to us and says nothing"
    state = known
    for number, expected in enumerate((2, 4, 8, 8), 1):
        state = poll(state, *document(100 * number))
        assert state.outrun == expected
    assert wait(replace(state, outrun=1.0)) / wait(state) == pytest.approx(8, rel=0.2), "spread up to a tenth"


def test_one_known_item_means_that_nothing_was_lost(known: FeedState):
    assert poll(known, *document(19)).outrun == 1.0


def test_ten_polls_with_room_take_one_halving_back_and_a_full_document_none(known: FeedState):
    state = poll(known, *document(100))
    for _ in range(9):
        state = poll(state, status=304)
    assert 1.0 < state.outrun < 1.1
    assert poll(state, status=304).outrun == pytest.approx(1.0, abs=0.01)
    outran = poll(known, *document(100))
    assert poll(outran, *document(110)).outrun == 2.0, "half of it was new: no room for twice the wait"
    assert poll(outran, *document(102)).outrun < 2.0


def test_new_guids_of_known_items_are_no_new_items(known: FeedState):
    churned = tuple(replace(entry, guid=f"{entry.guid}?session=7") for entry in document(0))
    assert poll(known, *churned).outrun == 1.0


def test_waits_that_were_not_ours_say_nothing(known: FeedState):
    """After a stop of ours, a failure, or a server's word beyond our ceiling."""
    later = document(100)
    due = known.next_at - known.last_at
    assert poll(known, *later, wait=3 * due).outrun == 1.0
    assert poll(replace(known, errors=1), *later).outrun == 1.0
    assert poll(replace(known, fresh_until=known.next_at), *later).outrun == 1.0


def test_a_burst_that_was_asked_for_counts(known: FeedState):
    asked = boosted(known, known.last_at + HOUR, known.last_at + 40, why="websub")
    assert poll(asked, *document(100)).outrun == 2.0


def test_floors_hold(known: FeedState):
    state = replace(known, outrun=8.0, rate=dict.fromkeys(range(168), 900.0))
    assert poll(state, status=304).next_at - state.next_at >= 60.0


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50), st.booleans()), max_size=60))
def test_divisor_stays_between_one_and_eight(steps):
    found = 1.0
    for fresh, listed, outran in steps:
        found = divisor(found, min(fresh, listed), listed, outran=outran)
        assert 1.0 <= found <= 8.0
