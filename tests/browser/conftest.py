"""Chromium against a real server: uvicorn in a thread, Valkey beside it, the made-up news day inside."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
import redis
import uvicorn
from fakes.pages import Day, write_arabic
from fakes.serving_app import NOW, Collector, SetClock, bearer, make
from playwright.sync_api import Browser, Page, sync_playwright

from frontpage.adapters.services.ports import free_port
from serving.app import create_app
from serving.state import Serving

CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@dataclass
class Site:
    base: str
    serving: Serving
    sent: Collector
    clock: SetClock
    store: redis.Redis
    day: Day
    complaints: list[str] = field(default_factory=list)

    def token(self, user: str) -> str:
        return bearer(user)["Authorization"].removeprefix("Bearer ")


@pytest.fixture
def site(valkey: str) -> Iterator[Site]:
    store = redis.Redis.from_url(valkey)
    day = Day(store, NOW).write()
    write_arabic(store, NOW)
    serving, sent, clock = make(valkey)
    stop = threading.Event()
    serving.memory.refresh()
    threads = serving.follow(stop)
    port = free_port()
    server = uvicorn.Server(uvicorn.Config(create_app(serving), port=port, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield Site(f"http://127.0.0.1:{port}", serving, sent, clock, store, day)
    server.should_exit = True
    thread.join()
    stop.set()
    for follower in threads:
        follower.join()
    serving.sender.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture
def page(browser: Browser, site: Site) -> Iterator[Page]:
    """A window of our own; whatever the console or the network complains about is collected."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    window = context.new_page()
    window.set_default_timeout(10_000)
    window.on("console", lambda m: site.complaints.append(m.text) if m.type in ("error", "warning") else None)
    window.on("pageerror", lambda error: site.complaints.append(str(error)))
    window.on("response", lambda r: site.complaints.append(f"{r.status} {r.url}") if r.status >= 400 else None)
    # the publishers' sites are made up: answer for them, so that a click arrives somewhere
    context.route("**/*.example/**", lambda route: route.fulfill(body="<h1>A publisher</h1>", content_type="text/html"))
    yield window
    context.close()
