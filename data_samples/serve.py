"""Plays the sample world as real sites on one local port, told apart by the Host header.

    python -m data_samples.serve            # port and services from the settings; follows the clock in Redis
    frontpage publishers serve --speed 60   # with a clock of its own

Every answer is a function of the virtual time: an article answers 404 before it is published, a feed shows what was
published until now. Bodies are rendered once per state and kept; a conditional request that matches costs two look-ups.
Feeds and pages carry a strong ETag and Last-Modified and answer 304; bodies go out with gzip where accepted. The hub that
most sites name (`hub.py`) is one of the hosts.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import sys
import time
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from aiohttp import web

from data_samples import render
from data_samples.hub import Hub, running
from data_samples.images import picture
from data_samples.model import Article, Publisher, Version
from data_samples.sites import HUB_HOST, MOVED_FEED_SITE, amp_url, feeds_of
from data_samples.world import World, build
from frontpage.domain.editions import SECTIONS
from frontpage.errors import ConfigurationError

if TYPE_CHECKING:
    from frontpage.adapters.clock import Clock
    from frontpage.runtime import Runtime

#: Rendered bodies kept; about 20 kB each with both encodings, so at most 80 MB.
KEPT: Final = 4000
#: Articles on a front page.
FRONT: Final = 30


class OwnClock:
    """Virtual time that begins at `virtual` and runs `speed` times as fast as real time."""

    def __init__(self, virtual: float, speed: float) -> None:
        self._virtual, self._speed = virtual, speed
        self._began = time.monotonic()

    def now(self) -> float:
        """Virtual seconds since the epoch."""
        return self._virtual + (time.monotonic() - self._began) * self._speed

    def real_seconds(self, virtual_seconds: float) -> float:
        """How long that takes in real time."""
        return max(0.001, virtual_seconds / self._speed)


@dataclass(frozen=True, slots=True)
class Body:
    """An answer ready to send; `modified` in virtual seconds."""

    plain: bytes
    packed: bytes | None
    kind: str
    tag: str
    modified: float


class Site:
    """One publisher's site: what is visible when. `state(now)` counts the changes so far and names a state."""

    def __init__(self, publisher: Publisher, articles: list[Article]) -> None:
        self.publisher = publisher
        self.articles = articles
        self.by_path = {_path(a.url): a for a in articles}
        self.by_number = {a.number: a for a in articles}
        self.by_amp = {_path(twin): a for a in articles if (twin := amp_url(publisher, a))}
        self.pictures = {a.id for a in articles if a.image}
        self.feeds = {feed.path.removeprefix("/old"): feed for feed in feeds_of(publisher)}
        self._changes = sorted(version.at for a in articles for version in a.versions)

    def state(self, now: float) -> int:
        """How many versions have appeared by now."""
        return bisect_right(self._changes, now)

    def changed_at(self, state: int, otherwise: float) -> float:
        """When that state began."""
        return self._changes[state - 1] if state else otherwise

    def shown(self, now: float, length: int) -> list[tuple[Article, Version]]:
        """The newest `length` articles by the date they claim."""
        visible = [(a, version) for a in self.articles if (version := a.version_at(now))]
        visible.sort(key=lambda pair: (-pair[1].claimed_at, pair[0].number))
        return visible[:length]


