"""Health, churn and ratings of stories as tables, made by Spark from records of our own; and `frontpage rate` over them."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest
import typer
from fakes.bus import MemoryBus
from fakes.lakehouse import FakeSystem, fill, lake, spark  # noqa: F401 - fixtures
from fakes.speed import NOW, article
from typer.testing import CliRunner

from assets import stories
from batch import gold_clusters, recluster
from frontpage.adapters import lake as lakes
from frontpage.adapters.ratings import labels
from frontpage.contracts.events import StoryChange
from frontpage.contracts.rank_events import RankDecision
from frontpage.contracts.reader_events import ReaderEvent
from frontpage.contracts.review_events import PairRating, StoryReview
from frontpage.contracts.tables import (
    ARTICLES,
    BRONZE,
    CLUSTER_HEALTH,
    ID_CHURN,
    RECLUSTERS,
    STORIES,
    STORY_MEMBERS,
    Column,
    Table,
)
from frontpage.contracts.topics import STORY_RATINGS
from frontpage.errors import UnreadableInput
from frontpage.runtime import Runtime
from frontpage.settings import Settings
from frontpage_cli.commands import cluster, rate

DAY = 86_400.0
EVENTS = {f"a{n}": article(f"{n}", event="quake" if n < 3 else "vote", publisher=f"pub-{n}") for n in range(5)}


def put(lake: lakes.Lake, name: str, values: list[bytes]) -> None:  # noqa: F811
    """Records as bronze has them."""
    table, topic = BRONZE[name]
    now = dt.datetime.now(dt.UTC)
    rows = [
        {
            "topic": topic.name, "partition": 0, "offset": offset, "kafka_at": now, "value": value,
            "schema_name": topic.name, "day": now.date(),
        }
        for offset, value in enumerate(values)
    ]  # fmt: skip
    fill(lake, table, rows)


def change(number: int, kind: str, story: str, at: float, **fields: Any) -> bytes:
    made = StoryChange(
        change_id=f"c{number}", sequence=number, language="en", kind=kind, story_id=story, at=at, **fields
    )
    return made.encode()


def changes() -> list[bytes]:
    """Two days: four stories begin and one is joined; on the second day one absorbs another and one is split."""
    cards = [event.card for event in EVENTS.values()]
    first = [change(n + 1, "create", f"s{n}", NOW - DAY, article=cards[n]) for n in range(4)]
    return [
        *first,
        change(5, "assign", "s0", NOW - DAY, article=cards[4]),
        change(6, "merge", "s2", NOW - 60, absorbed=["s0"]),
        change(7, "split", "s9", NOW - 30, from_story="s1", moved=[cards[1].article_id]),
        change(8, "move", "s3", NOW - 20, from_story="s2", moved=[cards[0].article_id]),
        b"not json",
    ]


def decision(edition: str, version: int, rank: int, story: str) -> bytes:
    return RankDecision(
        decision_id=f"{edition}/{version}/{rank}", edition=edition, section="top", page_version=version, story_id=story,
        rank=rank, score=1.0, representative="a", publisher_id="p", at=NOW - 300 + version,
    ).encode()  # fmt: skip


def test_health_counts_what_front_pages_saw_and_churn_what_happened_to_ids(spark, lake):  # noqa: F811
    put(lake, "story_changes", changes()[:8])
    put(
        lake, "decisions",
        [
            decision("en-US", 1, 1, "s1"), decision("en-US", 2, 1, "s2"), decision("en-US", 2, 2, "s3"),
            decision("en-US", 2, 11, "s9"), decision("en-GB", 1, 1, "s4"),
        ],
    )  # fmt: skip
    held = StoryReview(
        review_id="r", language="en", kind="held", stories=["s2", "s3"], score=2.0, bar=1.5, at=NOW - 100
    )
    put(
        lake,
        "story_reviews",
        [held.encode(), held.encode(), held.model_copy(update={"kind": "accepted"}).encode()],
    )
    fill(lake, STORIES, [
        {"story_id": "s0", "language": "en", "alias_of": "s2", "articles": 0, "originals": 0, "sequence": 1},
        {"story_id": "s2", "language": "en", "articles": 3, "originals": 2, "sequence": 1},
        {"story_id": "s3", "language": "en", "articles": 1, "originals": 1, "sequence": 1},
        {"story_id": "d1", "language": "de", "articles": 1, "originals": 1, "sequence": 1},
    ])  # fmt: skip
    fill(lake, RECLUSTERS, [
        {"proposal_id": "p1", "language": "en", "kind": "merge", "stories": ["s2", "s3"], "at": NOW},
        {"proposal_id": "p2", "language": "en", "kind": "merge", "stories": ["s2", "s9"], "at": NOW},
        {"proposal_id": "p3", "language": "en", "kind": "merge", "stories": ["s1", "s2"], "at": NOW},
        {"proposal_id": "p4", "language": "en", "kind": "split", "stories": ["s2", "s3"], "at": NOW},
    ])  # fmt: skip
    system = FakeSystem(spark, lake, "", None, NOW)
    assert stories.id_churn(system).metadata["dagster/row_count"].value == 2
    shown = stories.cluster_health(system).metadata
    assert shown["dagster/row_count"].value == 2
    assert all(shown[plot].value.startswith("![") for plot in ("sizes", "churn", "precision and recall"))
    rows = {row["language"]: row.asDict() for row in lakes.read(spark, lake, CLUSTER_HEALTH).collect()}
    english = rows["en"]
    assert (english["stories"], english["aliases"], english["copies"], english["mean_size"]) == (2, 1, 1, 2.0)
    assert (english["merges"], english["splits"], english["held"]) == (1, 1, 1)
    assert english["duplicates_top10"] == 1, "p1: the others are not both on the page that is the front page now"
    assert english["front_repairs"] == 3, "the merge and the move by s2, the split by s1, shown a version before"
    assert (rows["de"]["front_repairs"], rows["de"]["held"], rows["de"]["merges"]) == (0, 0, 0)

    before, after = (row.asDict() for row in lakes.read(spark, lake, ID_CHURN).orderBy("day").collect())
    assert (before["created"], before["assigned"], before["alive"], before["id_churn"]) == (4, 5, 4, 0.0)
    assert (after["merged"], after["split"], after["moved"], after["assigned"]) == (1, 1, 2, 0)
    assert after["alive"] == 5
    assert after["id_churn"] == pytest.approx(2 / 5)
    assert after["article_churn"] is None, "nothing was assigned on that day"


def test_what_several_readers_report_is_proposed(spark, lake):  # noqa: F811
    def said(number: int, story: str, at: float = NOW, kind: str = "report") -> bytes:
        return ReaderEvent(
            event_id=f"e{number}", kind=kind, at=at, edition="", story_id=story, article_id="a1", surface="story"
        ).encode()

    events = [said(1, "s1"), said(2, "s1"), said(2, "s1"), said(3, "s1"), said(4, "s0"), said(5, "s0"), said(6, "s0")]
    events += [said(number, "s2", at=NOW - 3 * DAY) for number in range(7, 11)] + [said(11, "s1", kind="read")]
    put(lake, "events", events)
    fill(lake, STORY_MEMBERS, [
        {"article_id": "a1", "story_id": "s1", "story_closed": False, "language": "en"},
        {"article_id": "a2", "story_id": "s1", "story_closed": False, "language": "en"},
    ])  # fmt: skip
    (proposal,) = recluster.reports(spark, lake, NOW)
    assert (proposal.kind, proposal.stories, proposal.groups) == ("split", ("s1",), (("a1",),))
    assert proposal.evidence == {"reports": 3.0}


def test_pairs_are_asked_answered_kept_and_judged(spark, lake, monkeypatch):  # noqa: F811
    bus = MemoryBus()
    runtime = Runtime(Settings(), bus, None, type("Clock", (), {"now": lambda self: NOW})(), "", "")  # type: ignore[arg-type]
    monkeypatch.setattr("frontpage.runtime.connect", lambda settings: runtime)
    monkeypatch.setattr("frontpage.runtime.lake_of", lambda settings: lake)
    app = typer.Typer()
    rate.register(app)
    cluster.register(app)

    def run(*arguments: str, keys: str = "") -> str:
        result = CliRunner().invoke(app, arguments, input=keys, catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.output

    assert "nothing to ask" in run("rate")
    with pytest.raises(UnreadableInput, match="no pair has been rated"):
        run("eval", "clustering", "--rated")
    fill(lake, ARTICLES, [
        {
            "article_id": event.card.article_id, "version": 1, "title": event.card.title, "snippet": "What happened.",
            "publisher": event.card.publisher, "publisher_id": event.card.publisher_id, "language": "en",
            "first_seen_at": NOW, "encoder": event.signals.vector.version,
            "vector": event.signals.vector.unpack().astype("<f4").tobytes(),
        }
        for event in EVENTS.values()
    ])  # fmt: skip
    story = {"a0": "s0", "a1": "s0", "a2": "s1", "a3": "s2", "a4": "s2"}
    fill(lake, STORY_MEMBERS, [
        {"article_id": event.card.article_id, "story_id": story[name], "story_closed": False, "language": "en"}
        for name, event in EVENTS.items()
    ])  # fmt: skip
    asked = json.loads(run("rate", "--json"))
    assert {pair["kind"] for pair in asked} == {"inside", "apart"}
    assert "1 answers kept" in run("rate", keys="?\ny\nq\n")
    assert "2 answers kept" in run("rate", "--by", "ann", keys="n\ns\ny\n"), (
        "the end of the input ends it, and loses nothing"
    )
    given = [PairRating.decode(record.value) for record in bus.records(STORY_RATINGS.name)]
    assert [(event.same, event.by) for event in given if event] == [(True, "me"), (False, "ann"), (True, "ann")]
    assert len({event.pair_id for event in given if event}) == 3
    again = given[0].model_copy(update={"same": False, "at": NOW + 5})
    put(lake, "story_ratings", [event.encode() for event in (*given, again)])
    put(lake, "articles", [event.encode() for event in EVENTS.values()])
    told = stories.pair_ratings(FakeSystem(spark, lake, "", None, NOW)).metadata
    assert told["dagster/row_count"].value == 3
    assert sorted(label.same for label in labels(lake)) == [False, False, True], "the latest word counts"
    scores = gold_clusters.rated_scores(spark, lake)
    assert sorted(same for _, same in scores) == [False, False, True]
    assert all(isinstance(score, float) for score, _ in scores)
    monkeypatch.setattr("frontpage_cli.commands.cluster._encoders", _encoders)
    figures = json.loads(run("eval", "clustering", "--rated", "--json"))
    assert (figures["pairs"], figures["same"]) == (3, 1)
    assert CliRunner().invoke(app, ["eval", "clustering"]).exit_code == 2


def _encoders() -> Any:
    from fakes.encoder import HashEncoder

    from frontpage.adapters.encoder import EncoderSet

    return EncoderSet(HashEncoder(), HashEncoder())


def test_a_table_of_an_earlier_version_gets_the_columns_it_lacks(spark, lake):  # noqa: F811
    column = Column("version", "BIGINT", "of the row")
    old = Table("gold", "grown", "", (Column("key", "STRING", "key"), column), ("key",), "version")
    new = Table(
        "gold", "grown", "", (*old.columns, Column("extra", "ARRAY<STRING>", "came later")), ("key",), "version"
    )
    fill(lake, old, [{"key": "a", "version": 1}, {"key": "b", "version": 1}])
    rows = spark.createDataFrame([("b", 2, ["x"])], "key STRING, version BIGINT, extra ARRAY<STRING>")
    lakes.write(spark, lake, new, rows)
    assert [tuple(row) for row in lakes.read(spark, lake, new).orderBy("key").collect()] == [
        ("a", 1, None),
        ("b", 2, ["x"]),
    ]
