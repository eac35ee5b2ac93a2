"""The polling schedule: validators, rate, interval, back-off. Inputs are of our own making."""

from __future__ import annotations

from dataclasses import replace
from email.utils import formatdate
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontpage.domain.freshness import freshness, retry_after, stamp
from frontpage.domain.lateness import observed
from frontpage.domain.rhythm import expected_gap, hour_of_week
from frontpage.domain.schedule import (
    DAY,
    GUIDS_BOUND,
    HOUR,
    Answer,
    Decision,
    Entry,
    FeedState,
    Policy,
    Terms,
    boosted,
    decide,
    plan,
)

NOW = 1_780_000_000.0
POLICY = Policy()


def terms(now: float = NOW, floor: float = 300.0, feed: str = "f0") -> Terms:
    return Terms(feed, floor, POLICY, now)


def entries(*names: str, at: float | None = None) -> tuple[Entry, ...]:
    return tuple(Entry(name, f"title of {name}", at) for name in names)


def date(at: float) -> str:
    return formatdate(at, usegmt=True)


def good(state: FeedState, now: float, *names: str, conditional: bool = False, **headers: str) -> Decision:
    shown = {name.replace("_", "-"): value for name, value in headers.items()}
    return decide(state, Answer(200, {"date": date(now), **shown}, entries(*names), conditional), terms(now))


class TestValidators:
    def test_travel_back_as_one_opaque_pair(self):
        """200 replaces both, a missing one is dropped, a 304 refreshes, errors and unparsable bodies change nothing."""
        lm1, lm2 = date(NOW - 900), date(NOW - 300)
        steps = [
            ({}, Answer(200, {"etag": '"one"', "last-modified": lm1}, entries("a"))),
            (
                {"If-None-Match": '"one"', "If-Modified-Since": lm1},
                Answer(200, {"etag": '"two"', "last-modified": lm1}, entries("a", "b")),
            ),
            (
                {"If-None-Match": '"two"', "If-Modified-Since": lm1},
                Answer(200, {"etag": 'W/"three-gzip"', "last-modified": lm2}, entries("c")),
            ),
            (
                {"If-None-Match": 'W/"three-gzip"', "If-Modified-Since": lm2},
                Answer(200, {"etag": "bare"}, entries("d")),
            ),
            ({"If-None-Match": "bare"}, Answer(200, {"etag": '"no"', "last-modified": lm2}, None, cause="html")),
            ({"If-None-Match": "bare"}, Answer(304, {"etag": '"six"'})),
            ({"If-None-Match": '"six"'}, Answer(304)),
            ({"If-None-Match": '"six"'}, Answer(500, {"etag": '"error-page"'})),
            ({"If-None-Match": '"six"'}, Answer(304)),
        ]
        state, now = FeedState(), NOW
        for expected, answer in steps:
            request = plan("https://a.example/f", state, POLICY, now)
            assert request.headers == expected
            state = decide(state, replace(answer, conditional=bool(expected)), terms(now)).state
            now += 1800

    @pytest.mark.parametrize("lie", ["etag", "last_modified"])
    def test_that_never_change_are_found_out_within_a_day(self, lie: str):
        """A server that says 304 for ever although items appear: one plain GET a day, then no validators."""
        stuck = {"etag": '"always"'} if lie == "etag" else {"last_modified": date(86_400.0)}
        state, now, found_at = FeedState(), NOW, None
        state = good(state, now, "old", **stuck).state
        changed_at = now + 3 * HOUR
        for _ in range(200):
            now = state.next_at
            if plan("u", state, POLICY, now).headers:
                state = decide(state, Answer(304, {"date": date(now)}, conditional=True), terms(now)).state
                continue
            names = ("new", "old") if now >= changed_at else ("old",)
            decision = good(state, now, *names, **stuck)
            state = decision.state
            if decision.outcome == "new":
                found_at = now
                break
        assert found_at is not None
        assert found_at - changed_at <= DAY
        assert state.trust == "never-new"
        assert plan("u", state, POLICY, now + HOUR).headers == {}

    def test_that_never_change_hide_no_more_than_an_hour_or_two_of_a_busy_feed(self):
        """Ten items an hour are expected, and the server says 304: a plain GET after an hour, not after a day."""
        state = good(FeedState(), NOW - 60, "old", etag='"always"').state
        state = replace(state, rate=dict.fromkeys(range(168), 30.0), rate_at=NOW, since=NOW - 28 * DAY)
        now, last = NOW, NOW
        while plan("u", state, POLICY, now).headers:
            state = decide(state, Answer(304, {"date": date(now)}, conditional=True), terms(now, floor=60)).state
            last, now = now, state.next_at
            assert now < NOW + 2 * HOUR
        assert last - NOW < HOUR + 400
        state = good(state, now, "new", "old", etag='"always"').state
        assert state.trust == "never-new"

    def test_of_an_honest_busy_feed_that_falls_silent_cost_one_plain_get_a_day(self):
        state = good(FeedState(), NOW - 60, "a", etag='"v7"').state
        state = replace(state, rate=dict.fromkeys(range(168), 30.0), rate_at=NOW, since=NOW - 28 * DAY)
        now, plain = NOW, []
        while now < NOW + 5 * DAY:
            if plan("u", state, POLICY, now).headers:
                state = decide(state, Answer(304, conditional=True), terms(now)).state
            else:
                plain.append(now)
                state = good(state, now, "a", etag='"v7"').state
            now = state.next_at
        assert plain[0] - NOW < 2 * HOUR
        assert all(after - before >= POLICY.probe_after for before, after in pairwise(plain))
        assert state.trust == "yes"

    def test_honest_quiet_feed_costs_one_plain_get_a_day(self):
        state, now, plain = good(FeedState(), NOW, "a", etag='"v7"').state, NOW, 0
        while now < NOW + 7 * DAY:
            now = state.next_at
            if plan("u", state, POLICY, now).headers:
                state = decide(state, Answer(304, conditional=True), terms(now)).state
            else:
                plain += 1
                state = good(state, now, "a", etag='"v7"').state
        assert 5 <= plain <= 7
        assert state.trust == "yes"

    def test_that_change_with_every_answer_are_dropped_and_noise_does_not_quicken(self):
        state, now = good(FeedState(), NOW, "a", etag='"0"').state, NOW
        for number in range(1, 8):
            now = state.next_at
            request = plan("u", state, POLICY, now)
            state = good(state, now, "a", etag=f'"{number}"', conditional=bool(request.headers)).state
        assert state.trust == "always-new"
        assert plan("u", state, POLICY, now + 60).headers == {}
        assert state.next_at - now >= HOUR / 2
        week_later = now + 8 * DAY
        assert plan("u", replace(state, body_at=week_later), POLICY, week_later).headers, "servers are repaired"

    def test_last_modified_in_the_servers_own_future_is_not_sent_back(self):
        state = good(FeedState(), NOW, "a", etag='"x"', last_modified=date(NOW + 3 * DAY)).state
        assert plan("u", state, POLICY, NOW + 60).headers == {"If-None-Match": '"x"'}


