"""The ranker's figures against known values and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score, roc_auc_score

from frontpage.domain.training import MAX_WEIGHT, auc, group_sizes, ndcg, position_weights


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 1)), min_size=2, max_size=60))
def test_auc_is_scikit_learns_also_with_ties(rows):
    scores = np.array([float(score) for score, _ in rows])
    labels = np.array([label for _, label in rows])
    if len(set(labels)) < 2:
        assert auc(scores, labels) is None
    else:
        assert auc(scores, labels) == pytest.approx(roc_auc_score(labels, scores))


@given(
    st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 1)), min_size=2, max_size=40, unique_by=lambda r: r[0])
)
def test_ndcg_of_one_request_is_scikit_learns(rows):
    scores = np.array([float(score) for score, _ in rows])
    labels = np.array([label for _, label in rows])
    if not labels.any():
        assert ndcg(scores, labels, [len(rows)]) is None
    else:
        assert ndcg(scores, labels, [len(rows)]) == pytest.approx(ndcg_score([labels], [scores], k=10))


def test_ndcg_is_the_mean_over_requests_that_were_clicked():
    scores, labels = np.array([3.0, 2.0, 1.0, 1.0, 2.0]), np.array([1, 0, 0, 1, 0])
    assert ndcg(scores, labels, [3, 2]) == pytest.approx((1.0 + 1 / np.log2(3)) / 2)
    assert ndcg(scores, np.zeros(5, dtype=np.int64), [3, 2]) is None


def test_deep_clicks_weigh_more_up_to_a_bound():
    weights = position_weights(np.array([1, 4, 10_000]))
    assert weights.tolist() == [1.0, 2.0, MAX_WEIGHT]


def test_requests_are_runs_of_equal_ids():
    assert group_sizes(np.array(["a", "a", "b", "a"])) == [2, 1, 1]
    assert group_sizes(np.array([], dtype=str)) == []


def test_a_click_far_down_outweighs_one_at_the_top_once_corrected_for_position() -> None:
    """The served order is not the better one for having been served."""
    labels, ranks = np.array([1, 0, 0, 1]), np.array([1, 2, 3, 4])
    served, turned = -ranks.astype(float), ranks.astype(float)
    weights = position_weights(ranks)
    assert ndcg(served, labels, [4]) == pytest.approx(ndcg(turned, labels, [4]))
    assert ndcg(turned, labels, [4], weights=weights) > ndcg(served, labels, [4], weights=weights)
