"""A record that no code foresaw is dead-lettered alone; stories, trends, ranks and links of all others go on."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import redis
from fakes.bus import MemoryBus
from fakes.encoder import HashEncoder
from fakes.speed import NOW, article

from frontpage.adapters.bus import Outgoing
from frontpage.adapters.clock import SystemClock
from frontpage.adapters.loop import run_transactional
from frontpage.adapters.redis_store import open_redis
from frontpage.contracts.events import DeadLetter, PollRequest, StoryChange
from frontpage.contracts.rank_events import TrendPartial
from frontpage.contracts.reader_events import Click
from frontpage.contracts.topics import ITEMS_DEAD, POLL_REQUESTS, READER_CLICKS, STORY_CHANGES, TRENDS_PARTIALS
from frontpage.contracts.views import STORY
from frontpage.domain.story import Change, Story, StoryBook
from frontpage.domain.trends import ClickWindows
from streaming.cluster.link_state import LinkFinder
from streaming.cluster.store import StoreWork
from streaming.ingest.poller import serve_requests
from streaming.rank.sources import Sources
from streaming.rank.state import Stories
from streaming.trends.clicks import ClickWork
from streaming.trends.merge import MergeWork


@pytest.fixture
def store(valkey: str) -> Iterator[redis.Redis]:
    client = open_redis(valkey)
    yield client
    client.close()


@pytest.fixture
def bus() -> MemoryBus:
    return MemoryBus()


def run(bus: MemoryBus, topic: str, work: Any, records: int) -> None:
    """The loop over `topic` until so many records are committed."""
    stop = threading.Event()
    deadline = time.monotonic() + 30

    def idle() -> None:
        done = sum(bus.committed("g", topic).values())
        if done >= records or time.monotonic() > deadline:
            stop.set()

    run_transactional(
        bus, process="test", group="g", topics=[topic], transactional_id="t", work=work, clock=SystemClock(), stop=stop,
        poll_timeout=0.01, idle=idle, rollback=getattr(work, "rollback", None),
    )  # fmt: skip
    assert sum(bus.committed("g", topic).values()) >= records


def letters(bus: MemoryBus) -> list[tuple[int, str]]:
    found = (DeadLetter.decode(record.value) for record in bus.records(ITEMS_DEAD.name))
    return [(letter.offset, letter.cause) for letter in found if letter is not None]


def stories(bus: MemoryBus, *names: str) -> list[StoryChange]:
    """One story for each name, on partition 0."""
    changes = []
    for sequence, name in enumerate(names, 1):
        event = article(name, event=name)
        changes.append(
            StoryChange(
                change_id=f"c-{name}", sequence=sequence, language="en", kind="create", story_id=f"s-{name}",
                article=event.card, signals=event.signals, at=NOW,
            )
        )  # fmt: skip
    bus.producer().send([Outgoing(STORY_CHANGES.name, "en", change.encode(), 0) for change in changes])
    return changes


@pytest.fixture
def poisoned(monkeypatch: pytest.MonkeyPatch) -> None:
    """A change that no book can take, whoever reads it and however often."""
    inner = StoryBook.apply

    def apply(self: StoryBook, change: Change) -> list[Story]:
        if change.change_id == "c-bad":
            raise ZeroDivisionError("no code foresaw this")
        return inner(self, change)

    monkeypatch.setattr(StoryBook, "apply", apply)


def test_story_rows_go_on_after_a_change_that_breaks_the_book(bus, store, poisoned):
    stories(bus, "one", "bad", "two", "three")
    run(bus, STORY_CHANGES.name, StoreWork(bus, store, SystemClock()), 4)
    assert letters(bus) == [(1, "cannot-handle")]
    assert [store.exists(STORY.key(story=f"s-{name}")) for name in ("one", "bad", "two", "three")] == [1, 0, 1, 1]


def test_a_new_store_over_an_old_log_blames_no_later_change(bus, store, poisoned):
    stories(bus, "one", "bad", "two")
    last = bus.records(STORY_CHANGES.name)[-1:]
    assert StoreWork(bus, store, SystemClock()).handle(last) == [], "the bad one was dead-lettered in its turn"
    assert store.exists(STORY.key(story="s-two")) == 1


def test_ranker_and_links_know_all_other_stories(bus, poisoned):
    stories(bus, "one", "bad", "two")
    records = bus.records(STORY_CHANGES.name)
    ranked, finder = Stories(), LinkFinder(HashEncoder())
    ((record, fault),) = ranked.absorb(records)
    assert (record.offset, fault.cause) == (1, "cannot-handle")
    ranked.refresh(Sources())
    assert ranked.ranked.keys() == {"s-one", "s-two"}
    finder.absorb(records)
    finder.cycle(NOW)
    assert finder.index.sides.keys() == {"s-one", "s-two"}


def test_a_story_that_cannot_be_ranked_or_linked_hides_no_other(bus, monkeypatch):
    stories(bus, "one", "two")
    for where in ("streaming.rank.state.view_of", "streaming.cluster.link_state.side_of"):
        module, _, name = where.rpartition(".")
        inner = getattr(__import__(module, fromlist=[name]), name)

        def broken(story: Story, *more: Any, inner: Any = inner) -> Any:
            if story.story_id == "s-one":
                raise ZeroDivisionError("no code foresaw this")
            return inner(story, *more)

        monkeypatch.setattr(where, broken)
    ranked, finder = Stories(), LinkFinder(HashEncoder())
    assert ranked.absorb(bus.records(STORY_CHANGES.name)) == []
    ranked.refresh(Sources())
    assert ranked.ranked.keys() == {"s-two"}
    finder.absorb(bus.records(STORY_CHANGES.name))
    finder.cycle(NOW)
    assert finder.index.sides.keys() == {"s-two"}


def click(name: str, article_id: str = "a", at: float | None = None) -> Click:
    return Click(
        click_id=name, at=time.time() - 30 if at is None else at, article_id=article_id, story_id="s", publisher_id="p",
        url="https://x.example/", surface="top", position=1, edition="en-GB",
    )  # fmt: skip


def counted(work: ClickWork) -> int:
    now = time.time() + 20
    return sum(quarter for windows in work._windows.values() for _, _, quarter in windows.top(now))


def test_clicks_are_counted_around_one_that_breaks_the_windows(bus, store, monkeypatch):
    inner = ClickWindows.add

    def add(self: Any, key: Any, *more: Any) -> None:
        if key[0] == "bad":
            raise ZeroDivisionError("no code foresaw this")
        inner(self, key, *more)

    monkeypatch.setattr(ClickWindows, "add", add)
    sent = [click("1"), click("2", "bad"), click("3")]
    bus.producer().send([Outgoing(READER_CLICKS.name, "a", one.encode(), 0) for one in sent])
    work = ClickWork(bus, store, SystemClock())
    run(bus, READER_CLICKS.name, work, 3)
    assert letters(bus) == [(1, "cannot-handle")]
    assert counted(work) == 2
    fresh = ClickWork(bus, store, SystemClock())
    bus.producer().send([Outgoing(READER_CLICKS.name, "a", click("4").encode(), 0)])
    assert fresh.handle(bus.records(READER_CLICKS.name)[-1:]) == [], "reading back is no reason to blame a later click"
    assert counted(fresh) == 3
    work.close()
    fresh.close()


def test_a_personal_click_that_comes_twice_is_one_click_of_the_windows(bus, store):
    sent = [click("1"), click("1"), click("2"), click("1")]
    bus.producer().send([Outgoing(READER_CLICKS.name, "a", one.encode(), 0) for one in sent])
    records = bus.records(READER_CLICKS.name)
    work = ClickWork(bus, store, SystemClock())
    work.handle(records[:2])
    work.handle(records[2:])
    assert (counted(work), work.clicks) == (2, 2)
    fresh = ClickWork(bus, store, SystemClock())
    fresh.handle(records[-1:])
    assert counted(fresh) == 2, "the same after reading back"
    work.close()
    fresh.close()


def test_trends_go_on_without_the_partial_that_cannot_be_summed(bus, store, monkeypatch):
    import streaming.trends.merge as module

    inner = module.roll_up

    def roll_up(rows: Any) -> Any:
        rows = list(rows)
        if any(row[0] == "bad" for row in rows):
            raise ZeroDivisionError("no code foresaw this")
        return inner(rows)

    monkeypatch.setattr(module, "roll_up", roll_up)
    end = time.time()
    parts = [
        TrendPartial(partition=number, window_end=end, rows=[(name, "s", "p", "en-GB", 1, 4)])
        for number, name in enumerate(("good", "bad", "fine"))
    ]
    bus.producer().send([Outgoing(TRENDS_PARTIALS.name, "k", part.encode(), 0) for part in parts])
    work = MergeWork(store, SystemClock())
    run(bus, TRENDS_PARTIALS.name, work, 3)
    assert letters(bus) == [(1, "cannot-handle")]
    assert work._partials.keys() == {0, 2}


def test_poll_requests_are_served_after_one_that_breaks():
    bus, stop, asked = MemoryBus(), threading.Event(), []

    class Rows:
        def boost(self, feed_id: str, *_: object, **__: object) -> bool:
            asked.append(feed_id)
            if feed_id == "bad":
                raise ZeroDivisionError("no code foresaw this")
            return True

    requests = [
        PollRequest(request_id=feed, feed_id=feed, why="spike", boost_until=None, at=NOW) for feed in ("bad", "good")
    ]
    bus.producer().send([Outgoing(POLL_REQUESTS.name, "k", request.encode(), 0) for request in requests])
    serving = threading.Thread(target=serve_requests, args=(bus, Rows(), SystemClock(), stop))
    serving.start()
    deadline = time.monotonic() + 20
    while sum(bus.committed("poller-requests", POLL_REQUESTS.name).values()) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    stop.set()
    serving.join(20)
    assert asked == ["bad", "good"]
    assert letters(bus) == [(0, "cannot-handle")]
    assert json.loads(bus.records(ITEMS_DEAD.name)[0].value or b"{}")["detail"].startswith("ZeroDivisionError")
