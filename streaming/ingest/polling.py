"""One poll of one feed: plan, fetch, read, decide. Everything but time, network and storage; `poller.py` drives it.

A poll never raises for what a server or a feed does: it ends in a `Polled`, whose records are written before its row
is stored. Summaries are clipped to the publisher's licence here, before they reach a topic.
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, Literal

from frontpage.adapters.bus import Outgoing
from frontpage.adapters.feed_rows import FeedRow
from frontpage.adapters.parse.feeds import read_any
from frontpage.adapters.parse.readings import FeedEntry, FeedReading, SitemapReading
from frontpage.adapters.parse.sitemap_walk import walk
from frontpage.adapters.parse.sitemaps import as_feed
from frontpage.contracts.events import ArrivedBy, DeadLetter, FeedItem, PollOutcome
from frontpage.contracts.topics import ITEMS_DEAD, ITEMS_RAW, POLLS
from frontpage.domain.ids import digest, url_key
from frontpage.domain.licence import clip
from frontpage.domain.push import Advert, advertised
from frontpage.domain.schedule import Answer, Decision, FeedState, Policy, Terms, decide, plan, spread
from frontpage.errors import FetchFailed, FetchRefused, ServiceUnavailable, UnreadableInput
from streaming.ingest.listing import Listing, known_items, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from frontpage.adapters.clock import Clock
    from frontpage.adapters.fetch import Fetched, Fetcher
    from streaming.ingest.publishers import PublisherBook

log = logging.getLogger(__name__)

PROCESS: Final = "poller"
#: A body above this is parsed in a thread: 256 KiB of XML take about 50 ms, in which 15 other polls would stand still.
PARSE_ALOUD: Final = 256 << 10
#: Real seconds between two polls of a feed, which only matter when the clock runs 30 times as fast or more.
REAL_FLOOR: Final = 2.0
#: Files of a sitemap index read in one poll, the index included.
SITEMAPS: Final = 6
#: What an index says to be older than this (virtual seconds) is no news: the window of stories is 48 hours.
SITEMAP_AGE: Final = 3 * 86_400.0
#: Not the feed's doing, and not a poll: the host asked us to wait, or its budget is used up.
DEFERRED: Final = frozenset({"host-held", "budget"})


@dataclass(frozen=True, slots=True)
class Polled:
    """What a poll led to: `items` (items.raw and items.dead) first, then `outcome` (polls), then the row.

    read: a feed was read, so that `advert` says whether it names a hub.
    """

    row: FeedRow
    items: tuple[Outgoing, ...] = ()
    outcome: Outgoing | None = None
    new_items: int = 0
    read: bool = False
    advert: Advert | None = None


class Polling:
    """The parts of a poll, wired. `policy` is shared by all feeds; floors differ per feed."""

    def __init__(self, fetcher: Fetcher, publishers: PublisherBook, clock: Clock, policy: Policy) -> None:
        self._fetcher = fetcher
        self._publishers = publishers
        self._clock = clock
        self._policy = policy

    async def poll(self, row: FeedRow) -> Polled:
        """Poll one feed now. Raises ServiceUnavailable only."""
        source, state = row.source, row.state
        request = plan(source.url, state, self._policy, self._clock.now())
        publisher = self._publishers.get(source.publisher_id)
        if publisher is not None and publisher.opted_out:
            return self._polled(row, Answer(None, cause="opted-out", refused=True), [], 0)
        try:
            fetched = await self._fetcher.get(request.url, kind="feed", headers=request.headers)
        except FetchRefused as error:
            return self._polled(row, Answer(error.status, cause=error.cause, refused=True), [], 0)
        except FetchFailed as error:
            if error.cause in DEFERRED:
                return self._deferred(row, error.retry_after or 0.0)
            return self._polled(row, Answer(error.status, cause=error.cause), [], 0)
        answer, reading = await self._read(row, fetched, conditional=bool(request.headers))
        if reading is None:
            return self._polled(row, answer, [], len(fetched.body))
        polled = self._polled(replace(row, items=reading.items), answer, reading.entries, len(fetched.body))
        meta = reading.meta
        offer = advertised(fetched.headers.get("link"), meta.hub, meta.self_url, fetched.url)
        return replace(polled, read=True, advert=offer)

    def broken(self, row: FeedRow) -> Polled:
        """A poll that no code foresaw the end of: a failure like others, with the same back-off."""
        return self._polled(row, Answer(None, cause="cannot-handle"), [], 0)

    async def _read(self, row: FeedRow, fetched: Fetched, *, conditional: bool) -> tuple[Answer, Listing | None]:
        answer = Answer(fetched.status, dict(fetched.headers), None, conditional, fetched.moved_to)
        if not 200 <= fetched.status < 300:
            return answer, None
        now = self._clock.now()
        known = known_items(row)
        try:
            read = partial(read_any, fetched.body, fetched.headers, fetched.url, now=now, language=row.source.language)
            aloud = len(fetched.body) <= PARSE_ALOUD
            reading = read(known=known) if aloud else await asyncio.to_thread(read, known=known)
            listing = listed(reading, known)
            if listing is None:
                listing = listed(read() if aloud else await asyncio.to_thread(read), {})
            if "sitemap_index" in reading.problems:
                listing = listed(await self._walked(fetched, now), {})
        except UnreadableInput as error:
            return replace(answer, cause=error.cause), None
        except ServiceUnavailable:  # ours, met while following a sitemap index: not the feed's failure
            raise
        except Exception:  # a feed that breaks the parser must not stop the others; the trace finds the bug
            log.exception("feed %s broke its parser", row.source.feed_id)
            return replace(answer, cause="parser"), None
        assert listing is not None  # noqa: S101 - for the type checker: nothing was left out
        return replace(answer, entries=listing.known), listing

    async def _walked(self, fetched: Fetched, now: float) -> FeedReading:
        """The articles of the sitemaps that an index lists, news and newest files first, a few a poll, none too old."""
        loop = asyncio.get_running_loop()

        def read(url: str) -> bytes | None:
            if url == fetched.url:
                return fetched.body
            answer = asyncio.run_coroutine_threadsafe(self._fetcher.get(url, kind="feed"), loop).result()
            return answer.body if 200 <= answer.status < 300 else None

        found = await asyncio.to_thread(walk, fetched.url, read, requests=SITEMAPS, since=now - SITEMAP_AGE)
        if not found.entries and found.problems:
            raise UnreadableInput("; ".join(found.problems)[:300], cause="sitemap-index")
        kind: Literal["news", "urlset"] = "news" if any(entry.news for entry in found.entries) else "urlset"
        return as_feed(SitemapReading(kind, found.entries, found.problems), now=now)

    def _polled(self, row: FeedRow, answer: Answer, entries: Sequence[FeedEntry | None], size: int) -> Polled:
        now = self._clock.now()
        source = row.source
        policy = self._policy
        floor, ceiling = policy.bounds(authoritative=source.authoritative, main=source.main)
        decision = decide(row.state, answer, Terms(source.feed_id, floor, policy, now, ceiling))
        state = self._within_reach(decision.state, now)
        decision = decision if state is decision.state else replace(decision, state=state)
        news = [(entries[i], i) for i in sorted((*decision.fresh, *decision.changed))]
        items = [self._item(row, entry, i, now) for entry, i in news if entry is not None]
        outcome = _outcome(row, decision, size, len(entries), now)
        return Polled(replace(row, state=decision.state), tuple(items), outcome, len(decision.fresh))

    def _within_reach(self, state: FeedState, now: float) -> FeedState:
        """An accelerated clock must not ask for more polls than a machine can do."""
        soonest = now + REAL_FLOOR / self._clock.real_seconds(1.0)
        return state if state.next_at is None or state.next_at >= soonest else replace(state, next_at=soonest)

    def _deferred(self, row: FeedRow, wait: float) -> Polled:
        now = self._clock.now()
        # spread over a fifth of the wait and a few seconds: its other feeds wait for the same moment
        late = (0.2 * wait + 5.0) * spread(row.source.feed_id, now)
        return Polled(replace(row, state=replace(row.state, next_at=now + wait + late)))

    def _item(self, row: FeedRow, entry: FeedEntry, index: int, now: float) -> Outgoing:
        source = row.source
        if not entry.url:
            return _without_link(row, entry, index, now)
        publisher = self._publishers.of(source.publisher_id, entry.url)
        item = FeedItem(
            feed_id=source.feed_id,
            feed_url=source.url,
            publisher_id=source.publisher_id,
            url=entry.url,
            guid=(entry.id or "")[:500],
            title=entry.title[:1_000],
            summary=clip(entry.summary, publisher.snippet_allowed and not publisher.opted_out),
            authors=[author[:200] for author in entry.authors[:20]],
            categories=[category[:100] for category in entry.categories[:50]],
            image=entry.image,
            language=entry.language or source.language,
            published_at=entry.published_at,
            updated_at=entry.updated_at,
            seen_at=now,
            arrived_by=_arrived_by(row),
        )
        return Outgoing(ITEMS_RAW.name, url_key(entry.url), item.encode())


def _arrived_by(row: FeedRow) -> ArrivedBy:
    """What led us to the item: the notification that this poll serves, else the poll itself."""
    if row.state.wanted_by == "websub":
        return "websub"
    if row.state.wanted_by == "ping":
        return "ping"
    return "sitemap" if row.source.kind == "sitemap" else "poll"


def _outcome(row: FeedRow, decision: Decision, size: int, items: int, now: float) -> Outgoing:
    source, state = row.source, decision.state
    event = PollOutcome(
        feed_id=source.feed_id,
        feed_url=source.url,
        publisher_id=source.publisher_id,
        domain=source.domain,
        at=now,
        status=state.last_status,
        outcome=decision.outcome,
        cause=decision.cause,
        bytes=size,
        items=items,
        new_items=len(decision.fresh),
        delay=decision.delay,
        # a stopped feed has no next poll; the epoch's end would be a lie, its own time is not
        next_at=state.next_at if state.next_at is not None else now,
    )
    return Outgoing(POLLS.name, source.feed_id, event.encode())


def _without_link(row: FeedRow, entry: FeedEntry, index: int, now: float) -> Outgoing:
    """An item that names no page cannot become an article: kept with its cause, headline only."""
    key = digest(entry.id or entry.title, 16)
    value = json.dumps({"feed": row.source.feed_id, "title": entry.title[:300]}, ensure_ascii=False)
    letter = DeadLetter(
        topic="feed:" + row.source.feed_id,
        partition=0,
        offset=index,
        key=key,
        value_b64=base64.b64encode(value.encode("utf-8", "replace")).decode("ascii"),
        cause="no-link",
        detail=", ".join(str(problem) for problem in entry.problems)[:300],
        process=PROCESS,
        at=now,
    )
    return Outgoing(ITEMS_DEAD.name, key, letter.encode())
