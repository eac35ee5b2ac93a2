"""Names from silver rows to enrich: learnt by Spark from independent voices, published in Redis, known to the labeller."""

from __future__ import annotations

from typing import Any

import pytest
import redis
from fakes.lakehouse import FakeSystem, fill, lake, spark  # noqa: F401 - fixtures
from fakes.speed import NOW

from assets import checks, gold
from batch import gold_entities, publish
from frontpage.adapters import lake as lakes
from frontpage.adapters.name_store import NameStore
from frontpage.contracts import views
from frontpage.contracts.batch_views import names_pointer
from frontpage.contracts.tables import ARTICLES, ENTITIES, STORY_MEMBERS
from frontpage.domain.entities import Gazetteer, tag

DAY = 86_400.0
#: (story, publisher, language, headline)
HEADLINES = [
    ("s1", "p1", "en", "Shares of Veltrona fall after the recall"),
    ("s1", "p2", "en", "Recall costs Veltrona a tenth of its value"),
    ("s2", "p3", "en", "Why buyers of Veltrona cars are angry"),
    ("s1", "p1", "en", "Only one paper writes of Corvane today"),
    ("s2", "p1", "en", "The paper asks again about Corvane and its bank"),
    ("s3", "p4", "ru", "Министр Олег Старцев представил бюджет"),
    ("s3", "p5", "ru", "В парламенте критикуют Олега Старцева"),
    ("s4", "p6", "ru", "Бюджет передали Олегу Старцеву"),
    ("s4", "p6", "ru", "По словам министра, Олег Старцев не уйдёт"),
]
COPIES = [("s1", f"c{n}", "en", "Reprint of a wire text about Solvenda again") for n in range(4)]


def silver(lake: lakes.Lake, at: float) -> None:  # noqa: F811
    told = [*HEADLINES, *COPIES]
    fill(lake, ARTICLES, [
        {"article_id": f"a{n}", "version": 1, "title": title, "publisher_id": publisher, "language": language,
         "first_seen_at": at}
        for n, (_, publisher, language, title) in enumerate(told)
    ])  # fmt: skip
    fill(lake, STORY_MEMBERS, [
        {"article_id": f"a{n}", "story_id": f"{story}-{n}" if publisher.startswith("c") else story, "sequence": 1,
         "copy_of": "a0" if publisher.startswith("c") else None}
        for n, (story, publisher, _, _) in enumerate(told)
    ])  # fmt: skip


def known(spark: Any, lake: lakes.Lake) -> dict[str, Any]:  # noqa: F811
    return {row["name"]: row for row in lakes.read(spark, lake, ENTITIES).collect()}


def test_independent_voices_make_a_name_and_the_dictionary_grows(spark, lake):  # noqa: F811
    silver(lake, NOW - DAY)
    shown = gold.entities(FakeSystem(spark, lake, "", None, NOW)).metadata
    rows = known(spark, lake)
    assert set(rows) == {"Veltrona", "Олег Старцев"}, "one paper's name and a reprinted one are none"
    assert (rows["Veltrona"]["publishers"], rows["Veltrona"]["stories"]) == (3, 2)
    assert (rows["Олег Старцев"]["publishers"], rows["Олег Старцев"]["stories"]) == (3, 2)
    assert shown["by language"].value.startswith("![")
    assert shown["new"].value == 2
    assert checks.names_are_supported(FakeSystem(spark, lake, "", None, NOW)).passed

    later = NOW + gold_entities.WINDOW
    assert gold_entities.build(spark, lake, later) == 2, "what nobody writes any more is still known"
    rows = known(spark, lake)
    assert rows["Veltrona"]["learnt_at"] == NOW
    assert rows["Veltrona"]["seen_at"] == NOW - DAY
    assert gold_entities.build(spark, lake, NOW + gold_entities.KEPT) == 0


def test_enrich_knows_what_is_published(spark, lake, valkey, monkeypatch):  # noqa: F811
    monkeypatch.setattr("frontpage.adapters.name_store.LOOK", 0.0)
    silver(lake, NOW)
    gold_entities.build(spark, lake, NOW)
    store = redis.Redis.from_url(valkey)
    names = NameStore(store)
    assert not names("en")
    assert publish.names(lake, store) == publish.names(lake, store) == 2
    assert tag("Veltrona cuts jobs", "", "", "en", Gazetteer(), learnt=names("en-GB")).entities == ["Veltrona"]
    assert names("ru").find("Олегом Старцевым", "ru") == "Олег Старцев"
    assert not names("fr")
    version = names("en").version
    store.hset(views.VERSIONS.key(), names_pointer("en"), "names-en-gone")
    assert names("en").version == version, "a pointer to nothing leaves what is known"


@pytest.mark.parametrize("value", [b"{", b'{"version":"x"}', b'{"version":"x","language":"en","names":[1],"at":1}'])
def test_a_damaged_dictionary_leaves_what_is_known(valkey, value):
    store = redis.Redis.from_url(valkey)
    store.hset(views.VERSIONS.key(), names_pointer("en"), "x")
    store.set(views.NAMES.key(version="x"), value)
    assert not NameStore(store)("en")
    assert not NameStore(redis.Redis(port=1))("en")
