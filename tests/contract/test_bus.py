"""One list of checks over the bus and its in-memory twin: what a process may rely on, whichever it runs on."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from fakes.bus import MemoryBus

from frontpage.adapters.bus import Bus, Consumer, Outgoing, Record
from frontpage.adapters.kafka_bus import KafkaBus
from frontpage.errors import Fenced, ServiceUnavailable


@dataclass
class Harness:
    bus: Bus
    topic: Callable[[int], str]
    lose: Callable[[Any], None]
    """Makes a group member lose its partitions as a worker does that is slower than the poll interval."""


@pytest.fixture(params=["memory", "kafka"])
def harness(request: pytest.FixtureRequest) -> Iterator[Harness]:
    if request.param == "memory":
        bus = MemoryBus()

        def topic(partitions: int) -> str:
            name = f"test.{uuid.uuid4().hex[:12]}"
            bus._partitions[name] = partitions
            return name

        yield Harness(bus, topic, bus.expel)
    else:
        bootstrap = request.getfixturevalue("kafka")
        make = request.getfixturevalue("make_topic")
        # Kafka wants 6 s at least between polls here; the worker "works" for longer than that.
        yield Harness(KafkaBus(bootstrap, max_poll_interval=2.0), make, lambda _: time.sleep(4.0))


def group() -> str:
    return f"g-{uuid.uuid4().hex[:8]}"


def poll_until(consumer: Consumer, count: int, seconds: float = 20.0) -> list[Record]:
    """Poll until `count` records came (fails when they do not), and once more for surplus."""
    records: list[Record] = []
    deadline = time.monotonic() + seconds
    while len(records) < count:
        assert time.monotonic() < deadline, f"{len(records)} of {count} records in {seconds} s"
        records += consumer.poll(100, 0.2)
    return records + consumer.poll(100, 0.3)


def drain(consumer: Consumer, seconds: float = 3.0) -> list[Record]:
    records: list[Record] = []
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        records += consumer.poll(100, 0.2)
    return records


def values(records: list[Record]) -> list[bytes | None]:
    return [record.value for record in records]


def send(harness: Harness, topic: str, *values: bytes | None, key: str = "k", partition: int | None = 0) -> None:
    producer = harness.bus.producer()
    producer.send([Outgoing(topic, key, value, partition) for value in values])
    producer.close()


def test_hands_out_bytes_keys_and_tombstones_in_order(harness: Harness) -> None:
    topic = harness.topic(1)
    send(harness, topic, b"\xff\xfe not json", None, "\u00e9".encode())
    consumer = harness.bus.consumer(group(), [topic])
    records = poll_until(consumer, 3)
    consumer.close()
    assert values(records) == [b"\xff\xfe not json", None, "\u00e9".encode()]
    assert [(r.topic, r.partition, r.offset, r.key) for r in records] == [(topic, 0, n, "k") for n in range(3)]
    assert all(abs(record.timestamp - time.time()) < 120 for record in records)


def test_keys_decide_the_partition_alike(harness: Harness) -> None:
    topic = harness.topic(4)
    # hashes that the Java client's own tests pin (positive part, modulo 4)
    expected = {
        "21": (-973932308 & 0x7FFFFFFF) % 4,
        "foobar": (-790332482 & 0x7FFFFFFF) % 4,
        "a-little-bit-long-string": (-985981536 & 0x7FFFFFFF) % 4,
        "a-little-bit-longer-string": (-1486304829 & 0x7FFFFFFF) % 4,
        "abc": 479470107 % 4,
    }
    producer = harness.bus.producer()
    producer.send([Outgoing(topic, key, b"v") for key in expected])
    producer.close()
    consumer = harness.bus.consumer(group(), [topic])
    placed = {record.key: record.partition for record in poll_until(consumer, len(expected))}
    consumer.close()
    assert placed == expected


def test_poll_never_moves_the_committed_offset(harness: Harness) -> None:
    topic, name = harness.topic(1), group()
    send(harness, topic, b"a", b"b")
    first = harness.bus.consumer(name, [topic])
    assert len(poll_until(first, 2)) == 2
    first.close()
    assert harness.bus.committed(name, topic) == {}
    second = harness.bus.consumer(name, [topic])
    assert values(poll_until(second, 2)) == [b"a", b"b"]
    assert second.commit() is True
    second.close()
    assert harness.bus.committed(name, topic) == {0: 2}


def test_seek_to_committed_hands_out_the_batch_again(harness: Harness) -> None:
    topic = harness.topic(1)
    send(harness, topic, b"a", b"b", b"c")
    consumer = harness.bus.consumer(group(), [topic])
    assert len(poll_until(consumer, 3)) == 3
    consumer.seek_to_committed()
    assert values(poll_until(consumer, 3)) == [b"a", b"b", b"c"]
    assert consumer.commit()
    send(harness, topic, b"d")
    assert values(poll_until(consumer, 1)) == [b"d"]
    consumer.seek_to_committed()
    assert values(poll_until(consumer, 1)) == [b"d"]
    consumer.close()


def test_latest_starts_at_the_end_and_goes_back_no_further(harness: Harness) -> None:
    topic = harness.topic(1)
    send(harness, topic, b"old")
    consumer = harness.bus.consumer(group(), [topic], partitions=[0], start="latest")
    assert drain(consumer, 1.5) == []
    send(harness, topic, b"new")
    assert values(poll_until(consumer, 1)) == [b"new"]
    consumer.seek_to_committed()
    assert values(poll_until(consumer, 1)) == [b"new"]
    consumer.close()


def test_given_partitions_are_read_alone_and_commit_under_the_group(harness: Harness) -> None:
    topic, name = harness.topic(3), group()
    for partition in range(3):
        send(harness, topic, b"%d" % partition, partition=partition)
    consumer = harness.bus.consumer(name, [topic], partitions=[0, 2])
    assert sorted(values(poll_until(consumer, 2))) == [b"0", b"2"]
    assert consumer.assignment() == {(topic, 0), (topic, 2)}
    assert consumer.commit()
    consumer.close()
    assert harness.bus.committed(name, topic) == {0: 1, 2: 1}


def test_seek_and_position(harness: Harness) -> None:
    topic = harness.topic(1)
    send(harness, topic, b"a", b"b", b"c")
    consumer = harness.bus.consumer(group(), [topic], partitions=[0])
    consumer.seek((topic, 0), 2)
    assert consumer.position((topic, 0)) == 2
    assert values(poll_until(consumer, 1)) == [b"c"]
    assert consumer.position((topic, 0)) == 3
    assert consumer.lag() == {(topic, 0): 0}
    consumer.close()


def test_two_members_share_the_partitions(harness: Harness) -> None:
    topic, name = harness.topic(4), group()
    shares: dict[int, set[tuple[str, int]]] = {}
    done = threading.Event()

    def member(number: int) -> None:
        consumer = harness.bus.consumer(name, [topic])
        while not done.is_set():
            consumer.poll(10, 0.2)
            shares[number] = consumer.assignment()
        consumer.close()

    threads = [threading.Thread(target=member, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + 20
    while [len(share) for share in shares.values()] != [2, 2] and time.monotonic() < deadline:
        time.sleep(0.1)
    found = dict(shares)
    done.set()
    for thread in threads:
        thread.join()
    assert found[0] | found[1] == {(topic, n) for n in range(4)}
    assert not found[0] & found[1]


def test_records_and_offsets_become_visible_together(harness: Harness) -> None:
    source, target, name = harness.topic(1), harness.topic(1), group()
    send(harness, source, b"a", b"b")
    consumer = harness.bus.consumer(name, [source])
    producer = harness.bus.transactional(f"tx-{name}")
    poll_until(consumer, 2)
    producer.transact([Outgoing(target, "k", b"A", 0), Outgoing(target, "k", b"B", 0)], consumer)
    assert harness.bus.committed(name, source) == {0: 2}
    reader = harness.bus.consumer(group(), [target])
    assert values(poll_until(reader, 2)) == [b"A", b"B"]
    for closing in (consumer, producer, reader):
        closing.close()


def test_a_position_skips_transaction_markers(harness: Harness) -> None:
    topic, name = harness.topic(1), group()
    producer = harness.bus.transactional(f"tx-{name}")
    for value in (b"a", b"b"):
        producer.transact([Outgoing(topic, "k", value, 0)], None)
    producer.close()
    ends = harness.bus.end_offsets(topic)
    assert ends == {0: 4}, "two records and two markers"
    consumer = harness.bus.consumer(name, [topic], partitions=[0])
    records = poll_until(consumer, 2)
    assert [record.offset for record in records] == [0, 2]
    assert consumer.position((topic, 0)) == ends[0]
    assert consumer.lag() == {(topic, 0): 0}
    consumer.close()
    assert [r.offset for r in harness.bus.read(topic, 0, 1, 4)] == [2]


def test_read_hands_out_a_range_without_a_group(harness: Harness) -> None:
    topic = harness.topic(2)
    send(harness, topic, b"a", b"b", b"c", b"d", partition=1)
    assert values(list(harness.bus.read(topic, 1, 1, 3))) == [b"b", b"c"]
    assert values(list(harness.bus.read(topic, 1, 2, 99))) == [b"c", b"d"]
    assert list(harness.bus.read(topic, 0, 0, 99)) == []


def test_a_newer_producer_fences_the_older(harness: Harness) -> None:
    topic, name = harness.topic(1), group()
    older = harness.bus.transactional(f"tx-{name}")
    older.transact([Outgoing(topic, "k", b"first", 0)], None)
    newer = harness.bus.transactional(f"tx-{name}")
    for _ in range(2):
        with pytest.raises(Fenced):
            older.transact([Outgoing(topic, "k", b"late", 0)], None)
    newer.transact([Outgoing(topic, "k", b"second", 0)], None)
    older.close()
    newer.close()
    end = harness.bus.end_offsets(topic)[0]
    assert values(list(harness.bus.read(topic, 0, 0, end))) == [b"first", b"second"]


def test_a_late_commit_is_refused_and_the_batch_goes_elsewhere(harness: Harness) -> None:
    topic, name = harness.topic(1), group()
    send(harness, topic, b"a", b"b")
    slow = harness.bus.consumer(name, [topic])
    assert len(poll_until(slow, 2)) == 2
    harness.lose(slow)
    other = harness.bus.consumer(name, [topic])
    assert values(poll_until(other, 2)) == [b"a", b"b"]
    assert slow.commit() is False
    assert harness.bus.committed(name, topic) == {}
    assert other.commit() is True
    other.close()
    assert drain(slow) == [], "what the other has committed is not read again"
    send(harness, topic, b"c")
    assert values(poll_until(slow, 1)) == [b"c"], "and it has joined again"
    slow.close()
    assert harness.bus.committed(name, topic) == {0: 2}


def test_a_late_transaction_is_aborted_whole(harness: Harness) -> None:
    source, target, name = harness.topic(1), harness.topic(1), group()
    send(harness, source, b"a")
    slow = harness.bus.consumer(name, [source])
    producer = harness.bus.transactional(f"tx-{name}-slow")
    poll_until(slow, 1)
    harness.lose(slow)
    other = harness.bus.consumer(name, [source])
    poll_until(other, 1)
    with pytest.raises(ServiceUnavailable):
        producer.transact([Outgoing(target, "k", b"from the slow one", 0)], slow)
    slow.seek_to_committed()
    second = harness.bus.transactional(f"tx-{name}-other")
    second.transact([Outgoing(target, "k", b"from the other", 0)], other)
    producer.transact([Outgoing(target, "k", b"later", 0)], None)
    end = harness.bus.end_offsets(target)[0]
    assert values(list(harness.bus.read(target, 0, 0, end))) == [b"from the other", b"later"]
    assert harness.bus.committed(name, source) == {0: 1}
    for closing in (slow, other, producer, second):
        closing.close()
