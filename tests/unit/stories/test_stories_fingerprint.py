"""Fingerprints are stored: the pinned digests fail when any of their parts changes without a new version."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from fakes.stories import BUDGET, FERRY
from hypothesis import given
from hypothesis import strategies as st

from frontpage.domain import fingerprint
from frontpage.domain.terms import hash_tokens, tokens


def hashes(text):
    return hash_tokens(tokens(text))


def test_golden_digests_of_version_1():
    assert fingerprint.FINGERPRINT_VERSION == 1
    signature = fingerprint.minhash(hashes(FERRY))
    assert f"{fingerprint.simhash(hashes(FERRY)):016x}" == GOLDEN_SIMHASH
    assert hashlib.sha256(signature.astype("<u4").tobytes()).hexdigest()[:16] == GOLDEN_MINHASH


def test_a_few_changed_words_stay_near_and_another_text_is_far():
    other = FERRY.replace("ninety", "ninety-one")
    assert fingerprint.distance(fingerprint.simhash(hashes(FERRY)), fingerprint.simhash(hashes(other))) <= 8
    assert fingerprint.distance(fingerprint.simhash(hashes(FERRY)), fingerprint.simhash(hashes(BUDGET))) > 15


def test_estimated_jaccard_is_near_the_exact_one():
    left, right = hashes(FERRY), hashes(FERRY + " " + BUDGET)
    exact_left = {tuple(left[i : i + 5].tolist()) for i in range(len(left) - 4)}
    exact_right = {tuple(right[i : i + 5].tolist()) for i in range(len(right) - 4)}
    exact = len(exact_left & exact_right) / len(exact_left | exact_right)
    assert fingerprint.jaccard(fingerprint.minhash(left), fingerprint.minhash(right)) == pytest.approx(exact, abs=0.15)


def test_a_headline_is_too_short_for_a_minhash():
    assert fingerprint.minhash(hashes("Ferry sinks off Port Sela")) is None
    assert fingerprint.minhash_bands(None) == []
    assert fingerprint.jaccard(None, fingerprint.minhash(hashes(FERRY))) == 0.0


@given(st.integers(0, 2**64 - 1), st.lists(st.integers(0, 63), max_size=3, unique=True))
def test_values_within_distance_three_share_a_band(value, flips):
    other = value
    for bit in flips:
        other ^= 1 << bit
    assert fingerprint.distance(value, other) == len(flips)
    assert set(fingerprint.simhash_bands(value)) & set(fingerprint.simhash_bands(other))


@given(st.text(max_size=300))
def test_any_text_has_a_fingerprint(text):
    found = hashes(text)
    assert 0 <= fingerprint.simhash(found) < 2**64
    signature = fingerprint.minhash(found)
    assert signature is None or (signature.dtype == np.uint32 and len(signature) == fingerprint.MINHASH_SIZE)


GOLDEN_SIMHASH = "534b6454b687912d"
GOLDEN_MINHASH = "5fb2a387b1cde5e6"
