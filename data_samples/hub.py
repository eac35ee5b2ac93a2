"""The made-up publishers' push: one WebSub hub for most of them, pings by some. The other side of our push receiver.

The hub keeps to the W3C text: it answers a subscription request with 202, asks the callback whether it was meant,
grants a finite lease, and delivers the whole feed, signed, within a second of each publication. It denies topics that
it does not carry, and forgets a subscriber that answers 410. Subscriptions live in memory.

Not here: which publisher pushes how (`sites.py`), the feeds themselves (`serve.py`).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections.abc import AsyncIterator, Coroutine, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol
from urllib.parse import urlencode, urlsplit

import aiohttp
from aiohttp import web

from data_samples.sites import HUB_URL, feeds_of, ping_key, push_of
from frontpage.domain.push import ping_signature
from frontpage.domain.websub import sign

if TYPE_CHECKING:
    from data_samples.model import Publisher
    from frontpage.adapters.clock import Clock

log = logging.getLogger(__name__)

#: Real seconds between looks for what was published.
EVERY: Final = 0.2
#: Seconds (virtual) of a lease at most: the 48 hours of the world see each of them renewed several times.
LONGEST_LEASE: Final = 12 * 3600.0
SHORTEST_LEASE: Final = 300.0
#: Requests out at once, and tries of each; what changes meanwhile goes out with the next.
CONCURRENT: Final = 6
TRIES: Final = 3
#: Each publisher's hub account signs in its own way: subscribers must know all four.
METHODS: Final = ("sha256", "sha512", "sha1", "sha384")


class Feeds(Protocol):
    """What is published when (`serve.Sites`)."""

    def state_of(self, host: str, now: float) -> int:
        """A number that changes with everything that the site publishes."""

    def feed_now(self, host: str, path: str) -> tuple[bytes, str]:
        """A feed's body and type as they are now."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A feed that is pushed: by the hub to subscribers, or by pings to us."""

    url: str
    host: str
    path: str
    publisher: Publisher


@dataclass(slots=True)
class Follower:
    """A subscriber (or, for pings, the one address); `sent` is the state that it was last told of."""

    topic: Topic
    callback: str
    secret: str
    until: float
    sent: int
    ping: bool = False
    busy: bool = False


