"""docs/scorecard.md: the tests that it names exist, and its figures are the last week's, within their bounds."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from benchmarks.harness import HERE, RESULTS
from benchmarks.scorecard import PAGE, page

ROOT = Path(__file__).parents[3]
TEXT = PAGE.read_text(encoding="utf-8")
PROOFS = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", TEXT)))


@pytest.mark.parametrize(("path", "name"), PROOFS)
def test_proof_exists(path: str, name: str):
    assert re.search(rf"^\s*(async )?def {name}\(", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)


def test_every_behaviour_has_a_proof():
    rows = [
        line for line in TEXT.split("## A week")[0].splitlines() if line.startswith("| ") and "| proof |" not in line
    ]
    assert len(rows) > 20
    assert [row for row in rows if "::test_" not in row] == []


def test_figures_are_those_of_the_last_week_and_within_its_bounds():
    figures = json.loads((RESULTS / "week.json").read_text(encoding="utf-8"))["figures"]
    assert page(TEXT, figures) == TEXT, "run: python -m benchmarks.scorecard"
    bounds = tomllib.loads((HERE / "targets.toml").read_text(encoding="utf-8"))["week"]
    for name, bound in bounds.items():
        assert bound.get("min", figures[name]) <= figures[name] <= bound.get("max", figures[name]), name
