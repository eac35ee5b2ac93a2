"""Enrich with a real Valkey and local server: identity, fallbacks, dead letters, crashes, licence. Bus: the twin."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import logging
import time
from collections import Counter
from collections.abc import Iterator

import pytest
import redis
from aiohttp import web
from fakes.articles import article, sentences
from fakes.bus import MemoryBus
from fakes.ingest import SEEN, articles, dead, enrich, item, put
from fakes.web import LocalServer

from frontpage.adapters.bus import Outgoing
from frontpage.adapters.redis_store import open_redis
from frontpage.contracts.story_codec import article_signals
from frontpage.contracts.views import Publisher
from frontpage.domain.ids import article_id
from frontpage.domain.languages import partition_of
from streaming.ingest.enrich import Enrich
from streaming.ingest.registry import Registry


@pytest.fixture
def server() -> Iterator[LocalServer]:
    server = LocalServer()
    yield server
    server.close()


@pytest.fixture
def store(valkey: str) -> Iterator[redis.Redis]:
    client = open_redis(valkey)
    yield client
    client.close()


def test_an_item_becomes_an_article_of_its_page(server, store):
    url = "https://p.example/news/case-1"
    server.on("p.example/news/case-1", article(url, 1), Content_Type="text/html; charset=utf-8")
    bus = MemoryBus()
    put(bus, item(url + "?utm_source=feed"))
    enrich(server, store, bus)
    (event,) = articles(bus)
    card = event.card
    assert card.article_id == article_id(url)
    assert (card.version, card.url, card.title, card.language) == (1, url, "Council decides on case 1", "en")
    assert (card.publisher_id, card.domain, card.first_seen_at) == ("p.example", "p.example", SEEN)
    assert 0 < len(card.snippet) <= 200
    assert not event.from_feed
    assert event.trace["seen"] <= event.trace["fetched"] <= event.trace["normalised"]
    signals = article_signals(event)
    assert signals.encoder == "en@1"
    assert abs(float((signals.vector**2).sum()) - 1) < 1e-5
    assert signals.words > 150
    (record,) = bus.records("articles.normalised")
    assert (record.key, record.partition) == ("en", partition_of("en"))


def test_three_roads_to_one_article_give_one_event(server, store):
    canonical = "https://p.example/news/case-2"
    for path in ("news/case-2", "amp/case-2", "print/case-2"):
        server.on(f"p.example/{path}", article(canonical, 2, canonical=canonical), Content_Type="text/html")
    bus = MemoryBus()
    put(bus, *(item(f"https://p.example/{path}") for path in ("news/case-2", "amp/case-2", "print/case-2")))
    put(bus, item(canonical), item(canonical + "?utm_medium=x"))
    work = enrich(server, store, bus)
    assert len(articles(bus)) == 1
    assert work.counts["new"] == 1
    assert work.counts["duplicate"] + work.counts["known"] == 4


def test_a_corrected_headline_is_version_two_on_the_same_first_seen(server, store):
    url = "https://p.example/a"
    bus = MemoryBus()
    for version, title in enumerate(("Old headline stands", "New headline stands"), 1):
        server.on("p.example/a", article(url, 3, title=title), Content_Type="text/html")
        put(bus, item(url, title, seen_at=SEEN + version))
        enrich(server, store, bus)
    assert [(e.card.version, e.card.title, e.card.first_seen_at) for e in articles(bus)] == [
        (1, "Old headline stands", SEEN + 1), (2, "New headline stands", SEEN + 1),
    ]  # fmt: skip


def test_every_item_ends_as_exactly_one_thing(server, store):
    """Pages that fail in all ways, unreadable records and tombstones: the counts add up."""

    async def silent(_: web.Request) -> web.Response:
        await asyncio.sleep(30)
        return web.Response()

    server.on("ok.example/1", article("https://ok.example/1", 1), Content_Type="text/html")
    server.on("err.example/1", "", status=500)
    server.on("err.example/2", "", status=500)
    server.on("slow.example/1", silent)
    server.on("no.example/robots.txt", "User-agent: *\nDisallow: /")
    server.on("pdf.example/1", b"%PDF-1.7 \x00\x01\x02", Content_Type="application/pdf")
    server.on("p.example/gone", "", status=410)
    server.on("wall.example/1", "", status=403)
    server.on("redir.example/1", "", status=302, Location="http://10.0.0.1/")
    Registry(store).put_publishers(
        [Publisher(publisher_id="out", name="Out", domains=["out.example"], country="", language="en", opted_out=True)]
    )
    bus = MemoryBus()
    fates = {
        "https://ok.example/1": "page", "https://err.example/1": "feed", "https://slow.example/1": "feed",
        "https://no.example/1": "feed", "https://pdf.example/1": "feed", "https://wall.example/1": "feed",
        "https://nobody.invalid/": "feed", "https://p.example/gone": "dead", "https://redir.example/1": "dead",
        "https://10.0.0.1/x": "dead", "https://missing.example/404": "dead", "https://out.example/1": "dropped",
    }  # fmt: skip
    put(bus, *(item(url, f"Title of {url}") for url in fates), item("https://err.example/2", ""))
    bus.producer().send([Outgoing("items.raw", "k", b"{not json"), Outgoing("items.raw", "k", None)])
    bus.producer().send([Outgoing("items.raw", "k", b'{"schema":{"name":"items.raw","version":99},"url":"x"}')])
    work = enrich(server, store, bus)
    found = {e.card.url: "feed" if e.from_feed else "page" for e in articles(bus)}
    assert found == {url: fate for url, fate in fates.items() if fate in ("page", "feed")}
    causes = Counter(letter.cause for letter in dead(bus))
    assert causes["page-gone"] == 2
    assert causes["no-title"] == 1
    assert causes["private"] == 2
    assert (causes["not-json"], causes["unknown-version"]) == (1, 1)
    counts = work.counts
    assert counts["tombstone"] == 1
    assert counts["opted_out"] == 1
    assert server.hits["out.example/1"] == 0
    total = len(fates) + 1 + 3
    ends = ("new", "update", "duplicate", "repeat", "known", "dead", "opted_out", "unreadable", "tombstone")
    assert sum(counts[end] for end in ends) == total
    assert server.hits["err.example/1"] == 3, "three tries before the feed's words have to do"
    marked = next(e for e in articles(bus) if e.card.url == "https://slow.example/1")
    assert marked.problems == ["page: timeout"]


def test_a_slow_host_does_not_hold_up_the_others(server, store):
    async def silent(_: web.Request) -> web.Response:
        await asyncio.sleep(60)
        return web.Response()

    server.otherwise(silent)
    server.on("fast.example/1", article("https://fast.example/1", 1), Content_Type="text/html")
    server.on("fast.example/robots.txt", "", status=404)
    bus = MemoryBus()
    put(bus, *(item(f"https://slow{n}.example/1", f"Slow {n}") for n in range(20)), item("https://fast.example/1"))
    started, first = time.monotonic(), []

    def hook(work: Enrich) -> None:
        real = work.committed

        def committed(records) -> None:
            real(records)
            if articles(bus) and not first:
                first.append(time.monotonic() - started)

        work.committed = committed

    enrich(server, store, bus, patience=1.0, timeout=30.0, work_hook=hook)
    assert len(articles(bus)) == 21
    assert sum(e.from_feed for e in articles(bus)) == 20
    assert first[0] < 6


def test_an_aborted_transaction_gives_the_same_events_once(server, store):
    for n in range(5):
        server.on(f"p.example/{n}", article(f"https://p.example/{n}", n), Content_Type="text/html")
    bus = MemoryBus()
    put(bus, *(item(f"https://p.example/{n}") for n in range(5)))
    bus.abort_next = 2
    work = enrich(server, store, bus)
    assert sorted((e.card.article_id, e.card.version) for e in articles(bus)) == sorted(
        (article_id(f"https://p.example/{n}"), 1) for n in range(5)
    )
    assert work.counts["repeat"] == 5, "the rows remembered what was not yet in Kafka"
    assert not [key for key in store.scan_iter("article:*") for field in store.hkeys(key) if b"pending" in field]


def test_a_crash_after_the_commit_only_repeats(server, store):
    """The confirmation is lost: a later sighting repeats the event with the same version."""
    url = "https://p.example/1"
    server.on("p.example/1", article(url, 1), Content_Type="text/html")
    bus = MemoryBus()
    put(bus, item(url))

    def dies(work: Enrich) -> None:
        work.committed = lambda records: None

    enrich(server, store, bus, work_hook=dies)
    put(bus, item(url, seen_at=SEEN + 900))
    enrich(server, store, bus)
    assert [(e.card.version, e.card.first_seen_at) for e in articles(bus)] == [(1, SEEN), (1, SEEN)]
    put(bus, item(url, seen_at=SEEN + 1800))
    enrich(server, store, bus)
    assert len(articles(bus)) == 2


def picture(color: str) -> bytes:
    from PIL import Image

    out = io.BytesIO()
    Image.new("RGB", (1600, 900), color).save(out, "PNG")
    return out.getvalue()


def test_licence_flags_are_obeyed_and_thumbnails_are_ours(server, store):
    base = {"country": "GB", "language": "en"}
    Registry(store).put_publishers(
        [
            Publisher(publisher_id="yes", name="Yes", domains=["yes.example"], **base),
            Publisher(
                publisher_id="no", name="No", domains=["no.example"], snippet_allowed=False, thumb_allowed=False, **base
            ),
        ]
    )
    for n, host in enumerate(("yes.example", "no.example")):
        url = f"https://{host}/1"
        server.on(f"{host}/1", article(url, n, image=f"https://{host}/lead.png"), Content_Type="text/html")
        server.on(f"{host}/lead.png", picture("red"), Content_Type="image/png")
    bus = MemoryBus()
    put(bus, item("https://yes.example/1"), item("https://no.example/1"))
    enrich(server, store, bus)
    found = {e.card.publisher_id: e for e in articles(bus)}
    assert found["no"].card.snippet == ""
    assert found["no"].card.thumb_id is None
    assert found["no"].image_url is None
    assert server.hits["no.example/lead.png"] == 0
    thumb = found["yes"].card.thumb_id
    assert thumb
    kept = store.get(f"thumb:{thumb}")
    assert 0 < len(kept) < 60_000
    assert kept[:2] == b"\xff\xd8"


def test_no_body_text_leaves_the_process(server, store, caplog):
    """The licence boundary: every topic, key, value and log line is searched for what only the body says."""
    caplog.set_level(logging.DEBUG)
    bus = MemoryBus()
    for n in range(6):
        host = f"l{n}.example"
        body = article(f"https://{host}/1", n, count=30)
        if n == 4:
            body = body.replace("</html>", "<script>" + "x" * 100)
        server.on(f"{host}/1", body.encode(), Content_Type="text/html" if n != 5 else "image/png")
        put(bus, item(f"https://{host}/1"))
    enrich(server, store, bus)
    assert len(articles(bus)) == 6
    kept = [
        json.dumps([r.key, (r.value or b"").decode()])
        for t in ("articles.normalised", "items.raw", "items.dead")
        for r in bus.records(t)
    ]
    for letter in dead(bus):
        kept.append(base64.b64decode(letter.value_b64 or "").decode())
    for key in store.scan_iter("*"):
        kind = store.type(key)
        value = {b"string": store.get, b"hash": store.hgetall, b"set": store.smembers}.get(
            kind, lambda k: store.zrange(k, 0, -1)
        )(key)
        kept.append(repr((key, value)))
    kept.extend(record.getMessage() for record in caplog.records)
    everything = "\n".join(kept)
    for n in range(6):
        for sentence in sentences(n, 30)[4:]:
            for start in range(0, len(sentence) - 40, 20):
                assert sentence[start : start + 40] not in everything
    assert sentences(0, 30)[0][:30] in everything, "the snippet is there, so the search can find text"
