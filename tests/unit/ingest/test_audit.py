"""The audit's arithmetic and what becomes of due times when the clock jumps. Inputs are of our own making."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontpage.domain import audit, pace
from frontpage.domain.audit import Watch, looked, order, sample, size, week
from frontpage.domain.schedule import FeedState, Policy

NOW = 1_780_000_000.0


def memory(*guids: str, **more) -> FeedState:
    return FeedState(guids=tuple(f"{guid:0>16}:{'0' * 8}" for guid in guids), **more)


class TestLook:
    BEFORE = Watch("f1", memory("a"), looked_at=NOW - 60, polled=(NOW - 2000, NOW - 1400))

    def test_an_item_waits_from_the_middle_of_two_looks_to_the_poll_that_finds_it(self):
        schedule = memory("a", last_at=NOW - 1400)
        seen, found = looked(self.BEFORE, memory("b", "a"), schedule, NOW)
        assert (found, len(seen.open)) == ([], 1)
        schedule = memory("b", "a", last_at=NOW + 400, last_new_at=NOW + 400)
        seen, found = looked(seen, memory("b", "a"), schedule, NOW + 420)
        assert [one.delay for one in found] == [430.0], "it came between NOW - 60 and NOW"
        assert found[0].share == pytest.approx(430 / 1800), "the schedule polled at NOW - 1400 and at NOW + 400"
        assert (seen.found, seen.missed, seen.open, seen.delay) == (1, 0, {}, 430.0)

    def test_an_item_that_the_schedule_finds_first_came_before_that(self):
        schedule = memory("b", "a", last_at=NOW - 20, last_new_at=NOW - 20)
        _, found = looked(self.BEFORE, memory("b", "a"), schedule, NOW)
        assert [one.delay for one in found] == [20.0], "between NOW - 60 and NOW - 20"

    def test_the_first_look_measures_nothing(self):
        first, found = looked(Watch("f1", FeedState()), memory("a", "b"), memory("a", last_at=NOW - 9), NOW)
        assert (found, first.open, first.looked_at) == ([], {}, NOW)

    def test_an_answer_that_says_nothing_widens_the_gap(self):
        failed, _ = looked(self.BEFORE, memory("a", errors=1), memory("a"), NOW)
        assert failed.looked_at == NOW - 60
        seen, _ = looked(failed, memory("b", "a"), memory("a"), NOW + 60)
        assert list(seen.open.values()) == [[NOW - 60, NOW + 60]]

    def test_after_the_clock_was_set_back_measuring_begins_anew(self):
        seen, _ = looked(self.BEFORE, memory("b", "a"), memory("a"), NOW)
        back = NOW - 5 * 86_400
        schedule = memory("b", "a", last_at=back - 5, last_new_at=back - 5)
        anew, found = looked(seen, memory("c", "b", "a"), schedule, back)
        assert (anew.looked_at, anew.open, found) == (back, {}, [])

    def test_what_is_never_found_is_missed_after_two_days(self):
        seen, _ = looked(self.BEFORE, memory("b", "a"), memory("a"), NOW)
        late, found = looked(seen, memory("b", "a"), memory("a"), NOW + 2 * 86_400 + 1)
        assert (late.missed, late.open, found) == (1, {}, [])

    @given(st.lists(st.tuples(st.floats(1, 5_000), st.booleans(), st.booleans()), max_size=30))
    def test_delays_are_never_negative_and_shares_are_shares(self, steps):
        watch, state, schedule, now = Watch("f1", FeedState()), memory("0"), memory("0", last_at=NOW), NOW
        for number, (wait, publishes, polls) in enumerate(steps):
            now += wait
            if publishes:
                state = replace(state, guids=(*memory(str(number + 1)).guids, *state.guids))
            if polls:
                new = schedule.guids != state.guids
                at = now - wait / 2
                schedule = replace(
                    schedule, guids=state.guids, last_at=at, last_new_at=at if new else schedule.last_new_at
                )
            watch, found = looked(watch, state, schedule, now)
            assert all(one.delay >= 0 and (one.share is None or 0 <= one.share <= 1) for one in found)
            assert watch.found + watch.missed + len(watch.open) <= number + 1


class TestSample:
    IDS = tuple(f"f{number:016x}" for number in range(400))

    def test_is_the_same_within_a_week_and_another_in_the_next(self):
        assert order(self.IDS, 5) == order(reversed(self.IDS), 5)
        assert set(order(self.IDS, 5)[:100]) != set(order(self.IDS, 6)[:100])
        assert week(NOW) != week(NOW + 7 * 86_400)
        assert week(345_600.0) == week(345_600.0 + 7 * 86_400 - 1), "from Monday on (1970-01-05)"

    def test_is_half_top_feeds_as_far_as_there_are_any(self):
        drawn = [(feed, number % 10 == 0) for number, feed in enumerate(self.IDS)]
        chosen = sample(drawn, 40)
        assert len(set(chosen)) == 40
        assert sum(feed in chosen for feed, top in drawn if top) >= 20
        assert len(sample([(feed, False) for feed in self.IDS], 40)) == 40
        assert len(sample(drawn[:7], 40)) == 7

    @pytest.mark.parametrize(("feeds", "count"), [(0, 0), (1, 1), (40, 2), (1_000, 50), (200_000, 300)])
    def test_is_a_few_hundred_and_at_most_a_twentieth(self, feeds, count):
        assert size(300, feeds) == count
        assert size(0, feeds) == 0

    def test_polls_at_the_floor_whatever_the_rhythm(self):
        fine = audit.policy(Policy())
        assert fine.bounds(authoritative=True, main=True) == fine.bounds(authoritative=False, main=True) == (60, 60)
        assert fine.bounds(authoritative=False, main=False)[0] == 300


class TestJumps:
    def test_of_the_clock_are_told_from_its_going_on(self):
        assert pace.turn(None, NOW, 1.0) == "on"
        assert pace.turn(NOW, NOW + 200, 1.0) == pace.turn(NOW, NOW - 100, 1.0) == "on"
        assert pace.turn(NOW, NOW - 3 * 86_400, 1.0) == "set-back"
        assert pace.turn(NOW, NOW + 7_200, 1.0) == "resumed"
        assert pace.turn(NOW, NOW + 7_200, 1_000.0) == "on", "seven real seconds of a fast replay"

    @given(st.lists(st.floats(-1e6, 1e6), max_size=50), st.integers(0, 100_000), st.floats(0, 0.99))
    def test_what_is_overdue_is_spread_in_its_order_and_the_rest_stays(self, offsets, others, phase):
        due = sorted(NOW + offset for offset in offsets)
        passed = [at for at in due if at <= NOW]
        then = pace.spread_out(due, NOW, len(passed) + others, phase)
        assert then[len(passed) :] == due[len(passed) :]
        assert then[: len(passed)] == sorted(then[: len(passed)])
        assert all(NOW <= at <= NOW + pace.LONGEST_SPREAD for at in then[: len(passed)])

    def test_a_clock_set_back_keeps_the_distances(self):
        assert pace.moved_back([NOW + 60, NOW + 3600], NOW, NOW - 86_400) == [NOW - 86_340, NOW - 82_800]
