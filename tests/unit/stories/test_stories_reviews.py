"""When a merge waits for a person, and what a decision means."""

from __future__ import annotations

import pytest

from frontpage.domain.reviews import MARGIN, MEMORY, PATIENCE, Review, Reviews, review_id

NOW, BAR = 1_700_000_000.0, 2.0
PAIR = ("s1", "s2")


@pytest.fixture
def reviews() -> Reviews:
    made = Reviews()
    made.front = {"s1": "a1", "s2": "a2", "s3": "a3"}
    return made


def ask(reviews: Reviews, pair=PAIR, score=BAR + 0.5, now=NOW) -> bool:
    return reviews.allows(pair, "en", score, BAR, now)


def test_a_doubtful_merge_of_two_top_stories_is_held_once(reviews):
    assert not ask(reviews)
    assert not ask(reviews, pair=PAIR[::-1], now=NOW + 600)
    (held,) = reviews.take_held()
    assert (held.review_id, held.stories, held.score, held.bar) == (review_id(*PAIR), PAIR, BAR + 0.5, BAR)
    assert reviews.take_held() == []


@pytest.mark.parametrize(
    ("pair", "score", "why"),
    [
        (PAIR, BAR + MARGIN + 0.01, "it is sure"),
        (("s1", "elsewhere"), BAR + 0.5, "one of them is on no front page"),
        (("else", "where"), BAR + 0.01, "neither is"),
    ],
)
def test_others_go_on_by_themselves(reviews, pair, score, why):
    assert ask(reviews, pair, score), why
    assert reviews.take_held() == []


def test_what_was_held_merges_when_it_has_become_sure(reviews):
    assert not ask(reviews)
    assert ask(reviews, score=BAR + MARGIN + 1.0, now=NOW + 60)


def test_a_rejected_merge_stays_rejected_however_sure(reviews):
    ask(reviews)
    assert reviews.decide(review_id(*PAIR), "rejected").decision == "rejected"
    assert not ask(reviews, score=BAR + 100.0, now=NOW + PATIENCE * 2)


def test_the_first_decision_counts(reviews):
    ask(reviews)
    assert reviews.decide(review_id(*PAIR), "accepted") is not None
    assert reviews.decide(review_id(*PAIR), "accepted") is None
    assert reviews.decide(review_id(*PAIR), "rejected") is None
    assert reviews.decide("no such review", "accepted") is None
    assert ask(reviews)


def test_nobody_is_waited_for_without_end(reviews):
    assert not ask(reviews)
    assert not ask(reviews, now=NOW + PATIENCE - 1)
    assert ask(reviews, now=NOW + PATIENCE)


def test_old_reviews_are_forgotten(reviews):
    ask(reviews)
    reviews.hold(Review("new", "en", ("s3", "s4"), 2.1, BAR, NOW + MEMORY + 1))
    assert reviews.get(review_id(*PAIR)) is None
    assert reviews.get("new") is not None
