"""The one upsert against the failures of real table jobs, on Spark and Delta."""

from __future__ import annotations

import runpy
import threading
from pathlib import Path

import pytest
from fakes.lakehouse import lake, spark  # noqa: F401 - fixtures

from batch import gold_reports
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


def test_poll_report_tells_the_schedule_from_its_audit(spark, lake):  # noqa: F811
    """Looks beside the schedule count as looks, not as polls; records of before the audit have no word of it."""
    polls = [
        ("not_modified", 0, None, None),
        ("new", 2, 30.0, False),
        ("error", 0, None, False),
        ("new", 1, 90.0, None),
    ]
    looks = [("new", 1, 40.0, True), ("not_modified", 0, None, True), ("new", 1, 60.0, True)]
    rows = [
        {"feed_id": "f1", "at": 60.0 * n, "publisher_id": "p", "domain": "p.example", "outcome": outcome,
         "new_items": new, "delay": delay, "audit": audit, "topic": "polls", "partition": 0, "offset": n}
        for n, (outcome, new, delay, audit) in enumerate([*polls, *looks])
    ]  # fmt: skip
    schema = ", ".join(f"{column.name} {column.type}" for column in tables.POLLS.columns)
    full = [{column.name: row.get(column.name) for column in tables.POLLS.columns} for row in rows]
    lakes.write(spark, lake, tables.POLLS, spark.createDataFrame(full, schema))
    assert gold_reports.poll_report(spark, lake, 600.0) == 1
    (card,) = lakes.read(spark, lake, tables.POLL_REPORT).collect()
    assert (card.polls, card.new_items, card.errors, card.waste) == (4, 3, 1, 0.5)
    assert (card.not_modified_share, card.delay_p50, card.delay_p90) == (0.25, 30.0, 90.0)
    assert (card.audits, card.audit_delay_p50, card.audit_delay_p90) == (3, 40.0, 60.0)
    assert card.per_minute == pytest.approx(4 / 3)
