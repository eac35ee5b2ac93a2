"""From an item to a draft of its article: fetch the page with retries, read it, fall back on the feed's own words.

Each item ends as exactly one of: a `Draft` (from the page, or marked `from_feed`), a `Later` (our own budgets or an
unfinished retry: the item goes back to its topic, counted), a `Dropped` (opted out) or a `Dead` letter with its
cause. A batch never waits longer than its patience for its slowest page, so that one dead host delays nobody.

The page's body lives in a `Draft` and nowhere else; it is gone when the batch is. Not here: identity, features, events.
"""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import urlsplit

from frontpage.adapters.bus import Record
from frontpage.adapters.parse.language import detect
from frontpage.adapters.parse.pages import read_page
from frontpage.contracts.events import ArticleKind, FeedItem
from frontpage.domain.hosts import registrable_domain
from frontpage.domain.languages import direction, primary_subtag
from frontpage.domain.page_kind import kind_of
from frontpage.domain.text import direction_of, plain
from frontpage.domain.urls import canonicalise
from frontpage.errors import FetchFailed, FetchRefused, UnreadableInput

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from frontpage.adapters.clock import Clock
    from frontpage.adapters.fetch import Fetched, Fetcher
    from frontpage.adapters.parse.readings import PageReading
    from frontpage.contracts.views import Publisher
    from streaming.ingest.publishers import PublisherBook

log = logging.getLogger(__name__)

#: Tries of one page before the feed's own words have to do, and the wait before the second (virtual seconds, doubled).
TRIES: Final = 3
FIRST_WAIT: Final = 5.0
#: Times an item may go back to its topic because our own budget was used up: an hour of batches at 12 s each.
MOST_RETURNS: Final = 300
#: A host that asks for a longer wait than this (virtual seconds) is not worth a delay of its news.
LONGEST_HOLD: Final = 120.0
#: Pages fetched at once by one worker.
CONCURRENT: Final = 48
#: Pages read at a time.
PORTION: Final = 24
#: What robots.txt or a refusing server keeps from us, the feed still states in public.
FROM_FEED: Final = frozenset({"robots", "redirects"})
#: The page says that there is no article (any more): to show it would send readers to nothing.
GONE: Final = frozenset({404, 410, 451})


@dataclass(slots=True)
class Draft:
    """An article in memory. `body` and `lead` never leave the process."""

    record: Record
    item: FeedItem
    publisher: Publisher
    canonical: str
    link: str
    domain: str
    title: str
    language: str
    fetched_at: float
    fetched_url: str
    snippet: str = ""
    lead: str = ""
    body: str = ""
    dir: Literal["ltr", "rtl"] = "ltr"
    kind: ArticleKind = "news"
    paywalled: bool = False
    authors: list[str] = field(default_factory=list)
    keywords: list[str] = field(default_factory=list)
    section: str | None = None
    published_at: float | None = None
    modified_at: float | None = None
    declared_language: str | None = None
    image: str | None = None
    syndicated_from: str | None = None
    from_feed: bool = False
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Later:
    """Back to the topic, with one try or one return more."""

    record: Record
    item: FeedItem


@dataclass(frozen=True, slots=True)
class Dropped:
    """Not fetched and not shown: the publisher opted out."""

    record: Record


@dataclass(frozen=True, slots=True)
class Dead:
    """Cannot become an article; to `items.dead`."""

    record: Record
    error: UnreadableInput
    attempts: int


Fate = Draft | Later | Dropped | Dead
#: What the pages of a batch say, or why one cannot be read, by answer, publisher and declared language.
Readings = dict[tuple[int, str, str], "PageReading | str"]


def page_key(item: FeedItem) -> str:
    """Equal for sightings of one page: the address without tracking and the like."""
    return canonicalise(item.url).canonical or item.url


