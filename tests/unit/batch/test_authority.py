"""Authority is earned by original reporting, never by copying, and little evidence changes little."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from frontpage.domain.authority import Evidence, score

counts = st.integers(0, 500)
priors = st.floats(0, 1)


@given(counts, counts, counts, priors, st.integers(1, 50))
def test_copying_more_never_raises_it(originals, copies, reprints, prior, more):
    before = score(Evidence(originals=originals + 1, copies=copies, copied_by=reprints), prior)
    after = score(Evidence(originals=originals + 1, copies=copies + more, copied_by=reprints), prior)
    assert 0.0 <= after <= before + 1e-9 <= 1.0 + 1e-9


@given(st.integers(1, 500), counts, priors, st.integers(1, 50))
def test_being_reprinted_or_first_never_lowers_it(originals, shared, prior, more):
    base = Evidence(originals=originals, shared=shared)
    assert score(Evidence(originals=originals, shared=shared, copied_by=more), prior) >= score(base, prior)
    firsts = Evidence(originals=originals, shared=shared, firsts=min(shared, more))
    assert score(firsts, prior) >= score(base, prior)


@given(st.integers(1, 500), priors, st.integers(1, 500))
def test_many_corrections_cost_and_usual_ones_do_not(originals, prior, corrections):
    clean = score(Evidence(originals=originals), prior)
    assert score(Evidence(originals=originals, corrections=corrections), prior) <= clean + 1e-9
    assert score(Evidence(originals=originals, corrections=originals // 10), prior) == clean


def test_without_evidence_the_prior_stands_and_a_rewriter_falls_below_it():
    assert score(Evidence(), 0.7) == 0.7
    assert score(Evidence(copies=100), 0.3) < 0.2
    assert score(Evidence(originals=400, copied_by=900, firsts=60, shared=100), 0.6) > 0.75
