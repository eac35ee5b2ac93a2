"""From a site's address to its feeds: fetches what may be one, within limits, and proves it by reading it.

In this order, and no further than the first step that finds articles: the address itself, what its page declares and
links (a page that lists feeds is read, too), the site's front page, the sitemaps of robots.txt, the usual places. Every
request goes through the fetch tier, one after another. Not here: guessing (`parse/feed_discovery.py`), adding
(`registry.py`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal
from urllib.parse import urljoin, urlsplit

from frontpage.adapters.fetch import Fetched, Fetcher, Kind
from frontpage.adapters.parse.feed_discovery import (
    USUAL_FEEDS,
    USUAL_SITEMAPS,
    Candidate,
    Via,
    address_key,
    news_like,
    page_candidates,
    same_items,
    sitemaps_first,
    usual_candidates,
)
from frontpage.adapters.parse.feeds import read_any
from frontpage.adapters.parse.readings import FeedEntry, FeedReading, SitemapReading
from frontpage.adapters.parse.robots import read_robots
from frontpage.adapters.parse.sitemap_walk import files_of
from frontpage.adapters.parse.sitemaps import as_feed, read_sitemap
from frontpage.domain.urls import clean_link
from frontpage.errors import FetchError, FetchFailed, FetchRefused, UnreadableInput

#: Requests of one discovery in all: two bursts of the budget, half a minute at its rate.
REQUESTS: Final = 30
#: Of these, so many for the page's own candidates and for sitemaps: the next step shall have its turn.
PAGE_REQUESTS: Final = 14
SITEMAP_REQUESTS: Final = 8
#: A sitemap without news rows is a source only when it says what is new: a change within so many days.
FRESH_DAYS: Final = 7
#: Statuses that say "not now" rather than "no".
PASSING: Final = frozenset({408, 425, 429, 500, 502, 503, 504})


@dataclass(slots=True)
class Found:
    """A proven feed. `entries` items, `newest` seconds since epoch; `also` are other addresses of the same feed."""

    url: str
    via: Via
    title: str = ""
    kind: Literal["feed", "sitemap"] = "feed"
    format: str = ""
    language: str | None = None
    site_url: str = ""
    entries: int = 0
    newest: float | None = None
    aside: bool = False
    also: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Discovery:
    """`cause` None when a feed of articles was found. `missed` are (address, cause) of candidates that were none.

    `later`: the address itself did not answer, which says nothing about what it is.
    """

    url: str
    found: list[Found] = field(default_factory=list)
    missed: list[tuple[str, str]] = field(default_factory=list)
    requests: int = 0
    cause: str | None = None
    detail: str = ""
    later: bool = False

    @property
    def main(self) -> list[Found]:
        """The feeds of articles, best first."""
        return [one for one in self.found if not one.aside]


async def discover(url: str, fetcher: Fetcher, now: float, *, requests: int = REQUESTS) -> Discovery:
    """The feeds behind `url`. Raises ServiceUnavailable (Redis) only; all else is told in the result.

    Causes: those of `clean_link`, of the fetch tier and of `read_any` for the address itself, `http-STATUS`, and
    `no-feeds` for a page without any.
    """
    search = _Search(url, fetcher, now, requests)
    await search.run()
    return search.result


class _Stop(Exception):
    """No error: the end of the requests, or the host's wish."""


