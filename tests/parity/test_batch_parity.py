"""The sample through the speed layer's code and through the lakehouse: what both compute must be equal.

One full materialisation of the Dagster assets over real Kafka, Spark, Delta and Valkey, then comparisons: identities,
fingerprints, copies, stories, counters and profiles with one pass of the domain over the same records.
"""

from __future__ import annotations

import json
from collections import Counter

import dagster as dg
import numpy as np
import pytest
import redis
from fakes.body_search import BodySearch
from fakes.lakehouse import FakeSystem, services, spark  # noqa: F401 - fixtures
from fakes.sample_log import sample_log

from batch import gold_profiles
from dagster_project.definitions import defs
from data_samples.world import build
from frontpage.adapters import lake as lakes
from frontpage.adapters.bus import Outgoing
from frontpage.adapters.kafka_bus import KafkaBus
from frontpage.adapters.lake import Lake
from frontpage.contracts import tables, topics, views
from frontpage.contracts.batch_views import (
    RANKER_POINTER,
    AuthorityDocument,
    ClicksDocument,
    ModelDocument,
    ProjectionDocument,
    projection_pointer,
)
from frontpage.contracts.events import StoryProposal
from frontpage.contracts.profiles import slow_from_json
from frontpage.contracts.reader_events import Click, ReaderEvent
from frontpage.domain.merge import CountEvent, Counts, merge, merge_counts
from frontpage.domain.profile import EMPTY, ProfileEvent, fold, project

#: The fixture materialises everything: about 90 s on two idle cores, several times that on busy ones.
pytestmark = pytest.mark.timeout(900)

CORRUPT = [b"\xff\xfe", b'{"schema":{"name":"reader.clicks","version":99}}', b"not json"]


class Run:
    """One materialisation and what went in."""

    def __init__(self, spark, directory, cache, running):  # noqa: F811
        self.world = build(1)
        self.log = sample_log(self.world)
        bus = KafkaBus(running.bootstrap)
        producer = bus.transactional("sample")
        records = [
            Outgoing(topic, key, value, partition)
            for topic, rows in self.log.records.items()
            for partition, key, value in rows
        ]
        for start in range(0, len(records), 500):
            producer.transact(records[start : start + 500], None)
        producer.transact([Outgoing(topics.READER_CLICKS.name, "k", value, 0) for value in CORRUPT], None)
        producer.close()
        self.store = redis.Redis.from_url(running.redis_url)
        self.directory = directory
        self.bus = bus
        for row in self.world.publishers_as_registry():
            self.store.set(views.PUBLISHER.key(publisher=row.publisher_id), row.model_dump_json())
            self.store.sadd(views.PUBLISHERS.key(), row.publisher_id)
        self.system = FakeSystem(spark, Lake(str(directory / "lake")), running.bootstrap, self.store, self.log.now)
        self.result = self.materialise("everything")

    def materialise(self, job: str) -> dg.ExecuteInProcessResult:
        resolved = dg.Definitions(
            assets=defs.assets, asset_checks=defs.asset_checks, jobs=defs.jobs, resources={"system": self.system}
        )
        return resolved.resolve_job_def(job).execute_in_process(raise_on_error=True)

    def rows(self, table):
        return lakes.read_arrow(self.system.lake(), table).to_pylist()


@pytest.fixture(scope="module")
def run(spark, jar_cache, tmp_path_factory):  # noqa: F811
    directory = tmp_path_factory.mktemp("lakehouse")
    with services(directory, jar_cache) as running:
        yield Run(spark, directory, jar_cache, running)


def test_everything_materialises_and_every_check_passes(run):
    assert run.result.success
    evaluations = run.result.get_asset_check_evaluations()
    failed = [(e.asset_key.to_user_string(), e.check_name) for e in evaluations if not e.passed]
    assert len(evaluations) > 25
    assert failed == []


def test_bronze_holds_what_was_sent_and_keeps_the_unreadable_with_its_cause(run):
    for name, (table, topic) in tables.BRONZE.items():
        found = run.rows(table)
        sent = [value for _, _, value in run.log.records.get(topic.name, [])]
        sent += CORRUPT if name == "clicks" else []
        assert sorted(row["value"] for row in found) == sorted(sent), name
    causes = Counter(row["cause"] for row in run.rows(tables.BRONZE["clicks"][0]) if row["cause"])
    assert causes == {"not-utf8": 1, "unknown-version": 1, "not-json": 1}


def test_articles_and_fingerprints_are_the_speed_layers(run):
    found = {row["article_id"]: row for row in run.rows(tables.ARTICLES)}
    assert found.keys() == run.log.articles.keys()
    for article_id, event in run.log.articles.items():
        row = found[article_id]
        assert (row["version"], row["title"]) == (event.card.version, event.card.title)
        assert (row["simhash"], row["minhash"]) == (event.signals.simhash, event.signals.minhash)
        assert row["first_seen_at"] == event.card.first_seen_at
        np.testing.assert_array_equal(np.frombuffer(row["vector"], "<f4"), event.signals.vector.unpack())
    sent = run.log.records[topics.ARTICLES.name]
    assert len(run.rows(tables.ARTICLE_VERSIONS)) == len(sent) > len(found), "corrections are versions, not articles"


