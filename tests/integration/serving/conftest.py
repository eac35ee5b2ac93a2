"""One serving app per test over a fresh Valkey with the made-up news day in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
import redis
from fakes.pages import Day, write_arabic
from fakes.serving_app import NOW, Collector, SetClock, make
from fastapi.testclient import TestClient

from serving.app import create_app
from serving.state import Serving


@dataclass
class World:
    client: TestClient
    serving: Serving
    sent: Collector
    clock: SetClock
    store: redis.Redis
    day: Day


@pytest.fixture
def world(valkey: str) -> Iterator[World]:
    store = redis.Redis.from_url(valkey)
    day = Day(store, NOW).write()
    write_arabic(store, NOW)
    serving, sent, clock = make(valkey)
    serving.memory.refresh()
    serving.sender.start()
    with TestClient(create_app(serving), follow_redirects=False) as client:
        yield World(client, serving, sent, clock, store, day)
    serving.sender.close()