class Hub:
    """`push_to`: base address that pinging publishers ping, None for no pings. `run` does the work."""

    def __init__(self, publishers: Iterable[Publisher], feeds: Feeds, clock: Clock, push_to: str | None) -> None:
        self._feeds, self._clock = feeds, clock
        self._push_to = push_to.rstrip("/") if push_to else None
        self.topics: dict[str, Topic] = {}
        self._pinged: list[Follower] = []
        for publisher in publishers:
            way = push_of(publisher)
            for feed in feeds_of(publisher):
                topic = Topic(feed.url, publisher.host, feed.path.removeprefix("/old"), publisher)
                if way == "websub" and feed.kind != "sitemap":
                    self.topics[feed.url] = topic
                elif way == "ping" and self._push_to:
                    state = feeds.state_of(publisher.host, clock.now())
                    self._pinged.append(Follower(topic, f"{self._push_to}/push/ping", "", float("inf"), state, True))
        self.followers: dict[tuple[str, str], Follower] = {}
        self.delivered = self.pings = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._room = asyncio.Semaphore(CONCURRENT)

    async def handle(self, request: web.Request) -> web.Response:
        """A subscription request (WebSub, 5.1)."""
        if request.method != "POST":
            return web.Response(text="a WebSub hub: POST subscription requests here\n")
        form = {name: str(value) for name, value in (await request.post()).items()}
        mode, callback, topic = (form.get(f"hub.{name}", "") for name in ("mode", "callback", "topic"))
        secret = form.get("hub.secret", "")
        if mode not in ("subscribe", "unsubscribe") or urlsplit(callback).scheme not in ("http", "https") or not topic:
            return web.Response(status=400, text="hub.mode, hub.callback and hub.topic are needed\n")
        if len(secret) >= 200:
            return web.Response(status=400, text="hub.secret is too long\n")
        asked = form.get("hub.lease_seconds", "")
        lease = min(max(float(asked) if asked.isdigit() else LONGEST_LEASE, SHORTEST_LEASE), LONGEST_LEASE)
        self._start(self._confirm(mode, callback, topic, secret, lease))
        return web.Response(status=202)

    async def run(self) -> None:
        """Look, deliver, ping, until cancelled."""
        timeout = aiohttp.ClientTimeout(total=10)
        async with aiohttp.ClientSession(timeout=timeout) as self._session:
            try:
                while True:
                    now = self._clock.now()
                    for key, follower in list(self.followers.items()):
                        if follower.until <= now:
                            del self.followers[key]
                    for follower in (*self.followers.values(), *self._pinged):
                        state = self._feeds.state_of(follower.topic.host, now)
                        if state != follower.sent and not follower.busy:
                            follower.busy = True
                            self._start(self._tell(follower, state))
                    await asyncio.sleep(EVERY)
            finally:
                for task in self._tasks:
                    task.cancel()

    async def _confirm(self, mode: str, callback: str, topic: str, secret: str, lease: float) -> None:
        known = self.topics.get(topic)
        query = {"hub.mode": mode, "hub.topic": topic}
        challenge = secrets.token_urlsafe(24)
        if known is None:
            query |= {"hub.mode": "denied", "hub.reason": "not one of our topics"}
        else:
            query |= {"hub.challenge": challenge, "hub.lease_seconds": f"{lease:.0f}"}
        status, body = await self._get(f"{callback}{'&' if '?' in callback else '?'}{urlencode(query)}")
        if known is None or not (200 <= status < 300 and body == challenge):
            return
        now = self._clock.now()
        if mode == "unsubscribe":
            self.followers.pop((topic, callback), None)
            return
        before = self.followers.get((topic, callback))
        sent = before.sent if before else self._feeds.state_of(known.host, now)
        self.followers[topic, callback] = Follower(known, callback, secret, now + lease, sent)

    async def _tell(self, follower: Follower, state: int) -> None:
        try:
            for attempt in range(TRIES):
                async with self._room:
                    status = await self._post(follower)
                if 200 <= status < 300 or status in (403, 404, 413):
                    break
                if status == 410:
                    self.followers.pop((follower.topic.url, follower.callback), None)
                    break
                await asyncio.sleep(0.5 * 2**attempt)
            follower.sent = state
        finally:
            follower.busy = False

    async def _post(self, follower: Follower) -> int:
        topic = follower.topic
        if follower.ping:
            at = f"{self._clock.now():.6f}"
            signature = ping_signature(ping_key(topic.publisher), topic.url, at)
            self.pings += 1
            return await self._send(follower.callback, {"feed": topic.url, "at": at, "signature": signature}, {})
        body, kind = self._feeds.feed_now(topic.host, topic.path)
        headers = {"Content-Type": kind, "Link": f'<{HUB_URL}>; rel="hub", <{topic.url}>; rel="self"'}
        if follower.secret:
            method = METHODS[topic.publisher.style % len(METHODS)]
            headers["X-Hub-Signature"] = sign(follower.secret, body, method)
        self.delivered += 1
        return await self._send(follower.callback, body, headers)

    async def _send(self, url: str, data: bytes | dict[str, str], headers: dict[str, str]) -> int:
        try:
            async with self._session.post(url, data=data, headers=headers, allow_redirects=False) as answer:
                return answer.status
        except (aiohttp.ClientError, TimeoutError) as error:
            log.debug("nobody at %s: %s", url, error)
            return 0

    async def _get(self, url: str) -> tuple[int, str]:
        try:
            async with self._session.get(url, allow_redirects=False) as answer:
                return answer.status, (await answer.content.read(4_096)).decode("utf-8", "replace")
        except (aiohttp.ClientError, TimeoutError) as error:
            log.debug("nobody at %s: %s", url, error)
            return 0, ""

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


@contextlib.asynccontextmanager
async def running(hub: Hub) -> AsyncIterator[Hub]:
    """The hub at work while the block runs."""
    task = asyncio.create_task(hub.run())
    try:
        yield hub
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