def test_stories_members_and_copies_are_the_writers(run):
    members = {row["article_id"]: (row["story_id"], row["copy_of"]) for row in run.rows(tables.STORY_MEMBERS)}
    stories = {row["story_id"]: row for row in run.rows(tables.STORIES)}
    expected = {}
    for book in run.log.books.values():
        for story in book.stories.values():
            row = stories[story.story_id]
            assert (row["articles"], row["originals"]) == (len(story.members), story.originals)
            assert row["sources"] == len(story.sources)
            for article_id, member in story.members.items():
                expected[article_id] = (story.story_id, member.copy_of)
    assert members == expected
    copies = {row["article_id"]: row["copy_of"] for row in run.rows(tables.COPIES)}
    assert copies == {article: copy_of for article, (_, copy_of) in expected.items() if copy_of}
    assert copies


def _places(run, topic):
    offsets = Counter()
    for partition, _, value in run.log.records[topic]:
        yield partition, offsets[partition], value
        offsets[partition] += 1


def _one_pass_counts(run):
    events = []
    for partition, offset, value in _places(run, topics.READER_CLICKS.name):
        click = Click.decode(value)
        if click.counted:
            events.append(CountEvent(topics.READER_CLICKS.name, partition, offset, click.click_id, click.article_id))
    return merge_counts(Counts(), events).by_article


def test_click_counters_equal_one_pass_and_every_click_found_its_impression(run):
    clicks = run.rows(tables.CLICKS)
    assert Counter(row["article_id"] for row in clicks) == _one_pass_counts(run)
    assert all(row["joined"] == 1 and 0 <= row["at"] - row["impression_at"] <= 10 for row in clicks)
    published = ClicksDocument.model_validate_json(run.store.get(views.CLICKS_BATCH.key()))
    assert published.by_article == _one_pass_counts(run)
    assert sum(published.by_story.values()) == len(clicks)


def _profile_events(run, matrices):
    """All of the log's acts as the speed layer would fold them, by reader."""
    by_reader = {}
    for topic in (topics.READER_CLICKS.name, topics.READER_EVENTS.name):
        for partition, offset, value in _places(run, topic):
            event = (Click if topic == topics.READER_CLICKS.name else ReaderEvent).decode(value)
            if isinstance(event, Click):
                if not event.counted:
                    continue
                kind, id, act = "click", event.click_id, None
            elif event.kind == "impression":
                continue
            else:
                kind, id, act = event.kind, event.event_id, event
            article = run.log.articles[event.article_id]
            vector = article.signals.vector
            projected = {v: project(vector.unpack(), m) for v, m in matrices[vector.version].items()}
            by_reader.setdefault(event.reader, []).append(
                ProfileEvent(
                    topic, partition, offset, kind, event.at, id, event.article_id, event.story_id, event.publisher_id,
                    tuple(article.card.topics), tuple(article.card.entities), tuple(article.card.sections), projected,
                    act.dwell_seconds if act else None, act.target_kind if act else "", act.target_id if act else "",
                )
            )  # fmt: skip
    return by_reader


def assert_same_profile(found, expected):
    assert found.engagements == expected.engagements
    assert found.recent == expected.recent
    assert found.registers == expected.registers
    assert found.total == pytest.approx(expected.total)
    assert {k: v for k, v in found.affinities.items() if v}.keys() == expected.affinities.keys()
    for kind, sums in expected.affinities.items():
        assert dict(found.affinities[kind]) == pytest.approx(dict(sums), abs=2e-3)
    for version, summed in expected.vectors.items():
        np.testing.assert_allclose(found.vectors[version], summed, atol=1e-4)


def test_profiles_equal_one_pass_over_all_events_and_carry_their_watermark(run, spark):  # noqa: F811
    matrices = gold_profiles.projections(spark, run.system.lake())
    whole = _profile_events(run, matrices)
    assert len(whole) > 50
    for reader, events in whole.items():
        slow = slow_from_json(run.store.get(views.PROFILE_SLOW.key(reader=reader)))
        assert all(event.covered_by(slow.watermark) for event in events)
        assert_same_profile(slow.profile, fold(events, slow.profile.reference, EMPTY))
        # the speed layer may still hold everything: nothing is counted twice
        assert_same_profile(merge(slow, events), fold(events, slow.profile.reference, EMPTY))


def test_online_stories_and_the_reclustering_agree_and_differences_are_proposed(run):
    """Different algorithms: a figure with a floor (measured with the test encoder: en .81, de .88)."""
    figures = {row["language"]: row["f1"] for row in run.rows(tables.RECLUSTER_AGREEMENT)}
    assert figures.keys() == {"en", "de"}
    assert min(figures.values()) >= 0.70, figures
    proposals = run.rows(tables.RECLUSTERS)
    sent = [
        StoryProposal.decode(record.value)
        for partition, end in KafkaBus(run.system.kafka).end_offsets(topics.STORY_PROPOSALS.name).items()
        for record in KafkaBus(run.system.kafka).read(topics.STORY_PROPOSALS.name, partition, 0, end)
    ]
    assert {event.proposal_id for event in sent} >= {row["proposal_id"] for row in proposals}
    assert proposals
    assert all(event.watermark for event in sent)


