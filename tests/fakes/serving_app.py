"""A serving process in the test's own process: real Valkey behind it, a list instead of Kafka, a clock that is set."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

import jwt
import redis

from frontpage.adapters.bus import Outgoing
from frontpage.errors import ServiceUnavailable
from serving.state import Options, Serving

NOW = 1_772_452_800.0  # 2026-03-02T12:00:00Z
KEYS = "k1:a-secret-of-the-tests-only"
SECRET = "a-jwt-secret-of-the-tests-only-32-bytes-long"


class SetClock:
    """Stands still until moved; `speed` is that of an accelerated replay."""

    def __init__(self, now: float = NOW, speed: float = 1.0) -> None:
        self.at, self.speed = now, speed

    def now(self) -> float:
        return self.at

    def real_seconds(self, virtual_seconds: float) -> float:
        return virtual_seconds / self.speed


@dataclass
class Collector:
    """A producer that keeps what it is given; `down` makes it refuse like a broker that is away."""

    sent: list[Outgoing] = field(default_factory=list)
    down: bool = False
    arrived: threading.Condition = field(default_factory=threading.Condition)

    def send(self, records: Iterable[Outgoing]) -> None:
        if self.down:
            raise ServiceUnavailable("no broker")
        with self.arrived:
            self.sent.extend(records)
            self.arrived.notify_all()

    def close(self) -> None:
        pass

    def of(self, topic: str, count: int = 1, timeout: float = 5.0) -> list[Outgoing]:
        """Records of a topic, once there are `count` of them (fewer after the time-out)."""
        with self.arrived:
            self.arrived.wait_for(lambda: sum(r.topic == topic for r in self.sent) >= count, timeout)
            return [r for r in self.sent if r.topic == topic]


def make(url: str, *, rate: float = 0.0, burst: int = 1) -> tuple[Serving, Collector, SetClock]:
    """Parts over the Valkey at `url`, with short time-outs like the process's."""
    clock, collector = SetClock(), Collector()
    options = Options(KEYS, SECRET, "https://news.example", rate=rate, burst=burst, development=True)
    quick = redis.Redis.from_url(url, socket_timeout=0.5, socket_connect_timeout=0.5)
    parts = Serving.build(
        options, store=quick, slow_store=redis.Redis.from_url(url), clock=clock, connect=lambda: collector
    )
    return parts, collector, clock


def bearer(user: str) -> dict[str, str]:
    return {"Authorization": "Bearer " + jwt.encode({"sub": user, "exp": time.time() + 3_600}, SECRET, "HS256")}
