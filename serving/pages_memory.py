"""All shared pages, pools and publishers in memory: loaded when a pointer moves, so that no request reads a store.

`follow` runs in one thread: it listens on the channel of moved pointers and, because pub/sub may lose messages,
compares every pointer each few seconds. When Redis is away, everything stays as it is. A page that cannot be read
is counted and the previous version stays. Readers of `pages` see one immutable object swapped for another.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import redis
from jinja2 import TemplateError
from pydantic import ValidationError

from frontpage.adapters.clock import Clock
from frontpage.contracts.api import Page, StoryCard, iso
from frontpage.contracts.views import (
    PAGE,
    PAGE_LATEST,
    PAGES_CHANNEL,
    POOL,
    PUBLISHER,
    PUBLISHERS,
    CandidatePool,
    PageSnapshot,
    Publisher,
)
from frontpage.domain.editions import EDITIONS, SECTIONS
from frontpage.domain.tokens import KeyRing
from frontpage.errors import FrontpageError
from serving.cards import CardMaker, Placement, Surface
from serving.metrics import Metrics
from serving.pool import Pool, place_keys
from serving.render import Body

if TYPE_CHECKING:
    from serving.sheets import Sheets

log = logging.getLogger(__name__)
#: Real seconds between full comparisons of pointers; a lost message costs at most this.
RECHECK: Final = 5.0
#: Editions document: the last good snapshot stays servable for an hour.
SERVABLE: Final = 3_600.0
#: A pool is written with each changed page of its edition, and now and then when nothing changed. It is large, so it is
#: read with the top page, with any other page after 10 s, and once a minute in any case (real seconds).
POOL_SOON: Final = 10.0
POOL_LATEST: Final = 60.0
#: A page older than this many real seconds says so: the ranker writes even an unchanged page again after 300 s.
STALE_AFTER: Final = 600.0


@dataclass(frozen=True, slots=True)
class LoadedPage:
    """A snapshot with its cards as shown and all its bodies. `stale_minutes` None while ranking keeps up."""

    snapshot: PageSnapshot
    cards: tuple[StoryCard, ...]
    bodies: Mapping[str, Body]
    sections: tuple[str, ...] = ()
    stale_minutes: int | None = None
    memo: dict[object, Body] = field(default_factory=dict)


class PageMemory:
    """The memory and its follower."""

    def __init__(self, store: redis.Redis, clock: Clock, ring: KeyRing, sheets: Sheets, metrics: Metrics) -> None:
        self._store, self._clock, self._sheets, self._metrics = store, clock, sheets, metrics
        self.publishers: dict[str, Publisher] = {}
        self.pages: dict[tuple[str, str], LoadedPage] = {}
        self.pools: dict[str, Pool] = {}
        #: the pool before the present one: a ranked list made from it can still be cut into pages
        self.previous_pools: dict[str, Pool] = {}
        self.maker = CardMaker(ring, self.publishers)
        self.refreshed_at: float | None = None
        self._pools_read: dict[str, float] = {}
        self._pool_marks: dict[str, int] = {}
        #: sections with a pointer, by edition: what a page's navigation shows
        self._sections: dict[str, tuple[str, ...]] = {}

    def age(self, generated_at: float) -> float:
        """Real seconds since a page was made, whatever the speed of an accelerated replay."""
        return max(0.0, self._clock.real_seconds(max(0.0, self._clock.now() - generated_at)))

    def page(self, edition: str, section: str) -> LoadedPage | None:
        """The page if it may still be served: at most an hour old."""
        page = self.pages.get((edition, section))
        return page if page is not None and self.age(page.snapshot.generated_at) <= SERVABLE else None

    def editions(self) -> dict[str, list[str]]:
        """Editions that have pages, with their sections in reading order."""
        found: dict[str, list[str]] = {}
        for edition, section in list(self.pages):
            found.setdefault(edition, []).append(section)
        order = {section: at for at, section in enumerate(SECTIONS)}
        return {e: sorted(found[e], key=lambda s: order.get(s, len(order))) for e in EDITIONS if e in found}

    def refresh(self) -> int:
        """Compare all pointers and load what moved; the number of pages taken. Raises redis.RedisError."""
        self._load_publishers()
        keys = [(edition, section) for edition in EDITIONS for section in SECTIONS]
        pointers = self._store.mget([PAGE_LATEST.key(edition=e, section=s) for e, s in keys])
        held: dict[str, list[str]] = {}
        for (edition, section), pointer in zip(keys, pointers, strict=True):
            if pointer is not None:
                held.setdefault(edition, []).append(section)
        self._sections = {edition: tuple(sections) for edition, sections in held.items()}
        taken = 0
        for (edition, section), pointer in zip(keys, pointers, strict=True):
            if isinstance(pointer, bytes):
                taken += self._take(edition, section, pointer)
        for edition in self._sections:
            if self._pool_age(edition) >= POOL_LATEST:
                self._load_pool(edition)
        self.refreshed_at = time.monotonic()
        self._age_pages()
        return taken

    def take(self, message: bytes) -> None:
        """Load what a message of the pages channel (`edition/section/version`) names; nonsense is ignored."""
        parts = message.decode("utf-8", "replace").split("/")
        if len(parts) == 3 and parts[0] in EDITIONS and parts[1] in SECTIONS:
            pointer = self._store.get(PAGE_LATEST.key(edition=parts[0], section=parts[1]))
            if isinstance(pointer, bytes):
                self._take(parts[0], parts[1], pointer)

    def follow(self, stop: threading.Event) -> None:
        """Until `stop`: listen, compare, survive."""
        wait = 0.2
        while not stop.is_set():
            try:
                with self._store.pubsub(ignore_subscribe_messages=True) as channel:  # type: ignore[no-untyped-call]
                    channel.subscribe(PAGES_CHANNEL.pattern)
                    while not stop.is_set():
                        if self.refreshed_at is None or time.monotonic() - self.refreshed_at >= RECHECK:
                            self.refresh()
                            wait = 0.2
                        message = channel.get_message(timeout=0.5)
                        if message is not None and isinstance(message.get("data"), bytes):
                            self.take(message["data"])
            except redis.RedisError as error:
                self._metrics.page_errors.labels("redis").inc()
                log.warning("pages stay as they are, Redis does not answer: %s", error)
                self._age_pages()
                stop.wait(wait)
                wait = min(5.0, wait * 2)
            except Exception:  # the follower must outlive any page
                self._metrics.page_errors.labels("unforeseen").inc()
                log.exception("following pages failed")
                stop.wait(1.0)

    def local_cards(self, edition: str, place: str) -> tuple[float, tuple[StoryCard, ...]] | None:
        """(time, cards) of a local page: stories that name the place or are told by a publisher of it."""
        pool = self.pools.get(edition)
        if pool is None or self.age(pool.generated_at) > SERVABLE:
            return None
        publishers = list(self.publishers.values())  # the follower may add one meanwhile
        at_home = {p.publisher_id for p in publishers if p.place and place in place_keys(p.place)}
        found = set(pool.by_place.get(place, ()))
        for publisher in at_home:
            found.update(pool.by_source.get(publisher, ()))
        cards = [pool.cards[at] for at in sorted(found)][:60]
        return pool.generated_at, tuple(self.maker.stories(cards, self._placement(pool, "local", place)))

    def topic_cards(self, edition: str, topic: str) -> list[tuple[float, str, StoryCard]] | None:
        """(sort value, story id, card) of a topic stream, newest first, ties by id; None without a pool."""
        pool = self.pools.get(edition)
        if pool is None or self.age(pool.generated_at) > SERVABLE:
            return None
        cards = [pool.cards[at] for at in pool.by_topic.get(topic, ())]
        cards.sort(key=lambda card: (card.updated_at, card.story_id), reverse=True)
        times = {card.story_id: card.updated_at for card in cards}
        shown = self.maker.stories(cards, self._placement(pool, "topic", topic[:80]))
        return [(times[card.story_id], card.story_id, card) for card in shown]

    def _placement(self, pool: Pool, surface: Surface, section: str) -> Placement:
        return Placement(pool.edition, surface, section, 0, pool.generated_at)

    def _take(self, edition: str, section: str, pointer: bytes) -> int:
        held = self.pages.get((edition, section))
        try:
            version = int(pointer)
            if held is not None and held.snapshot.version == version:
                return 0
            stored = self._store.get(PAGE.key(edition=edition, section=section, n=version))
            if stored is None:
                raise ValueError(f"pointer names version {version}, which is gone")
            snapshot = PageSnapshot.model_validate_json(stored)
            self.pages[edition, section] = self._load(snapshot)
        except (ValueError, ValidationError, FrontpageError, TemplateError) as error:
            self._metrics.page_errors.labels("unreadable").inc()
            log.error("page %s/%s keeps its previous version: %.200s", edition, section, error)
            return 0
        self._metrics.page_loads.inc()
        if section == "top" or self._pool_age(edition) >= POOL_SOON:
            self._load_pool(edition)
        return 1

    def _load(self, snapshot: PageSnapshot, stale_minutes: int | None = None) -> LoadedPage:
        surface: Surface = "top" if snapshot.section == "top" else "section"
        place = Placement(snapshot.edition, surface, snapshot.section, 0, snapshot.generated_at)
        cards = self.maker.stories(snapshot.cards, place)
        page = Page(
            edition=snapshot.edition, section=snapshot.section, version=snapshot.version,
            generated_at=iso(snapshot.generated_at), stale=stale_minutes is not None,
            age_seconds=None if stale_minutes is None else stale_minutes * 60, items=cards,
        )  # fmt: skip
        sections = self._sections.get(snapshot.edition, (snapshot.section,))
        bodies = self._sheets.page(page, snapshot.generated_at, sections, stale_minutes)
        return LoadedPage(snapshot, tuple(cards), bodies, sections, stale_minutes)

    def _pool_age(self, edition: str) -> float:
        """Real seconds since the pool was read."""
        return time.monotonic() - self._pools_read.get(edition, float("-inf"))

    def _load_pool(self, edition: str) -> None:
        self._pools_read[edition] = time.monotonic()
        stored = self._store.get(POOL.key(edition=edition))
        mark = hash(stored)
        if stored is None or self._pool_marks.get(edition) == mark:
            return
        self._pool_marks[edition] = mark
        try:
            pool = Pool.of(CandidatePool.model_validate_json(stored))
        except (ValueError, ValidationError) as error:
            self._metrics.page_errors.labels("pool").inc()
            log.error("pool %s keeps its previous version: %.200s", edition, error)
            return
        if edition in self.pools:
            self.previous_pools[edition] = self.pools[edition]
        self.pools[edition] = pool

    def _load_publishers(self) -> None:
        ids = sorted(id.decode() for id in self._store.smembers(PUBLISHERS.pattern))  # type: ignore[union-attr]
        if not ids:
            return
        rows = self._store.mget([PUBLISHER.key(publisher=id) for id in ids])
        loaded = {row.publisher_id: row for row in _readable(rows)}  # type: ignore[arg-type]
        self.publishers.update(loaded)
        for gone in set(self.publishers) - set(loaded):
            del self.publishers[gone]

    def _age_pages(self) -> None:
        """Render again what has changed around a page: its age, once ranking has stopped, and the navigation."""
        for key, page in list(self.pages.items()):
            age = self.age(page.snapshot.generated_at)
            minutes = int(age // 60) if age >= STALE_AFTER else None
            outdated = minutes != page.stale_minutes or page.sections != self._sections.get(key[0], page.sections)
            if outdated and age <= SERVABLE:
                self.pages[key] = self._load(page.snapshot, minutes)
            if key[1] == "top":
                self._metrics.page_age.labels(key[0]).set(age)


def _readable(rows: Iterable[bytes | None]) -> Iterable[Publisher]:
    for row in rows:
        if row is not None:
            try:
                yield Publisher.model_validate_json(row)
            except ValidationError as error:
                log.error("a publisher row is unreadable: %.200s", error)
