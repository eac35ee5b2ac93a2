"""docs/scorecard.md: the tests that it names exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.scorecard import PAGE

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
