"""Learnt term weights: what votes, what stands in a table, and how a clusterer takes a new table over."""

from __future__ import annotations

import numpy as np
import pytest
from fakes.stories import BUDGET, FERRY, article, policy
from hypothesis import given
from hypothesis import strategies as st

from frontpage.contracts.batch_views import TermsDocument
from frontpage.domain.clustering import Clusterer
from frontpage.domain.following import follow
from frontpage.domain.story import Change, StoryBook
from frontpage.domain.term_tables import HALF_LIFE, TermTable, joined, kept, vote
from frontpage.domain.terms import TermWeights, hash_tokens, term_ids

NOW = 1_700_000_000.0
FERRY_A = article("f1", "Ferry with ninety aboard sinks off Port Sela", FERRY, publisher="wire")
FERRY_B = article("f2", "Ninety aboard as ferry sinks off Port Sela", "The ferry sank after it struck a reef.")
BUDGET_A = article("b1", "Parliament passes budget by one vote", BUDGET)


def ids_of(*words: str) -> np.ndarray:
    return term_ids(hash_tokens(words))


def table(counts: dict[str, float], documents: float, until: float = NOW, version: str = "terms-en-1") -> TermTable:
    pairs = sorted(zip(ids_of(*counts).tolist(), counts.values(), strict=True))
    ids, values = zip(*pairs, strict=True)
    return TermTable(version, documents, np.array(ids, np.uint32), np.array(values, np.float32), until)


def fed(clusterer: Clusterer, *articles, start: float = NOW) -> list[Change]:
    found = []
    for at, one in enumerate(articles):
        found += clusterer.decide(one, start + at, ("articles.normalised", 0, clusterer.book.sequence + at))
    return found


def test_a_vote_halves_every_week_and_none_comes_from_the_future():
    assert [vote(age) for age in (-5.0, 0.0, HALF_LIFE, 2 * HALF_LIFE)] == [1.0, 1.0, 0.5, 0.25]


def test_a_term_of_two_stories_or_of_a_tiny_share_stands_in_no_table():
    assert not kept(2, 2.0, 100.0)
    assert kept(3, 2.5, 100.0)
    assert kept(100, 60.0, 100_000.0)
    assert not kept(100, 40.0, 100_000.0), "a word of one story in 2,500 is not a word of the language"


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 40), min_size=1),
    st.dictionaries(st.sampled_from("defghi"), st.integers(1, 40), min_size=1),
)
def test_joined_tables_weigh_as_one_table_over_both_samples(shipped, learnt):
    one, other = table(shipped, 50), table(learnt, 70)
    both = {word: shipped.get(word, 0) + learnt.get(word, 0) for word in shipped | learnt}
    whole = table(both, 120)
    words = ids_of(*"abcdefghijk")
    found = joined(TermWeights(50, one.ids, one.counts.astype(np.uint32)), other)
    np.testing.assert_allclose(found.idf(words), TermWeights(120, whole.ids, whole.counts).idf(words), rtol=1e-5)
    assert (found.version, found.until) == ("terms-en-1", NOW)


def test_a_table_alone_joins_the_empty_prior_of_most_languages():
    weights = joined(TermWeights(), table({"said": 900.0, "harbour": 4.0}, 1_000.0))
    said, harbour, unheard = weights.idf(ids_of("said", "harbour", "unheard"))
    assert said < 0.2 < harbour < unheard


def test_decisions_name_the_learnt_weights_they_were_made_with():
    clusterer = Clusterer(policy, StoryBook())
    (before,) = fed(clusterer, FERRY_A)
    clusterer.adopt("en", joined(TermWeights(), table({"said": 90.0}, 100.0)))
    joined_later, began = fed(clusterer, FERRY_B, BUDGET_A, start=NOW + 60)
    assert "weights" not in before.evidence
    assert joined_later.kind == "assign"
    assert began.kind == "create"
    assert joined_later.evidence["weights"] == began.evidence["weights"] == "terms-en-1"


def test_stories_that_the_table_counts_are_not_counted_again_and_later_ones_are():
    clusterer = Clusterer(policy, StoryBook())
    fed(clusterer, FERRY_A)
    fed(clusterer, BUDGET_A, start=NOW + 100)
    clusterer.adopt("en", joined(TermWeights(), table({"said": 90.0}, 100.0, until=NOW + 50)))
    weights = clusterer.policy("en").scorer.weights
    reef, flats, unheard = weights.idf(ids_of("reef", "flats", "unheard"))
    assert flats < reef
    assert reef == unheard
    # a clusterer that begins with the table over the same book weighs the same
    again = policy()
    again.scorer.weights = joined(TermWeights(), table({"said": 90.0}, 100.0, until=NOW + 50))
    Clusterer(lambda _: again, clusterer.book)
    np.testing.assert_array_equal(again.scorer.weights.idf(ids_of("reef", "flats")), [reef, flats])


def test_a_follower_counts_what_the_leader_counts():
    leader, follower = (Clusterer(policy, StoryBook()) for _ in range(2))
    for change in fed(leader, FERRY_A):
        follow(follower, change)
    for one in (leader, follower):
        one.adopt("en", joined(TermWeights(), table({"said": 90.0}, 100.0, until=NOW + 50)))
    for change in fed(leader, BUDGET_A, start=NOW + 100):
        follow(follower, change)
    words = ids_of("flats", "reef", "said")
    found = [one.policy("en").scorer.weights.idf(words).tolist() for one in (leader, follower)]
    assert found[0] == found[1]


def test_a_published_table_reads_back_equal():
    sent = table({"said": 90.0, "harbour": 0.25}, 100.0)
    read = TermsDocument.model_validate_json(TermsDocument.pack("en", sent, NOW).model_dump_json()).unpack()
    np.testing.assert_array_equal(read.ids, sent.ids)
    np.testing.assert_array_equal(read.counts, sent.counts)
    assert (read.version, read.documents, read.until) == (sent.version, sent.documents, sent.until)


@pytest.mark.parametrize("change", ["order", "length", "count", "documents"])
def test_a_damaged_table_is_refused(change: str):
    whole = table({"said": 90.0, "harbour": 1.0}, 100.0)
    damaged = {
        "order": TermTable("v", 100.0, whole.ids[::-1], whole.counts, NOW),
        "length": TermTable("v", 100.0, whole.ids[:1], whole.counts, NOW),
        "count": TermTable("v", 10.0, whole.ids, whole.counts, NOW),
        "documents": TermTable("v", 0.0, whole.ids, whole.counts, NOW),
    }[change]
    with pytest.raises(ValueError, match="term weights v"):
        TermsDocument.pack("en", damaged, NOW).unpack()
