"""The burst rule: when does coverage of a story make it breaking news?

Three tests, all of them needed (editions document, "Ranking"): at least 10 originals within 5 minutes, at least 5
publishers of authority above 0.5 among them, and a Poisson tail below 1e-6 against what a new story of the topic
usually gets in 5 minutes. Copies never count, so one wire report in 300 papers is not a burst; authority is earned, so
fifty rewriters of a viral post are not one either.

Not here: what a burst changes (label, pin, alert, polls) is the ranker's, in `streaming/rank`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BurstPolicy:
    """Numbers of the editions document, except `horizon` and `baseline`, which say where they come from."""

    window: float = 300.0
    originals: int = 10
    publishers: int = 5
    authority: float = 0.5
    tail: float = 1e-6
    #: A label and its pin end this long after the burst.
    pinned: float = 7200.0
    #: How far back a burst may lie and still be seen: as long as it would be pinned, so that a stop or a backlog
    #: before the ranker delays the label and does not lose it.
    horizon: float = 7200.0
    #: Originals per window of a new story while the batch layer has no `topic_baselines` for its topic.
    #: Most stories of the labelled sets get one or two originals in their first hour; 0.5 in 5 minutes is
    #: several times that, so the prior errs towards silence.
    baseline: float = 0.5


@dataclass(frozen=True, slots=True)
class Burst:
    """A confirmed burst: the densest window, times in seconds since 1970."""

    started: float
    ended: float
    originals: int
    #: distinct publishers above the authority bar within the window
    publishers: int
    tail: float


def poisson_tail(count: int, mean: float) -> float:
    """P(X >= count) for X ~ Poisson(mean), summed from the small end so that 1e-30 keeps its digits."""
    if count <= 0:
        return 1.0
    if mean <= 0.0:
        return 0.0
    term = math.exp(-mean + count * math.log(mean) - math.lgamma(count + 1))
    total, k = 0.0, count
    while True:
        total += term
        k += 1
        term *= mean / k
        if k > mean and term <= total * 1e-16:
            return min(1.0, total)


def detect(
    originals: Iterable[tuple[float, str, float]],
    *,
    now: float,
    baseline: float | None = None,
    policy: BurstPolicy | None = None,
) -> Burst | None:
    """The story's densest burst within the horizon, or None.

    `originals` are (first_seen_at, publisher_id, authority 0..1) of non-copies, in any order; `baseline` is the
    mean number of originals per window for a new story of the topic (None: the policy's prior).
    """  # fmt: skip
    policy = policy or BurstPolicy()
    mean = policy.baseline if baseline is None else baseline
    recent = sorted(entry for entry in originals if now - policy.horizon <= entry[0] <= now)
    best: Burst | None = None
    strong: Counter[str] = Counter()
    first = 0
    for last, (seen, publisher, authority) in enumerate(recent):
        if authority > policy.authority:
            strong[publisher] += 1
        while seen - recent[first][0] > policy.window:
            if recent[first][2] > policy.authority:
                strong[recent[first][1]] -= 1
                strong += Counter()  # drops zeros
            first += 1
        count = last - first + 1
        if count < policy.originals or len(strong) < policy.publishers:
            continue
        tail = poisson_tail(count, mean)
        if tail < policy.tail and (best is None or count > best.originals):
            best = Burst(recent[first][0], seen, count, len(strong), tail)
    return best
