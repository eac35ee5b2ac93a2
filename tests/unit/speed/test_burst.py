"""The burst rule: each of its three tests alone can refuse, and rewording an old number cannot slip in."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontpage.domain.burst import BurstPolicy, detect, poisson_tail

NOW = 1_700_000_000.0


def originals(
    count: int, publishers: int, authority: float = 0.8, spread: float = 290.0
) -> list[tuple[float, str, float]]:
    step = spread / max(1, count - 1)
    return [(NOW - 400 + i * step, f"p{i % publishers}", authority) for i in range(count)]


def test_ten_originals_of_five_authoritative_publishers_within_five_minutes_burst():
    burst = detect(originals(10, 5), now=NOW)
    assert burst is not None
    assert (burst.originals, burst.publishers) == (10, 5)
    assert burst.tail < 1e-6
    assert burst.ended - burst.started <= 300


@pytest.mark.parametrize(
    ("reports", "why"),
    [
        (originals(9, 9), "nine originals"),
        (originals(30, 4), "four publishers"),
        (originals(50, 50, authority=0.5), "authority not above 0.5"),
        (originals(12, 12, spread=900), "spread over a quarter of an hour"),
        ([(at - 7200, p, a) for at, p, a in originals(20, 10)], "two hours ago"),
        ([(at + 7200, p, a) for at, p, a in originals(20, 10)], "in the future"),
    ],
)
def test_no_burst_for(reports: list[tuple[float, str, float]], why: str):
    assert detect(reports, now=NOW) is None, why


def test_a_topic_that_is_always_busy_needs_more_than_ten():
    """With five originals in five minutes as the usual, ten are no news (Poisson tail 0.03), thirty are."""
    assert detect(originals(10, 5), now=NOW, baseline=5.0) is None
    assert detect(originals(30, 10), now=NOW, baseline=5.0) is not None


def test_low_authority_rewriters_add_nothing_to_the_publishers_test():
    strong = originals(4, 4)
    weak = [(at, f"weak{i}", 0.1) for i, (at, _, _) in enumerate(originals(50, 50))]
    assert detect(strong + weak, now=NOW) is None
    assert detect(originals(5, 5) + weak, now=NOW) is not None


@given(st.lists(st.tuples(st.floats(0, 9000), st.integers(0, 12), st.floats(0, 1)), max_size=60), st.randoms())
def test_order_does_not_matter(rows, rng):
    reports = [(NOW - age, f"p{p}", authority) for age, p, authority in rows]
    shuffled = reports[:]
    rng.shuffle(shuffled)
    assert detect(reports, now=NOW) == detect(shuffled, now=NOW)


@given(st.lists(st.tuples(st.floats(0, 9000), st.integers(0, 12), st.floats(0, 1)), max_size=60))
def test_what_is_found_is_really_there(rows):
    """Against a direct reading of the rule: some window of 300 s holds what the burst claims."""
    reports = [(NOW - age, f"p{p}", authority) for age, p, authority in rows]
    policy = BurstPolicy()
    recent = [r for r in reports if NOW - r[0] <= policy.horizon]
    windows = [[r for r in recent if start <= r[0] <= start + policy.window] for start, _, _ in recent]
    holds = [
        w for w in windows
        if len(w) >= 10 and len({p for _, p, a in w if a > 0.5}) >= 5 and poisson_tail(len(w), policy.baseline) < 1e-6
    ]  # fmt: skip
    burst = detect(reports, now=NOW)
    assert (burst is not None) == bool(holds)
    if burst is not None:
        assert burst.originals == max(map(len, holds))


@given(st.integers(0, 60), st.floats(0.01, 80))
def test_poisson_tail_equals_one_minus_the_lower_sum(count: int, mean: float):
    lower = sum(math.exp(-mean + k * math.log(mean) - math.lgamma(k + 1)) for k in range(count))
    assert poisson_tail(count, mean) == pytest.approx(1 - lower, abs=1e-9)


def test_poisson_tail_keeps_digits_where_one_minus_would_lose_them():
    """P(X >= 30 | 0.5) is about 0.5^30 e^-0.5 / 30! = 2e-42."""
    assert poisson_tail(30, 0.5) == pytest.approx(0.5**30 * math.exp(-0.5) / math.factorial(30), rel=0.05)
