"""Template words of a source: learnt from most of its headlines, kept while they are cut, gone from what enrich writes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import redis
from fakes.articles import article
from fakes.bus import MemoryBus
from fakes.ingest import articles, enrich, item, put
from fakes.lakehouse import FakeSystem, fill, lake, spark  # noqa: F401 - fixtures
from fakes.web import LocalServer

from assets import gold
from batch import gold_slogans, publish
from frontpage.adapters import lake as lakes
from frontpage.adapters.redis_store import open_redis
from frontpage.adapters.slogan_store import SloganStore
from frontpage.contracts import views
from frontpage.contracts.batch_views import SLOGANS_POINTER
from frontpage.contracts.tables import ARTICLES, TITLE_SLOGANS
from frontpage.domain.slogans import ENOUGH, ends, is_slogan, without

NOW = 1_700_000_000.0
SLOGAN = "Always first with the weather"


@pytest.mark.parametrize(
    ("title", "found"),
    [
        (f"Rain stops play in the valley | {SLOGAN}", [SLOGAN, "Rain stops play in the valley"]),
        ("Coast Radio » Ferry sinks » Local", ["Coast Radio", "Local"]),
        ("Rain stops play", []),
        ("Well-known two-year plan", []),
        ("", []),
        ("x" * 61 + " | " + "y" * 61, []),
    ],
)
def test_the_ends_of_a_title_may_be_slogans(title, found):
    assert ends(title) == sorted(found)


def test_most_of_enough_titles_make_a_slogan():
    assert not is_slogan(ENOUGH - 1, ENOUGH - 1)
    assert not is_slogan(ENOUGH // 2, ENOUGH)
    assert is_slogan(ENOUGH // 2 + 1, ENOUGH)


def test_a_title_loses_slogans_and_never_itself():
    assert without(f"Rain stops play in the valley | {SLOGAN}", [SLOGAN]) == "Rain stops play in the valley"
    assert without(SLOGAN, [SLOGAN]) == SLOGAN
    assert without(f"Rain | {SLOGAN}", [SLOGAN]) == f"Rain | {SLOGAN}", "a cut never takes more than it leaves"
    assert without("Rain  stops play", []) == "Rain  stops play"


def silver(lake: lakes.Lake, slogan: str) -> None:  # noqa: F811
    def title(number: int) -> str:
        return f"The council decided case number {number}"

    rows = [("p.example", f"{title(n)} | {slogan}" if n % 4 else title(n)) for n in range(ENOUGH)]
    rows += [("q.example", f"{title(n)} | {slogan}") for n in range(ENOUGH - 1)]
    rows += [("r.example", f"{title(n)} | Opinion" if n % 3 == 0 else title(n)) for n in range(ENOUGH)]
    fill(lake, ARTICLES, [
        {"article_id": f"a{n}", "version": 1, "publisher_id": publisher, "title": text, "first_seen_at": NOW}
        for n, (publisher, text) in enumerate(rows)
    ])  # fmt: skip


def test_slogans_are_learnt_kept_and_forgotten(spark, lake):  # noqa: F811
    silver(lake, SLOGAN)
    shown = gold.title_slogans(FakeSystem(spark, lake, "", None, NOW)).metadata
    assert shown["dagster/row_count"].value == 1
    (row,) = lakes.read(spark, lake, TITLE_SLOGANS).collect()
    assert (row["publisher_id"], row["slogan"], row["titles"], row["articles"]) == (
        "p.example", SLOGAN, ENOUGH * 3 // 4, ENOUGH,
    )  # fmt: skip
    assert gold_slogans.build(spark, lake, NOW + gold_slogans.WINDOW + 1) == 1, "cut headlines do not show it any more"
    assert gold_slogans.build(spark, lake, NOW + gold_slogans.KEPT + 1) == 0


@pytest.fixture
def server() -> Iterator[LocalServer]:
    server = LocalServer()
    yield server
    server.close()


def test_enrich_cuts_what_is_published(spark, lake, valkey, server):  # noqa: F811
    silver(lake, "p-slogan of the day")
    gold_slogans.build(spark, lake, NOW)
    store = open_redis(valkey)
    assert SloganStore(store)("p.example") == []
    assert publish.slogans(lake, store, NOW) == 1
    slogans = SloganStore(store)
    assert slogans("p.example") == ["p-slogan of the day"]
    assert slogans("q.example") == []

    url = "https://p.example/news/case-1"
    page = article(url, 1).replace("Council decides on case 1", "Council decides on case 1 | p-slogan of the day")
    server.on("p.example/news/case-1", page, Content_Type="text/html; charset=utf-8")
    titles = []
    for cut in (False, True):
        store.flushdb()
        bus = MemoryBus()
        put(bus, item(url))

        def with_slogans(work: Any, cut: bool = cut) -> None:
            work._slogans = slogans if cut else work._slogans

        enrich(server, store, bus, work_hook=with_slogans)
        titles += [event.card.title for event in articles(bus)]
    assert titles == ["Council decides on case 1 | p-slogan of the day", "Council decides on case 1"]


def test_a_damaged_document_leaves_what_is_known(valkey):
    store = redis.Redis.from_url(valkey)
    store.hset(views.VERSIONS.key(), SLOGANS_POINTER, "x")
    for value in (None, b"{", b'{"version":"x","at":1,"by_publisher":[]}'):
        if value is not None:
            store.set(views.SLOGANS.key(), value)
        assert SloganStore(store)("p.example") == []
    assert SloganStore(redis.Redis(port=1))("p.example") == []
