"""Sections that publishers leave out: learnt from those who say them, registered, published, guessed by enrich."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import redis
import typer
from fakes.articles import article
from fakes.bus import MemoryBus
from fakes.ingest import articles, enrich, item, put
from fakes.lakehouse import FakeSystem, fill, lake, spark  # noqa: F401 - fixtures
from fakes.web import LocalServer
from typer.testing import CliRunner

from assets import serving
from batch import publish, ranker, section_training
from frontpage.adapters import lake as lakes
from frontpage.adapters.redis_store import open_redis
from frontpage.adapters.section_store import SectionStore, from_text, shipped, to_text
from frontpage.contracts import views
from frontpage.contracts.batch_views import sections_pointer
from frontpage.contracts.tables import ARTICLES, MODELS
from frontpage.domain.section_model import SectionModel
from frontpage.errors import NotFound, UnknownVersion
from frontpage_cli.commands import models, train
from streaming.ingest.labels import Labels, with_guess

NOW = 1_700_000_000.0
NAMES = ("business", "politics", "science", "sports")
ENCODER = "hash@1"


def vector(axis: int, noise: int) -> np.ndarray:
    made = np.random.default_rng(noise).normal(0, 0.1, 8).astype(np.float32)
    made[axis] += 1.0
    return made / np.linalg.norm(made)


def silver(lake: lakes.Lake, per_class: int = 60) -> None:  # noqa: F811
    rows = [
        {"article_id": f"{name}-{n}", "version": 1, "sections": [name], "sections_by": "publisher", "encoder": ENCODER,
         "vector": vector(axis, n * 10 + axis).tobytes(), "first_seen_at": NOW + n}
        for n in range(per_class) for axis, name in enumerate(NAMES)
    ]  # fmt: skip
    # what a model said, wrongly, and what nobody says
    rows += [{**row, "article_id": f"guess-{row['article_id']}", "sections": ["sports"], "sections_by": "sections-x"}
             for row in rows]  # fmt: skip
    rows += [{**rows[0], "article_id": f"none-{n}", "sections": []} for n in range(50)]
    fill(lake, ARTICLES, rows)


def test_only_what_publishers_say_is_learnt(lake):  # noqa: F811
    silver(lake)
    vectors, labels = section_training.examples(lake)[ENCODER]
    assert vectors.shape == (240, 8)
    assert {name: labels.count(name) for name in NAMES} == dict.fromkeys(NAMES, 60)
    assert section_training.train(lake, {}, NOW)[0]["metrics"]["accuracy"] == 1.0


def test_too_few_articles_or_classes_teach_nothing(lake):  # noqa: F811
    assert section_training.train(lake, {}, NOW) == []
    silver(lake, per_class=section_training.FEWEST - 1)
    assert section_training.train(lake, {}, NOW) == []


def test_a_model_no_better_than_the_one_in_use_waits(lake):  # noqa: F811
    silver(lake)
    (row,) = section_training.train(lake, {}, NOW)
    assert row["stage"] == "current"
    (again,) = section_training.train(lake, {ENCODER: row["model_text"]}, NOW + 1)
    assert (again["stage"], again["metrics"]["used_accuracy"]) == ("candidate", 1.0)


class Log:
    def info(self, text: str) -> None:
        pass


def test_a_trained_model_reaches_enrich(spark, lake, valkey, monkeypatch):  # noqa: F811
    monkeypatch.setattr("frontpage.adapters.section_store.LOOK", 0.0)
    silver(lake)
    monkeypatch.setattr("batch.ranker.load", lambda lake, split: (_ for _ in ()).throw(ranker.TooFewClicks("none")))
    context: Any = type("Context", (), {"log": Log()})()
    decorated: Any = serving.models.op.compute_fn.decorated_fn  # type: ignore[union-attr]
    system = FakeSystem(spark, lake, "", None, NOW)
    found = decorated(context, system).metadata
    assert found["skipped"].value == "none"
    assert found["dagster/row_count"].value == 1
    (first,) = ranker.models(lake)
    assert (first["kind"], first["stage"], first["features_version"]) == ("sections", "current", ENCODER)
    assert ranker.current(lake) is None, "no ranker has been trained"

    store = redis.Redis.from_url(valkey)
    sections = SectionStore(store)
    assert sections(ENCODER) is None
    assert publish.model(lake, store) == 0
    assert publish.sections(lake, store) == 1
    model = sections(ENCODER)
    assert model is not None
    assert model.version == first["version"]
    assert model.guess(vector(3, 1), ENCODER) == "sports"

    # a person promotes another: the first retires, the pointer follows
    other = {**first, "version": "sections-other", "stage": "candidate", "at": NOW + 1, "changed_at": NOW + 1}
    ranker.register(spark, lake, other)
    ranker.promote(spark, lake, "sections-other", NOW + 2)
    assert {row["version"]: row["stage"] for row in ranker.models(lake)} == {
        "sections-other": "current", first["version"]: "retired",
    }  # fmt: skip
    publish.sections(lake, store)
    followed = sections(ENCODER)
    assert followed is not None
    assert followed.version == "sections-other"


def test_models_list_shows_each_kind_by_its_own_figures(lake, monkeypatch):  # noqa: F811
    common = {"features_version": "f", "names": [], "model_text": "", "trained_on": 1, "at": NOW, "changed_at": NOW}
    fill(lake, MODELS, [
        {**common, "version": "ranker-1", "kind": "ranker", "stage": "retired",
         "metrics": [("model_ndcg10", 0.5), ("fallback_ndcg10", 0.25)]},
        {**common, "version": "sections-1", "kind": "sections", "stage": "current", "metrics": [("accuracy", 0.75)]},
    ])  # fmt: skip
    monkeypatch.setattr("batch.connect.lake_of", lambda settings: lake)
    app = typer.Typer()
    models.register(app)
    train.register(app)
    result = CliRunner().invoke(app, ["models", "list"], catch_exceptions=False)
    assert "NDCG@10 0.500 (fallback 0.250)" in result.output
    assert "accuracy 0.750 (in use nan)" in result.output
    with pytest.raises(NotFound, match="no current ranker"):
        CliRunner().invoke(app, ["eval", "ranker"], catch_exceptions=False)


@pytest.mark.parametrize(
    "value", [None, b"{", b'{"version":"x","features_version":"e","names":[],"model_text":"{}","at":1}']
)
def test_a_damaged_model_leaves_the_shipped_one(valkey, value):
    store = redis.Redis.from_url(valkey)
    encoder = next(iter(shipped()))
    store.hset(views.VERSIONS.key(), sections_pointer(encoder), "x")
    if value is not None:
        store.set(views.MODEL.key(version="x"), value)
    assert SectionStore(store)(encoder) is shipped()[encoder]
    assert SectionStore(redis.Redis(port=1))(encoder) is shipped()[encoder]


def test_the_shipped_models_are_of_the_default_encoders_and_read_back_equal():
    assert set(shipped()) == {"minilm-l6-v2@1", "use-multilingual-v3@1"}
    for model in shipped().values():
        np.testing.assert_array_equal(from_text("x", to_text(model)).weights, model.weights)
        assert set(model.classes).isdisjoint({"nation", "local", "top"})
    with pytest.raises(UnknownVersion, match="section model v"):
        from_text("v", '{"classes": ["a"], "weights": "AAAA", "bias": "", "encoder": "e"}')


def model_of(strength: float) -> SectionModel:
    return SectionModel("m", ENCODER, ("business", "sports"), np.eye(2, dtype=np.float32) * strength, np.zeros(2, "f4"))


def test_an_unsure_model_a_publishers_word_and_another_encoder_leave_labels_alone():
    east = np.array([1.0, 0.0], dtype=np.float32)
    sure, three = model_of(9.0), SectionModel("m", ENCODER, ("a", "b", "c"), np.zeros((3, 2), "f4"), np.zeros(3, "f4"))
    said = with_guess(Labels(topics=("business", "tax")), sure, east, ENCODER)
    assert (said.sections, said.topics, said.sections_by) == (("business",), ("tax",), "m")
    stated = Labels(sections=("sports",))
    assert with_guess(stated, sure, east, ENCODER) is stated
    for model, encoder, values in (
        (three, ENCODER, east),
        (sure, "other@1", east),
        (sure, ENCODER, east[:1]),
        (None, ENCODER, east),
    ):
        assert with_guess(Labels(), model, values, encoder) == Labels()


@pytest.fixture
def server() -> Iterator[LocalServer]:
    server = LocalServer()
    yield server
    server.close()


def test_enrich_guesses_only_where_the_publisher_is_silent(server, valkey):
    bus = MemoryBus()
    for number, path in enumerate(("a/case-1", "sport/case-2")):
        url = f"https://p.example/{path}"
        server.on(f"p.example/{path}", article(url, number + 1), Content_Type="text/html; charset=utf-8")
        put(bus, item(url))
    always = SectionModel("m-1", "en@1", ("health",), np.zeros((1, 128), np.float32), np.zeros(1, np.float32))

    def with_model(work: Any) -> None:
        work._sections = {"en@1": always}.get

    enrich(server, open_redis(valkey), bus, work_hook=with_model)
    found = {event.card.url: (event.card.sections, event.sections_by) for event in articles(bus)}
    assert found == {
        "https://p.example/a/case-1": (["health"], "m-1"), "https://p.example/sport/case-2": (["sports"], "publisher"),
    }  # fmt: skip