class Pages:
    """Fetches and reads the pages of a batch. `patience` in real seconds bounds the batch."""

    def __init__(
        self, fetcher: Fetcher, publishers: PublisherBook, clock: Clock, *, patience: float = 12.0, tries: int = TRIES
    ) -> None:
        self._fetcher = fetcher
        self._publishers = publishers
        self._clock = clock
        self._patience = patience
        self._tries = tries

    async def stream(self, items: list[tuple[Record, FeedItem]]) -> AsyncIterator[list[Fate]]:
        """One fate per item, in their order and in portions: all pages are fetched first, then read a portion at a
        time, so that the caller can work on one portion while the next is read.

        Raises ServiceUnavailable when Redis does not answer.
        """
        deadline = time.monotonic() + self._patience
        slots = asyncio.Semaphore(CONCURRENT)
        # one page twice in a batch is one request; the second sighting takes the first one's answer
        started: set[str] = set()
        pages: dict[str, asyncio.Task[Fetched | FetchRefused | FetchFailed]] = {}
        for _, item in items:
            key = page_key(item)
            if key not in pages and not self._publishers.of(item.publisher_id, item.url).opted_out:
                pages[key] = asyncio.create_task(self._fetch(item, slots, deadline, started))
        if pages:
            await asyncio.wait(pages.values(), timeout=self._patience + 1.0)
        for running in pages.values():
            running.cancel()
        await asyncio.gather(*pages.values(), return_exceptions=True)
        fates: list[Fate] = []
        readings: Readings = {}
        for record, item in items:
            if len(fates) == PORTION:
                yield fates
                fates = []
            task = pages.get(page_key(item))
            if task is None:
                fates.append(Dropped(record))
            elif task.cancelled():
                # a page that is not there yet timed out; one whose turn never came waited for us
                cause = "timeout" if page_key(item) in started else "budget"
                failed = FetchFailed("not within the batch's patience", cause=cause)
                fates.append(self._fate(record, item, failed, readings))
            else:
                fates.append(self._fate(record, item, task.result(), readings))
        yield fates

    async def _fetch(
        self, item: FeedItem, slots: asyncio.Semaphore, deadline: float, started: set[str]
    ) -> Fetched | FetchRefused | FetchFailed:
        """The page, or the last error after the tries that fit before `deadline`."""
        async with slots:
            started.add(page_key(item))
            tried = 0
            while True:
                try:
                    answer = await self._fetcher.get(item.url, kind="page")
                    if answer.status < 500 and answer.status != 429:
                        return answer
                    error = FetchFailed(f"the page answers {answer.status}", cause=f"http-{answer.status}")
                except FetchRefused as refused:
                    return refused
                except FetchFailed as failed:
                    error = failed
                ours = error.cause in ("budget", "host-held")
                tried += not ours
                wait = self._clock.real_seconds(error.retry_after or 0.0 if ours else FIRST_WAIT * 2.0 ** (tried - 1))
                if tried + item.attempts >= self._tries or time.monotonic() + wait > deadline:
                    return error
                await asyncio.sleep(wait)

    def _fate(
        self, record: Record, item: FeedItem, answer: Fetched | FetchRefused | FetchFailed, readings: Readings
    ) -> Fate:
        publisher = self._publishers.of(item.publisher_id, item.url)
        if isinstance(answer, FetchRefused):
            if answer.cause in FROM_FEED:
                return self._from_feed(record, item, publisher, answer.cause)
            return Dead(record, UnreadableInput(str(answer), cause=answer.cause), item.attempts + 1)
        if isinstance(answer, FetchFailed):
            return self._failed(record, item, publisher, answer)
        if answer.status in GONE:
            error = UnreadableInput(f"the page answers {answer.status}", cause="page-gone")
            return Dead(record, error, item.attempts + 1)
        if not 200 <= answer.status < 300:
            return self._from_feed(record, item, publisher, f"http-{answer.status}")
        owner = self._publishers.of(item.publisher_id, answer.url)
        if owner.opted_out:
            return Dropped(record)
        declared = item.language or owner.language
        # an answer that two sightings share is read once
        key = (id(answer), owner.publisher_id, declared)
        if key not in readings:
            readings[key] = self._read(item, answer, owner, declared)
        reading = readings[key]
        if isinstance(reading, str):
            return self._from_feed(record, item, owner, reading)
        return self._from_page(record, item, owner, reading, answer.url)

    def _read(self, item: FeedItem, answer: Fetched, owner: Publisher, declared: str) -> PageReading | str:
        """What the page says, or why it cannot be read."""
        try:
            return read_page(
                answer.body,
                answer.headers,
                answer.url,
                now=self._clock.now(),
                site_name=owner.name,
                publisher_domains=tuple(owner.domains),
                declared=declared,
            )
        except UnreadableInput as error:
            return error.cause
        except Exception:  # a page that breaks the parser must not stop the partition; the trace finds the bug
            log.exception("page %s broke its parser", item.url[:300])
            return "parser"

    def _failed(self, record: Record, item: FeedItem, publisher: Publisher, error: FetchFailed) -> Fate:
        if error.cause in ("budget", "host-held"):
            held = error.cause == "host-held" and (error.retry_after or 0.0) > LONGEST_HOLD
            if not held and item.returns < MOST_RETURNS:
                return Later(record, item.model_copy(update={"returns": item.returns + 1}))
        elif item.attempts + 1 < self._tries and error.cause == "timeout":
            # slow, or cut off by the batch's patience: its retries happen in later batches
            return Later(record, item.model_copy(update={"attempts": item.attempts + 1}))
        return self._from_feed(record, item, publisher, error.cause)

    def _from_page(
        self, record: Record, item: FeedItem, publisher: Publisher, page: PageReading, fetched_url: str
    ) -> Fate:
        title = page.title or plain(item.title)
        if not title:
            return Dead(record, UnreadableInput("neither page nor feed gives a title", cause="no-title"), 1)
        language = page.language
        if primary_subtag(language) == "und":
            language = item.language or publisher.language
        shown = publisher.snippet_allowed and page.snippet_allowed
        return Draft(
            record=record,
            item=item,
            publisher=publisher,
            canonical=page.canonical_url,
            link=page.link,
            domain=registrable_domain(urlsplit(page.link).hostname or ""),
            title=title,
            language=primary_subtag(language),
            fetched_at=self._clock.now(),
            fetched_url=fetched_url,
            snippet=(page.snippet or item.summary) if shown else "",
            lead=page.lead or item.summary,
            body=page.body_text,
            dir=page.dir,
            # a category of the feed is as much the publisher's word as a section on the page
            kind=page.kind if page.kind != "news" else kind_of(page.canonical_url, labels=item.categories),
            paywalled=page.paywalled or publisher.paywalled,
            authors=page.authors or item.authors,
            keywords=[*page.keywords, *item.categories],
            section=page.section,
            published_at=page.published_at if page.published_at is not None else item.published_at,
            modified_at=page.modified_at,
            declared_language=page.declared_language,
            image=page.image or item.image,
            syndicated_from=page.syndicated_from,
            problems=list(page.problems),
        )

    def _from_feed(self, record: Record, item: FeedItem, publisher: Publisher, cause: str) -> Fate:
        """The article as the feed states it, marked so; a dead letter when the feed states no title."""
        title = plain(item.title)
        address = canonicalise(item.url)
        if not title:
            error = UnreadableInput(f"page: {cause}; and the feed gives no title", cause="no-title")
            return Dead(record, error, item.attempts + 1)
        if address.canonical is None or address.fetch is None:
            return Dead(record, UnreadableInput("not a link", cause=address.refused or "bad-url"), item.attempts + 1)
        now = self._clock.now()
        language = primary_subtag(detect(f"{title}. {item.summary}", item.language or publisher.language))
        script = direction_of(f"{title} {item.summary}")
        return Draft(
            record=record,
            item=item,
            publisher=publisher,
            canonical=address.canonical,
            link=address.fetch,
            domain=registrable_domain(urlsplit(address.fetch).hostname or ""),
            title=title,
            language=language,
            fetched_at=now,
            fetched_url=item.url,
            snippet=item.summary if publisher.snippet_allowed else "",
            lead=item.summary,
            dir="rtl" if (script or direction(language)) == "rtl" else "ltr",
            kind=kind_of(address.canonical, labels=item.categories, title=title),
            paywalled=publisher.paywalled,
            authors=list(item.authors),
            keywords=list(item.categories),
            published_at=item.published_at,
            modified_at=item.updated_at,
            image=item.image,
            from_feed=True,
            problems=[f"page: {cause}"],
        )
