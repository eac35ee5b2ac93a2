"""Story rows, pages and pools in a real Valkey, from changes that the writer made (in-memory bus)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
import redis
from fakes.bus import MemoryBus
from fakes.speed import NOW, EventClusterer, article

from frontpage.adapters.bus import Outgoing
from frontpage.adapters.pages import KEPT, PageStore, RefusedPage
from frontpage.adapters.redis_store import open_redis
from frontpage.contracts.events import ArticleEvent, PollRequest, StoryChange
from frontpage.contracts.profiles import candidate_of
from frontpage.contracts.rank_events import BreakingAlert, RankDecision, TrendHot
from frontpage.contracts.topics import ALERTS_BREAKING, ARTICLES, POLL_REQUESTS, RANK_DECISIONS, STORY_CHANGES
from frontpage.contracts.views import (
    POOL,
    PUBLISHER,
    PUBLISHERS,
    STORIES_APPLIED,
    STORY,
    TRENDS,
    CandidatePool,
    PageSnapshot,
    Publisher,
    StoryRow,
)
from frontpage.domain.features import STORY_FEATURES
from frontpage.domain.story import StoryBook
from frontpage.errors import NotFound
from streaming.cluster.store import StoreWork
from streaming.cluster.writer import Tenures
from streaming.rank.ranker import Ranker
from streaming.rank.sources import Sources


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


@pytest.fixture
def write(bus: MemoryBus, clock: StillClock, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Send articles through the writer of partition 0."""
    monkeypatch.setattr("streaming.cluster.writer.POLL", 0.01)

    def run(*events: ArticleEvent) -> None:
        bus.producer().send([Outgoing(ARTICLES.name, "en", event.encode(), 0) for event in events])
        stop, turns = threading.Event(), [0]

        def beat(partition: int, book: StoryBook) -> None:
            turns[0] += 1
            if turns[0] >= 2:
                stop.set()

        Tenures(bus, clock, 0, minds=EventClusterer, repair_interval=600, beat=beat).serve(lambda: None, stop)

    return run


def register(store: redis.Redis, **authorities: float) -> None:
    for name, authority in authorities.items():
        id = f"pub-{name}"
        row = Publisher(
            publisher_id=id, name=name, domains=[f"{id}.example"], country="GB", language="en", authority=authority
        )
        store.set(PUBLISHER.key(publisher=id), row.model_dump_json())
        store.sadd(PUBLISHERS.key(), id)


def ranker(bus: MemoryBus, store: redis.Redis) -> Ranker:
    made = Ranker(bus, store, bus.transactional("ranker"), editions="en-GB,en-US,de-DE")
    made.restore(NOW)
    return made


def row(store: redis.Redis, story_id: str) -> StoryRow:
    value = store.get(STORY.key(story=story_id))
    assert value is not None
    return StoryRow.model_validate_json(value)


def ids(bus: MemoryBus) -> list[str]:
    seen: dict[str, None] = {}
    for record in bus.records(STORY_CHANGES.name):
        change = StoryChange.decode(record.value)
        if change is not None and change.kind == "create":
            seen[change.story_id] = None
    return list(seen)


def test_changes_become_rows_once_however_often_they_are_read(bus, store, clock, write):
    write(article("1", event="quake"), article("2", event="quake", publisher="pub-b"), article("3", event="vote"))
    records = bus.records(STORY_CHANGES.name)
    work = StoreWork(bus, store, clock)
    assert work.handle(records) == []
    (quake, vote) = ids(bus)
    before = {key: store.get(key) for key in store.keys("story:*")}
    assert [member.article.publisher_id for member in row(store, quake).members] == ["pub-a", "pub-b"]
    assert store.get(STORIES_APPLIED.key(partition=0)) == b"3"
    work.handle(records[:2])
    StoreWork(bus, store, clock).handle(records)
    assert {key: store.get(key) for key in store.keys("story:*")} == before
    assert row(store, vote).members[0].article.title


