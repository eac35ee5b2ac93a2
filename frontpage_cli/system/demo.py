"""The demo: the sample world played through the whole system in accelerated time, ending in real time.

First the quiet hours fast, then the hour of the burst slowly enough to watch, then real time; simulated readers click,
the batch layer runs once, everything is left running. State of an earlier demo is removed first; state that no demo
made is never touched.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import httpx
import redis

from data_samples.readers import READERS
from data_samples.world import World, build
from frontpage.adapters.clock import ReplayClock, set_clock
from frontpage.adapters.kafka_bus import KafkaBus
from frontpage.adapters.redis_store import open_redis
from frontpage.contracts.topics import ARTICLES, ITEMS_DEAD, ITEMS_RAW, STORY_CHANGES
from frontpage.domain.text import plain
from frontpage.errors import ConfigurationError, FrontpageError
from frontpage.settings import Settings
from frontpage_cli.system import dagster_runs, simulated
from frontpage_cli.system.backlog import backlog
from frontpage_cli.system.launch import supervisor_of, up
from streaming.ingest.registry import import_world

HOUR: Final = 3600.0
#: Real seconds of the quiet hours: the page must show stories within 3 minutes, and the rest needs its share.
QUIET_REAL: Final = 60.0
#: The quiet part ends so long before the burst (virtual seconds).
MARGIN: Final = 0.4 * HOUR
#: Times real time while the news of the quiet part comes through.
SETTLING_SPEED: Final = 3.0
#: Virtual seconds before the burst at which the approach ends.
EVE: Final = 30.0
#: Real seconds from the end of the quiet part to the eve of the burst.
APPROACH_REAL: Final = 8.0
#: Times real time while the burst is on: its five minutes take 17 real seconds, a poll of a second is 18 virtual ones.
BURST_SPEED: Final = 18.0
#: Real seconds of burst at that speed; then real time goes on while a slow machine catches up.
BURST_REAL: Final = 70.0
#: Real seconds that a slow machine may need until it has caught up, or shows the burst. Two idle cores need one minute.
PATIENCE: Final = 900.0
#: Groups whose backlog decides whether news has come through.
PIPELINE: Final = (ITEMS_RAW.name, ARTICLES.name, STORY_CHANGES.name)
#: What has to run while the quiet hours pass. Serving is where hubs confirm subscriptions: a poller that begins without
#: it asks too early, and is pushed nothing until it asks again.
GATHERING: Final = ("serving", "poller", "enrich", "writer", "store")
STATE: Final = ("kafka", "valkey", "lake", "dagster", "spark", "models", "thumbs")
JOB: Final = "everything"


@dataclass
class Narrator:
    """How the demo talks: `say` prints a line that stays, `show` replaces the line that tells how it goes."""

    say: Callable[[str], None]
    show: Callable[[str], None]


class Demo:
    """One run. Call the steps in their order, or `run`."""

    def __init__(self, settings: Settings, narrator: Narrator) -> None:
        if settings.profile == "production":
            raise ConfigurationError("the demo runs in the development profile only")
        self._settings = settings
        self._tell = narrator
        self.row: dict[str, str] = {}
        self.world: World = build()
        burst = [a for a in self.world.articles if a.event_id == self.world.burst_event]
        self._headlines = {plain(version.title) for article in burst for version in article.versions}

    def run(self, *, batch: bool = True) -> dict[str, Any]:
        """All of it; returns figures for `--json`."""
        began = time.monotonic()
        self.fresh()
        self.begin()
        self.quiet_hours()
        breaking = self.burst()
        page_after = time.monotonic() - began
        figures: dict[str, Any] = {"seconds_to_page": round(page_after, 1), "breaking": breaking, **self.figures()}
        self.complete()
        figures["clicks"] = self.readers()
        if batch:
            figures["batch"] = self.batch()
        return figures

    def fresh(self) -> None:
        """Remove an earlier demo's state; raises ConfigurationError when the state is not a demo's."""
        var = self._settings.var
        marker = var / "demo"
        manager = supervisor_of(self._settings)
        if manager.running() or manager.processes():
            if not marker.exists():
                raise ConfigurationError(
                    "a system that is not a demo runs here: `frontpage down`, or set FRONTPAGE_VAR"
                )
            self._tell.say("stopping the demo that is running")
            manager.shutdown()
        present = [name for name in STATE if (var / name).exists()]
        if present and not marker.exists():
            raise ConfigurationError(
                f"{var} holds data ({', '.join(present)}): set FRONTPAGE_VAR to an empty directory"
            )
        for name in present:
            shutil.rmtree(var / name)
        var.mkdir(parents=True, exist_ok=True)
        marker.write_text("This directory belongs to `frontpage demo`, which empties it.\n", encoding="utf-8")

    def begin(self) -> None:
        """Services first, then the clock and the sources, then what gathers news, so that none sees another time."""
        up(self._settings, ["services"], self._tell.say, world=True)
        row = up(self._settings, ["world"], self._tell.say, world=True)
        self.row = row
        with open_redis(row["redis"]) as store:
            set_clock(store, virtual=self.world.start, speed=1.0)
            report = import_world(self.world, store, self.world.start)
        self._tell.say(
            f"{report.publishers} publishers with {report.added} feeds, {len(self.world.articles)} articles of"
            f" {len(self.world.events)} events in 48 hours"
        )
        up(self._settings, GATHERING, self._tell.say, world=True)

    def open(self) -> None:
        """Ranking: while two days pass in a minute nobody would read its pages."""
        up(self._settings, ["speed", "serving"], self._tell.say, world=True)

    def quiet_hours(self) -> None:
        """Everything before the burst, fast; then wait until what was published has come through."""
        span = self.world.burst_at - MARGIN - self.world.start
        speed = span / QUIET_REAL
        self._tell.say(f"playing {span / HOUR:.1f} hours at {speed:.0f} times real time")
        self.clock(self.world.start, speed, until=self.world.start + span)
        self.watch(QUIET_REAL)
        self.open()
        # no slower: a site's request budget refills with the clock, and what was published has to be fetched
        self.clock(self.now(), SETTLING_SPEED, until=self.world.burst_at - EVE)
        self.settle("the quiet hours", PATIENCE)

    def burst(self) -> str | None:
        """The hour of the burst, watched; ends in real time once a page says Breaking. Returns what it says."""
        before = self.world.burst_at - EVE
        now = self.now()
        self._tell.say(
            f"the burst begins in {(self.world.burst_at - now) / 60:.0f} virtual minutes;"
            f" {BURST_SPEED:.0f} times real time around it"
        )
        if now < before:
            self.clock(now, (before - now) / APPROACH_REAL, until=before)
            self.watch(APPROACH_REAL)
        self.clock(before, BURST_SPEED, until=before + BURST_REAL * BURST_SPEED)
        deadline = time.monotonic() + PATIENCE
        breaking: str | None = None
        while breaking is None and time.monotonic() < deadline:
            self.watch(1.0)
            breaking = self._breaking()
        now = self.now()
        self.clock(now, 1.0)
        since = (now - self.world.burst_at) / 60
        if breaking is None:
            self._tell.say(f"no page says Breaking {since:.0f} virtual minutes after the burst began, going on")
        else:
            self._tell.say(f"Breaking: {breaking} ({since:.1f} virtual minutes after it began)")
        return breaking

    def complete(self) -> None:
        """The rest: Dagster."""
        up(self._settings, [], self._tell.say, world=True)

    def readers(self, count: int = READERS) -> dict[str, int]:
        """Simulated readers read and click over the real API; one reader's For you is compared before and after."""
        readers = self.world.readers[: min(count, READERS)]
        self._pages({reader.edition for reader in readers})
        one = readers[0]
        before = [card["story_id"] for card in simulated.feed(self._settings, self.row["page"], one)]
        tally = simulated.read_and_click(
            self._settings,
            self.row["page"],
            [*readers, one, one],
            seed=1,
            say=lambda t: self._tell.show(f"{t.sessions} readers, {t.shown} stories shown, {t.clicks} clicks"),
        )
        time.sleep(3.0)
        after = [card["story_id"] for card in simulated.feed(self._settings, self.row["page"], one)]
        moved = sum(a != b for a, b in zip(before, after, strict=False))
        self._tell.say(
            f"{tally.sessions} readers made {tally.clicks} clicks ({tally.failed} requests failed);"
            f" {moved} of {one.id}'s {len(after)} stories changed place"
        )
        return {"sessions": tally.sessions, "clicks": tally.clicks, "failed": tally.failed, "moved": moved}

    def batch(self) -> str:
        """Every Dagster asset once."""
        self._tell.say("materialising everything in Dagster")
        began = time.monotonic()
        run = dagster_runs.launch(self.row["dagster"], JOB)
        status = dagster_runs.wait(
            self.row["dagster"],
            run,
            900.0,
            lambda state, steps: self._tell.show(f"Dagster run {state.lower()}, {steps} steps done"),
        )
        self._tell.say(
            f"Dagster run {status.lower()} after {time.monotonic() - began:.0f} s: {self.row['dagster']}/runs/{run}"
        )
        return status

    def figures(self) -> dict[str, int]:
        """Records on the topics so far."""
        bus = KafkaBus(self.row["kafka"])
        return {
            topic.name: sum(
                len(list(bus.read(topic.name, p, 0, end))) for p, end in bus.end_offsets(topic.name).items()
            )
            for topic in (ITEMS_RAW, ARTICLES, STORY_CHANGES, ITEMS_DEAD)
        }

    # How it goes.

    def clock(self, virtual: float, speed: float, until: float | None = None) -> None:
        """See `set_clock`."""
        with open_redis(self.row["redis"]) as store:
            set_clock(store, virtual=virtual, speed=speed, until=until)

    def now(self) -> float:
        """Virtual seconds since 1970."""
        with open_redis(self.row["redis"]) as store:
            return ReplayClock(store).now()

    def watch(self, seconds: float) -> None:
        """Tell how it goes for that many real seconds."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self._tell.show(self._progress())
            time.sleep(min(1.0, left))

    def _progress(self) -> str:
        hours = (self.now() - self.world.start) / HOUR
        bus = KafkaBus(self.row["kafka"])
        try:
            items, articles, changes = (sum(bus.end_offsets(name).values()) for name in PIPELINE)
        except FrontpageError as error:
            return f"hour {hours:.1f}: {error}"
        return f"hour {hours:.1f}: {items} items seen, {articles} articles, {changes} story changes"

    def settle(self, what: str, patience: float) -> None:
        """Wait until the pipeline has caught up, for `patience` real seconds at most."""
        deadline = time.monotonic() + patience
        calm = 0
        while calm < 2:
            behind = sum(
                count
                for topics in backlog(self.row["kafka"]).values()
                for topic, count in topics.items()
                if topic in PIPELINE
            )
            self._tell.show(f"{self._progress()}; {behind} still on their way")
            calm = calm + 1 if behind == 0 else 0
            if time.monotonic() > deadline:
                self._tell.say(f"{what}: {behind} records are still on their way after {patience:.0f} s, going on")
                return
            time.sleep(1.0)

    def _breaking(self) -> str | None:
        """Headline of the burst's story on the first English page that labels it Breaking."""
        for edition in ("en-US", "en-GB", "en-IN", "en-AU", "en-CA"):
            for card in self._page(edition):
                if card.get("label") == "breaking" and card["headline"] in self._headlines:
                    return f"{card['headline']} on {edition}, {card['sources']} sources"
        return None

    def _pages(self, editions: set[str]) -> None:
        """Wait until all of these editions have a page: Breaking is on its pages before a first round ends."""
        deadline = time.monotonic() + PATIENCE
        while missing := [edition for edition in sorted(editions) if not self._page(edition)]:
            if time.monotonic() > deadline:
                self._tell.say(f"no page of {', '.join(missing)} after {PATIENCE:.0f} s, going on")
                return
            self._tell.show(f"waiting for the first pages of {', '.join(missing)}")
            time.sleep(1.0)

    def _page(self, edition: str) -> list[dict[str, Any]]:
        try:
            answer = httpx.get(f"{self.row['page']}/v1/editions/{edition}/top", timeout=5.0)
            cards = answer.json().get("cards") or answer.json().get("items") or []
        except (httpx.HTTPError, ValueError, redis.RedisError):
            return []
        return list(cards)
