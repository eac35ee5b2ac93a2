"""The sample world over real HTTP: feeds that our readers understand, conditional requests, pages that appear in time."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import pytest
import pytest_asyncio
from aiohttp.test_utils import TestServer

from data_samples.serve import make_app
from data_samples.sites import MOVED_FEED_SITE, amp_url, feeds_of, tracks_clicks
from data_samples.world import START, World, build
from frontpage.adapters.parse.feeds import read_any
from frontpage.adapters.parse.robots import read_robots

NOW = START + 30 * 3600


class HandClock:
    """A clock that the test moves."""

    def __init__(self, at: float) -> None:
        self.at = at

    def now(self) -> float:
        return self.at

    def real_seconds(self, virtual_seconds: float) -> float:
        return virtual_seconds


@pytest.fixture(scope="module")
def world() -> World:
    return build()


class Client:
    def __init__(self, session: aiohttp.ClientSession, port: int, clock: HandClock) -> None:
        self.session, self.port, self.clock = session, port, clock

    async def get(self, url: str, **headers: str) -> tuple[int, Mapping[str, str], bytes]:
        parts = urlsplit(url)
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        sent = {"Host": parts.netloc, "Accept-Encoding": "identity"} | {
            k.replace("_", "-"): v for k, v in headers.items()
        }
        async with self.session.get(
            f"http://127.0.0.1:{self.port}{path}", headers=sent, allow_redirects=False
        ) as answer:
            return answer.status, answer.headers, await answer.read()


@pytest_asyncio.fixture
async def client(world: World) -> AsyncIterator[Client]:
    clock = HandClock(NOW)
    server = TestServer(make_app(world, clock))
    await server.start_server()
    async with aiohttp.ClientSession(auto_decompress=False) as session:
        yield Client(session, server.port or 0, clock)
    await server.close()


async def test_every_feed_is_read_without_problems_and_shows_only_what_was_published(
    world: World, client: Client
) -> None:
    published = {p.id: 0 for p in world.publishers}
    for article in world.articles:
        published[article.publisher_id] += article.published_at <= NOW
    for feed in world.feeds():
        status, headers, body = await client.get(feed["url"])
        if status == 301:
            status, headers, body = await client.get(headers["Location"])
        assert status == 200, feed
        reading = read_any(body, headers, feed["url"], now=NOW)
        assert not reading.problems, (feed, reading.problems)
        assert len(reading.entries) == min(published[feed["publisher_id"]], _length(world, feed["url"])), feed
        assert all((entry.published_at or 0) <= NOW for entry in reading.entries), feed


def _length(world: World, url: str) -> int:
    return next(feed.length for p in world.publishers for feed in feeds_of(p) if feed.url == url)


async def test_an_article_is_not_there_before_its_time(world: World, client: Client) -> None:
    article = next(a for a in world.articles if a.published_at > NOW)
    assert (await client.get(article.url))[0] == 404
    client.clock.at = article.published_at
    status, _, body = await client.get(article.url)
    assert status == 200
    assert article.id or body


async def test_a_page_states_what_it_is(world: World, client: Client) -> None:
    for article in [a for a in world.articles if a.published_at < NOW][::40]:
        status, headers, body = await client.get(article.url)
        page = body.decode()
        assert status == 200
        assert headers["Content-Type"].startswith("text/html")
        canonical = re.search(r'rel="canonical" href="([^"]+)"', page)
        assert canonical
        assert canonical[1].replace("&amp;", "&") == article.url
        linked = json.loads(re.search(r'ld\+json">(.*?)</script>', page, re.S)[1])  # type: ignore[index]
        assert linked["isAccessibleForFree"] is not article.paywalled
        assert f'lang="{article.language}-' in page
        assert ('dir="rtl"' in page) is (article.language == "ar")


async def test_unchanged_feeds_and_pages_answer_304_and_changed_ones_do_not(world: World, client: Client) -> None:
    article = next(a for a in world.articles if a.corrected and a.publisher_id != MOVED_FEED_SITE)
    site = world.publisher(article.publisher_id)
    for url in (feeds_of(site)[0].url, article.url):
        client.clock.at = article.versions[-1].at - 1
        _, headers, body = await client.get(url)
        assert (await client.get(url, If_None_Match=headers["ETag"]))[0] == 304
        assert (await client.get(url, If_None_Match=f'"other", W/{headers["ETag"]}'))[0] == 304
        assert (await client.get(url, If_Modified_Since=headers["Last-Modified"]))[0] == 304
        assert (await client.get(url, If_None_Match='"other"', If_Modified_Since=headers["Last-Modified"]))[0] == 200
        status, zipped, packed = await client.get(url, Accept_Encoding="gzip")
        assert zipped["Content-Encoding"] == "gzip"
        assert gzip.decompress(packed) == body
        assert zipped["ETag"] != headers["ETag"]
        assert (await client.get(url, If_None_Match=zipped["ETag"]))[0] == 304
        client.clock.at = article.versions[-1].at + 1
        status, later, _ = await client.get(url, If_None_Match=headers["ETag"])
        assert status == 200
        assert later["ETag"] != headers["ETag"]


async def test_redirects_of_the_old_world(world: World, client: Client) -> None:
    moved = next(p for p in world.publishers if p.id == MOVED_FEED_SITE)
    status, headers, _ = await client.get(feeds_of(moved)[0].url)
    assert status == 301
    assert (await client.get(headers["Location"]))[0] == 200
    www = next(p for p in world.publishers if p.host.startswith("www."))
    status, headers, _ = await client.get(f"http://{www.host.removeprefix('www.')}/robots.txt")
    assert (status, headers["Location"]) == (301, f"http://{www.host}/robots.txt")
    tracker = next(a for a in world.articles if tracks_clicks(world.publisher(a.publisher_id)) and a.published_at < NOW)
    status, headers, _ = await client.get(f"http://{world.publisher(tracker.publisher_id).host}/r/{tracker.number}")
    assert status == 302
    assert headers["Location"].startswith(tracker.url)
    assert "utm_" in headers["Location"]
    assert (await client.get(headers["Location"]))[0] == 200


async def test_an_amp_twin_names_its_article(world: World, client: Client) -> None:
    article = next(a for a in world.articles if amp_url(world.publisher(a.publisher_id), a) and a.published_at < NOW)
    twin = amp_url(world.publisher(article.publisher_id), article)
    assert twin
    assert f'rel="amphtml" href="{twin}"' in (await client.get(article.url))[2].decode()
    status, _, body = await client.get(twin)
    assert status == 200
    assert f'rel="canonical" href="{article.url}"' in body.decode()


async def test_robots_close_some_paths_everywhere_and_everything_to_us_where_the_site_opted_out(
    world: World, client: Client
) -> None:
    delays = 0
    for publisher in world.publishers:
        status, _, body = await client.get(f"http://{publisher.host}/robots.txt")
        rules = read_robots(body, status=status)
        assert not rules.allowed("/print/1", "Frontpage")
        assert rules.allowed("/world/x", "Frontpage") is not publisher.opted_out
        delays += bool(rules.crawl_delay("other"))
    assert delays >= 1


async def test_pictures_are_small_images_and_the_same_every_time(world: World, client: Client) -> None:
    kinds = set()
    for article in [a for a in world.articles if a.image][:60]:
        site = world.publisher(article.publisher_id)
        suffix = "png" if site.style % 5 == 2 else "jpg"
        status, headers, body = await client.get(f"http://{site.host}/media/{article.id}.{suffix}")
        assert status == 200
        assert 1000 < len(body) < 60_000
        assert body.startswith(b"\x89PNG" if suffix == "png" else b"\xff\xd8")
        kinds.add(headers["Content-Type"])
        if len(kinds) == 2:
            break
    assert kinds == {"image/png", "image/jpeg"}
    assert (await client.get(f"http://{world.publishers[0].host}/media/nothing.jpg"))[0] == 404


async def test_front_pages_announce_their_feeds(world: World, client: Client) -> None:
    publisher = next(p for p in world.publishers if {f.kind for f in feeds_of(p)} >= {"rss", "json"})
    page = (await client.get(f"http://{publisher.host}/"))[2].decode()
    for feed in feeds_of(publisher):
        assert (f'href="{feed.path}"' in page) is (feed.kind != "sitemap")


async def test_unknown_hosts_and_paths_are_not_found(world: World, client: Client) -> None:
    assert (await client.get("http://nobody.example/"))[0] == 404
    assert (await client.get(f"http://{world.publishers[0].host}/no/such/page"))[0] == 404


async def test_a_redated_piece_moves_to_the_top_of_its_feed_under_the_same_address(
    world: World, client: Client
) -> None:
    article = next(a for a in world.articles if a.redated)
    site = world.publisher(article.publisher_id)
    client.clock.at = article.versions[-1].at
    front = (await client.get(f"http://{site.host}/"))[2].decode()
    first = re.search(r'<main>.*?<a href="([^"]+)"', front, re.S)
    assert first
    assert first[1].replace("&amp;", "&") == article.url


async def test_three_hundred_requests_a_second_are_no_effort(world: World, client: Client) -> None:
    """Feeds and pages, a tenth of them conditional. The client shares the core and is the greater part of it."""
    urls = [feed["url"] for feed in world.feeds()] + [a.url for a in world.articles if a.published_at < NOW][:655]
    for url in urls:
        await client.get(url)
    began = time.process_time()
    await asyncio.gather(*(client.get(url) for url in urls))
    assert len(urls) / (time.process_time() - began) > 300


def test_the_command_serves_and_says_where(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", "from frontpage_cli.main import app; app()", "publishers", "serve", "--start-at", "5"],
        stderr=subprocess.PIPE, text=True, cwd=tmp_path,
    )  # fmt: skip
    try:
        assert process.stderr
        line = next(row for row in process.stderr if "sites on http://127.0.0.1:" in row)
        port = int(line.rsplit(":", 1)[1])
        done = subprocess.run(
            [sys.executable, "-c", "from frontpage_cli.main import app; app()", "publishers", "serve", "--port", str(port)],
            capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 1
        assert f"port {port}" in done.stderr
        assert "Traceback" not in done.stderr
    finally:
        process.terminate()
        process.wait(20)
