"""The replay's clock over a real store: all processes agree, also on the moment at which a stretch ends."""

from __future__ import annotations

import time

import redis

from frontpage.adapters.clock import ReplayClock, real_left, set_clock


def test_real_time_without_a_row(valkey: str) -> None:
    clock = ReplayClock(redis.Redis.from_url(valkey))
    assert abs(clock.now() - time.time()) < 1.0
    assert clock.real_seconds(60.0) == 60.0


def test_follows_a_change_of_speed(valkey: str) -> None:
    store = redis.Redis.from_url(valkey)
    clock = ReplayClock(store, refresh=0.0)
    set_clock(store, virtual=1_000.0, speed=100.0)
    assert clock.real_seconds(50.0) == 0.5
    began = time.time()
    time.sleep(0.2)
    elapsed = time.time() - began
    assert abs(clock.now() - (1_000.0 + 100.0 * elapsed)) < 5.0
    set_clock(store, virtual=5_000.0, speed=1.0)
    assert 5_000.0 <= clock.now() < 5_001.0


def test_an_accelerated_stretch_ends_at_its_time_without_asking_again(valkey: str) -> None:
    store = redis.Redis.from_url(valkey)
    set_clock(store, virtual=1_000.0, speed=3_600.0, until=1_720.0)
    clock = ReplayClock(store, refresh=3_600.0)
    clock.now()
    store.flushall()  # it is not asked again
    time.sleep(0.5)
    assert 1_720.0 < clock.now() < 1_721.5, "real time from its end on, and never beyond it"
    assert clock.real_seconds(60.0) == 60.0
    set_clock(store, virtual=2_000.0, speed=10.0)
    assert store.hget("clock", "until") is None, "a stretch's end does not outlive it"


def test_what_is_left_to_wait_follows_the_speed(valkey: str) -> None:
    store = redis.Redis.from_url(valkey)
    clock = ReplayClock(store, refresh=0.0)
    set_clock(store, virtual=1_000.0, speed=1.0)
    assert 55.0 < real_left(clock, 1_000.0, 60.0) <= 60.0
    set_clock(store, virtual=1_000.0, speed=20.0)
    assert 2.0 < real_left(clock, 1_000.0, 60.0) <= 3.0, "a replay that sped up meanwhile waits no minute"
    set_clock(store, virtual=1_100.0, speed=20.0)
    assert real_left(clock, 1_000.0, 60.0) == 0.0
    set_clock(store, virtual=500.0, speed=1.0)
    assert real_left(clock, 1_000.0, 60.0) == 0.0, "a clock that was set back owes nothing"
