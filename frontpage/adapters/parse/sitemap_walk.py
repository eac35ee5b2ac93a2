"""Following a sitemap index without end, loop or flood: what to read next, and when to stop.

The caller gives `read` (the fetch tier); this module asks it for at most `requests` addresses, each once, no deeper
than `depth`, and one bad file does not spoil the rest.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from frontpage.adapters.parse.readings import SitemapEntry
from frontpage.adapters.parse.sitemaps import ROW_LIMIT, read_sitemap
from frontpage.domain.hosts import registrable_domain
from frontpage.domain.urls import canonicalise
from frontpage.errors import FetchError, UnreadableInput

#: An index of indexes exists at large sites; deeper nesting is a trap.
DEPTH: Final = 3
REQUESTS: Final = 12


@dataclass(slots=True)
class Walk:
    """Rows of all files read, `requests` made, problems as "cause: address"."""

    entries: list[SitemapEntry] = field(default_factory=list)
    requests: int = 0
    problems: list[str] = field(default_factory=list)


def walk(start: str, read: Callable[[str], bytes | None], *, depth: int = DEPTH, requests: int = REQUESTS) -> Walk:
    """Reads `start` and what it lists. `read` gives a body, or None (or raises FetchError) when there is none."""
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
            for entry in found.entries:
                if entry.url not in addresses and len(result.entries) < ROW_LIMIT:
                    addresses.add(entry.url)
                    result.entries.append(entry)
            continue
        for child in found.entries:
            if level + 1 > depth:
                result.problems.append(f"depth_limit: {url}")
                break
            # An index lists its own site's files only (sitemaps.org, "Sitemap file location").
            if _site(child.url) == home:
                queue.append((child.url, level + 1))
    return result


def _site(url: str) -> str:
    return registrable_domain(url.partition("://")[2].partition("/")[0].rpartition("@")[2].partition(":")[0])
