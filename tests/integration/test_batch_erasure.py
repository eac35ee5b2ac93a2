"""Readers who asked to be forgotten leave every table, and after VACUUM its history; nobody else does."""

from __future__ import annotations

import pytest
from fakes.lakehouse import lake, spark  # noqa: F401 - fixtures

from batch import erasure, silver
from batch.bronze import received
from frontpage.adapters import lake as lakes
from frontpage.contracts import tables, topics
from frontpage.contracts.reader_events import Click, ReaderEvent

ASKED = 2_000.0


def event(reader: str | None, at: float, kind: str = "impression") -> bytes:
    return ReaderEvent(
        event_id=f"{reader}-{kind}-{at}",
        kind=kind,
        at=at,
        edition="en-US",
        reader=reader,
        story_id="s1",
        article_id="a1",
    ).encode()


def click(reader: str | None, at: float) -> bytes:
    return Click(
        click_id=f"c-{reader}-{at}", at=at, article_id="a1", story_id="s1", publisher_id="p", url="https://p.example/a1", surface="feed",
        section="", position=1, edition="en-US", reader=reader, counted=True,
    ).encode()  # fmt: skip


HISTORY = [("ann", 1_000.0), ("ann", ASKED), ("ann", 3_000.0), ("bob", 1_000.0), (None, 1_000.0)]
KEPT = [(None, 1_000.0), ("ann", 3_000.0), ("bob", 1_000.0)]


def receive(spark, lake, name: str, values: list[bytes], first: int = 0) -> None:  # noqa: F811
    table, topic = tables.BRONZE[name]
    rows = [(topic.name, 0, first + at, b"a1", value) for at, value in enumerate(values)]
    frame = spark.createDataFrame(rows, "topic STRING, partition INT, offset BIGINT, key BINARY, value BINARY")
    frame = frame.selectExpr("*", "current_timestamp() AS timestamp")
    path = lakes.ensure(spark, lake, table)
    received(frame, topic.name).write.format("delta").mode("append").save(path)


def refine(spark, lake) -> None:  # noqa: F811
    silver.refine(spark, lake, "events", silver.impressions)
    silver.refine(spark, lake, "clicks", lambda rows: silver.clicks(rows, lakes.read(spark, lake, tables.IMPRESSIONS)))


def held(lake, table) -> list[tuple[str | None, float]]:  # noqa: F811
    found = [(row["reader"], row["at"]) for row in lakes.read_arrow(lake, table).to_pylist()]
    return sorted(found, key=lambda row: (row[0] or "", row[1]))


@pytest.fixture
def filled(spark, lake):  # noqa: F811
    receive(
        spark,
        lake,
        "events",
        [
            *(event(*row) for row in HISTORY),
            event("ann", ASKED, "delete"),
            b"not json",
            b'{"reader": "ann", "at": "soon"}',
        ],
    )
    receive(spark, lake, "clicks", [click(*row) for row in HISTORY])
    refine(spark, lake)
    return lake


def test_rows_up_to_the_request_go_and_nothing_else(spark, filled):  # noqa: F811
    assert len(held(filled, tables.CLICKS)) == len(held(filled, tables.IMPRESSIONS)) == len(HISTORY)
    first = {row["table"]: row["rows deleted"] for row in erasure.run(spark, filled)}
    assert first == {"bronze/clicks": 2, "bronze/events": 3, "silver/clicks": 2, "silver/impressions": 2}
    assert held(filled, tables.CLICKS) == held(filled, tables.IMPRESSIONS) == KEPT
    bronze = [row["value"] for row in lakes.read_arrow(filled, tables.BRONZE["events"][0]).to_pylist()]
    assert sum(b'"ann"' in value for value in bronze) == 2, "the request itself and what came after it"
    assert b"not json" in bronze, "what cannot be read is kept with its cause"
    again = {row["table"]: row["rows deleted"] for row in erasure.run(spark, filled)}
    assert set(again.values()) == {0}


def test_streams_go_on_after_a_deletion_without_bringing_anybody_back(spark, filled):  # noqa: F811
    erasure.run(spark, filled)
    receive(spark, filled, "clicks", [click("bob", 4_000.0)], first=100)
    refine(spark, filled)
    assert held(filled, tables.CLICKS) == [*KEPT, ("bob", 4_000.0)]


def test_history_forgets_with_the_next_vacuum(spark, filled):  # noqa: F811
    from delta.tables import DeltaTable

    table = DeltaTable.forPath(spark, filled.path(tables.CLICKS))
    before = int(table.history(1).first()["version"])
    erasure.run(spark, filled)
    check = "spark.databricks.delta.retentionDurationCheck.enabled"
    spark.conf.set(check, "false")
    try:
        table.vacuum(0.0)
    finally:
        spark.conf.unset(check)
    old = spark.read.format("delta").option("versionAsOf", before).load(filled.path(tables.CLICKS))
    with pytest.raises(Exception, match=r"(?i)file"):
        old.collect()
    assert held(filled, tables.CLICKS) == KEPT


def test_every_table_with_a_reader_is_reached():
    """Profiles are computed again from the events that are left; an erased one is empty (`gold_profiles.py`)."""
    columns = {table.id for table in tables.ALL if any(column.name == "reader" for column in table.columns)}
    raw = {tables.BRONZE[name][0].id for name in ("clicks", "events")}
    assert {personal.table.id for personal in erasure.PERSONAL} == columns - {"gold/reader_profiles"} | raw
    with_readers = {topics.READER_CLICKS.name, topics.READER_EVENTS.name}
    assert {topic.name for _, topic in tables.BRONZE.values()} >= with_readers
