"""Scores say what the documents say, and the order does not flap."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontpage.domain.scoring import Report, measure, relevance, score, settle, smooth, velocity

NOW = 1_700_000_000.0
HOUR = 3600.0


def report(
    publisher: str,
    age: float = 60.0,
    authority: float = 0.5,
    country: str = "GB",
    original: bool = True,
    places: tuple[str, ...] = (),
) -> Report:
    return Report(publisher, country, NOW - age, authority, original, frozenset(places))


def test_coverage_is_the_log_of_one_plus_authorities_of_distinct_publishers():
    measured = measure([report("a", authority=0.9), report("a", authority=0.9), report("b", authority=0.4)], NOW)
    assert measured is not None
    assert measured.coverage == pytest.approx(math.log(1 + 0.9 + 0.4))


def test_three_hundred_copies_add_nothing():
    alone = measure([report("a")], NOW)
    copied = measure([report("a"), *(report(f"c{i}", original=False, authority=1.0) for i in range(300))], NOW)
    assert alone == copied


def test_a_story_of_copies_alone_has_no_measure():
    assert measure([report("a", original=False)], NOW) is None


def test_originals_older_than_six_hours_no_longer_cover():
    measured = measure([report("a", age=60), report("b", age=7 * HOUR, authority=1.0)], NOW)
    assert measured is not None
    assert measured.coverage == pytest.approx(math.log(1.5))


def test_freshness_halves_every_four_hours_of_the_latest_original():
    measured = measure([report("a", age=20 * HOUR), report("b", age=4 * HOUR), report("c", age=0, original=False)], NOW)
    assert measured is not None
    assert measured.freshness == pytest.approx(0.5)


def test_velocity_compares_with_the_storys_own_rate():
    steady = [NOW - 1800 * k - 60 for k in range(8)]
    assert velocity(steady, NOW) == pytest.approx(0.0, abs=0.15)
    assert velocity([NOW - 60 * k for k in range(12)], NOW) == pytest.approx(math.log(13))
    slowed = [NOW - 2 * HOUR - 60 * k for k in range(12)]
    assert velocity(slowed, NOW) < 0


def test_relevance_is_the_share_of_authority_plus_places():
    rows = [report("a", authority=0.8, country="BR"), report("b", authority=0.2, country="US", places=("GB",))]
    measured = measure(rows, NOW)
    assert measured is not None
    assert relevance(measured, "BR") == pytest.approx(0.8)
    assert relevance(measured, "GB") == pytest.approx(0.5)
    assert relevance(measured, "FR") == 0.0


@given(
    st.lists(
        st.tuples(
            st.integers(0, 5), st.floats(0, 30 * HOUR), st.floats(0, 1), st.sampled_from(["GB", "US"]), st.booleans()
        ),
        min_size=1,
        max_size=30,
    )
)
def test_shares_sum_to_one_and_relevance_stays_in_bounds(rows):
    measured = measure([report(f"p{p}", age, a, c, o) for p, age, a, c, o in rows], NOW)
    if measured is None:
        return
    if measured.originals_6h:
        assert sum(measured.shares.values()) == pytest.approx(1.0)
    for region in ("GB", "US", "FR"):
        assert 0.0 <= relevance(measured, region) <= 1.0
        value, parts = score(measured, region=region)
        assert value >= 0
        assert math.isfinite(value)
        assert set(parts) == {"coverage", "velocity", "freshness", "relevance", "clicks"}


def test_local_coverage_beats_the_same_coverage_from_elsewhere_and_clicks_tip_a_tie():
    measured = measure([report("a"), report("b")], NOW)
    assert measured is not None
    assert score(measured, region="GB")[0] > score(measured, region="US")[0]
    assert score(measured, region="GB", clicks_per_minute=50)[0] > score(measured, region="GB")[0]


def test_smoothing_is_the_mean_of_the_last_five_cycles():
    assert smooth([100, 1, 2, 3, 4, 5]) == 3
    assert smooth([7]) == 7


ids = st.sampled_from([f"s{i}" for i in range(8)])
scored = st.dictionaries(ids, st.floats(0.01, 10), max_size=8)


@given(st.lists(ids, unique=True), scored)
def test_two_stories_change_places_only_beyond_the_gap(previous, scores):
    after = settle(previous, scores)
    assert sorted(after) == sorted(scores)
    before = [story for story in previous if story in scores]
    for i, upper in enumerate(before):
        for lower in before[i + 1 :]:
            if after.index(lower) < after.index(upper):
                assert scores[lower] > scores[upper] * 1.10


@given(st.lists(ids, unique=True), scored)
def test_neighbours_are_never_wrong_by_more_than_the_gap_and_settling_again_changes_nothing(previous, scores):
    after = settle(previous, scores)
    assert all(scores[low] <= scores[high] * 1.10 + 1e-12 for high, low in itertools.pairwise(after))
    assert settle(after, scores) == after


def test_a_small_lead_does_not_swap_and_a_large_one_does():
    assert settle(["a", "b"], {"a": 1.0, "b": 1.09}) == ["a", "b"]
    assert settle(["a", "b"], {"a": 1.0, "b": 1.11}) == ["b", "a"]


def test_stories_that_nobody_reported_lately_are_still_in_order():
    """Freshness, then standing and region: a quiet night has a front page too."""
    older = measure([report("a", age=30 * HOUR)], NOW)
    newer = measure([report("a", age=10 * HOUR)], NOW)
    wider = measure([report("a", age=10 * HOUR), report("b", age=10 * HOUR)], NOW)
    assert older is not None
    assert newer is not None
    assert wider is not None
    assert newer.coverage == 0
    assert 0 < score(older, region="GB")[0] < score(newer, region="GB")[0] < score(wider, region="GB")[0]
    assert score(newer, region="US")[0] < score(newer, region="GB")[0]
    live = measure([report("c", age=HOUR, authority=0.2)], NOW)
    assert live is not None
    assert score(live, region="GB")[0] > score(wider, region="GB")[0]
