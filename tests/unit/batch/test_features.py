"""The feature registry: one order, defaults, and request-side values that follow from profile and candidate."""

from __future__ import annotations

import math

import numpy as np
import pytest

from batch.gold_profiles import comparable
from frontpage.domain.features import (
    INDEX,
    NAMES,
    REGISTRY,
    STORY_FEATURES,
    Candidate,
    fallback_score,
    vectorise,
    vectorise_all,
)
from frontpage.domain.profile import EMPTY, ProfileEvent, fold

NOW = 1_790_000_000.0


def value(row, name):
    return float(row[INDEX[name]])


def test_names_are_unique_and_story_features_come_first():
    assert len(set(NAMES)) == len(NAMES) == len(REGISTRY)
    assert NAMES[: len(STORY_FEATURES)] == STORY_FEATURES
    assert all(feature.how and feature.unit for feature in REGISTRY)


def test_missing_and_non_finite_story_values_take_their_defaults():
    row = vectorise(Candidate("s", "p", features={"coverage": math.nan, "velocity": 3.0}), EMPTY, "en-US", NOW)
    assert row.dtype == np.float32
    assert value(row, "coverage") == 0.0
    assert value(row, "velocity") == 3.0
    assert value(row, "quality") == 0.5
    assert np.isfinite(row).all()


def test_a_click_raises_what_it_has_in_common_with_a_story():
    axis = np.eye(64, dtype=np.float32)
    click = ProfileEvent(
        "reader.clicks", 0, 0, "click", NOW, "c", "a", "other", "p", ("x",), ("e",), ("health",), {"v@1": axis[0]}
    )
    follow = ProfileEvent("reader.events", 0, 0, "follow", NOW, "f", target_kind="source", target_id="p")
    profile = fold([click, follow], NOW)
    like = Candidate(
        "s1", "p", "US", ("x",), ("e",), ("health",), vector=axis[0], projection="v@1", latest_at=NOW - 3600
    )
    unlike = Candidate("s2", "q", "GB", ("y",), (), ("sports",), vector=axis[1], projection="v@1", latest_at=NOW - 3600)
    rows = vectorise_all([like, unlike], profile, "en-US", NOW)
    for name in ("interest", "topic_affinity", "section_affinity", "entity_affinity", "source_affinity", "in_region"):
        assert value(rows[0], name) > value(rows[1], name), name
    assert value(rows[0], "follows_source") == 1.0
    assert value(rows[0], "age_hours") == pytest.approx(1.0)
    np.testing.assert_array_equal(rows[0], vectorise(like, profile, "en-US", NOW))


def test_vectors_of_another_projection_never_mix():
    profile = fold([ProfileEvent("t", 0, 0, "click", NOW, "c", vectors={"v@1": np.eye(64, dtype=np.float32)[0]})], NOW)
    stranger = Candidate("s", "p", vector=np.eye(64, dtype=np.float32)[0], projection="v@2")
    assert value(vectorise(stranger, profile, "en-US", NOW), "interest") == 0.0


def test_fallback_decays_as_the_tiers_document_says():
    assert fallback_score(0.8, 0.0) == pytest.approx(0.8)
    assert fallback_score(0.8, math.log(2) / 0.1) == pytest.approx(0.4)  # regular: half-life about 7 h
    assert fallback_score(0.8, math.log(2) / 0.5, articles_1h=21) == pytest.approx(0.4)  # breaking: about 1.4 h
    assert fallback_score(0.8, math.log(2) / 0.02, topics=("obituary",)) == pytest.approx(0.4)  # evergreen: 35 h
    assert fallback_score(0.8, -5.0) == pytest.approx(0.8), "a future article is not better than a new one"


def test_only_vectors_of_the_encoders_size_are_fitted():
    """One vector of another size, which the topic may hold, would decide the size of the matrix."""
    good = np.ones(384, dtype="<f4").tobytes()
    packed = [good, np.ones(56_250, dtype="<f4").tobytes(), good[:-4], b"", np.full(384, np.nan, "<f4").tobytes(), good]
    assert comparable(packed, "minilm-l6-v2@1").shape == (2, 384)
    assert comparable([b"1234" * 3, b"1234" * 3, b"1234" * 900], "another@1").shape == (2, 3)
    assert comparable([], "another@1").shape == (0, 0)
