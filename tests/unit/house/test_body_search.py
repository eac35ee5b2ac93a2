"""The search that proves the licence boundary finds what it is for, wherever it hides."""

import base64
import gzip
import json
import zlib
from itertools import islice

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from fakes.body_search import BodySearch

from data_samples.world import build


@pytest.fixture(scope="module")
def articles():
    return list(islice(build().articles, 40))


@pytest.fixture
def search(articles):
    return BodySearch(articles)


def leak(articles):
    """A piece from the middle of a body."""
    text = "  ".join(articles[7].versions[0].paragraphs)
    assert len(text) > 600
    return text[400:490]


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda text: text,
        lambda text: text.encode(),
        lambda text: {"a": [{"b": text}]},
        lambda text: json.dumps({"lead": text}).encode(),
        lambda text: json.dumps({"value_b64": base64.b64encode(json.dumps([text]).encode()).decode()}),
        lambda text: gzip.compress(text.encode()),
        lambda text: zlib.compress(text.encode()),
        lambda text: b"\xff\xd8\x00binary " + text.encode() + b"\x00\xff",
        lambda text: text.replace(" ", "\n  "),
    ],
)
def test_body_text_is_found_however_it_is_wrapped(search, articles, wrapped):
    search.look("here", wrapped(leak(articles)))
    assert search.found.keys() == {"here"}


def test_it_is_found_in_files_and_tables(search, articles, tmp_path):
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "enrich.log").write_text(f"WARNING {leak(articles)}\n")
    table = pa.table({"n": [1], "parts": pa.array([[{"lead": leak(articles)}]])})
    parquet.write_table(table, tmp_path / "part-0.parquet", compression="zstd")
    search.look_at_files(tmp_path / "logs")
    search.look_at_parquet(tmp_path)
    assert search.found.keys() == {"file enrich.log", "table part-0.parquet"}


def test_what_may_be_kept_is_seen_and_is_no_body(search, articles):
    for article in articles:
        version = article.versions[0]
        search.look("card", {"title": version.title, "snippet": version.summary[:200], "id": article.id})
    assert search.found == {}
    assert search.control > 20
