"""The one upsert against the failures of real table jobs, on Spark and Delta."""

from __future__ import annotations

import runpy
import threading
from pathlib import Path

import pytest
from fakes.lakehouse import lake, spark  # noqa: F401 - fixtures

from frontpage.adapters import lake as lakes
from frontpage.contracts import tables
from frontpage.errors import ServiceUnavailable

_CASES = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks/case_tables.py"))
SCHEMA, play = _CASES["SCHEMA"], _CASES["play"]


def test_duplicates_retries_late_replays_and_compaction_change_nothing(spark, tmp_path):  # noqa: F811
    first = [["s1", "one", 10], ["s2", "two", 10]]
    second = [["s3", "drei", 11], ["s3", "three", 12], ["s1", "one, corrected", 12], ["s3", "three", 12]]
    found = play(
        spark,
        str(tmp_path / "t"),
        [
            {"app": "w", "version": 1, "rows": first},
            {"app": "w", "version": 2, "rows": second},
            {"app": "w", "version": 2, "rows": second},
            {"app": "tidy", "version": 1, "rewrite": True},
            {"app": "w", "version": 3, "rows": [["s4", "four", 13]]},
            {"app": "w", "version": 1, "rows": first},
            {"app": "other", "version": 1, "rows": [["s2", "two from an older source", 9]]},
        ],
    )
    assert found == [["s1", "one, corrected", 12], ["s2", "two", 10], ["s3", "three", 12], ["s4", "four", 13]]


def test_a_known_batch_number_is_skipped_in_the_same_transaction(spark, tmp_path):  # noqa: F811
    """Even with newer rows: the number says that this writer has committed the batch."""
    path = str(tmp_path / "t")
    play(spark, path, [{"app": "w", "version": 5, "rows": [["a", "x", 1]]}])
    found = play(spark, path, [{"app": "w", "version": 5, "rows": [["a", "changed", 2]]}])
    assert found == [["a", "x", 1]]
    assert play(spark, path, [{"app": "w", "version": 6, "rows": [["a", "changed", 2]]}]) == [["a", "changed", 2]]


def test_equal_versions_are_settled_the_same_way_in_any_order(spark, tmp_path):  # noqa: F811
    rows = [["a", "x", 1], ["a", "y", 1], ["a", "z", 1]]
    one = play(spark, str(tmp_path / "one"), [{"app": "w", "version": 1, "rows": rows}])
    two = play(spark, str(tmp_path / "two"), [{"app": "w", "version": 1, "rows": rows[::-1]}])
    assert one == two
    assert len(one) == 1


def test_two_writers_of_one_new_key_leave_one_row(spark, tmp_path):  # noqa: F811
    """The loser of the commit reads and decides again; without that, both would insert."""
    path = str(tmp_path / "t")
    play(spark, path, [])
    errors: list[BaseException] = []
    asked: list[int] = []

    def write(number: int) -> None:
        def rows():
            asked.append(number)
            return spark.createDataFrame([("k", f"writer {number}", number)], SCHEMA)

        try:
            lakes.upsert(spark, path, rows, keys=["key"], version="seen", attempts=8, verify=False)
        except BaseException as error:  # noqa: BLE001 - whatever it was, the test shows it
            errors.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    lakes.require_unique(spark, path, ["key"])
    assert [row.title for row in spark.read.format("delta").load(path).collect()] == ["writer 2"]


def test_endless_conflicts_end_in_one_clear_error(spark, tmp_path, monkeypatch):  # noqa: F811
    from delta.exceptions import ConcurrentAppendException
    from delta.tables import DeltaMergeBuilder

    path = str(tmp_path / "t")
    play(spark, path, [])

    def conflict(self):
        raise ConcurrentAppendException("files were added")

    monkeypatch.setattr(DeltaMergeBuilder, "execute", conflict)
    row = spark.createDataFrame([("k", "v", 1)], SCHEMA)
    with pytest.raises(ServiceUnavailable, match="2 write conflicts"):
        lakes.upsert(spark, path, row, keys=["key"], version="seen", attempts=2)


def test_a_table_with_doubled_keys_is_found(spark, tmp_path):  # noqa: F811
    path = str(tmp_path / "t")
    spark.createDataFrame([("k", "v", 1), ("k", "w", 2)], SCHEMA).write.format("delta").save(path)
    with pytest.raises(lakes.DuplicateKeys, match="1 keys"):
        lakes.require_unique(spark, path, ["key"])


def test_tables_of_the_contracts_can_be_made_and_read_without_spark(spark, lake):  # noqa: F811
    for table in (tables.STORIES, tables.BRONZE["clicks"][0], tables.READER_PROFILES):
        assert lakes.read(spark, lake, table).columns == table.column_names()
    assert lakes.read_arrow(lake, tables.STORIES).num_rows == 0
    with lakes.connect_duckdb(lake, tables.ALL) as connection:
        assert connection.execute("SELECT count(*) FROM silver_stories").fetchall() == [(0,)]
