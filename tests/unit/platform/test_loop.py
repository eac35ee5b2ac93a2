"""The loop of the transactional processes over the in-memory bus: what it keeps when things go wrong."""

from __future__ import annotations

import threading
import time

import pytest
from fakes.bus import MemoryBus

from frontpage.adapters.bus import Outgoing, Record
from frontpage.adapters.clock import SystemClock
from frontpage.adapters.loop import DEAD_VALUE_LIMIT, MOST_BROKEN, dead_letter, fault_of, run_transactional
from frontpage.contracts.events import DeadLetter
from frontpage.errors import ConfigurationError, Fenced, ServiceUnavailable, UnknownVersion, UnreadableEvent


class Upper:
    """Answers each record with its value in capitals; fails as often as asked."""

    def __init__(self, failures: int = 0) -> None:
        self.failures = failures
        self.batches: list[list[int]] = []

    def handle(self, records: list[Record]) -> list[Outgoing]:
        self.batches.append([record.offset for record in records])
        if self.failures:
            self.failures -= 1
            raise ServiceUnavailable("the store is away")
        return [Outgoing("out", record.key, (record.value or b"").upper(), 0) for record in records]


def run(bus: MemoryBus, work: Upper, until: int, **more: object) -> None:
    """Run the loop until that many records stand on `out` (at most 10 s)."""
    stop = threading.Event()
    deadline = time.monotonic() + 10

    def watch() -> None:
        with bus._lock:
            while len(bus.records("out")) < until and not stop.is_set() and time.monotonic() < deadline:
                bus._lock.wait(0.05)
        stop.set()

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        run_transactional(
            bus, process="test", group="g", topics=["in"], transactional_id="t", work=work, clock=SystemClock(),
            stop=stop, poll_timeout=0.01, **more,
        )  # type: ignore[arg-type]  # fmt: skip
    finally:
        stop.set()
        watcher.join()


@pytest.fixture
def bus() -> MemoryBus:
    bus = MemoryBus()
    bus.producer().send([Outgoing("in", "k", value) for value in (b"a", b"b")])
    return bus


def test_commits_records_and_offsets_and_then_tells(bus: MemoryBus) -> None:
    told: list[int] = []
    run(bus, Upper(), 2, after_commit=lambda records: told.extend(r.offset for r in records))
    assert [record.value for record in bus.records("out")] == [b"A", b"B"]
    assert bus.committed("g", "in") == {0: 2}
    assert told == [0, 1]


def test_an_aborted_transaction_is_tried_again_and_leaves_one_result(bus: MemoryBus) -> None:
    bus.abort_next = 1
    work, dropped = Upper(), []
    run(bus, work, 2, rollback=lambda: dropped.append(True))
    assert work.batches == [[0, 1], [0, 1]]
    assert dropped == [True]
    assert [record.value for record in bus.records("out")] == [b"A", b"B"]


def test_a_service_that_is_away_loses_nothing(bus: MemoryBus) -> None:
    work = Upper(failures=2)
    run(bus, work, 2)
    assert len(work.batches) == 3
    assert bus.committed("g", "in") == {0: 2}


def test_fenced_ends_the_process_without_another_write(bus: MemoryBus) -> None:
    class Usurped(Upper):
        def handle(self, records: list[Record]) -> list[Outgoing]:
            bus.transactional("t")
            return super().handle(records)

    with pytest.raises(Fenced):
        run(bus, Usurped(), 2)
    assert bus.records("out") == []
    assert bus.committed("g", "in") == {}


def test_idle_runs_every_turn_and_its_records_are_written(bus: MemoryBus) -> None:
    turns = []

    def idle() -> list[Outgoing]:
        turns.append(1)
        return [Outgoing("out", "timer", b"tick", 0)] if len(turns) == 3 else []

    run(bus, Upper(), 3, idle=idle)
    assert [record.value for record in bus.records("out")] == [b"A", b"B", b"tick"]


