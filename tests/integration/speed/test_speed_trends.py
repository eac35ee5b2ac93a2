"""Clicks to trends and fast profiles, over the in-memory bus and a real Valkey."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis
from fakes.bus import MemoryBus
from fakes.speed import NOW, article

from frontpage.adapters.bus import Outgoing, Record
from frontpage.adapters.feed_rows import FeedRow, FeedRows, FeedSource
from frontpage.adapters.redis_store import open_redis
from frontpage.contracts.events import PollRequest
from frontpage.contracts.profiles import event_from_json
from frontpage.contracts.rank_events import TrendHot, TrendPartial
from frontpage.contracts.reader_events import Click, ReaderEvent
from frontpage.contracts.topics import (
    ARTICLES,
    ITEMS_DEAD,
    POLL_REQUESTS,
    READER_CLICKS,
    READER_EVENTS,
    TRENDS_HOT,
    TRENDS_PARTIALS,
)
from frontpage.contracts.views import PROFILE_FAST, TRENDS
from frontpage.domain.ids import feed_id
from frontpage.domain.profile import fold
from frontpage.domain.schedule import FeedState
from streaming.trends.clicks import ClickWork
from streaming.trends.merge import MergeWork, history


class StillClock:
    def __init__(self) -> None:
        self.value = NOW

    def now(self) -> float:
        return self.value

    def real_seconds(self, virtual_seconds: float) -> float:
        return virtual_seconds


@pytest.fixture
def store(valkey: str) -> Iterator[redis.Redis]:
    client = open_redis(valkey)
    yield client
    client.close()


@pytest.fixture
def bus() -> MemoryBus:
    return MemoryBus()


@pytest.fixture
def clock() -> StillClock:
    return StillClock()


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streaming.trends.clicks.SHORTEST_STEP", 0.0)


QUAKE = article("1", event="quake", section="world")


def click(
    number: int,
    at: float,
    *,
    reader: str | None = None,
    article_id: str = QUAKE.card.article_id,
    story: str = "s1",
    edition: str = "en-GB",
    **more: object,
) -> Click:
    return Click(
        click_id=f"c{number}", at=at, article_id=article_id, story_id=story, publisher_id="pub-a", url="https://x.example/",
        surface="top", position=1, edition=edition, reader=reader, **more,
    )  # fmt: skip


def send(bus: MemoryBus, topic: str, *events: Click | ReaderEvent | bytes) -> list[Record]:
    before = len(bus.records(topic))
    values = [
        (None if isinstance(e, bytes) else e.article_id, e if isinstance(e, bytes) else e.encode()) for e in events
    ]
    bus.producer().send([Outgoing(topic, key or "x", value) for key, value in values])
    assert len(bus.records(topic)) == before + len(events)
    return bus.records(topic)


def partials(work: ClickWork) -> list[TrendPartial]:
    found = [TrendPartial.decode(out.value) for out in work.partials() if out.topic == TRENDS_PARTIALS.name]
    return [partial for partial in found if partial is not None]


def profile(store: redis.Redis, reader: str):
    members = store.zrange(PROFILE_FAST.key(reader=reader), 0, -1)
    return fold((event_from_json(member) for member in members), NOW)


def test_counted_clicks_make_partials_and_the_rest_does_not(bus, store, clock):
    work = ClickWork(bus, store, clock)
    records = send(bus, READER_CLICKS.name, *(click(i, NOW - 30) for i in range(5)), click(9, NOW - 30, counted=False))
    clock.value = NOW + 10
    assert work.handle(records) == []
    (partial,) = partials(work)
    assert partial.rows == [(QUAKE.card.article_id, "s1", "pub-a", "en-GB", 5, 5)]
    assert partials(work) == [], "one a slot"
    clock.value = NOW + 1000
    assert [p.rows for p in partials(work)] == [[]], "one empty partial says that it is over"
    clock.value = NOW + 1010
    assert partials(work) == []


def test_a_restarted_process_reads_its_windows_back(bus, store, clock):
    """The new process begins after the committed clicks, and counts those of the last 15 minutes all the same."""
    records = send(bus, READER_CLICKS.name, *(click(i, NOW - 100 + i) for i in range(20)), click(99, NOW - 2000))
    clock.value = NOW + 10
    fresh = ClickWork(bus, store, clock)
    fresh.handle(records[-1:])
    (partial,) = partials(fresh)
    assert partial.rows[0][5] == 20


def test_a_batch_that_comes_again_is_not_counted_twice(bus, store, clock):
    work = ClickWork(bus, store, clock)
    records = send(bus, READER_CLICKS.name, *(click(i, NOW - 30, reader="r1") for i in range(7)))
    clock.value = NOW + 10
    work.handle(records)
    work.rollback()
    work.handle(records)
    (partial,) = partials(work)
    assert partial.rows[0][4:] == (7, 7)
    assert profile(store, "r1").engagements == 7


def test_a_click_reaches_the_readers_profile_with_what_the_article_is_about(bus, store, clock):
    bus.producer().send([Outgoing(ARTICLES.name, "en", QUAKE.encode(), 0)])
    work = ClickWork(bus, store, clock)
    work.handle(send(bus, READER_CLICKS.name, click(1, NOW, reader="r1")))
    follow = ReaderEvent(
        event_id="f1", kind="follow", at=NOW, edition="en-GB", reader="r1", target_kind="topic", target_id="health"
    )
    seen = ReaderEvent(event_id="i1", kind="impression", at=NOW, edition="en-GB", reader="r1", rank=1)
    work.handle(send(bus, READER_EVENTS.name, follow, seen))
    made = profile(store, "r1")
    assert made.engagements == 1
    assert dict(made.affinities["section"]) == {"world": 1.0}
    assert dict(made.affinities["entity"]) == {"quake": 1.0}
    (version,) = made.vectors
    assert version.startswith(QUAKE.signals.vector.version)
    assert made.switched_on("follow", "topic") == {"health"}
    members = store.zrange(PROFILE_FAST.key(reader="r1"), 0, -1)
    places = {(e.topic, e.partition, e.offset) for e in map(event_from_json, members)}
    assert {(READER_CLICKS.name, r.partition, r.offset) for r in bus.records(READER_CLICKS.name)} <= places


def test_a_deleted_reader_is_forgotten(bus, store, clock):
    work = ClickWork(bus, store, clock)
    work.handle(send(bus, READER_CLICKS.name, click(1, NOW - 60, reader="r1")))
    work.handle(
        send(bus, READER_EVENTS.name, ReaderEvent(event_id="d", kind="delete", at=NOW, edition="", reader="r1"))
    )
    kinds = [event_from_json(m).kind for m in store.zrange(PROFILE_FAST.key(reader="r1"), 0, -1)]
    assert kinds == ["delete"]


def test_an_unreadable_click_is_dead_lettered_and_the_others_count(bus, store, clock):
    work = ClickWork(bus, store, clock)
    dead = work.handle(send(bus, READER_CLICKS.name, b"\xff", click(1, NOW - 30)))
    assert [out.topic for out in dead] == [ITEMS_DEAD.name]
    clock.value = NOW + 10
    assert sum(row[5] for p in partials(work) for row in p.rows) == 1


def partial(partition: int, end: float, *rows: tuple[str, str, str, str, int, int]) -> Record:
    made = TrendPartial(partition=partition, window_end=end, rows=list(rows))
    return Record(TRENDS_PARTIALS.name, 0, int(end), None, made.encode(), end)


def test_the_merger_sums_partitions_and_rolls_articles_up(store, clock):
    work = MergeWork(store, clock)
    work.handle([
        partial(0, NOW, ("a1", "s1", "pub-a", "en-GB", 4, 30), ("a2", "s1", "pub-b", "en-US", 2, 15)),
        partial(1, NOW, ("a3", "s2", "pub-a", "en-GB", 8, 60)),
    ])  # fmt: skip
    everywhere = TrendHot.decode(store.get(TRENDS.key(edition="*")))
    assert everywhere is not None
    assert everywhere.stories == [("s2", 6.0, 60), ("s1", 4.5, 45)]
    assert everywhere.publishers == [("pub-a", 9.0, 90), ("pub-b", 1.5, 15)]
    british = TrendHot.decode(store.get(TRENDS.key(edition="en-GB")))
    assert british is not None
    assert british.stories == [("s2", 6.0, 60), ("s1", 3.0, 30)]
    work.handle([partial(0, NOW + 10), partial(1, NOW + 10)])
    assert TrendHot.decode(store.get(TRENDS.key(edition="en-GB"))).stories == [], "what is over does not linger"


def test_a_newer_partial_replaces_and_a_lost_partition_fades(store, clock):
    work = MergeWork(store, clock)
    work.handle([partial(0, NOW, ("a1", "s1", "p", "en-GB", 4, 30)), partial(1, NOW, ("a2", "s2", "p", "en-GB", 1, 5))])
    work.handle([partial(0, NOW + 10, ("a1", "s1", "p", "en-GB", 1, 31))])
    hot = TrendHot.decode(store.get(TRENDS.key(edition="en-GB")))
    assert {row[0]: row[2] for row in hot.stories} == {"s1": 31, "s2": 5}
    work.handle([partial(0, NOW + 1000, ("a1", "s1", "p", "en-GB", 1, 2))])
    assert [row[0] for row in TrendHot.decode(store.get(TRENDS.key(edition="en-GB"))).stories] == ["s1"]


def test_a_spike_of_twenty_times_the_baseline_boosts_the_publishers_feeds_once_an_hour(bus, store, clock):
    url = "https://pub-a.example/feed"
    FeedRows(store).put(FeedRow(FeedSource(feed_id(url), url, "pub-a", "pub-a.example"), FeedState()))
    work = MergeWork(store, clock)
    quiet = [("a1", "s1", "pub-a", "en-GB", 2, 30)]
    out = []
    for minute in range(30):
        out += work.handle([partial(0, NOW + 60 * minute, *quiet)])
    spiked = NOW + 1800
    for step in range(3):
        out += work.handle([partial(0, spiked + 10 * step, ("a1", "s1", "pub-a", "en-GB", 60, 90))])
    (request,) = [PollRequest.decode(o.value) for o in out if o.topic == POLL_REQUESTS.name]
    assert request is not None
    assert request.feed_id == feed_id(url)
    assert request.boost_until == spiked + 3600
    bus.producer().send([o for o in out if o.topic == TRENDS_HOT.name])
    reborn = MergeWork(store, clock)
    reborn.restore(history(bus))
    steady = reborn.handle([partial(0, spiked + 60, ("a1", "s1", "pub-a", "en-GB", 39, 90))])
    assert [o for o in steady if o.topic == POLL_REQUESTS.name] == [], "the baseline survived the restart"
