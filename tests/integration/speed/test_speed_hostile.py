"""Records that must not bend the state of a process, and a broker that is slow at a bad moment."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import redis
from fakes.bus import MemoryBus, MemoryConsumer
from fakes.speed import NOW, EventClusterer, article

from frontpage.adapters.bus import Outgoing, Record
from frontpage.adapters.pages import PageStore
from frontpage.contracts.batch_views import projection_pointer
from frontpage.contracts.events import ArticleEvent, StoryLink
from frontpage.contracts.rank_events import TrendHot, TrendPartial
from frontpage.contracts.story_codec import article_signals, to_event
from frontpage.contracts.topics import ARTICLES, STORY_CHANGES, STORY_LINKS, TRENDS_PARTIALS
from frontpage.contracts.views import PAGE, PAGE_LATEST, PROJECTION, STORY, TRENDS, VERSIONS
from frontpage.domain.story import StoryBook
from streaming.cluster.link_rows import LinkRows
from streaming.rank.batch_views import BatchViews
from streaming.rank.ranker import Ranker
from streaming.trends.articles import ArticleFacts
from streaming.trends.merge import MergeWork


class Hesitant(MemoryConsumer):
    """Every other poll comes back empty and none brings more than two records, as from a busy broker."""

    turns = itertools.count()

    def poll(self, max_records, timeout):
        return super().poll(2, 0.0) if next(self.turns) % 2 else []


class Still:
    def now(self) -> float:
        return NOW

    def real_seconds(self, virtual_seconds: float) -> float:
        return virtual_seconds


class BusyBus(MemoryBus):
    def consumer(self, group, topics, *, partitions=None, start="earliest"):
        return Hesitant(self, group, topics, partitions, start)


def articles(count: int) -> list[ArticleEvent]:
    return [article(f"a{at}", event=f"event{at}", publisher=f"pub-{at}", at=NOW - 60) for at in range(count)]


@pytest.fixture
def bus() -> MemoryBus:
    return BusyBus()


def changes(events: list[ArticleEvent]) -> list[Outgoing]:
    minds = EventClusterer(StoryBook(), 0)
    decided = [
        minds.decide(article_signals(event), NOW, (ARTICLES.name, 0, at), event.card) for at, event in enumerate(events)
    ]
    return [Outgoing(STORY_CHANGES.name, "en", to_event(c).encode(), 0) for found in decided for c in found]


def test_a_ranker_that_starts_on_a_busy_broker_never_shows_half_of_the_log(bus: MemoryBus, valkey: str) -> None:
    bus.producer().send(changes(articles(40)))
    with redis.Redis.from_url(valkey) as store:
        ranker = Ranker(bus, store, bus.transactional("ranker"), editions="en-GB")
        ranker.restore(NOW)
        assert ranker.cycle(NOW).stories == 40
        bus.producer().send(changes(articles(44))[40:])
        assert sum(ranker.catch_up(NOW) for _ in range(8)) == 4, "and it goes on from there, reading nothing twice"
        ranker.close()


def test_damaged_rows_in_redis_stop_neither_store_nor_ranker(valkey: str) -> None:
    """As after an upgrade that tightened a contract: what cannot be read is replaced when its time comes."""
    bus = MemoryBus()
    bus.producer().send(changes(articles(3)))
    link = StoryLink(link_id="l", left="sa", left_language="en", right="sb", right_language="de", score=1.0, at=NOW)
    bus.producer().send([Outgoing(STORY_LINKS.name, "sa", link.encode(), 0)])
    with redis.Redis.from_url(valkey) as store:
        store.set(STORY.key(story="sa"), b'{"story_id": 5}')
        LinkRows(bus, store).refresh()
        assert store.get(STORY.key(story="sa")) == b'{"story_id": 5}'

        store.set(PAGE_LATEST.key(edition="en-GB", section="top"), 7)
        store.set(PAGE.key(edition="en-GB", section="top", n=7), b"{}")
        ranker = Ranker(bus, store, bus.transactional("ranker"), editions="en-GB")
        ranker.restore(NOW)
        ranker.cycle(NOW)
        page = PageStore(store).read("en-GB", "top")
        assert page is not None
        assert (page.version, len(page.cards)) == (8, 3)

        store.hset(VERSIONS.key(), projection_pointer("some@1"), "p1")
        store.set(PROJECTION.key(version="p1"), b'{"version": 5}')
        assert BatchViews(store).project("some@1", np.ones(4, dtype=np.float32)) is not None


def test_a_click_after_a_restart_on_a_busy_broker_finds_its_article(bus: MemoryBus) -> None:
    events = articles(40)
    bus.producer().send([Outgoing(ARTICLES.name, "en", event.encode(), 0) for event in events])
    facts = ArticleFacts(bus)
    assert facts.catch_up() >= 40
    assert facts.get(events[-1].card.article_id) is not None


def test_trends_go_on_after_a_replay_has_set_the_clock_back(valkey: str) -> None:
    with redis.Redis.from_url(valkey) as store:
        work = MergeWork(store, Still())
        for story, window_end in (("future", NOW + 2 * 86_400), ("s", NOW), ("s", NOW + 10)):
            partial = TrendPartial(partition=0, window_end=window_end, rows=[("a", story, "p", "en-GB", 9, 9)])
            work.handle([Record(TRENDS_PARTIALS.name, 0, 0, None, partial.encode(), NOW)])
        hot = TrendHot.decode(store.get(TRENDS.key(edition="en-GB")))
        assert hot is not None
        assert [each for each, *_ in hot.stories] == ["s"]
        assert hot.window_end == NOW + 10