class TestItems:
    def test_are_new_once(self):
        first = good(FeedState(), NOW, "a", "b")
        assert first.fresh == (0, 1)
        again = good(first.state, NOW + 600, "c", "a", "b")
        assert (again.fresh, again.changed) == ((0,), ())

    def test_with_a_corrected_headline_are_handed_on_but_are_not_publishing(self):
        state = good(FeedState(), NOW, "a", "b").state
        corrected = (Entry("a", "another title"), Entry("b", "title of b"))
        decision = decide(state, Answer(200, {}, corrected), terms(NOW + 600))
        assert (decision.fresh, decision.changed, decision.outcome) == ((), (0,), "new")
        assert decision.state.new_items == state.new_items

    def test_that_fall_out_and_come_back_are_known_for_200_guids(self):
        state = good(FeedState(), NOW, *(f"i{n}" for n in range(150))).state
        state = good(state, NOW + 600, "x").state
        assert good(state, NOW + 1200, "i3", "x").outcome == "unchanged"
        assert len(state.guids) == 151

    def test_memory_is_bounded_whatever_a_feed_writes(self):
        huge = tuple(Entry("g" * 10_000 + str(n), "t") for n in range(5_000))
        state = decide(FeedState(), Answer(200, {}, huge), terms()).state
        assert len(state.guids) == GUIDS_BOUND
        assert max(map(len, state.guids)) < 30

    def test_delay_is_the_median_of_dated_new_items_and_unknown_on_the_first_poll(self):
        first = decide(FeedState(), Answer(200, {}, entries("old", at=NOW - 50)), terms())
        assert first.delay is None
        shown = (Entry("n1", "t", NOW + 500), Entry("n2", "t", NOW + 580), Entry("n3", "t", None))
        assert decide(first.state, Answer(200, {}, shown), terms(NOW + 600)).delay == 60.0


