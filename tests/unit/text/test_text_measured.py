"""The labelled cases and captured input, where they are at hand (FRONTPAGE_CASES, FRONTPAGE_DATASETS).

A clean checkout has neither and stays green; continuous integration sets both.
"""

import os

import pytest

from benchmarks import cases_ingestion, parsing

CASES = os.environ.get("FRONTPAGE_CASES")
DATASETS = os.environ.get("FRONTPAGE_DATASETS")


@pytest.mark.skipif(not CASES, reason="FRONTPAGE_CASES is not set")
def test_every_ingestion_case_holds():
    rows = cases_ingestion.run(CASES)
    assert len(rows) >= len(cases_ingestion.CASES)
    assert [row for row in rows if not row[1]] == []


@pytest.mark.skipif(not DATASETS, reason="FRONTPAGE_DATASETS is not set")
def test_captured_input_is_read_as_stated():
    figures = parsing.run(DATASETS)
    for name in ("suite_entry_titles", "suite_entry_links", "suite_entry_dates", "suite_feed_titles"):
        assert figures[f"{name}_share"] >= 0.97, name
    assert figures["article_titles_share"] >= 19 / 20
    assert figures["article_dates_share"] >= 15 / 16
    assert figures["article_languages_share"] == 1.0
    assert figures["captures_read_share"] == 1.0
