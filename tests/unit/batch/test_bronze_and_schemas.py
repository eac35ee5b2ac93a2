"""Bronze refuses what the contracts refuse; Spark schemas follow the contracts' classes."""

from __future__ import annotations

import pytest

from batch.bronze import SCHEMAS, refuse
from batch.schemas import ddl
from frontpage.contracts.events import ArticleEvent, StoryChange
from frontpage.contracts.reader_events import Click, ReaderEvent
from frontpage.contracts.tables import BRONZE

CLICK = Click(
    click_id="c", at=1.0, article_id="a", story_id="s", publisher_id="p", url="u", surface="top", position=1,
    edition="en-US",
)  # fmt: skip


def test_every_bronze_topic_has_its_schema():
    assert {topic.name for _, topic in BRONZE.values()} == set(SCHEMAS)
    assert all(SCHEMAS[name].schema_name == name for name in SCHEMAS)


@pytest.mark.parametrize(
    ("value", "cause"),
    [
        (CLICK.encode(), None),
        (None, "tombstone"),
        (b"\xff", "not-utf8"),
        (b"[1]", "not-an-object"),
        (CLICK.encode().replace(b'"version":1', b'"version":9'), "unknown-version"),
        (CLICK.encode().replace(b'"position":1', b'"position":"x"'), "invalid-fields"),
        (ReaderEvent(event_id="e", kind="read", at=1.0, edition="").encode(), "unknown-schema"),
    ],
)
def test_refused_records_have_the_dead_letters_cause(value, cause):
    assert refuse("reader.clicks", value) == cause


def test_ddl_spells_each_shape():
    click = ddl(Click)
    assert "`at` DOUBLE" in click
    assert "`position` BIGINT" in click
    assert "`surface` STRING" in click
    assert "`counted` BOOLEAN" in click
    assert "`features` ARRAY<DOUBLE>" in ddl(ReaderEvent)
    article = ddl(ArticleEvent)
    assert "`card` STRUCT<`article_id`: STRING, " in article
    assert "`vector`: STRUCT<`version`: STRING, `data`: STRING>" in article
    assert "`trace` MAP<STRING, DOUBLE>" in article
    assert "`evidence` MAP<STRING, STRING>" in ddl(StoryChange)