class _Search:
    def __init__(self, url: str, fetcher: Fetcher, now: float, requests: int) -> None:
        self.result = Discovery(url)
        self._fetcher = fetcher
        self._now = now
        self._left = requests
        self._asked: set[str] = set()
        self._heads: list[tuple[Found, list[FeedEntry]]] = []

    async def run(self) -> None:
        result = self.result
        address, cause = clean_link(result.url)
        if address is None:
            self._fail(cause or "bad-url", "this is no web address")
            return
        try:
            answer = await self._get(address)
        except FetchError as error:
            self._fail(error.cause, str(error), later=not isinstance(error, FetchRefused))
            return
        if answer.status >= 300:
            self._fail(f"http-{answer.status}", f"the server answers {answer.status}", later=answer.status in PASSING)
            return
        try:
            reading = read_any(answer.body, answer.headers, answer.url, now=self._now)
            self._keep(Candidate(address, "address"), answer, reading)
            return
        except UnreadableInput as error:
            unreadable = error
        try:
            candidates = page_candidates(answer.body, answer.headers, answer.url)
        except UnreadableInput:
            self._fail(unreadable.cause, str(unreadable))
            return
        try:
            await self._site(answer.url, candidates)
        except _Stop as stop:
            result.detail = str(stop)
        result.found.sort(key=lambda one: (one.aside, one.entries == 0))
        if not result.main:
            result.cause = "no-feeds"
            none = "the page declares no feed, and none is where feeds usually are"
            result.detail = result.detail or ("only feeds of comments or searches" if result.found else none)

    async def _site(self, page: str, candidates: list[Candidate]) -> None:
        await self._pages(candidates)
        if not self._done() and urlsplit(page).path not in ("", "/"):
            front = await self._page(urljoin(page, "/"))
            await self._pages(front)
        if not self._done():
            await self._sitemaps(page)
        if not self._done():
            for candidate in usual_candidates(page, USUAL_FEEDS):
                await self._prove(candidate)
                if self._done():
                    break

    def _done(self) -> bool:
        return any(one.entries for one in self.result.main)

    async def _pages(self, candidates: list[Candidate]) -> None:
        """Proves what a page names; a page among them that lists feeds is read once, behind the others."""
        waiting = deque((candidate, True) for candidate in candidates)
        end = self._left - PAGE_REQUESTS
        while waiting and self._left > end:
            candidate, deeper = waiting.popleft()
            answer = await self._prove(candidate)
            if answer is not None and deeper and candidate.via == "anchor":
                inner = [one for one in _candidates(answer) if one.url != candidate.url]
                waiting.extend((one, False) for one in inner)

    async def _page(self, url: str) -> list[Candidate]:
        try:
            answer = await self._ask(url, "page")
        except FetchError as error:
            self._miss(url, error)
            return []
        return _candidates(answer) if answer is not None else []

    async def _prove(self, candidate: Candidate) -> Fetched | None:
        """Keeps the candidate if it is a feed; gives the answer where it is a page."""
        try:
            answer = await self._ask(candidate.url, "feed")
        except FetchError as error:
            self._miss(candidate.url, error)
            return None
        if answer is None:
            return None
        try:
            self._keep(candidate, answer, read_any(answer.body, answer.headers, answer.url, now=self._now))
        except UnreadableInput as error:
            self._miss(candidate.url, error)
            return answer if error.cause == "html" else None
        return None

    async def _sitemaps(self, page: str) -> None:
        listed: list[str] = []
        try:
            robots = await self._get(urljoin(page, "/robots.txt"), "robots")
            listed = read_robots(robots.body, status=robots.status).sitemaps
        except FetchError as error:
            self._miss(urljoin(page, "/robots.txt"), error)
        named = listed or [one.url for one in usual_candidates(page, USUAL_SITEMAPS)]
        #: (address, the index that listed it)
        waiting = deque((url, "") for url in sitemaps_first(named))
        end = self._left - SITEMAP_REQUESTS
        while waiting and self._left > end and not self._done():
            url, index = waiting.popleft()
            try:
                answer = await self._ask(url, "feed")
                if answer is None:
                    continue
                reading = read_sitemap(answer.body, answer.headers, answer.url)
                if reading.kind == "index":
                    if not index:
                        waiting.extendleft(reversed([(child, url) for child in _children(reading)]))
                    continue
                self._judge(reading)
                # the files of an index come and go, the index stays; a news file keeps its address
                kept = index if index and reading.kind != "news" else url
                self._keep(Candidate(kept, "sitemap"), answer, as_feed(reading, now=self._now))
            except (FetchError, UnreadableInput) as error:
                self._miss(url, error)

    def _judge(self, reading: SitemapReading) -> None:
        if reading.kind == "news":
            return
        changes = [entry.lastmod for entry in reading.entries if entry.lastmod is not None]
        if not reading.lastmod_trusted or not changes:
            raise UnreadableInput("a sitemap that does not say what is new", cause="undated-sitemap")
        if max(changes) < self._now - FRESH_DAYS * 86_400:
            raise UnreadableInput(f"nothing in this sitemap is new within {FRESH_DAYS} days", cause="old-sitemap")

    def _keep(self, candidate: Candidate, answer: Fetched, reading: FeedReading) -> None:
        feed, entries = reading.feed, reading.entries
        is_sitemap = feed.format.startswith("sitemap-")
        url = candidate.url if candidate.via == "sitemap" else (answer.moved_to or candidate.url)
        for known, head in self._heads:
            if address_key(known.url) == address_key(url) or same_items(head, entries):
                if url != known.url and url not in known.also:
                    known.also.append(url)
                # an article feed that also answers under a comment feed's address stays one
                known.aside = known.aside and candidate.aside
                return
        dated = [at for entry in entries if (at := entry.published_at or entry.updated_at) is not None]
        found = Found(
            url=url,
            via=candidate.via,
            title=feed.title or candidate.title,
            kind="sitemap" if is_sitemap else "feed",
            format=feed.format,
            language=feed.language,
            site_url=feed.link or "",
            entries=len(entries),
            newest=max(dated, default=None),
            aside=candidate.aside,
        )
        self._heads.append((found, entries))
        self.result.found.append(found)

    async def _ask(self, url: str, kind: Kind) -> Fetched | None:
        """The answer, None for an address that was asked before. Raises FetchError, for other statuses too."""
        key = address_key(url)
        if key in self._asked:
            return None
        answer = await self._get(url, kind)
        if answer.status >= 300:
            raise FetchFailed(f"the server answers {answer.status}", cause=f"http-{answer.status}")
        return answer

    async def _get(self, url: str, kind: Kind = "feed") -> Fetched:
        if self._left <= 0:
            raise _Stop("the limit of requests is reached")
        self._left -= 1
        self.result.requests += 1
        self._asked.add(address_key(url))
        try:
            answer = await self._fetcher.get(url, kind=kind)
        except FetchFailed as error:
            if error.retry_after is not None and self.result.requests > 1:
                self.result.missed.append((url, error.cause))
                raise _Stop(f"the host asks us to wait ({error.cause})") from None
            raise
        self._asked.add(address_key(answer.url))
        if answer.status == 429 and self.result.requests > 1:
            self.result.missed.append((url, "http-429"))
            raise _Stop("the host asks us to wait (http-429)")
        return answer

    def _miss(self, url: str, error: FetchError | UnreadableInput) -> None:
        self.result.missed.append((url, error.cause))

    def _fail(self, cause: str, detail: str, *, later: bool = False) -> None:
        self.result.cause, self.result.detail, self.result.later = cause, detail, later


def _candidates(answer: Fetched) -> list[Candidate]:
    try:
        return page_candidates(answer.body, answer.headers, answer.url)
    except UnreadableInput:
        return []


def _children(reading: SitemapReading) -> Iterable[str]:
    """News files of an index; without any, its newest file, by date or else the last one."""
    files = files_of(reading)
    news = [url for url, _ in files if news_like(url)]
    if news or not files:
        return news
    url, changed = files[0]
    return [url if changed is not None else files[-1][0]]
