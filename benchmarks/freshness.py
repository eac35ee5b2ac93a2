"""Freshness, end to end: seconds from publication to the story, and to the edition's page, on the sample world.

    python -m benchmarks.freshness [--speed 20] [--hours 3]

The whole system runs embedded with default intervals, in a directory of its own. The first 40 hours are played fast,
so that the poller has learnt each feed's rhythm; then `--hours` virtual hours run at `--speed` and are measured. All
figures are in virtual seconds, so every real second that our processes need counts `--speed` times over: the
figures are upper bounds of real time at default intervals. Publication is the world's own record, not what pages claim.

story: the change that put the article into a story was decided. page: for a story that a page
of an edition in its language already shows, the first page whose offset vector covers the change was generated (the
edge adds up to a minute). first_page: the same for stories that no page showed yet, which have to earn their place by
coverage, so that this figure is the ranking's as much as the pipeline's. Stories that no page shows have neither.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from rich.console import Console

from benchmarks.harness import HERE, judge, record
from data_samples.world import World
from frontpage.adapters.kafka_bus import KafkaBus
from frontpage.adapters.pages import PageStore
from frontpage.adapters.redis_store import open_redis
from frontpage.contracts.events import StoryChange
from frontpage.contracts.topics import STORY_CHANGES
from frontpage.contracts.views import PAGES_CHANNEL, PageSnapshot
from frontpage.domain.ids import article_id
from frontpage.domain.urls import canonicalise
from frontpage.settings import Settings
from frontpage_cli.system.demo import HOUR, Demo, Narrator
from frontpage_cli.system.launch import down

LEARN_HOURS = 40.0
LEARN_REAL = 75.0


@dataclass
class Watcher:
    """Reads every page version as its pointer moves: pages are kept for 30 versions only."""

    url: str
    stop: threading.Event = field(default_factory=threading.Event)
    seen: list[PageSnapshot] = field(default_factory=list)

    def run(self) -> None:
        with open_redis(self.url) as store:
            pages, channel = PageStore(store), store.pubsub(ignore_subscribe_messages=True)
            channel.subscribe(PAGES_CHANNEL.pattern)
            while not self.stop.is_set():
                message = channel.get_message(timeout=0.5)
                if message:
                    edition, section, version = message["data"].decode().split("/")
                    snapshot = pages.read(edition, section, int(version))
                    if snapshot is not None:
                        self.seen.append(snapshot)


def changes(bootstrap: str) -> list[tuple[str, int, StoryChange]]:
    """(partition key, offset, change) of every first assignment of an article."""
    bus, found = KafkaBus(bootstrap), []
    for partition, end in bus.end_offsets(STORY_CHANGES.name).items():
        for row in bus.read(STORY_CHANGES.name, partition, 0, end):
            change = StoryChange.decode(row.value)
            if change is not None and change.kind in ("create", "assign") and change.article is not None:
                found.append((f"{STORY_CHANGES.name}/{partition}", row.offset, change))
    return found


def measure(
    world: World, rows: list[tuple[str, int, StoryChange]], pages: list[PageSnapshot], begin: float, end: float
) -> dict[str, float]:
    """Delays of the articles that the world published in [begin, end)."""
    published = {article_id(canonicalise(article.url).canonical): article.published_at for article in world.articles}
    ordered = sorted(pages, key=lambda page: page.generated_at)
    delays: dict[str, list[float]] = {"seen": [], "story": [], "page": [], "first_page": []}
    for key, offset, change in rows:
        card = change.article
        at = published.get(card.article_id) if card is not None else None
        if card is None or at is None or not begin <= at < end:
            continue
        delays["seen"].append(card.first_seen_at - at)
        delays["story"].append(change.at - at)
        showing = [
            page
            for page in ordered
            if page.edition.startswith(f"{card.language}-")
            and any(entry.story_id == change.story_id for entry in page.cards)
        ]
        after = next((page.generated_at for page in showing if page.watermark.get(key, 0) > offset), None)
        if after is not None:
            known = any(page.watermark.get(key, 0) <= offset for page in showing)
            delays["page" if known else "first_page"].append(after - at)
    wanted = sum(begin <= article.published_at < end for article in world.articles)
    figures: dict[str, float] = {"published": wanted, "in_a_story": len(delays["story"])}
    for name, values in delays.items():
        figures[f"{name}_articles"] = len(values)
        for percentile in (50, 90, 95):
            if values:
                figures[f"{name}_p{percentile}_s"] = float(np.percentile(values, percentile))
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--speed", type=float, default=20.0)
    parser.add_argument("--hours", type=float, default=3.0)
    options = parser.parse_args()
    console = Console()
    with tempfile.TemporaryDirectory(prefix="frontpage-freshness-") as var:
        settings = Settings(var=Path(var), serving_port=0, dagster_port=0)
        demo = Demo(settings, Narrator(console.print, lambda _: None))
        try:
            demo.fresh()
            demo.begin()
            demo.open()
            world = demo.world
            demo.clock(world.start, LEARN_HOURS * HOUR / LEARN_REAL)
            demo.watch(LEARN_REAL)
            demo.clock(world.start + LEARN_HOURS * HOUR, 1.0)
            demo.settle("the learning hours", 180.0)
            watcher = Watcher(demo.row["redis"])
            thread = threading.Thread(target=watcher.run)
            thread.start()
            begin = demo.now()
            demo.clock(begin, options.speed)
            time.sleep((options.hours * HOUR + 0.5 * HOUR) / options.speed)
            watcher.stop.set()
            thread.join()
            figures = measure(world, changes(demo.row["kafka"]), watcher.seen, begin, begin + options.hours * HOUR)
        finally:
            down(settings, [], console.print)
    figures["speed"] = options.speed
    record("freshness", figures, "virtual seconds; upper bounds of real seconds at default intervals")
    _, broken = judge("freshness", figures, console, HERE / "targets.toml")
    return int(broken > 0)


if __name__ == "__main__":
    raise SystemExit(main())