def test_a_merge_leaves_an_alias_of_one_hop_also_for_older_aliases(bus, store, clock, write):
    write(*(article(str(i), event=f"event{i}") for i in range(3)))
    first, second, third = ids(bus)
    work = StoreWork(bus, store, clock)
    work.handle(bus.records(STORY_CHANGES.name))
    for sequence, survivor, absorbed in ((4, second, third), (5, first, second)):
        change = StoryChange(
            change_id=f"merge-{sequence}", sequence=sequence, language="en", kind="merge", story_id=survivor,
            absorbed=[absorbed], at=NOW,
        )  # fmt: skip
        bus.producer().send([Outgoing(STORY_CHANGES.name, "en", change.encode(), 0)])
        work.handle(bus.records(STORY_CHANGES.name)[-1:])
    assert row(store, third).alias_of == first
    assert row(store, second).alias_of == first
    assert len(row(store, first).members) == 3


def test_rows_lost_with_redis_come_back_from_the_log(bus, store, clock, write):
    write(article("1", event="quake"), article("2", event="vote"))
    work = StoreWork(bus, store, clock)
    records = bus.records(STORY_CHANGES.name)
    work.handle(records[:1])
    work.handle(records[1:])
    store.flushdb()
    write(article("3", event="quake", publisher="pub-c"))
    work.handle(bus.records(STORY_CHANGES.name)[-1:])
    quake, vote = ids(bus)
    assert len(row(store, quake).members) == 2
    assert len(row(store, vote).members) == 1


def test_a_slower_store_never_puts_old_rows_over_new_ones(bus, store, clock, write):
    write(article("1", event="quake"))
    slow = StoreWork(bus, store, clock)
    records = bus.records(STORY_CHANGES.name)
    write(article("2", event="quake", publisher="pub-b"))
    StoreWork(bus, store, clock).handle(bus.records(STORY_CHANGES.name))
    slow.handle(records)
    assert len(row(store, ids(bus)[0]).members) == 2


def test_articles_become_a_ranked_page_with_decisions_and_a_pool(bus, store, clock, write):
    register(store, a=0.95, b=0.5, c=0.5, d=0.2)
    write(
        article("1", event="vote", publisher="pub-d", at=NOW - 7000, section="politics"),
        *(article(f"q{name}", event="quake", publisher=f"pub-{name}", at=NOW - 600) for name in "abcd"),
        article("qe", event="quake", publisher="pub-e", at=NOW - 600, title="Reprint quake quakealpha quakebeta"),
    )
    clock.value = NOW
    done = ranker(bus, store).cycle(NOW)
    assert done.refused == []
    pages = PageStore(store)
    page = pages.read("en-GB", "top")
    assert page is not None
    quake, vote = page.cards
    assert [quake.sources, vote.sources] == [4, 1], "a reprint is no source of its own"
    assert quake.articles == 5
    assert quake.headline == quake.top.title
    assert quake.top.publisher_id == "pub-a"
    assert len(quake.supporting) == 3
    assert quake.reason.startswith("4 sources report it")
    assert page.watermark[f"{STORY_CHANGES.name}/0"] > 0
    assert pages.read("en-GB", "politics").cards[0].story_id == vote.story_id
    assert pages.read("en-US", "top") is not None
    assert pages.read("de-DE", "top") is None, "nothing is in German"
    decisions = [RankDecision.decode(r.value) for r in bus.records(RANK_DECISIONS.name)]
    mine = [d for d in decisions if d and (d.edition, d.section) == ("en-GB", "top")]
    assert [(d.story_id, d.rank, d.page_version) for d in mine] == [(quake.story_id, 1, 1), (vote.story_id, 2, 1)]
    pool = CandidatePool.model_validate_json(store.get(POOL.key(edition="en-GB")))
    assert {entry.card.story_id for entry in pool.entries} == {quake.story_id, vote.story_id}
    for entry in pool.entries:
        assert set(STORY_FEATURES) <= set(entry.features)
        assert candidate_of(entry).vector.shape == (64,)


def test_an_unchanged_page_is_not_written_again_until_its_age_matters(bus, store, write):
    write(article("1", event="quake"))
    made = ranker(bus, store)
    listener = store.pubsub()
    listener.subscribe("pages")
    made.cycle(NOW)
    made.cycle(NOW + 60)
    assert PageStore(store).latest_version("en-GB", "top") == 1
    made.cycle(NOW + 301)
    assert PageStore(store).latest_version("en-GB", "top") == 2
    told = []
    while (message := listener.get_message(timeout=0.2)) is not None:
        if message["type"] == "message":
            told.append(message["data"].decode())
    assert "en-GB/top/1" in told
    assert "en-GB/top/2" in told


