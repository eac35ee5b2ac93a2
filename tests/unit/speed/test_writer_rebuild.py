"""A writer's book comes back as it was lived: from snapshot and log, from log alone, and from Delta where the log ends."""

from __future__ import annotations

import copy
import datetime as dt
import threading
import time
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from fakes.bus import MemoryBus
from fakes.speed import NOW, EventClusterer, article
from fakes.stories import policy

from frontpage.adapters.bus import Outgoing
from frontpage.adapters.lake import Lake
from frontpage.contracts.snapshots import PART, SnapshotPart, encode_parts, freeze, thaw
from frontpage.contracts.story_codec import article_signals, to_event, to_signals
from frontpage.contracts.tables import BRONZE
from frontpage.contracts.topics import ARTICLES, STORY_CHANGES, STORY_SNAPSHOTS
from frontpage.domain.clustering import Clusterer
from frontpage.domain.story import StoryBook
from streaming.cluster.rebuild import Follower, archive_of, rebuild
from streaming.cluster.store import row_of
from streaming.cluster.writer import Tenures

NEVER = 10**9


class StillClock:
    def now(self) -> float:
        return NOW

    def real_seconds(self, virtual_seconds: float) -> float:
        return virtual_seconds


def state(book: StoryBook) -> object:
    """All of a book, comparable."""
    stories = [
        (
            row_of(story),
            (story.sources, story.coverage, story.repaired_at, story.created_at, story.updated_at),
            [(name, to_signals(member.article)) for name, member in story.members.items()],
        )
        for story in book.stories.values()
    ]
    return copy.deepcopy((stories, book.aliases, book.story_of, book.departed, book.sequence))


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streaming.cluster.writer.POLL", 0.01)


@pytest.fixture
def bus() -> MemoryBus:
    return MemoryBus()


def live(bus: MemoryBus, start: int, count: int, *, every: int = NEVER, archive=None) -> StoryBook:
    """A tenure over `count` more articles of five events, one transaction each, with reprints and a correction."""
    for number in range(start, start + count):
        title = f"Reprint {number}" if number % 4 == 3 else None
        made = article(f"{number}", event=f"event{number % 5}", publisher=f"pub-{number % 7}", title=title)
        bus.producer().send([Outgoing(ARTICLES.name, "en", made.encode(), 0)])
    again = article(f"{start}", event=f"event{start % 5}", publisher=f"pub-{start % 7}", version=2, title="Corrected")
    bus.producer().send([Outgoing(ARTICLES.name, "en", again.encode(), 0)])
    stop, turns, kept = threading.Event(), 0, []

    def beat(partition: int, book: StoryBook) -> None:
        nonlocal turns
        turns, kept[:] = turns + 1, [book]
        if turns == count + 8:
            stop.set()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("streaming.cluster.writer.BATCH", 1)
        Tenures(
            bus, StillClock(), 0, minds=EventClusterer, repair_interval=600, beat=beat, snapshot_every=every,
            archive=archive,
        ).serve(lambda: None, stop)  # fmt: skip
    return kept[0]


def forget_changes(bus: MemoryBus, records: int) -> list[tuple[int, bytes]]:
    """Retention takes the first `records` changes; what they were, by offset."""
    found = [(r.offset, r.value) for r in bus.records(STORY_CHANGES.name) if r.value is not None]
    bus.forget(STORY_CHANGES.name, 0, found[records][0] if records < len(found) else found[-1][0] + 1)
    return found


def bronze(folder: Path, rows: list[tuple[int, bytes]]) -> Lake:
    """A lake whose bronze table has the records, the newest first, and one that is refused and one of long ago."""
    lake, today = Lake(str(folder)), dt.datetime.now(dt.UTC).date()
    offsets, values = [offset for offset, _ in rows][::-1], [value for _, value in rows][::-1]
    table = {
        "partition": [0] * (len(rows) + 2), "offset": [*offsets, 9_998, 9_999], "value": [*values, b"{", b"old"],
        "cause": [None] * len(rows) + ["not-json", None],
        "day": [today] * (len(rows) + 1) + [today - dt.timedelta(days=300)],
    }  # fmt: skip
    schema = pa.schema(
        [("partition", pa.int32()), ("offset", pa.int64()), ("value", pa.binary()), ("cause", pa.string()),
         ("day", pa.date32())]
    )  # fmt: skip
    write_deltalake(lake.path(BRONZE["story_changes"][0]), pa.table(table, schema=schema))
    return lake