def test_what_is_published_can_be_followed_from_its_pointer(run):
    versions = {key.decode(): value.decode() for key, value in run.store.hgetall(views.VERSIONS.key()).items()}
    encoder = next(iter(run.log.articles.values())).signals.vector.version
    key = views.PROJECTION.key(version=versions[projection_pointer(encoder)])
    projection = ProjectionDocument.model_validate_json(run.store.get(key))
    assert projection.unpack().shape == (128, 64)
    assert 0.5 < projection.explained <= 1.0
    model = ModelDocument.model_validate_json(run.store.get(views.MODEL.key(version=versions[RANKER_POINTER])))
    assert model.metrics["model_ndcg10"] > model.metrics["fallback_ndcg10"]
    assert model.metrics["model_auc"] > 0.7


def test_authority_rewards_original_reporting(run):
    document = AuthorityDocument.model_validate_json(run.store.get(views.AUTHORITY.key()))
    rows = {row["publisher_id"]: row for row in run.rows(tables.PUBLISHER_AUTHORITY) if row["topic"] == "*"}
    wire = [p.id for p in run.world.publishers if p.wire and p.id in rows and rows[p.id]["copied_by"] > 0]
    copiers = [id for id, row in rows.items() if row["copies"] > row["originals"] and row["prior"] <= 0.3]
    assert wire
    assert copiers
    assert min(document.of(id) for id in wire) > max(document.of(id) for id in copiers)
    assert all(rows[id]["authority"] < rows[id]["prior"] + 1e-9 for id in copiers)


def test_nothing_changes_when_everything_runs_again(run):
    kept = (*tables.SILVER, *(table for table, _ in tables.BRONZE.values()), tables.RANK_TRAINING)
    before = {table.id: sorted(map(repr, run.rows(table))) for table in kept}
    assert run.materialise("refresh").success
    assert {table.id: sorted(map(repr, run.rows(table))) for table in kept} == before


def test_events_after_the_watermark_join_at_serving_time_and_then_move_into_the_batch(run, spark):  # noqa: F811
    """A late click: the merge sees it at once; after the next run it is the batch's, and the merge does not change."""
    matrices = gold_profiles.projections(spark, run.system.lake())
    reader, events = max(_profile_events(run, matrices).items(), key=lambda item: (len(item[1]), item[0]))
    article = next(iter(run.log.articles.values()))
    click = Click(
        click_id="late", at=run.log.now + 10, article_id=article.card.article_id, story_id="s", publisher_id="p", url="u",
        surface="feed", position=1, edition="en-US", reader=reader,
    )  # fmt: skip
    producer = KafkaBus(run.system.kafka).producer()
    producer.send([Outgoing(topics.READER_CLICKS.name, "k", click.encode(), 3)])
    producer.close()
    before = slow_from_json(run.store.get(views.PROFILE_SLOW.key(reader=reader)))
    offset = before.watermark.get("reader.clicks/3", 0) + 5
    vector = article.signals.vector
    fast = ProfileEvent(
        "reader.clicks", 3, offset, "click", click.at, "late", article.card.article_id, "s", "p",
        tuple(article.card.topics), tuple(article.card.entities), tuple(article.card.sections),
        {v: project(vector.unpack(), m) for v, m in matrices[vector.version].items()},
    )  # fmt: skip
    merged = merge(before, [*events, fast])
    assert merged.engagements == before.profile.engagements + 1
    run.system.at = run.log.now + 60
    assert run.materialise("refresh").success
    after = slow_from_json(run.store.get(views.PROFILE_SLOW.key(reader=reader)))
    place = next(row for row in run.rows(tables.CLICKS) if row["click_id"] == "late")
    assert place["offset"] < after.watermark["reader.clicks/3"]
    assert_same_profile(after.profile, merge(before, [*events, fast], reference=after.profile.reference))


def test_no_body_text_is_in_any_table_topic_key_model_or_log(run):
    """The licence boundary of the batch layer, over the same articles: every row ever written, every file, every key."""
    search = BodySearch(article for article in run.world.articles if article.id in run.log.articles)
    search.look_at_parquet(run.directory)
    seen = search.control
    assert seen > 1_000, "headlines are there, so the search can find text"
    search.look_at_topics(run.bus, [topic.name for topic in topics.ALL])
    search.look_at_redis(run.store)
    search.look_at_files(run.directory)
    assert search.found == {}
    assert {"table", "topic", "key", "file"} <= search.looked.keys()


def test_run_metadata_explains_itself_in_the_ui(run):
    plots = 0
    for event in run.result.get_asset_materialization_events():
        metadata = event.materialization.metadata
        assert "dagster/row_count" in metadata, event.asset_key
        plots += any("data:image/png" in str(value.value) for value in metadata.values())
    assert plots >= 4
    assert json.dumps(sorted(e.asset_key.to_user_string() for e in run.result.get_asset_materialization_events()))