class Sites:
    """All sites of a world behind one request handler."""

    def __init__(self, world: World, clock: Clock) -> None:
        self.world, self.clock = world, clock
        articles: dict[str, list[Article]] = {p.id: [] for p in world.publishers}
        for article in world.articles:
            articles[article.publisher_id].append(article)
        self._sites = {p.host: Site(p, articles[p.id]) for p in world.publishers}
        self._kept: OrderedDict[tuple[str, str, int], Body] = OrderedDict()
        self.requests = 0

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Any request to any site; 404 for hosts and paths that do not exist (yet)."""
        self.requests += 1
        host = host_of(request)
        site = self._sites.get(host)
        if site is None:
            if request.path == "/healthz":
                return web.Response(text="ok\n")
            if f"www.{host}" in self._sites:
                raise web.HTTPMovedPermanently(f"http://www.{host}{request.rel_url}")
            return web.Response(status=404, text="no such site\n")
        if request.method not in ("GET", "HEAD"):
            return web.Response(status=405, headers={"Allow": "GET, HEAD"})
        body = self._answer(site, request.path, request.rel_url.query.get("id"))
        if body is None:
            return web.Response(status=404, text="<h1>Not found</h1>\n", content_type="text/html")
        return _send(request, body)

    def state_of(self, host: str, now: float) -> int:
        """How many versions the site has published by now."""
        return self._sites[host].state(now)

    def feed_now(self, host: str, path: str) -> tuple[bytes, str]:
        """A feed's body and type."""
        body = self._answer(self._sites[host], path, None)
        return (body.plain, body.kind) if body else (b"", "text/plain")

    def _answer(self, site: Site, path: str, number: str | None) -> Body | None:
        now, publisher = self.clock.now(), site.publisher
        if path == "/robots.txt":
            return self._keep(site, path, 0, lambda: (render.robots_body(publisher), "text/plain"), self.world.start)
        state = site.state(now)
        changed = site.changed_at(state, self.world.start)
        if path == "/":
            return self._keep(
                site, path, state, lambda: (render.front_page(publisher, site.shown(now, FRONT)), _HTML), changed
            )
        section = path.strip("/")
        if section in SECTIONS:
            found = [shown for shown in site.shown(now, len(site.articles)) if shown[0].section == section][:FRONT]
            return self._keep(site, path, state, lambda: (render.front_page(publisher, found), _HTML), changed)
        if feed := site.feeds.get(path):
            return self._keep(
                site, path, state,
                lambda: render.feed_body(publisher, feed, site.shown(now, feed.length), changed), changed,
            )  # fmt: skip
        if publisher.id == MOVED_FEED_SITE and path.startswith("/old/"):
            raise web.HTTPMovedPermanently(f"http://{publisher.host}{path.removeprefix('/old')}")
        if path.startswith("/r/") and path[3:].isdigit():
            target = site.by_number.get(int(path[3:]))
            if target is None or target.version_at(now) is None:
                return None
            raise web.HTTPFound(f"{target.url}{'&' if '?' in target.url else '?'}utm_source=feed&utm_campaign=r")
        if path.startswith("/media/"):
            return self._picture(site, path)
        return self._page(site, path, number, now)

    def _page(self, site: Site, path: str, number: str | None, now: float) -> Body | None:
        article = site.by_path.get(f"{path}?id={number}" if number else path)
        twin = None if article else site.by_amp.get(path)
        found = article or twin
        version = found.version_at(now) if found else None
        if found is None or version is None:
            return None

        def page() -> tuple[bytes, str]:
            if twin is not None:
                return render.amp_page(site.publisher, found, version), _HTML
            before = [a for a in site.articles if a.published_at < found.published_at][-4:]
            return render.article_page(site.publisher, found, version, before), _HTML

        return self._keep(site, f"{path}?{number}", found.versions.index(version), page, version.at)

    def _picture(self, site: Site, path: str) -> Body | None:
        id, _, form = path.removeprefix("/media/").partition(".")
        if form not in ("jpg", "png") or id not in site.pictures:
            return None
        kind = "image/png" if form == "png" else "image/jpeg"
        return self._keep(site, path, 0, lambda: (picture(id, form), kind), self.world.start)

    def _keep(self, site: Site, path: str, state: int, make: Callable[[], tuple[bytes, str]], modified: float) -> Body:
        key = (site.publisher.host, path, state)
        body = self._kept.get(key)
        if body is None:
            plain, kind = make()
            packed = None if kind.startswith("image/") else gzip.compress(plain, 5, mtime=0)
            body = Body(plain, packed, kind, hashlib.sha256(plain).hexdigest()[:20], modified)
            self._kept[key] = body
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return body


_HTML: Final = "text/html; charset=utf-8"