def test_a_snapshot_and_the_log_after_it_give_the_lived_book(bus: MemoryBus):
    lived = live(bus, 0, 12, every=10)
    assert len(bus.records(STORY_SNAPSHOTS.name)) == 1
    lived = live(bus, 12, 4)
    follower = Follower(bus, 0)
    assert state(follower.catch_up()) == state(lived)
    assert 0 < follower.snapshot[0] < lived.sequence


def test_a_start_reads_no_more_of_the_log_than_the_snapshot_leaves(bus: MemoryBus):
    lived = live(bus, 0, 12, every=10)
    forget_changes(bus, 10)
    assert state(rebuild(bus, 0)) == state(lived)
    assert live(bus, 12, 1).sequence == lived.sequence + 2, "the next tenure goes on"


def test_a_quiet_partition_is_saved_once_a_day_however_often_its_writer_starts(bus: MemoryBus, monkeypatch):
    live(bus, 0, 2)
    assert bus.records(STORY_SNAPSHOTS.name) == []
    began = time.time()
    monkeypatch.setattr("streaming.cluster.snapshots.time.time", lambda: began + 86_401)
    live(bus, 2, 2)
    live(bus, 4, 2)
    assert len(bus.records(STORY_SNAPSHOTS.name)) == 1


@pytest.mark.parametrize("harm", ["broken off", "damaged", "of another kind"])
def test_a_snapshot_that_cannot_be_used_is_as_good_as_none(bus: MemoryBus, harm: str):
    lived = live(bus, 0, 8)
    head = SnapshotPart(snapshot_id="x", sequence=lived.sequence, offset=99, part=0, at=NOW)
    values = list(encode_parts(freeze(lived), head, size=2_000))
    assert len(values) > 2
    values = {
        "broken off": values[:-1],
        "damaged": [value.replace(b'"in"', b'"on"') for value in values],
        "of another kind": [b"{}", *values[1:]],
    }[harm]
    bus.producer().send([Outgoing(STORY_SNAPSHOTS.name, None, value, 0) for value in values])
    assert state(rebuild(bus, 0)) == state(lived)


def test_a_snapshot_is_found_behind_one_that_was_broken_off(bus: MemoryBus):
    lived = live(bus, 0, 8)
    whole, broken = (
        list(encode_parts(freeze(lived), SnapshotPart(snapshot_id=id, sequence=lived.sequence, offset=16, part=0, at=NOW), size=500))
        for id in ("whole", "broken")
    )  # fmt: skip
    values = [*whole, *broken[:-1] * 3]
    bus.producer().send([Outgoing(STORY_SNAPSHOTS.name, None, value, 0) for value in values])
    follower = Follower(bus, 0)
    assert state(follower.catch_up()) == state(lived)
    assert follower.snapshot[0] == lived.sequence


def test_parts_fit_into_records_and_join_to_the_same_book(bus: MemoryBus):
    lived = live(bus, 0, 10)
    lived.aliases |= {f"old{n}": next(iter(lived.stories)) for n in range(30_000)}
    lived.departed |= {f"gone{n}": NOW for n in range(30_000)}
    head = SnapshotPart(snapshot_id="x", sequence=lived.sequence, offset=0, part=0, at=NOW)
    values = list(encode_parts(freeze(lived), head))
    assert len(values) > 3
    assert max(map(len, values)) < 1.5 * PART
    parts = [SnapshotPart.decode(value) for value in values]
    assert [part.parts for part in parts if part][-1] == len(values)
    assert state(thaw(part for part in parts if part)) == state(lived)


def test_a_snapshot_says_what_was_when_it_began(bus: MemoryBus):
    lived = live(bus, 0, 10)
    before = state(lived)
    parts = encode_parts(freeze(lived), SnapshotPart(snapshot_id="x", sequence=lived.sequence, offset=0, part=0, at=NOW), 500)  # fmt: skip
    values = [next(parts)]
    live_on = EventClusterer(lived, 0)
    change = live_on.change(
        "move", "fresh", "en", NOW, source=("t", 0, 0), ordinal=0, moved=(next(iter(lived.story_of)),)
    )
    lived.apply(change)
    values += parts
    found = [SnapshotPart.decode(value) for value in values]
    assert state(thaw(part for part in found if part)) == before != state(lived)


