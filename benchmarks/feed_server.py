"""A server for `benchmarks/polls.py`, in its own process: 200,000 feeds of made-up sites, four answers in five 304.

    python -m benchmarks.feed_server PORT

The bodies are the sample world's RSS and Atom feeds, 25 items each, gzip-packed as most servers send them. Feed `n` has
edition `e` after `e` changes; each change puts one or two new items on top. A conditional request with the current
validator is answered 304 in four of five cases (the feed changes before the fifth); a plain one gets the body. Raw
asyncio: the client is measured here, and must not wait for its server.
"""

from __future__ import annotations

import asyncio
import gzip
import sys
from functools import lru_cache
from typing import Final

from data_samples.model import Article, Publisher
from data_samples.render import feed_body, http_date
from data_samples.sites import Feed, feeds_of
from data_samples.world import build

HOSTS: Final = 50_000
FEEDS: Final = 200_000
ITEMS: Final = 25
#: Feeds with bodies of their own; the others repeat them.
BODIES: Final = 48
#: After so many changes a feed starts over: in a run of minutes none gets there.
EDITIONS: Final = 12
#: Every fifth answer to a conditional request is a change.
EVERY: Final = 5
BEGAN: Final = 1_790_000_000.0


def host_of(feed: int) -> str:
    """Four feeds a publisher, each with a host and domain of its own."""
    return f"paper{feed % HOSTS}.example"


def address(feed: int) -> str:
    """The address of a feed."""
    return f"http://{host_of(feed)}/feeds/{feed}.xml"


def tag_of(feed: int, edition: int) -> str:
    """The ETag of an edition."""
    return f'"{feed:x}-{edition:x}"'


@lru_cache(maxsize=1)
def _sites() -> list[tuple[Publisher, Feed, list[Article]]]:
    """Sites with enough articles for all editions: their own and those of others in their language."""
    world = build()
    newest = sorted(world.articles, key=lambda article: -article.published_at)
    needed = ITEMS + 2 * EDITIONS
    found = []
    for place, publisher in enumerate(world.publishers):
        # a number names one article of a site: of those that share one, the newest
        of_language = {a.number: a for a in reversed(newest) if a.language == publisher.language}
        pool = list(of_language.values())[::-1][7 * place :][:needed]
        if len(pool) == needed and not publisher.opted_out:
            found += [(publisher, feed, pool) for feed in feeds_of(publisher) if feed.kind in ("rss", "atom")]
    return found[:BODIES]


@lru_cache(maxsize=BODIES * EDITIONS)
def body(which: int, edition: int) -> tuple[bytes, str]:
    """(bytes, content type) of one of the bodies in one of its editions; one or two new items an edition."""
    sites = _sites()
    publisher, feed, articles = sites[which % len(sites)]
    first = len(articles) - ITEMS - edition - (edition // 2)
    shown = [(article, article.versions[0]) for article in articles[first : first + ITEMS]]
    return feed_body(publisher, feed, shown, BEGAN + 60 * edition)


@lru_cache(maxsize=BODIES * EDITIONS)
def packed(which: int, edition: int) -> tuple[bytes, str]:
    """The same, as sent."""
    plain, kind = body(which, edition)
    return gzip.compress(plain, 6), kind


class Answering(asyncio.Protocol):
    """One connection. `asked` counts the conditional requests of each feed, whose edition is that by five."""

    asked: Final[dict[int, int]] = {}

    def __init__(self) -> None:
        self._held = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - for the type checker
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._held += data
        while b"\r\n\r\n" in self._held and self._transport is not None:
            request, _, self._held = self._held.partition(b"\r\n\r\n")
            self._transport.write(self._answer(request))

    def _answer(self, request: bytes) -> bytes:
        path = request.split(b" ", 2)[1]
        if not path.startswith(b"/feeds/"):
            return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
        feed = int(path[7:-4])
        condition = request.lower().partition(b"if-none-match: ")[2].partition(b"\r\n")[0].decode()
        asked = self.asked.get(feed, feed % EVERY)
        if condition:
            asked += 1
            self.asked[feed] = asked
        edition = (asked // EVERY) % EDITIONS
        tag = tag_of(feed, edition)
        head = (
            f"Server: nginx\r\nDate: {http_date(BEGAN)}\r\nETag: {tag}\r\nLast-Modified: "
            f"{http_date(BEGAN + 60 * edition - 900)}\r\nCache-Control: max-age=60\r\nVary: Accept-Encoding\r\n"
            "X-Content-Type-Options: nosniff\r\n"
        )
        if condition == tag:
            return f"HTTP/1.1 304 Not Modified\r\n{head}\r\n".encode()
        content, kind = packed(feed % BODIES, edition)
        head += f"Content-Type: {kind}\r\nContent-Encoding: gzip\r\nContent-Length: {len(content)}\r\n"
        return f"HTTP/1.1 200 OK\r\n{head}\r\n".encode() + content


async def serve(port: int) -> None:
    """Until the process is ended."""
    for which in range(BODIES):
        for edition in range(EDITIONS):
            packed(which, edition)
    server = await asyncio.get_running_loop().create_server(Answering, "127.0.0.1", port, backlog=4096)
    async with server:
        print("ready", flush=True)
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
