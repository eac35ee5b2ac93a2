"""Everything that the routes share, built once by `main.py` or a test and carried on `app.state.serving`."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass

import redis
from fastapi import Request

from frontpage.adapters.bus import Bus, Producer
from frontpage.adapters.clock import Clock
from frontpage.domain.tokens import KeyRing
from serving.auth import Authority
from serving.for_you import ROOM, ForYou
from serving.limits import RateLimiter
from serving.metrics import Metrics
from serving.model import ModelHolder
from serving.pages_memory import PageMemory
from serving.readers import Readers
from serving.sending import EventSender
from serving.sheets import Sheets
from serving.stories import StoryShelf


@dataclass(frozen=True)
class Options:
    """What the settings decide. `base` is the public address; `rate` 0 means no limit."""

    token_keys: str
    jwt_secret: str
    base: str = "http://127.0.0.1:8080"
    rate: float = 100.0
    burst: int = 400
    trusted_proxies: frozenset[str] = frozenset()
    development: bool = False


@dataclass
class Serving:
    """The parts of one serving process."""

    options: Options
    store: redis.Redis
    clock: Clock
    ring: KeyRing
    metrics: Metrics
    sheets: Sheets
    memory: PageMemory
    shelf: StoryShelf
    sender: EventSender
    readers: Readers
    model: ModelHolder
    for_you: ForYou
    authority: Authority
    limiter: RateLimiter
    #: for the operations pages; None where they are not served
    bus: Bus | None = None

    @classmethod
    def build(
        cls, options: Options, *, store: redis.Redis, slow_store: redis.Redis, clock: Clock,
        connect: Callable[[], Producer], bus: Bus | None = None,
    ) -> Serving:  # fmt: skip
        """`store` has short time-outs (requests), `slow_store` long ones (followers). Nothing connects yet."""
        ring = KeyRing.parse(options.token_keys)
        metrics = Metrics()
        sheets = Sheets(options.base.rstrip("/"))
        memory = PageMemory(slow_store, clock, ring, sheets, metrics)
        sender = EventSender(connect, metrics)
        readers = Readers(store, clock, sender)
        model = ModelHolder(slow_store, metrics)
        room = asyncio.Semaphore(ROOM)
        for_you = ForYou(store, clock, ring, memory, readers, model, sender, metrics, room)
        return cls(
            options, store, clock, ring, metrics, sheets, memory, StoryShelf(store, memory), sender, readers, model,
            for_you, Authority(options.jwt_secret, ring), RateLimiter(options.rate, options.burst), bus,
        )  # fmt: skip

    def follow(self, stop: threading.Event, beat: Callable[[], None] = lambda: None) -> list[threading.Thread]:
        """Start the followers of pages and models and the event sender; they end with `stop`."""

        def models() -> None:
            while not stop.is_set():
                try:
                    self.model.refresh()
                except redis.RedisError:
                    self.metrics.page_errors.labels("model-redis").inc()
                beat()
                stop.wait(5.0)

        threads = [
            threading.Thread(target=self.memory.follow, args=(stop,), name="pages", daemon=True),
            threading.Thread(target=models, name="models", daemon=True),
        ]
        for thread in threads:
            thread.start()
        self.sender.start()
        return threads


def serving_of(request: Request) -> Serving:
    """Dependency: the parts of this process."""
    serving: Serving = request.app.state.serving
    return serving