@pytest.mark.parametrize("kept", [1, 6, 0])
def test_where_the_log_is_too_short_delta_has_the_beginning(bus: MemoryBus, tmp_path: Path, kept: int):
    lived = live(bus, 0, 10)
    records = forget_changes(bus, 11 - kept)
    archive = archive_of(bronze(tmp_path, records[: 11 - kept + 2]))
    assert state(rebuild(bus, 0)) != state(lived)
    assert state(rebuild(bus, 0, archive)) == state(lived)
    after = live(bus, 10, 2, archive=archive)
    assert after.sequence == lived.sequence + 3
    assert set(lived.stories) <= set(after.stories)


def test_delta_fills_what_lies_between_an_old_snapshot_and_a_short_log(bus: MemoryBus, tmp_path: Path):
    live(bus, 0, 12, every=10)
    lived = live(bus, 12, 8)
    records = forget_changes(bus, 18)
    assert state(rebuild(bus, 0, archive_of(bronze(tmp_path, records)))) == state(lived)


def test_without_a_table_there_is_nothing_to_read(tmp_path: Path):
    assert list(archive_of(Lake(str(tmp_path)))(0)) == []


def test_a_standby_has_its_indexes_ready_and_decides_as_the_one_before(bus: MemoryBus):
    """Fed by the log, its clusterer is as far as the one that decided; one made anew over the book agrees."""
    sent = [
        article(f"{n}", event=f"event{n % 3}", publisher=f"pub-{n}", title=f"Event{n % 3} event{n % 3}alpha report")
        for n in range(9)
    ]
    lived = Clusterer(policy, StoryBook())
    follower = Follower(bus, 0, minds=lambda book, partition: Clusterer(policy, book, partition=partition))
    made = []
    for number, event in enumerate(sent):
        made += lived.decide(article_signals(event), NOW + number, ("t", 0, number), event.card)
    made += lived.repair(NOW + 60, ("r", 0, 0))
    for number, change in enumerate(made):
        bus.producer().send([Outgoing(STORY_CHANGES.name, "en", to_event(change).encode(), 0)])
        if number % 4 == 0:
            follower.stand_by()
    follower.catch_up()
    assert follower.mind is not None
    assert state(follower.book) == state(lived.book)
    assert {change.kind for change in made} >= {"create", "assign"}
    last = article("last", event="event1", publisher="pub-x", title="Event1 event1alpha report")
    (one,), (other,), (third,) = (
        mind.decide(article_signals(last), NOW + 99, ("t", 0, 99), last.card)
        for mind in (lived, follower.mind, Clusterer(policy, rebuild(bus, 0)))
    )
    assert one.kind == "assign"
    assert (one.change_id, one.story_id, one.copy_of) == (other.change_id, other.story_id, other.copy_of)
    assert third.story_id == one.story_id


def test_a_standby_that_fails_begins_anew_after_a_rest(bus: MemoryBus, monkeypatch: pytest.MonkeyPatch):
    lived, calls = live(bus, 0, 3), []

    def minds(book: StoryBook, partition: int) -> EventClusterer:
        calls.append(partition)
        if len(calls) == 1:
            raise MemoryError
        return EventClusterer(book, partition)

    follower = Follower(bus, 0, minds=minds)
    follower.stand_by()
    follower.stand_by()
    assert calls == [0], "not at once"
    monkeypatch.setattr("streaming.cluster.rebuild.time.monotonic", lambda: 1e12)
    follower.stand_by()
    assert state(follower.book) == state(lived)
    assert follower.mind is not None


def test_a_standby_keeps_up_with_the_log_and_takes_over_from_there(bus: MemoryBus):
    follower = Follower(bus, 0)
    for start in (0, 5, 10):
        lived = live(bus, start, 5)
        follower.stand_by()
        follower.stand_by()
        assert state(follower.book) == state(lived)
    bus.forget(STORY_CHANGES.name, 0, follower.offset)  # nothing that it has read is read again
    assert state(follower.catch_up()) == state(lived)
