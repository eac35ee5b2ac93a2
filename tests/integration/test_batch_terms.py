"""Term weights from silver rows to the story writer: counted by Spark, published in Redis, adopted by a tenure."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
import redis
from fakes.bus import MemoryBus
from fakes.lakehouse import FakeSystem, fill, lake, spark  # noqa: F401 - fixtures
from fakes.speed import NOW, article

from assets import checks, gold
from batch import gold_terms, publish
from frontpage.adapters import lake as lakes
from frontpage.adapters.bus import Outgoing
from frontpage.adapters.term_store import TermStore
from frontpage.contracts import views
from frontpage.contracts.batch_views import TermsDocument, terms_pointer
from frontpage.contracts.events import ArticleEvent, StoryChange
from frontpage.contracts.story_codec import article_signals
from frontpage.contracts.tables import ARTICLES, STORIES, STORY_MEMBERS, TERM_WEIGHTS
from frontpage.contracts.topics import ARTICLES as NORMALISED
from frontpage.contracts.topics import STORY_CHANGES
from frontpage.domain.clustering import Clusterer
from frontpage.domain.term_tables import HALF_LIFE, WINDOW
from frontpage.domain.terms import distinct, hash_tokens, term_ids
from streaming.cluster.writer import Tenures, minds_with

REPORTED = int(term_ids(hash_tokens(["reported"]))[0])


def silver(event: ArticleEvent) -> dict[str, Any]:
    card, signals = event.card, event.signals
    return {
        "article_id": card.article_id, "version": 1, "title": card.title, "publisher_id": card.publisher_id,
        "language": card.language, "first_seen_at": card.first_seen_at, "terms": list(signals.terms.items()),
        "head": signals.extra["head"][0], "pairs": signals.extra["pairs"][0],
    }  # fmt: skip


def filled(lake: lakes.Lake) -> dict[str, ArticleEvent]:  # noqa: F811
    """Four stories that count, the second a half-life old; an alias and a story of long ago that do not."""
    events = {
        name: article(name, event=event, language=language)
        for name, event, language in (
            ("a1", "quake", "en"), ("a2", "vote", "en"), ("a3", "flood", "en"), ("a4", "strike", "de"),
            ("late", "storm", "en"), ("old", "fire", "en"), ("gone", "heist", "en"),
        )
    }  # fmt: skip
    began = {"a1": NOW, "a2": NOW - HALF_LIFE, "a3": NOW - 5, "a4": NOW, "old": NOW - WINDOW - 1, "gone": NOW}
    fill(lake, STORIES, [
        {"story_id": f"s-{name}", "language": events[name].card.language, "created_at": at, "sequence": 1,
         "alias_of": "s-a1" if name == "gone" else None}
        for name, at in began.items()
    ])  # fmt: skip
    fill(lake, STORY_MEMBERS, [
        {"article_id": event.card.article_id, "story_id": "s-a1" if name == "late" else f"s-{name}",
         "joined_at": NOW + 9 if name == "late" else began[name], "sequence": 1}
        for name, event in events.items()
    ])  # fmt: skip
    fill(lake, ARTICLES, [silver(event) for event in events.values()])
    return events


def test_first_articles_of_stories_vote_by_age_and_rare_terms_stay_out(spark, lake):  # noqa: F811
    events = filled(lake)
    found = gold.term_weights(FakeSystem(spark, lake, "", None, NOW)).metadata
    rows = {(row["language"], row["term"]): row for row in lakes.read(spark, lake, TERM_WEIGHTS).collect()}
    assert found["dagster/row_count"].value == len(rows)
    assert found["stories"].value.startswith("![")
    assert found["terms by rank"].value.startswith("![")
    row = rows["en", REPORTED]
    assert row["stories"] == 3
    assert row["weight"] == pytest.approx(2.5, abs=1e-4)
    assert row["documents"] == pytest.approx(2.5, abs=1e-4)
    assert row["until"] == NOW
    # what stands in all three English first articles, by the domain's own count
    signals = [article_signals(events[name]) for name in ("a1", "a2", "a3")]
    sets = [set(distinct([one.head, one.pairs, one.terms]).tolist()) for one in signals]
    assert {term for _, term in rows} == set.intersection(*sets)
    assert {language for language, _ in rows} == {"en"}, "one German story is no sample of its words"
    assert checks.term_weights_are_counts(FakeSystem(spark, lake, "", None, NOW)).passed


def test_a_writer_takes_over_what_is_published_and_says_so(spark, lake, valkey, monkeypatch):  # noqa: F811
    monkeypatch.setattr("streaming.cluster.writer.POLL", 0.01)
    monkeypatch.setattr("batch.gold_terms.ENOUGH", 1.0)
    filled(lake)
    gold_terms.build(spark, lake, NOW)
    store = redis.Redis.from_url(valkey)
    terms = TermStore(store)
    shipped = terms.policy("en").scorer.weights
    assert (shipped.version, terms.current("en")) == ("", None)

    assert publish.terms(lake, store) == publish.terms(lake, store) == 1
    table = terms.current("en")
    assert table is not None
    assert terms.current("en", table.version) is None, "nothing newer than what is known"
    words = term_ids(hash_tokens(["reported"]))
    learnt = terms.policy("en").scorer.weights
    assert (learnt.version, learnt.until) == (table.version, NOW)
    assert learnt.documents == pytest.approx(shipped.documents + 2.5, abs=1e-3)
    assert learnt.idf(words) < shipped.idf(words)

    bus, stop = MemoryBus(), threading.Event()
    bus.producer().send([Outgoing(NORMALISED.name, "en", article("n1", event="landing").encode(), 0)])
    turns = []

    def beat(partition: int, book: object) -> None:
        turns.append(partition)
        if len(turns) == 3:
            stop.set()

    clock = type("Clock", (), {"now": lambda self: NOW + 60, "real_seconds": lambda self, seconds: seconds})()
    made: list[Clusterer] = []

    def minds(book: Any, partition: int) -> Clusterer:
        made.append(minds_with(TermStore(redis.Redis(port=1)).policy)(book, partition))  # no Redis at its start
        return made[-1]

    Tenures(bus, clock, 0, minds=minds, repair_interval=600, beat=beat, terms=terms).serve(lambda: None, stop)
    (change,) = [StoryChange.decode(record.value) for record in bus.records(STORY_CHANGES.name)]
    assert change is not None
    assert change.evidence["weights"] == table.version
    assert made[0].policy("en").scorer.weights.version == table.version

    # a newer table: the old one lingers for those who have just read the pointer, then goes
    gold_terms.build(spark, lake, NOW + HALF_LIFE)
    publish.terms(lake, store)
    newer = terms.current("en")
    assert newer is not None
    assert newer.version != table.version
    assert 0 < store.ttl(views.TERMS.key(version=table.version)) <= publish.LINGER
    assert store.ttl(views.TERMS.key(version=newer.version)) == -1
    np.testing.assert_allclose(newer.counts, table.counts / 2, rtol=1e-4)


@pytest.mark.parametrize("value", [None, b"{", b'{"version":"x"}'])
def test_a_missing_or_damaged_table_leaves_what_is_known(valkey, value):
    store = redis.Redis.from_url(valkey)
    store.hset(views.VERSIONS.key(), terms_pointer("en"), "terms-en-7")
    if value is not None:
        store.set(views.TERMS.key(version="terms-en-7"), value)
    terms = TermStore(store)
    assert terms.current("en") is None
    assert terms.policy("en").scorer.weights.version == ""
    assert TermsDocument.model_fields.keys() >= {"ids", "counts", "until"}