def _path(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def _send(request: web.Request, body: Body) -> web.Response:
    packs = body.packed is not None and "gzip" in request.headers.get("Accept-Encoding", "")
    headers = {
        "ETag": f'"{body.tag}-gz"' if packs else f'"{body.tag}"',
        "Last-Modified": render.http_date(body.modified),
        "Cache-Control": "max-age=60",
        "Vary": "Accept-Encoding",
    }
    if _unchanged(request, body):
        return web.Response(status=304, headers=headers)
    headers["Content-Type"] = body.kind
    if packs:
        headers["Content-Encoding"] = "gzip"
    return web.Response(body=body.packed if packs else body.plain, headers=headers)


def _unchanged(request: web.Request, body: Body) -> bool:
    """RFC 9110, 13.2.2: If-None-Match decides when it is there, else If-Modified-Since."""
    tags = request.headers.get("If-None-Match")
    if tags is not None:
        known = {t.strip().removeprefix("W/").strip('"').removesuffix("-gz") for t in tags.split(",")}
        return body.tag in known or "*" in known
    since = request.headers.get("If-Modified-Since")
    if since is None:
        return False
    try:
        return int(body.modified) <= parsedate_to_datetime(since).timestamp()
    except ValueError:
        return False


def host_of(request: web.Request) -> str:
    """The host that a request names, without its port."""
    return request.host if request.host.endswith("]") else request.host.rsplit(":", 1)[0].lower()


def make_app(world: World, clock: Clock, push_to: str | None = None) -> web.Application:
    """The aiohttp application that plays the world and its hub. `push_to`: where its pinging publishers find us."""
    sites = Sites(world, clock)
    hub = Hub(world.publishers, sites, clock, push_to)

    async def handle(request: web.Request) -> web.StreamResponse:
        return await (hub.handle(request) if host_of(request) == HUB_HOST else sites.handle(request))

    async def push(_: web.Application) -> AsyncIterator[None]:
        async with running(hub):
            yield

    app = web.Application()
    app["sites"], app["hub"] = sites, hub
    app.cleanup_ctx.append(push)
    app.router.add_route("*", "/{tail:.*}", handle)
    return app


async def run(
    world: World,
    clock: Clock,
    port: int,
    *,
    ready: Callable[[int], None],
    beat: Callable[[int], None] | None = None,
    push_to: str | None = None,
) -> None:
    """Serve on 127.0.0.1 until cancelled; `ready` gets the port, `beat` the number of requests every few seconds.

    Raises ConfigurationError when the port is taken.
    """
    app = make_app(world, clock, push_to)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", port, backlog=1024)
        try:
            await site.start()
        except OSError as error:
            raise ConfigurationError(f"the sample world cannot listen on port {port}: {error.strerror}") from None
        ready(runner.addresses[0][1])
        while True:
            if beat is not None:
                await asyncio.to_thread(beat, app["sites"].requests)
            await asyncio.sleep(5)
    finally:
        await runner.cleanup()


def main() -> None:
    """Entry point: settings give the port; Redis, configured or started by `frontpage up`, gives the clock."""
    import signal

    from frontpage.runtime import connect, set_logging
    from frontpage.settings import load

    settings = load()
    set_logging(settings.log_level)
    runtime: Runtime | None
    try:
        runtime = connect(settings)
    except ConfigurationError:
        runtime = None
    world = build()
    clock: Clock = runtime.clock if runtime else OwnClock(world.start, 60.0)
    # what `frontpage up` chose stands in the environment of the processes that it starts
    push_to = settings.public_url or f"http://127.0.0.1:{settings.serving_port}" if runtime else None
    beat = (lambda requests: runtime.heartbeat("world", requests=requests)) if runtime else None

    async def serve() -> None:
        task = asyncio.current_task()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, task.cancel if task else sys.exit)
        await run(world, clock, settings.world_port, ready=_announce, beat=beat, push_to=push_to)

    try:
        asyncio.run(serve())
    except asyncio.CancelledError:
        pass
    except ConfigurationError as error:
        sys.exit(f"world: {error}")


def _announce(port: int) -> None:
    print(f"sample world on http://127.0.0.1:{port}", file=sys.stderr, flush=True)  # noqa: T201 - the process's voice


if __name__ == "__main__":
    main()
