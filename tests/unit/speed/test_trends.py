"""Click windows, the sketch, and the law of the merge: however clicks are split, sums are those of one stream."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from frontpage.domain.trends import Baseline, ClickWindows, CountMin, hottest, roll_up, spike, velocity, window_end

NOW = 1_700_000_000.0
keys = st.sampled_from([f"k{i}" for i in range(12)])
clicks = st.lists(st.tuples(keys, st.floats(0, 1200)), max_size=120)


def expected(rows: list[tuple[str, float]], now: float = NOW) -> dict[str, tuple[int, int]]:
    """Counted directly: complete slots of ten seconds before now's."""
    end = window_end(now)
    minute = Counter(k for k, age in rows if end - 60 <= now - age < end)
    quarter = Counter(k for k, age in rows if end - 900 <= now - age < end)
    return {k: (minute[k], quarter[k]) for k in quarter}


@given(clicks)
def test_exact_windows_equal_a_direct_count(rows):
    windows: ClickWindows[str] = ClickWindows()
    for key, age in rows:
        windows.add(key, NOW - age, NOW)
    assert {k: (m, q) for k, m, q in windows.top(NOW)} == expected(rows)


@given(clicks, st.integers(1, 4))
def test_the_tail_is_never_counted_too_low(rows, exact):
    """With room for few exact keys, every key's estimate is at least its true count."""
    windows: ClickWindows[str] = ClickWindows(exact=exact, width=64)
    for key, age in sorted(rows, key=lambda row: -row[1]):
        windows.add(key, NOW - age, NOW - age)
    for key, (minute, quarter) in expected(rows).items():
        found = windows.counts(key, NOW)
        assert found[0] >= minute
        assert found[1] >= quarter


def test_a_key_that_grows_busy_leaves_the_tail():
    windows: ClickWindows[str] = ClickWindows(exact=2)
    for key in ("a", "b"):
        windows.add(key, NOW, NOW)
    for _ in range(50):
        windows.add("late", NOW, NOW)
    assert windows.top(NOW + 10)[0] == ("late", 50, 50)


def test_windows_slide_and_forget():
    windows: ClickWindows[str] = ClickWindows(exact=1)
    windows.add("a", NOW, NOW)
    windows.add("tail", NOW, NOW)
    assert windows.counts("a", NOW + 30) == (1, 1)
    assert windows.counts("a", NOW + 120) == (0, 1)
    assert windows.counts("a", NOW + 1000) == (0, 0)
    assert windows.top(NOW + 1000) == []
    assert windows.counts("tail", NOW + 1000) == (0, 0)


@given(clicks, st.lists(st.integers(0, 3), min_size=120, max_size=120))
@settings(max_examples=60)
def test_merging_partitions_equals_one_pass_over_all_clicks(rows, split):
    """Articles stay in their partition as in Kafka; stories and publishers are summed by the merger."""
    whole: ClickWindows[tuple[str, str, str, str]] = ClickWindows()
    parts: dict[int, ClickWindows[tuple[str, str, str, str]]] = {}
    for (key, age), edition in zip(rows, split, strict=False):
        number = int(key[1:])
        row = (key, f"story{number % 3}", f"pub{number % 2}", f"ed{edition}")
        whole.add(row, NOW - age, NOW)
        parts.setdefault(number % 4, ClickWindows()).add(row, NOW - age, NOW)
    one = roll_up((*k, m, q) for k, m, q in whole.top(NOW))
    many = roll_up((*k, m, q) for part in parts.values() for k, m, q in part.top(NOW))
    assert one == many
    if one[0]:
        total = sum(q for _, _, q in whole.top(NOW))
        assert sum(q for _, q in one[0]["*"].values()) == total
        assert hottest(one[0]["*"]) == hottest(many[0]["*"])


@given(clicks, clicks)
def test_the_sketch_of_two_streams_is_the_sum_of_their_sketches(left, right):
    def sketch(rows: list[tuple[str, float]]) -> CountMin:
        made = CountMin(64)
        for key, _ in rows:
            made.add(key, 1)
        return made

    merged = sketch(left)
    merged.merge(sketch(right))
    assert np.array_equal(merged.table, sketch(left + right).table)


def test_velocity_is_additive():
    assert velocity(3, 30) + velocity(7, 15) == velocity(10, 45)


def test_a_spike_is_twenty_times_the_usual_and_not_a_handful():
    usual = Baseline(2.0, NOW)
    assert spike(40, usual)
    assert not spike(39, usual)
    assert not spike(19, Baseline())
    assert spike(20, Baseline())


def test_a_baseline_follows_slowly_and_a_spike_does_not_become_the_usual_at_once():
    baseline = Baseline(1.0, NOW)
    after = baseline.observe(1000.0, NOW + 60)
    assert after.rate < 1.1
    day = baseline
    for minute in range(24 * 60):
        day = day.observe(5.0, NOW + 60 * (minute + 1))
    assert 4.5 < day.rate < 5.0
    assert baseline.observe(9.0, NOW - 5) == baseline