def burst(count: int = 15) -> list[ArticleEvent]:
    return [
        article(f"b{i}", event="explosion", publisher=f"pub-{'abcdefgh'[i % 8]}", at=NOW - 280 + i * 18)
        for i in range(count)
    ]


def test_a_burst_is_labelled_pinned_and_announced_once_across_restarts(bus, store, write):
    register(store, **dict.fromkeys("abcdefgh", 0.8))
    for name in "abcdefgh":
        from frontpage.adapters.feed_rows import FeedRow, FeedRows, FeedSource
        from frontpage.domain.ids import feed_id
        from frontpage.domain.schedule import FeedState

        url = f"https://pub-{name}.example/feed"
        source = FeedSource(feed_id(url), url, f"pub-{name}", f"pub-{name}.example")
        FeedRows(store).put(FeedRow(source, FeedState()))
    write(article("0", event="vote", at=NOW - 60), *burst())
    made = ranker(bus, store)
    assert made.cycle(NOW).breaking == 1
    page = PageStore(store).read("en-GB", "top")
    assert page is not None
    assert page.cards[0].label == "breaking"
    assert page.cards[0].reason == "Breaking: 8 sources are reporting it"
    assert PageStore(store).read("en-US", "top").cards[0].label is None, "nobody there reports it"
    made.cycle(NOW + 60)
    again = ranker(bus, store)
    again.cycle(NOW + 3600)
    assert PageStore(store).read("en-GB", "top").cards[0].label == "breaking"
    (alert,) = [BreakingAlert.decode(r.value) for r in bus.records(ALERTS_BREAKING.name)]
    assert alert is not None
    assert (alert.editions, alert.originals) == (["en-GB"], 15)
    assert alert.tail_probability < 1e-6
    requests = [PollRequest.decode(r.value) for r in bus.records(POLL_REQUESTS.name)]
    assert alert.burst_at == NOW - 280 + 14 * 18
    assert len(requests) == 8
    assert all(request and request.boost_until == NOW + 3600 for request in requests)
    again.cycle(NOW + 7300)
    assert PageStore(store).read("en-GB", "top").cards[0].label is None, "two hours are over"


def test_rewriters_of_low_authority_do_not_break_news(bus, store, write):
    register(store, **{f"w{i}": 0.1 for i in range(50)})
    write(*(article(f"v{i}", event="meme", publisher=f"pub-w{i}", at=NOW - 100 + i) for i in range(50)))
    assert ranker(bus, store).cycle(NOW).breaking == 0
    assert bus.records(ALERTS_BREAKING.name) == []


def test_clicks_are_one_more_signal(bus, store, write):
    write(article("1", event="quake"), article("2", event="vote"))
    quake, vote = ids(bus)
    made = ranker(bus, store)
    hot = TrendHot(edition="en-GB", window_end=NOW, stories=[(vote, 40.0, 300)])
    store.set(TRENDS.key(edition="en-GB"), hot.encode())
    made.cycle(NOW)
    page = PageStore(store).read("en-GB", "top")
    assert [card.story_id for card in page.cards] == [vote, quake]
    assert page.cards[0].parts["clicks"] > 0


def snapshot(version: int, stories: int, section: str = "top", at: float = NOW) -> PageSnapshot:
    from frontpage.contracts.views import PageCard

    top = article("1", event="quake").card
    cards = [
        PageCard(
            story_id=f"s{i}",
            headline="h",
            top=top,
            sources=1,
            articles=1,
            updated_at=at,
            first_seen_at=at,
            score=1.0,
            lang="en",
        )
        for i in range(stories)
    ]
    return PageSnapshot(edition="en-GB", section=section, version=version, generated_at=at, cards=cards)


