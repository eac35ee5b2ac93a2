"""`frontpage cluster` on ten hours of the English sample world: its stories are found, its look-alikes stay apart.

The window holds match reports, closing reports and weather, which are one template and another event each. B-cubed F1
was .94 to .98 here with the scorers tried so far, so the floor of .9 notices a change of texts or clusterer that loses
quality.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from data_samples.render import iso
from data_samples.world import START, build

FROM, UNTIL = iso(START + 20 * 3600), iso(START + 30 * 3600)
LOOK_ALIKES = {"weather", "result", "market"}


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict], dict[str, dict]]:
    directory: Path = tmp_path_factory.mktemp("clusters")
    rows = [row for row in build().articles_for_cluster("en") if FROM <= row["published_at"] < UNTIL]
    given = ("id", "title", "text", "url", "publisher", "lang", "published_at")
    with (directory / "in.jsonl").open("w", encoding="utf-8") as out:
        for row in rows:
            out.write(json.dumps({name: row[name] for name in given}) + "\n")
    subprocess.run(
        [
            sys.executable, "-c", "from frontpage_cli.main import app; app()", "cluster",
            str(directory / "in.jsonl"), "--out", str(directory / "out.jsonl"),
        ],
        check=True, timeout=280,
    )  # fmt: skip
    found = [json.loads(line) for line in (directory / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    return rows, {row["id"]: row for row in found}


def b_cubed(gold: dict[str, str], found: dict[str, str]) -> tuple[float, float]:
    """Precision and recall, each averaged over articles."""
    both = Counter((gold[i], found[i]) for i in gold)
    by_gold, by_found = Counter(gold.values()), Counter(found[i] for i in gold)
    precision = sum(n * n / by_found[f] for (_, f), n in both.items()) / len(gold)
    recall = sum(n * n / by_gold[g] for (g, _), n in both.items()) / len(gold)
    return precision, recall


def test_stories_are_found(outcome: tuple[list[dict], dict[str, dict]]) -> None:
    rows, found = outcome
    gold = {row["id"]: row["story"] for row in rows if row["story"]}
    precision, recall = b_cubed(gold, {id: row["story"] for id, row in found.items()})
    assert 2 * precision * recall / (precision + recall) >= 0.9, (precision, recall)


def test_look_alikes_stay_apart(outcome: tuple[list[dict], dict[str, dict]]) -> None:
    """A story may hold several reports of one match, never several matches, towns or closing reports."""
    rows, found = outcome
    events = defaultdict(set)
    alike = [row for row in rows if row["form"] in LOOK_ALIKES]
    for row in alike:
        events[found[row["id"]]["story"]].add(row["story"])
    mixed = sum(len(held) for held in events.values() if len(held) > 1)
    assert mixed <= 0.2 * len({row["story"] for row in alike}), events


def test_copies_of_the_wire_are_told_from_independent_reports(outcome: tuple[list[dict], dict[str, dict]]) -> None:
    rows, found = outcome
    here = {row["id"] for row in rows}
    copies = [row for row in rows if row["copy_of"] in here]
    own = [row for row in rows if row["form"] in ("report", "followup") and row["copy_of"] is None]
    assert sum(bool(found[row["id"]]["copy_of"]) for row in copies) >= 0.9 * len(copies)
    assert sum(bool(found[row["id"]]["copy_of"]) for row in own) <= 0.25 * len(own)