class TestInterval:
    def test_learns_the_rush_and_the_quiet_night(self):
        """Ten items an hour from 8 to 10, nothing else: short intervals in the rush, long ones at night."""
        state, now = FeedState(), NOW - NOW % DAY
        rush: list[float] = []
        night: list[float] = []
        start = now

        def published(at: float) -> int:
            days, hour = divmod((at - start) / DAY, 1.0)
            return int(days) * 20 + int(min(max(hour * 24 - 8, 0), 2) * 10)

        while now < start + 15 * DAY:
            hour = now % DAY / HOUR
            names = [f"i{n}" for n in range(max(0, published(now) - 30), published(now))]
            state = good(state, now, *names).state
            if now > start + 14 * DAY:
                (rush if 8.5 <= hour < 9.5 else night if 1 <= hour < 5 else []).append(state.next_at - now)
            now = state.next_at
        assert rush
        assert night
        assert sorted(rush)[len(rush) // 2] <= 400
        assert min(night) >= HOUR / 2

    @given(
        rate=st.dictionaries(st.integers(0, 167), st.floats(0.01, 500), max_size=20),
        age=st.floats(0, 100 * DAY),
        floor=st.sampled_from([60.0, 300.0]),
        names=st.lists(st.text(min_size=1, max_size=3), max_size=5, unique=True),
    )
    def test_always_within_floor_and_ceiling(self, rate, age, floor, names):
        state = FeedState(rate=rate, rate_at=NOW, since=NOW - age, body_at=NOW - 60, last_new_at=NOW)
        decision = decide(state, Answer(200, {}, entries(*names)), terms(floor=floor))
        assert floor <= decision.state.next_at - NOW <= POLICY.ceiling * 1.1
        assert 0 < expected_gap(state, NOW, 2 * HOUR) <= 2 * HOUR

    def test_is_sooner_after_new_items(self):
        base = FeedState(rate={hour_of_week(NOW + h * HOUR): 4.0 for h in range(3)}, rate_at=NOW, since=NOW - 21 * DAY)
        base = replace(base, body_at=NOW - 600, last_new_at=NOW)
        quiet = decide(base, Answer(304), terms(floor=60)).state.next_at
        busy = decide(base, Answer(200, {}, entries("n")), terms(floor=60)).state.next_at
        assert busy - NOW < (quiet - NOW) / 2

    def test_boost_polls_now_and_at_the_floor_until_it_ends(self):
        state = good(FeedState(), NOW, "a").state
        assert boosted(state, None, NOW + 31).next_at == NOW + 31
        state = boosted(state, NOW + HOUR, NOW + 10)
        assert state.next_at == NOW + 30, "at most one poll in 30 s"
        state = decide(state, Answer(304), terms(NOW + 30, floor=60)).state
        assert 60 <= state.next_at - (NOW + 30) <= 66
        assert state.wanted_at is None
        later = decide(state, Answer(304), terms(NOW + 2 * HOUR, floor=60)).state
        assert later.next_at - (NOW + 2 * HOUR) > 600

    def test_boost_turns_a_slow_feed_of_the_long_tail_into_a_one_minute_one(self):
        """ "A 30-minute feed into a 1-minute one for the next hour": the tail's floor of five minutes is for the long run."""
        state = boosted(good(FeedState(), NOW - 600, "a").state, NOW + HOUR, NOW)
        now, polls = state.next_at, 0
        while now < NOW + HOUR:
            state, polls = decide(state, Answer(304), terms(now)).state, polls + 1
            now = state.next_at
        assert 54 <= polls <= 61
        assert decide(state, Answer(304), terms(now)).state.next_at - now >= 300

    def test_boost_neither_hammers_a_failing_feed_nor_wakes_a_stopped_one(self):
        failing = decide(FeedState(), Answer(503, {"retry-after": "7200"}), terms()).state
        assert boosted(failing, NOW + HOUR, NOW + 1).next_at == failing.next_at
        assert boosted(FeedState(next_at=None, stopped="gone"), NOW + HOUR, NOW).next_at is None

    def test_polling_is_the_backstop_while_a_hub_delivers(self):
        """15 minutes with a living lease, as usual without one, and as usual again when the hub keeps silent."""
        leased = replace(
            good(FeedState(), NOW - 60, "a").state, lease_until=NOW + DAY, rate=dict.fromkeys(range(168), 9.0)
        )
        main = Terms("f0", 60.0, POLICY, NOW, POLICY.main_ceiling)
        assert 900 <= decide(leased, Answer(304), main).state.next_at - NOW <= 990
        assert decide(replace(leased, lease_until=NOW), Answer(304), main).state.next_at - NOW <= 220
        told = boosted(leased, None, NOW, why="websub")
        state = decide(told, Answer(200, {}, entries("a", "b")), main).state
        assert (state.unannounced, state.wanted_by) == (0, None)
        for name in "cde":
            state = decide(state, Answer(200, {}, entries("a", name)), main).state
        assert state.unannounced == POLICY.unannounced_limit
        assert state.next_at - NOW <= 220, "the hub did not tell of three finds in a row"

    def test_top_feeds_are_never_left_for_two_minutes(self):
        """Also at night, when their rhythm expects nothing: p90 under two minutes counts every item."""
        floor, ceiling = POLICY.bounds(authoritative=True, main=True)
        state = replace(good(FeedState(), NOW - 60, "a").state, since=NOW - 30 * DAY)
        assert expected_gap(state, NOW, 2 * HOUR) == 2 * HOUR
        for feed in range(50):
            wait = decide(state, Answer(304), Terms(f"f{feed}", floor, POLICY, NOW, ceiling)).state.next_at - NOW
            assert 60 <= wait <= 121
        assert POLICY.bounds(authoritative=False, main=True) == (60, 200)
        assert POLICY.bounds(authoritative=True, main=False) == (60, HOUR)
        assert POLICY.bounds(authoritative=False, main=False) == (300, HOUR)

    def test_feed_silent_for_weeks_may_wait_longer_than_an_hour(self):
        state = replace(good(FeedState(), NOW - 40 * DAY, "a").state, body_at=NOW, last_new_at=NOW - 40 * DAY)
        wait = decide(state, Answer(304), terms()).state.next_at - NOW
        assert HOUR < wait <= 1.1 * 6 * HOUR


class TestUnderPolled:
    """Items always found at the very end of an interval."""

    @staticmethod
    def polled(state: FeedState, share: float, polls: int) -> FeedState:
        """So many polls of an hour each that find an item which waited that share of the hour."""
        now = state.last_at
        for number in range(polls):
            before, now = now, now + HOUR
            entry = Entry(f"i{before}-{number}", "t", now - share * (now - before))
            state = decide(state, Answer(200, {}, (entry,)), terms(now)).state
        return state

    def test_are_polled_sooner_step_by_step_and_as_usual_when_that_is_over(self):
        start = good(FeedState(), NOW, "a").state
        marked = self.polled(start, 0.97, 15)
        assert marked.hurry == 2
        assert self.polled(marked, 0.97, 20).hurry == 8, "no further than an eighth"
        usual = dict.fromkeys(range(168), 0.2)
        quiet = replace(marked, rate=usual, since=NOW - 30 * DAY, last_new_at=marked.last_at)
        waits = [
            decide(replace(quiet, hurry=hurry), Answer(304), terms(quiet.last_at)).state.next_at - quiet.last_at
            for hurry in (1, 2, 4, 8)
        ]
        assert waits == pytest.approx([waits[0], waits[0] / 2, waits[0] / 4, waits[0] / 8])
        assert self.polled(marked, 0.4, 30).hurry == 1

    @given(st.lists(st.floats(0, 1), min_size=1, max_size=60))
    def test_divisor_is_one_of_four_and_the_mean_a_share(self, shares):
        late, divisor = 0.5, 1
        for share in shares:
            late, divisor = observed(late, divisor, share)
            assert 0 <= late < 0.8 or divisor == 8
            assert divisor in (1, 2, 4, 8)

    def test_chance_marks_nobody(self):
        """2,000 items that fall anywhere: equidistributed by the golden ratio, and in the worst of its orders."""
        late, divisor = 0.5, 1
        for number in range(2_000):
            late, divisor = observed(late, divisor, number * 0.6180339887 % 1)
            assert divisor == 1

    def test_feed_that_shows_its_items_late_is_not_marked(self):
        """25 minutes from the stated time to the feed, and half an hour between polls: no poll would help."""
        state, now = good(FeedState(), NOW, "a").state, NOW
        for number in range(200):
            before, now = now, now + 1_800
            shown = before + number * 397 % 1_800
            entry = Entry(f"i{number}", "t", shown - 1_500)
            state = decide(state, Answer(200, {}, (entry,)), terms(now)).state
            assert state.hurry == 1

    def test_times_that_cannot_be_true_and_polls_that_were_asked_for_say_nothing(self):
        start = good(FeedState(), NOW, "a").state
        for at in (None, NOW - 2 * DAY, NOW + 2 * HOUR):
            entry = Entry("b", "t", at)
            assert decide(start, Answer(200, {}, (entry,)), terms(NOW + HOUR)).state.late == start.late
        told = boosted(start, None, NOW + HOUR, why="websub")
        asked = decide(told, Answer(200, {}, (Entry("b", "t", NOW + 60),)), terms(NOW + HOUR)).state
        assert asked.late == start.late


class TestStatedFreshness:
    """A month of max-age on a feed that publishes hourly."""

    def test_is_believed_until_the_feed_publishes_within_it_twice_and_then_bounded_by_our_ceiling(self):
        state, now, waits = good(FeedState(), NOW, "i0", cache_control="max-age=2592000").state, NOW, []
        for number in range(1, 5):
            waits.append(state.next_at - now)
            now = state.next_at
            found = Entry(f"i{number}", "t", now - 2 * HOUR if number < 3 else now - 60)
            answer = Answer(200, {"date": date(now), "cache-control": "max-age=2592000"}, (found,))
            state = decide(state, answer, terms(now)).state
        assert waits[:2] == [DAY, DAY]
        assert all(HOUR <= wait <= 1.1 * HOUR for wait in waits[2:])
        later = now + 8 * DAY
        answer = Answer(304, {"date": date(later), "cache-control": "max-age=2592000"})
        assert decide(state, answer, terms(later)).state.next_at - later == DAY, "servers are repaired"

    def test_of_a_day_is_not_believed_of_a_feed_that_shows_many_items_a_day(self):
        """Twenty items of the last ten hours, "fresh for a month": at first sight, before anything is lost."""
        headers = {"date": date(NOW), "cache-control": "max-age=2592000"}
        busy = tuple(Entry(f"i{n}", "t", NOW - n * HOUR / 2) for n in range(20))
        assert decide(FeedState(), Answer(200, headers, busy), terms()).state.next_at - NOW <= 1.1 * HOUR
        weekly = tuple(Entry(f"i{n}", "t", NOW - n * 2 * DAY) for n in range(20))
        assert decide(FeedState(), Answer(200, headers, weekly), terms()).state.next_at - NOW == DAY
        hours = {"date": date(NOW), "cache-control": "max-age=20000"}
        assert decide(FeedState(), Answer(200, hours, busy), terms()).state.next_at - NOW >= 20_000, "hours are a word"

    def test_that_is_kept_stays_believed_and_below_the_ceiling_it_always_is(self):
        state, now = good(FeedState(), NOW, "i0", cache_control="max-age=7200").state, NOW
        for number in range(6):
            before, now = now, state.next_at
            assert now - before >= 7200
            found = Entry(f"n{number}", "t", now - 1.0)  # published after its word had run out
            headers = {"date": date(now), "cache-control": "max-age=7200"}
            state = decide(state, Answer(200, headers, (found,)), terms(now)).state
        for number in range(6):
            found = Entry(f"m{number}", "t", now + 1.0)
            headers = {"date": date(now + 3000), "cache-control": "max-age=3000"}
            state = decide(state, Answer(200, headers, (found,)), terms(now + 3000)).state
            now += 3000
            assert state.next_at - now >= 3000


class TestAClockThatWasSetBack:
    """Five days: what the row says of times that have not come yet binds nothing."""

    BACK = NOW - 5 * DAY

    def test_requests_are_served_at_once_and_boosts_end(self):
        state = good(FeedState(), NOW, "a").state
        assert boosted(state, None, self.BACK, why="ping").next_at == self.BACK
        often = decide(boosted(state, NOW + HOUR, NOW), Answer(304), terms(NOW)).state
        assert decide(often, Answer(304), terms(self.BACK, floor=60)).state.next_at - self.BACK > 600

    def test_validators_are_tried_and_the_feed_goes_on(self):
        state = good(FeedState(), NOW, "a", etag='"x"').state
        assert plan("u", state, POLICY, self.BACK).headers == {}, "the plain GET a day, which is due"
        decision = good(state, self.BACK, "b", "a", etag='"y"')
        assert decision.fresh == (0,)
        assert 60 <= decision.state.next_at - self.BACK <= 1.1 * HOUR
        assert plan("u", decision.state, POLICY, self.BACK + 60).headers == {"If-None-Match": '"y"'}


class TestSlowDown:
    @pytest.mark.parametrize(
        ("status", "headers", "clock_ahead", "low", "high"),
        [
            (429, {"retry-after": "5400"}, 0, 5400, 6480),
            (429, {"retry-after": date(NOW + 9000)}, 0, 9000, 10800),
            (503, {"retry-after": date(NOW + 4000)}, 1200, 4000, 4800),
            (429, {"retry-after": "3600", "cache-control": "max-age=180000"}, 0, DAY, DAY),
            (503, {"retry-after": "400000000"}, 0, DAY, DAY),
            (429, {"retry-after": "-5"}, 0, HOUR, DAY),
            (429, {"retry-after": "soon"}, 0, HOUR, DAY),
            (429, {}, 0, HOUR, DAY),
            (200, {"cache-control": "public, max-age=7000"}, 0, 7000, DAY),
            (200, {"expires": date(NOW + 5000)}, 0, 5000, DAY),
            (304, {"cache-control": "max-age=8000", "age": "500"}, 0, 7500, DAY),
        ],
    )
    def test_signals_bound_the_next_poll(self, status, headers, clock_ahead, low, high):
        """The Date of the answer, not our clock, gives the date form its meaning; nonsense never shortens a wait."""
        state = good(FeedState(), NOW - 1800, "a").state
        read = entries("a") if status == 200 else None
        now = NOW + clock_ahead
        decision = decide(state, Answer(status, {"date": date(NOW), **headers}, read), terms(now))
        assert low <= decision.state.next_at - now <= high
        assert decision.state.stopped is None

    def test_errors_back_off_by_doubling_up_to_a_day_and_success_forgives(self):
        state, now, waits = good(FeedState(), NOW, "a").state, NOW, []
        for _ in range(10):
            now = state.next_at
            state = decide(state, Answer(500), terms(now)).state
            waits.append(state.next_at - now)
        assert waits[0] < waits[1] < waits[2]
        assert waits[-1] == DAY
        assert decide(state, Answer(304), terms(now)).state.next_at - now <= 1.1 * HOUR

    def test_gone_stops_and_keeps_the_record(self):
        state = good(FeedState(), NOW, "a").state
        decision = decide(state, Answer(410), terms(NOW + 600))
        assert decision.state.next_at is None
        assert decision.state.stopped == "gone"
        assert decision.state.guids == state.guids

    def test_permanent_redirect_is_followed_for_good_until_the_new_home_fails(self):
        moved = Answer(200, {}, entries("a"), moved_to="https://new.example/f")
        state = decide(FeedState(), moved, terms()).state
        assert plan("https://old.example/f", state, POLICY, NOW).url == "https://new.example/f"
        for _ in range(4):
            state = decide(state, Answer(404), terms()).state
        assert plan("https://old.example/f", state, POLICY, NOW).url == "https://old.example/f"

    def test_forty_feeds_do_not_fire_in_one_second(self):
        answer = Answer(429, {"retry-after": "600"})
        times = [decide(FeedState(), answer, terms(feed=f"f{n}")).state.next_at for n in range(40)]
        assert max(times) - min(times) > 60


@given(st.text(max_size=40), st.text(max_size=40))
def test_headers_never_raise(one: str, two: str):
    headers = {"retry-after": one, "date": two, "cache-control": one, "expires": two, "age": one}
    wait = retry_after(headers, NOW)
    assert wait is None or wait >= 0
    assert freshness(headers) >= 0
    stamp(one)
