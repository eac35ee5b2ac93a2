"""robots.txt for the fetch tier: fetched once a day and host, shared through Redis, read by `parse/robots.py`.

RFC 9309: a missing file (4xx) allows all, a server error or no answer forbids all until it answers; redirects are
followed by the fetch tier like any others. A failed look-up is remembered for a few minutes only and raises a failure
that is retried, never a refusal: the page may be fine tomorrow.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

from frontpage.adapters.parse.robots import RobotsRules, read_robots
from frontpage.adapters.redis_store import store_errors
from frontpage.contracts.views import ROBOTS
from frontpage.errors import FetchError, FetchFailed, FetchRefused, ServiceUnavailable

if TYPE_CHECKING:
    import redis

log = logging.getLogger(__name__)

#: Parsed files kept in this process; beyond it the least recently used is read from Redis again.
KEPT: Final = 5_000
#: Verdicts kept, some 250 bytes each: 200,000 feeds are asked about again and again, and their 50,000 files would not
#: fit in memory.
VERDICTS: Final = 200_000
#: How long this process trusts its own copy when the shared one does not say how old it is (else until a day after the
#: file was fetched, RFC 9309, 2.4), and how long a failure is remembered (real seconds).
KEPT_FOR: Final = 600.0
DAY: Final = 86_400.0
FAILED_FOR: Final = 120

#: Fetches `origin + /robots.txt`; gives status and body, raises FetchError.
Load = Callable[[str], Awaitable[tuple[int, bytes]]]


class RobotsCache:
    """Answers "may we fetch this?" per origin (scheme, host, port). `store` None keeps no shared copy."""

    def __init__(self, store: redis.Redis | None, agent: str, load: Load) -> None:
        self._store = store
        self._agent = agent
        self._load = load
        self._known: OrderedDict[str, tuple[float, RobotsRules | FetchFailed]] = OrderedDict()
        self._allowed: dict[str, tuple[float, float | None]] = {}
        self._wanted: dict[str, asyncio.Future[bytes | None]] = {}
        self._asking: dict[str, asyncio.Task[tuple[float, RobotsRules | FetchFailed]]] = {}

    async def check(self, origin: str, path: str) -> float | None:
        """The host's crawl delay in seconds, if it states one. Raises FetchRefused (`robots`) or FetchFailed."""
        kept = self._allowed.get(origin + path)
        if kept is not None and kept[0] > time.monotonic():
            return kept[1]
        until, rules = await self._rules(origin)
        if isinstance(rules, FetchFailed):
            raise FetchFailed(str(rules), cause=rules.cause, status=rules.status, retry_after=rules.retry_after)
        if not rules.allowed(path, self._agent):
            raise FetchRefused(f"robots.txt of {origin} forbids {path[:200]}", cause="robots")
        delay = rules.crawl_delay(self._agent)
        self._allowed[origin + path] = (until, delay)
        if len(self._allowed) > VERDICTS:
            del self._allowed[next(iter(self._allowed))]
        return delay

    async def _rules(self, origin: str) -> tuple[float, RobotsRules | FetchFailed]:
        """Until when they hold (monotonic seconds), and the rules."""
        kept = self._known.get(origin)
        if kept is not None and kept[0] > time.monotonic():
            self._known.move_to_end(origin)
            return kept
        asking = self._asking.get(origin)
        if asking is None:
            asking = self._asking[origin] = asyncio.create_task(self._ask(origin))
            asking.add_done_callback(lambda _: self._asking.pop(origin, None))
        return await asyncio.shield(asking)

    async def _ask(self, origin: str) -> tuple[float, RobotsRules | FetchFailed]:
        rules: RobotsRules | FetchFailed
        stored = await self._stored(origin)
        if stored is None:
            try:
                status, body = await self._load(f"{origin}/robots.txt")
            except FetchRefused as error:
                # the file redirects to where we must not go: as good as no file
                status, body = 404, str(error.cause).encode()
            except FetchError as error:
                # the host asked us to wait: that is not a verdict on its robots.txt
                wait = error.retry_after if isinstance(error, FetchFailed) else None
                cause = error.cause if wait is not None else "robots-unreachable"
                rules = FetchFailed(f"robots.txt of {origin}: {error}", cause=cause, retry_after=wait)
                return self._keep(origin, rules, 0.0 if wait is not None else FAILED_FOR)
            stored = (status, body, time.time())
            await asyncio.to_thread(self._write, origin, status, body)
        status, body, fetched_at = stored
        if status >= 500 or status == 429:
            rules = FetchFailed(f"robots.txt of {origin} answers {status}", cause="robots-unreachable", status=status)
            return self._keep(origin, rules, FAILED_FOR)
        left = KEPT_FOR if fetched_at is None else min(DAY, fetched_at + DAY - time.time())
        return self._keep(origin, read_robots(body, status=status), left)

    def _keep(
        self, origin: str, rules: RobotsRules | FetchFailed, seconds: float
    ) -> tuple[float, RobotsRules | FetchFailed]:
        kept = self._known[origin] = (time.monotonic() + seconds, rules)
        self._known.move_to_end(origin)
        while len(self._known) > KEPT:
            self._known.popitem(last=False)
        return kept

    async def _stored(self, origin: str) -> tuple[int, bytes, float | None] | None:
        """The shared copy: status, body, when it was fetched (real seconds since 1970).

        What is asked for in one turn of the event loop is one round trip.
        """
        if self._store is None:
            return None
        first = not self._wanted
        future = self._wanted[origin] = asyncio.get_running_loop().create_future()
        if first:
            await asyncio.sleep(0)
            wanted, self._wanted = self._wanted, {}
            try:
                values = await asyncio.to_thread(self._read, list(wanted))
            except BaseException as error:
                for waiter in wanted.values():
                    if waiter is not future and not waiter.done():
                        waiter.set_exception(error if isinstance(error, Exception) else ServiceUnavailable("stopping"))
                raise
            for waiter, value in zip(wanted.values(), values, strict=True):
                if not waiter.done():
                    waiter.set_result(value)
        raw = await future
        if raw is None:
            return None
        head, _, body = raw.partition(b"\n")
        try:
            said = json.loads(head)
            at = said.get("at")
            return int(said["status"]), body, None if at is None else float(at)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            # as good as none: it is fetched again and written over
            log.error("the copy of %s/robots.txt is damaged: %.200s", origin[:300], error)
            return None

    def _read(self, origins: list[str]) -> list[bytes | None]:
        assert self._store is not None  # noqa: S101 - for the type checker: `_stored` has looked
        with store_errors():
            values: list[Any] = self._store.mget([ROBOTS.key(host=origin) for origin in origins])
        return [value if isinstance(value, bytes) else None for value in values]

    def _write(self, origin: str, status: int, body: bytes) -> None:
        if self._store is None:
            return
        ttl = ROBOTS.ttl if status < 500 and status != 429 else FAILED_FOR
        with store_errors():
            head = json.dumps({"status": status, "at": time.time()}).encode()
            self._store.set(ROBOTS.key(host=origin), head + b"\n" + body, ex=ttl)
