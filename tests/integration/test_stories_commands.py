"""`frontpage cluster`, `similarity` and `inspect pair` on articles of our own making, with the shipped models."""

from __future__ import annotations

import gzip
import json

import pytest
from fakes.stories import BUDGET, FERRY
from typer.testing import CliRunner

from frontpage.errors import UnreadableInput
from frontpage_cli.main import _build


def row(key, title, text, publisher, **more):
    return {"id": key, "title": title, "text": text, "publisher": publisher, "lang": "en", "published_at": None, **more}


ROWS = [
    row("a", "Ferry with ninety aboard sinks off Port Sela", FERRY, "wire.example"),
    row("b", "Parliament passes budget by a single vote", BUDGET, "daily.example"),
    row("c", "Ferry sinks off Port Sela with ninety people on board", "PORT SELA (AP) - " + FERRY, "paper.example"),
    row("d", "Ninety on board as ferry goes down near Port Sela after hitting reef", "Rescue boats took passengers "
        "off a sinking ferry close to the harbour of Port Sela.", "coast.example"),
]  # fmt: skip


@pytest.fixture
def run(tmp_path):
    def call(*arguments):
        return CliRunner().invoke(_build(), [str(argument) for argument in arguments], catch_exceptions=True)

    return call


def write(path, rows):
    text = "".join(json.dumps(line) + "\n" for line in rows)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


@pytest.mark.parametrize("extra", [(), ("--repair",)])
def test_cluster_groups_a_file(tmp_path, run, extra):
    source = write(tmp_path / "in.jsonl.gz", ROWS)
    result = run("cluster", source, "--out", tmp_path / "out.jsonl", *extra)
    assert result.exit_code == 0, result.output
    found = {line["id"]: line for line in map(json.loads, (tmp_path / "out.jsonl").read_text().splitlines())}
    assert found["a"]["story"] == found["c"]["story"] == found["d"]["story"] != found["b"]["story"]
    assert [found[key]["copy_of"] for key in "abcd"] == [None, None, "a", None]


def test_eval_clustering_judges_against_the_labels_of_the_file(tmp_path, run):
    labels = {"a": "ferry", "b": "budget", "c": "ferry"}  # d has no label: clustered, not counted
    write(
        tmp_path / "in.jsonl", [line | ({"story": labels[line["id"]]} if line["id"] in labels else {}) for line in ROWS]
    )
    result = run("eval", "clustering", tmp_path / "in.jsonl", "--json")
    assert result.exit_code == 0, result.output
    figures = json.loads(result.stdout)
    assert (figures["articles"], figures["stories"], figures["found_stories"]) == (3, 2, 2)
    assert figures["b_cubed_f1"] == figures["pair_precision"] == figures["pair_recall"] == 1.0
    write(tmp_path / "in.jsonl", [line | {"story": "all"} for line in ROWS])
    figures = json.loads(run("eval", "clustering", tmp_path / "in.jsonl", "--json").stdout)
    # a, c and d are one story, b another: 3 of 6 pairs, and per article 3/4 three times and 1/4 once
    assert (figures["pair_precision"], figures["pair_recall"]) == (1.0, 0.5)
    assert figures["b_cubed_recall"] == 0.625
    write(tmp_path / "in.jsonl", ROWS)
    refused = run("eval", "clustering", tmp_path / "in.jsonl")
    assert isinstance(refused.exception, UnreadableInput)
    assert refused.exception.cause == "no-labels"


def test_similarity_rates_pairs(tmp_path, run):
    pairs = write(tmp_path / "pairs.jsonl", [{"id1": "a", "id2": "c"}, {"id1": "a", "id2": "b"}])
    result = run("similarity", pairs, "--articles", write(tmp_path / "a.jsonl", ROWS), "--out", tmp_path / "o.jsonl")
    assert result.exit_code == 0, result.output
    same, other = map(json.loads, (tmp_path / "o.jsonl").read_text().splitlines())
    assert same["copy"]
    assert same["same_story"]
    assert not other["same_story"]
    assert 0.0 <= other["score"] < same["score"] <= 1.0


def test_inspect_pair_prints_json_and_nothing_else(tmp_path, run):
    for line in ROWS:
        (tmp_path / f"{line['id']}.json").write_text(json.dumps(line))
    result = run("inspect", "pair", tmp_path / "a.json", tmp_path / "d.json")
    answer = json.loads(result.stdout)
    assert (answer["copy"], answer["same_story"]) == (False, True)
    assert answer["signals"]["dense"] > 0.5


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("{nonsense\n", "not JSON"),
        ('{"title": "no id"}\n', "an object with an id"),
        ('{"id": "a"}\n{"id": "a"}\n', "occurs twice"),
        ('{"id": "a", "published_at": "yesterday"}\n', "not ISO 8601"),
    ],
)
def test_a_file_that_cannot_be_read_says_where(tmp_path, run, text, cause):
    (tmp_path / "in.jsonl").write_text(text)
    result = run("cluster", tmp_path / "in.jsonl", "--out", tmp_path / "out.jsonl")
    assert result.exit_code == 1
    assert isinstance(result.exception, UnreadableInput)
    assert cause in str(result.exception)
    assert not (tmp_path / "out.jsonl").exists()