def test_a_bad_snapshot_leaves_the_last_one_live(store):
    pages = PageStore(store)
    pages.publish(snapshot(1, 20))
    for bad in (snapshot(2, 0), snapshot(2, 9)):
        with pytest.raises(RefusedPage):
            pages.publish(bad)
    assert pages.latest_version("en-GB", "top") == 1
    pages.publish(snapshot(2, 10))
    assert pages.latest_version("en-GB", "top") == 2


def test_a_small_page_may_shrink_and_a_long_shrunken_one_is_believed(store):
    pages = PageStore(store)
    pages.publish(snapshot(1, 6))
    pages.publish(snapshot(2, 1))
    pages.publish(snapshot(3, 20))
    assert pages.check(snapshot(4, 3), shrinking=True) == 3


def test_versions_never_change_and_only_one_writer_moves_the_pointer(store):
    pages = PageStore(store)
    pages.publish(snapshot(1, 3))
    with pytest.raises(RefusedPage):
        pages.write(snapshot(1, 4))
    pages.write(snapshot(2, 3))
    pages.write(snapshot(3, 3))
    assert pages.point(snapshot(2, 3), expected=1)
    assert not pages.point(snapshot(3, 3), expected=1)
    assert pages.latest_version("en-GB", "top") == 2
    assert pages.next_version("en-GB", "top") == 4


def test_rollback_moves_the_pointer_back_and_the_next_version_is_new(store):
    pages = PageStore(store)
    for version in (1, 2, 3):
        pages.publish(snapshot(version, 3, at=NOW + version))
    assert pages.rollback("en-GB", "top") == 2
    assert pages.rollback("en-GB", "top", to=1) == 1
    assert [(info.version, info.latest) for info in pages.history("en-GB", "top")] == [
        (3, False),
        (2, False),
        (1, True),
    ]
    assert pages.next_version("en-GB", "top") == 4
    with pytest.raises(NotFound):
        pages.rollback("en-GB", "top", to=9)
    with pytest.raises(NotFound):
        pages.history("en-GB", "sports")


def test_old_versions_are_forgotten_but_never_the_latest(store):
    pages = PageStore(store)
    for version in range(1, KEPT + 6):
        pages.publish(snapshot(version, 3, at=NOW + version))
    pages.rollback("en-GB", "top", to=2)
    pages.trim("en-GB", "top")
    kept = [info.version for info in pages.history("en-GB", "top")]
    assert len(kept) == KEPT + 1
    assert kept[-1] == 2


def test_places_lead_to_regions(store):
    register(store, a=0.5)
    local = Publisher(publisher_id="l", name="l", domains=["l.example"], country="NZ", language="en", place="Leeston")
    store.set(PUBLISHER.key(publisher="l"), local.model_dump_json())
    store.sadd(PUBLISHERS.key(), "l")
    sources = Sources()
    assert sources.load(store)
    found = [sources.region_of_place(place) for place in ("Lisbon, PT", "Portugal", "Leeston", "Atlantis", "No, you")]
    assert found == ["PT", "PT", "NZ", "", ""]
    assert sources.place("l") == "leeston"
    assert not sources.load(store, force=True), "nothing changed"


def test_exposure_survives_a_restart(bus, store, write):
    """What a publisher's headlines have had today is added up again from the recorded decisions."""
    write(*(article(str(i), event=f"event{i}", publisher=f"pub-{i % 3}", at=NOW - 60) for i in range(6)))
    made = ranker(bus, store)
    for minute in range(0, 30, 5):
        made.cycle(NOW + 60 * minute)
    live = made._ranks["en-GB"].exposure
    again = Ranker(bus, store, bus.transactional("ranker"), editions="en-GB")
    again.restore(NOW + 60 * 25)
    restored = again._ranks["en-GB"].exposure
    assert restored.total == pytest.approx(live.total, rel=0.02)
    assert restored.counts == pytest.approx(live.counts, rel=0.02)


def test_a_burst_behind_a_backlog_is_labelled_late_and_for_the_rest_of_its_two_hours(bus, store, write):
    register(store, **dict.fromkeys("abcdefgh", 0.8))
    write(*burst())
    made = ranker(bus, store)
    assert made.cycle(NOW + 5400).breaking == 1
    assert ranker(bus, store).cycle(NOW + 7100).breaking == 1
    assert ranker(bus, store).cycle(NOW + 7300).breaking == 0
