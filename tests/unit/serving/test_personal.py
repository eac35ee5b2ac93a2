"""The personal order: its hard limits hold for any candidates, and what a reader does moves it."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontpage.domain.features import Candidate, fallback_score, vectorise_all
from frontpage.domain.personal import (
    Limits,
    best,
    diversify,
    explain,
    fallback_scores,
    fast_scores,
    relevance,
)
from frontpage.domain.profile import EMPTY, ProfileEvent, fold

NOW = 1_000_000.0
LIMITS = Limits()


def unit(seed: int) -> np.ndarray:
    vector = np.random.default_rng(seed).standard_normal(64).astype(np.float32)
    return vector / np.linalg.norm(vector)


def story(at: int, *, source=None, topics=(), age_hours=1.0, authority=0.5, vector=None, sections=("world",)):
    return Candidate(
        f"s{at}", source or f"p{at}", "US", tuple(topics), (), tuple(sections), latest_at=NOW - 3600 * age_hours,
        vector=unit(at) if vector is None else vector, projection="v1", features={"authority": authority},
    )  # fmt: skip


pools = st.lists(
    st.tuples(st.integers(0, 7), st.sets(st.integers(0, 9), max_size=3), st.floats(0, 1, width=32)), max_size=60
)


@settings(max_examples=150, deadline=None)
@given(pools, st.sets(st.integers(0, 59), max_size=5), st.sampled_from([0.5, 0.7, 0.9]))
def test_the_hard_limits_hold_for_any_pool(rows, tops, alpha):
    pool = [story(i, source=f"p{s}", topics=[f"t{t}" for t in ts]) for i, (s, ts, _) in enumerate(rows)]
    scores = np.array([score for *_, score in rows], dtype=np.float32)
    top_ids = {f"s{i}" for i in tops}
    order = [pool[at] for at in diversify(pool, scores, top_stories=top_ids, alpha=alpha)]
    assert len({c.story_id for c in order}) == len(order)
    sources = [c.publisher_id for c in order]
    assert all(a != b for a, b in itertools.pairwise(sources)), "no publisher twice in a row"
    head = sources[:20]
    assert all(head.count(source) <= 2 for source in head), "at most 2 of a source in the top 20"
    topics = [t for c in order[:10] for t in c.topics]
    assert all(topics.count(topic) <= 2 for topic in topics), "at most 2 of a topic in the first 10"


def test_a_top_story_is_there_although_the_reader_would_never_choose_it():
    pool = [story(i, topics=[f"t{i}"]) for i in range(30)]
    scores = np.linspace(1, 0, 30).astype(np.float32)
    order = diversify(pool, scores, top_stories={"s29"})
    assert order[LIMITS.top_story_by - 1] == 29
    assert 29 not in diversify(pool, scores, count=10)


def test_a_top_story_outside_the_shortlist_still_gets_its_place():
    pool = [story(i, topics=[f"t{i}"], vector=unit(i % 7)) for i in range(700)]
    order = diversify(pool, np.linspace(1, 0, 700).astype(np.float32), top_stories={"s699"})
    assert 699 in order[: LIMITS.top_story_by]


def test_stories_without_topics_are_varied_by_section_and_never_cut_the_list_short():
    pool = [story(i, sections=("world",)) for i in range(8)] + [story(8 + i, sections=("sports",)) for i in range(2)]
    order = diversify(pool, np.linspace(1, 0.9, 10).astype(np.float32), alpha=1.0)
    assert order[:4] == [0, 1, 8, 9]
    assert len(order) == 10


def test_a_pinned_breaking_story_opens_the_list():
    pool = [story(i, topics=[f"t{i}"]) for i in range(10)]
    assert diversify(pool, np.linspace(1, 0, 10).astype(np.float32), pinned="s7")[0] == 7


def test_alpha_trades_relevance_against_repetition():
    same = unit(1)
    pool = [story(i, topics=[f"t{i}"], vector=same) for i in range(5)] + [story(9, topics=["t9"], vector=unit(2))]
    scores = np.array([1, 0.99, 0.98, 0.97, 0.96, 0.7], dtype=np.float32)
    assert diversify(pool, scores, alpha=0.7).index(5) == 1, "the one different story comes second"
    assert diversify(pool, scores, alpha=1.0) == [0, 1, 2, 3, 4, 5]


def test_cosines_of_different_projections_are_not_compared():
    same = unit(1)
    pool = [story(0, topics=["a"], vector=same), story(1, topics=["b"], vector=same), story(2, topics=["c"])]
    other = Candidate("s1", "p1", "US", ("b",), vector=same, projection="v2", latest_at=NOW)
    scores = np.array([1, 0.9, 0.85], dtype=np.float32)
    assert diversify(pool, scores)[1] == 2
    assert diversify([pool[0], other, pool[2]], scores)[1] == 1


def test_the_fast_pass_of_a_new_reader_is_the_documents_fallback():
    pool = [story(i, age_hours=i, authority=0.2 + i / 10) for i in range(6)]
    rows = vectorise_all(pool, EMPTY, "xx-XX", NOW)
    expected = [fallback_score(0.2 + i / 10, i) for i in range(6)]
    np.testing.assert_allclose(fallback_scores(rows), expected, rtol=1e-5)
    np.testing.assert_allclose(fast_scores(rows), expected, rtol=1e-5)


def clicked(at, *, topics=(), story_id="x", vector=None):
    vectors = {} if vector is None else {"v1": vector}
    return ProfileEvent("reader.clicks", 0, at, "click", NOW, f"e{at}", "a", story_id, "px", topics, (), (), vectors)


def test_one_click_lifts_stories_of_its_kind_and_demotes_the_story_that_was_read():
    pool = [story(i, topics=[f"t{i}"]) for i in range(8)]
    rows = vectorise_all(pool, fold([clicked(1, topics=("t5",), story_id="s0", vector=unit(5))], NOW), "xx-XX", NOW)
    scores = fast_scores(rows)
    assert best(scores, 8)[0] == 5
    assert best(scores, 8)[-1] == 0


def test_the_model_reorders_only_the_head_and_the_rest_stays_below():
    pool = [story(i) for i in range(5)]
    rows = vectorise_all(pool, EMPTY, "xx-XX", NOW)
    fast = np.array([0.9, 0.8, 0.7, 0.6, 0.5], dtype=np.float32)
    result = relevance(fast, [0, 1], np.array([-3.0, 4.0]), rows)
    assert best(result, 5) == [1, 0, 2, 3, 4]
    assert best(relevance(fast, [0, 1], None, rows), 5) == [0, 1, 2, 3, 4]


def test_reasons_name_what_the_reader_follows_before_what_was_observed():
    candidate = story(1, topics=["climate"])
    follow = ProfileEvent("reader.events", 0, 1, "follow", NOW, "f", target_kind="topic", target_id="climate")
    profile = fold([follow, clicked(2, topics=("climate",))], NOW)
    row = vectorise_all([candidate], profile, "en-US", NOW)[0]
    assert explain(candidate, row, profile, is_top=True).code == "follow_topic"
    observed = fold([clicked(2, topics=("climate",))], NOW)
    reason = explain(candidate, vectorise_all([candidate], observed, "en-US", NOW)[0], observed, is_top=True)
    assert (reason.code, reason.subject) == ("read_topic", "climate")
    row = vectorise_all([candidate], EMPTY, "en-US", NOW)[0]
    assert explain(candidate, row, EMPTY, is_top=True).code == "top_story"
    assert explain(candidate, row, EMPTY, is_top=False).code == "region"


@pytest.mark.parametrize("count", [0, 1])
def test_empty_and_tiny_pools_work(count):
    pool = [story(i) for i in range(count)]
    assert diversify(pool, np.ones(count, dtype=np.float32)) == list(range(count))
