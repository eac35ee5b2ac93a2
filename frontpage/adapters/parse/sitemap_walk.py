"""Following a sitemap index without end, loop or flood: what to read next, what is too old, and when to stop.

The caller gives `read` (the fetch tier); this module asks it for at most `requests` addresses, each once, no deeper
than `depth`, and one bad file does not spoil the rest. News files are read first, then the newest: by their lastmod,
where it is no generator's clock, else by the day, month or year in their address.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import urlsplit

from frontpage.adapters.parse.feed_discovery import news_like
from frontpage.adapters.parse.readings import SitemapEntry, SitemapReading
from frontpage.adapters.parse.sitemaps import ROW_LIMIT, read_sitemap
from frontpage.domain.hosts import registrable_domain
from frontpage.domain.urls import canonicalise
from frontpage.errors import FetchError, UnreadableInput

#: An index of indexes exists at large sites; deeper nesting is a trap.
DEPTH: Final = 3
REQUESTS: Final = 12
#: "sitemap-2026-11.xml", "/sitemap/2026/11/30.xml", "?yyyy=2026&mm=11&dd=30", "archive_2026.xml.gz"
_PERIOD: Final = re.compile(
    r"(?<!\d)(20\d\d)(?:(?:[-_/.]|&mm=|&month=)?(0[1-9]|1[0-2])(?:(?:[-_/.]|&dd=|&day=)?(0[1-9]|[12]\d|3[01]))?)?(?!\d)"
)


@dataclass(slots=True)
class Walk:
    """Rows of all files read, `requests` made, problems as "cause: address"."""

    entries: list[SitemapEntry] = field(default_factory=list)
    requests: int = 0
    problems: list[str] = field(default_factory=list)
    #: files and rows that were left out because nothing in them can be new
    old: int = 0


def walk(
    start: str,
    read: Callable[[str], bytes | None],
    *,
    depth: int = DEPTH,
    requests: int = REQUESTS,
    since: float | None = None,
) -> Walk:
    """Reads `start` and what it lists. `read` gives a body, or None (or raises FetchError) when there is none.

    `since` (seconds since epoch): files and rows that say that they did not change since are left out.
    """
    result = Walk()
    seen: set[str] = set()
    addresses: set[str] = set()
    queue: deque[tuple[str, int]] = deque([(start, 0)])
    home = _site(start)
    while queue:
        url, level = queue.popleft()
        key = canonicalise(url).canonical or url
        if key in seen:
            continue
        if result.requests >= requests:
            result.problems.append("request_limit")
            break
        seen.add(key)
        result.requests += 1
        try:
            body = read(url)
            if body is None:
                result.problems.append(f"no_answer: {url}")
                continue
            found = read_sitemap(body, {}, url)
        except (UnreadableInput, FetchError) as error:
            result.problems.append(f"{error.cause}: {url}")
            continue
        if found.kind != "index":
            _gather(result, found, addresses, since)
        elif level + 1 > depth:
            result.problems.append(f"depth_limit: {url}")
        else:
            # An index lists its own site's files only (sitemaps.org, "Sitemap file location").
            files = files_of(found)
            fresh = [file for file, at in files if since is None or at is None or at >= since]
            result.old += len(files) - len(fresh)
            queue.extend((file, level + 1) for file in fresh if _site(file) == home)
    return result


def _gather(result: Walk, found: SitemapReading, addresses: set[str], since: float | None) -> None:
    for entry in found.entries:
        if not found.lastmod_trusted:
            entry.lastmod = None
        dates = [at for at in (entry.lastmod, entry.news.published_at if entry.news else None) if at is not None]
        if since is not None and dates and max(dates) < since:
            result.old += 1
        elif entry.url not in addresses and len(result.entries) < ROW_LIMIT:
            addresses.add(entry.url)
            result.entries.append(entry)


def files_of(index: SitemapReading) -> list[tuple[str, float | None]]:
    """The files of an index with the time of their last change, None when unknown, in the order in which to read them.

    News files stand first, then the newest; without any time the index's own order stands.
    """
    stated = [(file.url, file.lastmod if index.lastmod_trusted else None) for file in index.entries]
    dated = [(url, at if at is not None else period_end(url)) for url, at in stated]
    return sorted(dated, key=lambda file: (not news_like(file[0]), -(file[1] or 0.0)))


def period_end(url: str) -> float | None:
    """When the day, month or year that a file's address names is over (UTC), None when it names none."""
    parts = urlsplit(url)
    match = _PERIOD.search(f"{parts.path}?{parts.query}")
    if match is None:
        return None
    year, month, day = (int(part) if part else None for part in match.groups())
    if month is None:
        end = datetime((year or 0) + 1, 1, 1, tzinfo=UTC)
    elif day is None or day > monthrange(year or 0, month)[1]:
        end = datetime((year or 0) + month // 12, month % 12 + 1, 1, tzinfo=UTC)
    else:
        end = datetime(year or 0, month, day, tzinfo=UTC) + timedelta(days=1)
    return end.timestamp()


def _site(url: str) -> str:
    return registrable_domain(urlsplit(url).hostname or "")
