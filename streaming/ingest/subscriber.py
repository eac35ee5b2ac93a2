"""Subscribes feeds at the hubs they name, renews, leaves: a task inside the poller, thin around `domain/websub.py`.

The poller tells of every feed it read (`noticed`). A feed that names a hub gets a subscription with a callback of its
own; one that names another hub, or none any more, leaves the old one. Requests go through the fetch tier, which judges
the hub's address like any other (a feed may name whom it likes) and keeps to the hub's budget. What the hub answers
arrives at the push receiver (`serving/routes/push.py`).

Several pollers share the work by claims. Crash: a claim runs out and the request is made again, which hubs take as a
renewal.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol

from frontpage.adapters.push_rows import PushRows
from frontpage.domain import websub
from frontpage.domain.freshness import retry_after
from frontpage.domain.push import Advert
from frontpage.domain.websub import Subscription
from frontpage.errors import FetchFailed, FetchRefused, ServiceUnavailable
from frontpage.runtime import endpoints

if TYPE_CHECKING:
    from frontpage.adapters.clock import Clock
    from frontpage.adapters.feed_rows import FeedRows
    from frontpage.adapters.fetch import Fetched
    from frontpage.runtime import Runtime
    from streaming.ingest.polling import Polled

log = logging.getLogger(__name__)

#: Real seconds between looks at what is due; a subscription is no matter of milliseconds.
EVERY: Final = 0.5
#: Requests in flight: a hub's budget is one a second, so that more would only queue there.
CONCURRENT: Final = 8
#: A claim must outlive the slowest request: 60 real seconds and 2 virtual minutes, whichever is longer.
CLAIM_REAL: Final = 60.0
CLAIM_VIRTUAL: Final = 120.0
LONGEST_BACKOFF: Final = 15.0


class Poster(Protocol):
    """The part of the fetch tier that is needed here."""

    async def post(self, url: str, form: Mapping[str, str]) -> Fetched:
        """Raises FetchRefused, FetchFailed, ServiceUnavailable."""


class Subscriber:
    """`base` is where hubs reach us, without a trailing slash; None: nowhere, so nothing is subscribed."""

    def __init__(
        self,
        poster: Poster,
        rows: PushRows,
        feeds: FeedRows,
        clock: Clock,
        base: str | None,
        *,
        every: float = EVERY,
    ) -> None:
        self._poster, self._rows, self._feeds, self._clock = poster, rows, feeds, clock
        self._base = base
        self._every = every
        self._news: deque[tuple[str, Advert | None]] = deque()
        #: what each feed read by this process is subscribed to, as far as it knows
        self._known: dict[str, Advert | None] = {}
        self.living = 0

    @classmethod
    def of(cls, runtime: Runtime, poster: Poster, feeds: FeedRows) -> Subscriber:
        """With the process's connections and the public address of its settings."""
        settings = runtime.settings
        base = settings.public_url or endpoints(settings).get("page") or f"http://127.0.0.1:{settings.serving_port}"
        if settings.profile == "production" and not settings.public_url:
            log.warning("FRONTPAGE_PUBLIC_URL is not set: hubs cannot reach us, feeds are polled only")
            return cls(poster, PushRows(runtime.redis), feeds, runtime.clock, None)
        return cls(poster, PushRows(runtime.redis), feeds, runtime.clock, base.rstrip("/"))

    def noticed(self, polled: Iterable[Polled]) -> None:
        """Feeds that were just read; call from the event loop. Costs a look-up where nothing has changed."""
        if self._base is None:
            return
        for one in polled:
            feed = one.row.source.feed_id
            if one.read and (feed not in self._known or self._known[feed] != one.advert):
                self._news.append((feed, one.advert))

    async def run(self, stop: threading.Event) -> None:
        """Until `stop`; what is in flight then is finished."""
        backoff = self._every
        while not stop.is_set():
            try:
                while self._news:
                    news = self._news.popleft()
                    try:
                        await asyncio.to_thread(self._consider, *news)
                    except ServiceUnavailable:
                        self._news.appendleft(news)
                        raise
                await self.turn()
                backoff = self._every
            except ServiceUnavailable as error:
                backoff = min(backoff * 2, LONGEST_BACKOFF)
                log.warning("subscriptions wait %.1f s: %s", backoff, error)
            except Exception:  # one feed's trouble must not end the subscriptions of all; the trace finds the bug
                backoff = min(backoff * 2, LONGEST_BACKOFF)
                log.exception("subscriptions wait %.1f s", backoff)
            await asyncio.sleep(backoff)

    async def turn(self) -> int:
        """Make the requests that are due; their number. Raises ServiceUnavailable."""
        if self._base is None:
            return 0
        lease = max(CLAIM_VIRTUAL, CLAIM_REAL / self._clock.real_seconds(1.0))
        due = await asyncio.to_thread(self._rows.claim, self._clock.now(), CONCURRENT, lease)
        self.living = await asyncio.to_thread(self._rows.count)
        answers = await asyncio.gather(*(self._request(one) for one in due), return_exceptions=True)
        for answer in answers:
            if isinstance(answer, ServiceUnavailable):
                raise answer
            if isinstance(answer, BaseException):
                log.error("a subscription request broke", exc_info=answer)
        return len(due)

    def _consider(self, feed: str, advert: Advert | None) -> None:
        """Make the feed's subscription what the feed says. Another poller may have done so already."""
        now = self._clock.now()
        present = self._rows.of_feed(feed)
        if present is not None and advert != Advert(present.hub, present.topic):
            self._rows.release(present)
            self._rows.change(present.id, lambda state: websub.leave(state, now))
            self._feeds.lease(feed, None)
            present = None
        if present is None and advert is not None:
            self._rows.begin(feed, hub=advert.hub, topic=advert.topic, now=now)
        self._known[feed] = advert

    async def _request(self, claimed: Subscription) -> None:
        now = self._clock.now()
        if claimed.mode == "subscribe" and not await asyncio.to_thread(self._wanted, claimed.feed_id):
            await asyncio.to_thread(self._rows.change, claimed.id, lambda state: websub.leave(state, now))
            return
        state = await asyncio.to_thread(
            self._rows.change, claimed.id, lambda state: websub.ask(state, now) if state.due(now) else None
        )
        if state is None or state.next_at is None:
            return
        try:
            form = websub.request(state, f"{self._base}/push/websub/{state.id}")
            answer = await self._poster.post(state.hub, form)
        except FetchRefused as error:
            await self._failed(state, error.cause, final=True)
        except FetchFailed as error:
            await self._failed(state, error.cause, final=False, wait=error.retry_after)
        else:
            if not 200 <= answer.status < 300:
                wait = retry_after(answer.headers, self._clock.now())
                final = 400 <= answer.status < 500
                await self._failed(state, f"http-{answer.status}", final=final, wait=wait)

    def _wanted(self, feed_id: str) -> bool:
        row = self._feeds.get(feed_id)
        return row is not None and row.state.next_at is not None

    async def _failed(self, state: Subscription, cause: str, *, final: bool, wait: float | None = None) -> None:
        log.info("hub %s did not take the request for feed %s: %s", state.hub, state.feed_id, cause)
        later = partial(websub.failed, cause=cause, now=self._clock.now(), final=final, retry_after=wait)
        # a verification that came in meanwhile means that the hub did take it
        await asyncio.to_thread(
            self._rows.change, state.id, lambda s: later(s) if s.open and s.asked_at == state.asked_at else None
        )
