"""Which pairs a person is asked about, and the curve that the answers draw."""

from __future__ import annotations

import numpy as np
import pytest

from frontpage.domain.agreement import curve
from frontpage.domain.rating import Candidate, sample


def candidate(number: int, story: int, *, angle: float, seen: int = 0, language: str = "en") -> Candidate:
    vector = np.array([np.cos(angle), np.sin(angle)], dtype=np.float32)
    return Candidate(f"{language}{number:03}", f"s{language}{story}", language, "e1", vector, seen)


#: Twenty stories of three articles; neighbours on the circle are alike, and two stories of one other language.
NEWS = [candidate(3 * s + n, s, angle=0.3 * s + 0.02 * n) for s in range(20) for n in range(3)] + [
    candidate(n, n // 2, angle=0.1 * n, language="de") for n in range(4)
]
STORY = {one.article_id: one.story_id for one in NEWS}
LANGUAGE = {one.article_id: one.language for one in NEWS}


def test_half_are_of_one_story_and_half_alike_but_apart():
    asks = sample(NEWS, 20, seed=1)
    assert [sum(ask.kind == kind for ask in asks) for kind in ("inside", "apart")] == [10, 10]
    for ask in asks:
        assert (STORY[ask.left] == STORY[ask.right]) == (ask.kind == "inside")
        assert LANGUAGE[ask.left] == LANGUAGE[ask.right]
        assert ask.left < ask.right
    assert all(ask.cosine > 0.9 for ask in asks if ask.kind == "apart"), "the nearest of another story"
    assert len({ask.pair_id for ask in asks}) == 20
    assert {ask.kind for ask in asks[:8]} == {"inside", "apart"}, "kinds are mixed, so that none can be guessed"


def test_the_same_seed_asks_the_same_whatever_the_order_and_another_asks_others():
    first = sample(NEWS, 12, seed=1)
    assert sample(NEWS[::-1], 12, seed=1) == first
    assert {ask.pair_id for ask in sample(NEWS, 12, seed=2)} != {ask.pair_id for ask in first}


def test_what_was_answered_is_not_asked_again():
    known = {ask.pair_id for ask in sample(NEWS, 12, seed=1)}
    again = sample(NEWS, 12, seed=1, known=known)
    assert len(again) == 12
    assert not known & {ask.pair_id for ask in again}


def test_what_readers_saw_is_asked_more():
    shown = [
        candidate(3 * s + n, s, angle=0.3 * s + 0.02 * n, seen=10**6 * (s < 4)) for s in range(20) for n in range(3)
    ]
    asked = [ask for seed in range(40) for ask in sample(shown, 6, seed=seed) if ask.kind == "inside"]
    assert sum(ask.seen > 0 for ask in asked) > 0.5 * len(asked), "four stories of twenty, and more than half the pairs"


@pytest.mark.parametrize(
    ("news", "kinds"),
    [
        ([], set()),
        (NEWS[:1], set()),
        (NEWS[:3], {"inside"}),
        ([candidate(n, n, angle=0.01 * n) for n in range(6)], {"apart"}),
        ([candidate(n, n, angle=1.5 * n) for n in range(2)], set()),
    ],
)
def test_where_there_are_few_pairs_all_are_asked(news, kinds):
    asks = sample(news, 10, seed=0)
    assert {ask.kind for ask in asks} == kinds
    if kinds == {"inside"}:
        assert len(asks) == 3


def test_precision_and_recall_from_the_strictest_bar_on():
    rated = [(3.0, True), (2.0, True), (2.0, False), (1.0, False), (0.5, True)]
    recalls, precisions = curve(rated)
    assert recalls == pytest.approx([1 / 3, 2 / 3, 2 / 3, 1.0])
    assert precisions == pytest.approx([1.0, 2 / 3, 1 / 2, 3 / 5])
    assert curve([(1.0, False)]) == ([], [])
    assert curve([]) == ([], [])