def test_a_dead_letter_keeps_offset_cause_and_bytes_up_to_its_limit() -> None:
    error = UnreadableEvent("not UTF-8 at byte 0", cause="not-utf8")
    small = dead_letter(Record("in", 1, 7, "k", b"\xff", 0.0), error, "test", at=5.0)
    letter = DeadLetter.decode(small.value)
    assert letter is not None
    assert (small.topic, small.key) == ("items.dead", "k")
    assert (letter.topic, letter.partition, letter.offset, letter.cause, letter.value_b64, letter.at) == (
        "in", 1, 7, "not-utf8", "/w==", 5.0
    )  # fmt: skip
    large = DeadLetter.decode(
        dead_letter(Record("in", 1, 8, None, b"x" * (DEAD_VALUE_LIMIT + 1), 0.0), error, "test", at=5.0).value
    )
    assert large is not None
    assert large.value_b64 is None
    assert str(DEAD_VALUE_LIMIT + 1) in large.detail


class Fragile(Upper):
    """Breaks on a value, in a way that nobody foresaw; keeps what it saw, as works with state do."""

    def __init__(self, poison: set[bytes]) -> None:
        super().__init__()
        self.poison = poison
        self.state: list[int] = []

    def handle(self, records: list[Record]) -> list[Outgoing]:
        for record in records:
            self.state.append(record.offset)
            if record.value in self.poison:
                raise ArithmeticError("no code foresaw this")
        return super().handle(records)


def letters(bus: MemoryBus) -> list[DeadLetter]:
    found = [DeadLetter.decode(record.value) for record in bus.records("items.dead")]
    return [letter for letter in found if letter is not None]


def test_a_record_that_breaks_its_handler_is_dead_lettered_alone() -> None:
    bus = MemoryBus()
    bus.producer().send([Outgoing("in", "k", bytes([letter])) for letter in b"abcde"])
    work, dropped = Fragile({b"c"}), []
    run(bus, work, 4, rollback=lambda: dropped.append(work.state.copy()) or work.state.clear())
    assert sorted(record.value or b"" for record in bus.records("out")) == [b"A", b"B", b"D", b"E"]
    (letter,) = letters(bus)
    assert (letter.topic, letter.offset, letter.cause, letter.value_b64) == ("in", 2, "cannot-handle", "Yw==")
    assert "ArithmeticError: no code foresaw this" in letter.detail
    assert bus.committed("g", "in") == {0: 5}
    assert dropped == [[0, 1, 2], [0, 1, 2]], "the batch, then the record itself: nothing of it stays in the state"
    assert work.state == [3, 4]


def test_after_the_broken_batch_records_are_taken_together_again() -> None:
    bus = MemoryBus()
    bus.producer().send([Outgoing("in", "k", value) for value in (b"a", b"bad")])
    work = Fragile({b"bad"})
    run(bus, work, 1)
    bus.producer().send([Outgoing("in", "k", value) for value in (b"x", b"y", b"z")])
    run(bus, work, 4)
    assert work.batches[-1] == [2, 3, 4]


def test_a_handler_that_breaks_on_everything_ends_the_process_instead_of_its_topic() -> None:
    bus = MemoryBus()
    bus.producer().send([Outgoing("in", "k", b"bad") for _ in range(MOST_BROKEN + 10)])
    with pytest.raises(ArithmeticError):
        run(bus, Fragile({b"bad"}), 1)
    assert len(letters(bus)) == MOST_BROKEN
    assert bus.committed("g", "in") == {0: MOST_BROKEN}


@pytest.mark.parametrize("error", [OSError("disk full"), MemoryError(), ServiceUnavailable("away")])
def test_what_is_not_the_records_fault_is_waited_out(error: Exception) -> None:
    bus = MemoryBus()
    bus.producer().send([Outgoing("in", "k", b"a")])

    class Failing(Upper):
        def handle(self, records: list[Record]) -> list[Outgoing]:
            if not self.batches:
                self.batches.append([])
                raise error
            return super().handle(records)

    run(bus, Failing(), 1)
    assert letters(bus) == []
    assert [record.value for record in bus.records("out")] == [b"A"]


def test_faults_have_one_rule_for_all_loops() -> None:
    record = Record("in", 1, 7, "k", b"x", 0.0)
    foreseen = UnreadableEvent("not UTF-8", cause="not-utf8")
    assert fault_of(record, foreseen) is foreseen
    fault = fault_of(record, UnknownVersion("no such encoder"))
    assert (fault.cause, str(fault)) == ("cannot-handle", "UnknownVersion: no such encoder")
    for error in (Fenced("newer"), ServiceUnavailable("away"), ConfigurationError("wrong")):
        with pytest.raises(type(error)):
            fault_of(record, error)
    with pytest.raises(ServiceUnavailable, match="in/1@7: OSError"):
        fault_of(record, OSError("disk full"))
