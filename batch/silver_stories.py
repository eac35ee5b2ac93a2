"""Story changes to silver stories, members and copies: the domain's StoryBook, partition by partition, in Spark.

The same class that the writer, the store and the ranker use applies each partition's changes in sequence, so the
tables equal what serving shows. Changes of the last `WINDOW` seconds are replayed (stories live 48 hours; the topic is
kept 7 days) and rows upserted under the sequence of the change that last altered them: a replay changes nothing.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from frontpage.adapters import lake as lakes
from frontpage.adapters.lake import Lake
from frontpage.contracts import story_codec
from frontpage.contracts.events import StoryChange
from frontpage.contracts.tables import BRONZE, COPIES, STORIES, STORY_MEMBERS, Table
from frontpage.domain.story import Story, StoryBook
from frontpage.errors import UnreadableEvent

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import SparkSession

#: Seconds of changes that are replayed: as long as the topic itself is kept.
WINDOW: Final = 7 * 86_400.0
_TABLES: Final[dict[str, Table]] = {"story": STORIES, "member": STORY_MEMBERS, "copy": COPIES}
_ROWS: Final = "kind STRING, payload STRING"


def replay(values: Iterable[bytes]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Rows ("story" | "member" | "copy", columns) after the changes of one partition, given in log order."""
    book = StoryBook()
    stories: dict[str, Story] = {}
    changed: dict[str, int] = {}
    placed: dict[str, tuple[Any, int]] = {}
    for value in values:
        try:
            event = StoryChange.decode(value)
            if event is None:
                continue
            touched = book.apply(story_codec.from_event(event))
        except UnreadableEvent:
            continue  # bronze and the dead letters have it with its cause
        for story in touched:
            stories[story.story_id] = story
            changed[story.story_id] = event.sequence
            for article_id, member in story.members.items() if story.alias_of is None else ():
                state = (story.story_id, member.copy_of, member.article.version, story.closed)
                if article_id not in placed or placed[article_id][0] != state:
                    placed[article_id] = (state, event.sequence)
    for story in stories.values():
        yield "story", _story_row(story, changed[story.story_id])
        for article_id, member in story.members.items():
            state, sequence = placed.get(article_id, ((None,), 0))
            if story.alias_of is not None or state[0] != story.story_id:
                continue
            yield "member", _member_row(story, article_id, sequence)
            if member.copy_of is not None:
                yield "copy", _copy_row(story, article_id, sequence)


def build(spark: SparkSession, lake: Lake) -> dict[str, int]:
    """Bring the three tables up to date; rows written by table."""
    from pyspark.sql import functions as F

    bronze = lakes.read(spark, lake, BRONZE["story_changes"][0]).where(F.col("cause").isNull())
    timed = bronze.withColumn("at", F.get_json_object(F.col("value").cast("string"), "$.at").try_cast("double"))
    latest = timed.agg(F.max("at")).first()
    if latest is None or latest[0] is None:
        return dict.fromkeys((table.id for table in _TABLES.values()), 0)

    def apply(group: pd.DataFrame) -> pd.DataFrame:
        import pandas as pd

        ordered = group.sort_values("offset")
        rows = [(kind, json.dumps(row)) for kind, row in replay(bytes(value) for value in ordered["value"])]
        return pd.DataFrame(rows, columns=["kind", "payload"])

    recent = timed.where(F.col("at") >= float(latest[0]) - WINDOW).select("partition", "offset", "value")
    written = {}
    with lakes.cached(recent.groupBy("partition").applyInPandas(apply, _ROWS)) as rows:
        for kind, table in _TABLES.items():
            schema = ", ".join(f"`{column.name}` {column.type}" for column in table.columns)
            parsed = rows.where(F.col("kind") == kind).select(F.from_json("payload", schema).alias("r")).select("r.*")
            lakes.write(spark, lake, table, parsed)
            written[table.id] = int(parsed.count())
    return written


def _story_row(story: Story, sequence: int) -> dict[str, Any]:
    members = [] if story.alias_of is not None else list(story.members.values())
    originals = [member for member in members if member.copy_of is None]
    first = min(originals or members, key=lambda m: (m.joined_at, m.article.article_id), default=None)
    topics = Counter(topic for member in members for topic in member.card.topics)
    sections = Counter(section for member in members for section in member.card.sections)
    return {
        "story_id": story.story_id,
        "language": story.language,
        "alias_of": story.alias_of,
        "created_at": story.created_at,
        "updated_at": story.updated_at,
        "closed": story.closed,
        "headline": None if first is None else first.card.title,
        "topics": _most(topics, 5),
        "sections": _most(sections, 3),
        "articles": len(members),
        "originals": len(originals),
        "sources": len({member.article.publisher_id for member in originals}),
        "first_seen_at": min((member.card.first_seen_at for member in members), default=None),
        "sequence": sequence,
    }


def _member_row(story: Story, article_id: str, sequence: int) -> dict[str, Any]:
    member = story.members[article_id]
    return {
        "article_id": article_id,
        "story_id": story.story_id,
        "language": story.language,
        "publisher_id": member.article.publisher_id,
        "copy_of": member.copy_of,
        "joined_at": member.joined_at,
        "score": member.score,
        "evidence": json.dumps(dict(member.evidence), ensure_ascii=False),
        "first_seen_at": member.card.first_seen_at,
        "story_closed": story.closed,
        "sequence": sequence,
    }


def _copy_row(story: Story, article_id: str, sequence: int) -> dict[str, Any]:
    member = story.members[article_id]
    original = story.members.get(member.copy_of or "")
    return {
        "article_id": article_id,
        "copy_of": member.copy_of,
        "story_id": story.story_id,
        "publisher_id": member.article.publisher_id,
        "original_publisher_id": None if original is None else original.article.publisher_id,
        "delay": None if original is None else member.card.first_seen_at - original.card.first_seen_at,
        "sequence": sequence,
    }


def _most(counts: Counter[str], limit: int) -> list[str]:
    """Most frequent first, ties by name, so that two runs agree."""
    return [name for name, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:limit]]
