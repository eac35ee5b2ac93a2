"""Crashes under load, one after another on one partition: each article assigned once, the standby goes on, no id forks.

`benchmarks/crashes.py` (`make soak`) asks for more rounds (`CRASH_ROUNDS`), at other moments (`CRASH_SEED`), and for a
file with what was measured (`CRASH_FIGURES`).
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from crashing import Arena

ROUNDS = int(os.environ.get("CRASH_ROUNDS", "3"))
SEED = int(os.environ.get("CRASH_SEED", "0"))


@pytest.mark.timeout(120 + 60 * ROUNDS)
def test_whatever_crashes_each_article_is_assigned_once(tmp_path: Path, jar_cache: Path):
    failovers = []
    with Arena(tmp_path, jar_cache, seed=SEED) as arena:
        for number in range(ROUNDS):
            failovers.append(arena.round(number))
        articles, changes = len(arena.log.joined), arena.log.book.sequence
    if "CRASH_FIGURES" in os.environ:
        figures = {"failovers": failovers, "articles": [articles], "changes": [changes]}
        Path(os.environ["CRASH_FIGURES"]).write_text(json.dumps(figures), encoding="utf-8")
