"""The writer over the in-memory bus: whatever is repeated, aborted or broken, each article is assigned once."""

from __future__ import annotations

import threading
from collections import Counter

import pytest
from fakes.bus import MemoryBus
from fakes.speed import NOW, EventClusterer, article

from frontpage.adapters.bus import Outgoing
from frontpage.contracts.events import ArticleEvent, DeadLetter, StoryChange
from frontpage.contracts.topics import ARTICLES, ITEMS_DEAD, STORY_CHANGES
from frontpage.domain.story import StoryBook
from frontpage.errors import Fenced, ServiceUnavailable
from streaming.cluster.rebuild import rebuild
from streaming.cluster.writer import Tenures


class StillClock:
    def __init__(self, now: float = NOW) -> None:
        self.value = now

    def now(self) -> float:
        return self.value

    def real_seconds(self, virtual_seconds: float) -> float:
        return virtual_seconds


def send(bus: MemoryBus, *events: ArticleEvent | bytes) -> None:
    values = [event if isinstance(event, bytes) else event.encode() for event in events]
    bus.producer().send([Outgoing(ARTICLES.name, "en", value, 0) for value in values])


def changes(bus: MemoryBus) -> list[StoryChange]:
    found = [StoryChange.decode(record.value) for record in bus.records(STORY_CHANGES.name)]
    return [change for change in found if change is not None]


def serve(
    bus: MemoryBus,
    clock: StillClock,
    *,
    until_sequence: int | None = None,
    fail_on: set[str] | None = None,
    turns: int = 4,
) -> None:
    """One tenure until the given number of turns of the loop have gone by."""
    stop = threading.Event()
    count = 0

    def mind(book: StoryBook, partition: int) -> EventClusterer:
        made = EventClusterer(book, partition)
        made.fail_on = fail_on or set()
        return made

    def beat(partition: int, book: StoryBook) -> None:
        nonlocal count
        count += 1
        if count >= turns:
            stop.set()

    Tenures(bus, clock, 0, minds=mind, repair_interval=600, beat=beat).serve(lambda: None, stop)


@pytest.fixture
def bus() -> MemoryBus:
    return MemoryBus()


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streaming.cluster.writer.POLL", 0.01)


def test_articles_become_changes_in_a_gap_free_order(bus: MemoryBus):
    send(bus, article("1", event="quake"), article("2", event="vote"), article("3", event="quake", publisher="pub-b"))
    serve(bus, StillClock())
    made = changes(bus)
    assert [change.kind for change in made] == ["create", "create", "assign"]
    assert [change.sequence for change in made] == [1, 2, 3]
    assert made[0].story_id == made[2].story_id != made[1].story_id
    assert made[2].trace["clustered"] == NOW


def test_a_repeated_article_and_an_older_version_change_nothing(bus: MemoryBus):
    first, second = (
        article("1", event="quake"),
        article("1", event="quake", version=2, title="Quake: corrected headline"),
    )
    send(bus, first, first, second, second, first)
    serve(bus, StillClock())
    assert [change.kind for change in changes(bus)] == ["create", "update"]


def test_the_next_tenure_goes_on_where_the_log_ends(bus: MemoryBus):
    clock = StillClock()
    send(bus, article("1", event="quake"))
    serve(bus, clock)
    send(bus, article("2", event="quake", publisher="pub-b"), article("1", event="quake"))
    serve(bus, clock)
    made = changes(bus)
    assert [(change.kind, change.sequence) for change in made] == [("create", 1), ("assign", 2)]
    assert made[0].story_id == made[1].story_id
    assert rebuild(bus, 0).sequence == 2


def test_an_aborted_transaction_leaves_no_trace(bus: MemoryBus):
    """The book of the failed tenure is thrown away: the same article is decided again, once in the log."""
    clock = StillClock()
    send(bus, article("1", event="quake"), article("2", event="quake", publisher="pub-b"))
    bus.abort_next = 1
    with pytest.raises(ServiceUnavailable):
        serve(bus, clock)
    assert changes(bus) == []
    serve(bus, clock)
    assert Counter(change.article.article_id for change in changes(bus) if change.article) == Counter(
        {
            article("1", event="quake").card.article_id: 1,
            article("2", event="quake", publisher="pub-b").card.article_id: 1,
        }
    )


def test_poison_is_dead_lettered_once_and_its_neighbours_live(bus: MemoryBus):
    broken = article("2", event="vote", title="A title that nobody can compare")
    unreadable = b'{"schema": {"name": "articles.normalised", "version": 99}}'
    send(bus, article("1", event="quake"), unreadable, broken, article("3", event="quake", publisher="pub-b"))
    serve(bus, StillClock(), fail_on={broken.card.title})
    serve(bus, StillClock(), fail_on={broken.card.title})
    letters = [DeadLetter.decode(record.value) for record in bus.records(ITEMS_DEAD.name)]
    assert [letter.cause for letter in letters if letter] == ["unknown-version", "cannot-decide"]
    assert [change.kind for change in changes(bus)] == ["create", "assign"]


def test_a_story_is_closed_when_it_left_the_window(bus: MemoryBus):
    clock = StillClock()
    send(bus, article("1", event="quake"))
    serve(bus, clock)
    stop, turns = threading.Event(), 0

    def beat(partition: int, book: StoryBook) -> None:
        nonlocal turns
        turns += 1
        clock.value = NOW + 49 * 3600
        if turns == 3:
            stop.set()

    Tenures(bus, clock, 0, minds=EventClusterer, repair_interval=600, beat=beat).serve(lambda: None, stop)
    assert [change.kind for change in changes(bus)] == ["create", "close"]
    assert rebuild(bus, 0).stories == {}
    send(bus, article("1", event="quake"))
    serve(bus, clock)
    assert len(changes(bus)) == 2, "a late repeat of its article starts no story"


def test_a_correction_to_an_article_whose_story_is_gone_starts_no_story(bus: MemoryBus):
    clock = StillClock(NOW + 60 * 3600)
    send(bus, article("1", event="quake", version=3))
    serve(bus, clock)
    assert changes(bus) == []


def test_a_zombie_is_fenced_and_writes_nothing(bus: MemoryBus):
    """A writer that stalls between deciding and committing finds that the next one has its id."""
    clock = StillClock()
    send(bus, article("1", event="quake"))

    def stall() -> None:
        if not stall.done:  # type: ignore[attr-defined]
            stall.done = True  # type: ignore[attr-defined]
            serve(bus, clock)  # the standby takes over, decides and commits

    stall.done = False  # type: ignore[attr-defined]
    with pytest.raises(Fenced):
        Tenures(bus, clock, 0, minds=EventClusterer, repair_interval=600).serve(stall, threading.Event())
    assert [change.kind for change in changes(bus)] == ["create"]


def test_a_lost_lease_stops_before_writing(bus: MemoryBus):
    send(bus, article("1", event="quake"))

    def lost() -> None:
        raise Fenced("the lease was lost")

    with pytest.raises(Fenced):
        Tenures(bus, StillClock(), 0, minds=EventClusterer, repair_interval=600).serve(lost, threading.Event())
    assert changes(bus) == []
