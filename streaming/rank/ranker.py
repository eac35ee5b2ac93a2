"""The story ranker: every cycle, from stories in memory to pages and pools in Redis, for every edition.

A cycle (60 virtual seconds) takes in new changes, measures each active story once, and for each edition with stories in
its language orders them, writes new page versions, and then, in one Kafka transaction, the decisions and alerts that go
with them; only then do the pointers move. A page that looks the same is not written again until it is five minutes
old. One ranker works at a time (lease `ranker`, transactional id `ranker`); a second one stands by.

Run: `python -m streaming.rank.ranker`.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from frontpage.adapters.bus import Bus, Outgoing, TransactionalProducer, history
from frontpage.adapters.clock import real_left
from frontpage.adapters.lease import HeldLease
from frontpage.adapters.loop import FIRST_BACKOFF, LONGEST_BACKOFF, dead_letter
from frontpage.adapters.pages import PageStore, RefusedPage
from frontpage.adapters.redis_store import store_errors
from frontpage.contracts.rank_events import BreakingAlert, RankDecision, TrendHot
from frontpage.contracts.topics import ALERTS_BREAKING, RANK_DECISIONS, STORY_CHANGES
from frontpage.contracts.vectors import Vector
from frontpage.contracts.views import TRENDS, CandidatePool, PageSnapshot, PoolEntry
from frontpage.domain.editions import EDITIONS
from frontpage.domain.languages import LANGUAGE_PARTITIONS
from frontpage.domain.scoring import DEFAULT_POLICY, Measure, measure
from frontpage.errors import Fenced, FrontpageError, ServiceUnavailable, UnreadableEvent
from frontpage.runtime import Runtime, run_process
from streaming.rank.batch_views import BatchViews
from streaming.rank.breaking import Breaking, Press, matters
from streaming.rank.edition import PAGES, EditionRank, Ranked
from streaming.rank.records import decision_of, events_of, expected_impressions, look_of
from streaming.rank.sources import Sources
from streaming.rank.state import RankStory, Stories
from streaming.trends.feeds import FeedIndex

if TYPE_CHECKING:
    import redis

log = logging.getLogger(__name__)

PROCESS: Final = "rank.ranker"
#: Virtual seconds after which an unchanged page is written again, so that its age says that the ranker lives.
REWRITE: Final = 300.0
#: Virtual seconds after which a pool is written again although no page changed: its scores and features age.
REPOOL: Final = 120.0
#: Cycles in which a shrunken page is refused before it is believed: ten minutes.
PATIENCE: Final = 10
#: Real seconds between cycles at least, whatever the replay's speed: the other processes need the machine too.
SHORTEST_CYCLE: Final = 3.0
#: Real seconds between the end of a cycle and the next, when cycles take longer than their interval.
REST: Final = 0.2
#: Decisions read back at the start: two days of 70 editions' top pages would be more, a day of a dozen is not.
RESTORED: Final = 200_000


@dataclass(slots=True)
class _Page:
    """A page as last written: what it looked like and when; when its exposure was counted; refused successors;
    story -> (representative, label) as last decided.
    """

    look: str = ""
    at: float = float("-inf")
    counted: float | None = None
    refused: int = 0
    decided: dict[str, tuple[str, str | None]] = field(default_factory=dict)


@dataclass(slots=True)
class Cycle:
    """What one cycle makes: pages with the versions they replace, pools, records for Kafka, and counts."""

    now: float
    pages: list[tuple[PageSnapshot, int | None]] = field(default_factory=list)
    pools: list[CandidatePool] = field(default_factory=list)
    out: list[Outgoing] = field(default_factory=list)
    editions: int = 0
    stories: int = 0
    published: int = 0
    breaking: int = 0
    refused: list[str] = field(default_factory=list)


class Ranker:
    """The ranker of one tenure. `cycle` may be called at any pace."""

    def __init__(self, bus: Bus, store: redis.Redis, producer: TransactionalProducer, *, editions: str = "") -> None:
        self._bus, self._store, self._producer = bus, store, producer
        self._wanted = {name.strip() for name in editions.split(",") if name.strip()}
        self._consumer = bus.consumer(PROCESS, [STORY_CHANGES.name], partitions=range(LANGUAGE_PARTITIONS))
        self._pages = PageStore(store)
        self._feeds = FeedIndex(store)
        self._batch = BatchViews(store)
        self._ranks: dict[str, EditionRank] = {}
        self._vectors: dict[str, tuple[tuple[int, str], Vector | None]] = {}
        self._written: dict[tuple[str, str], _Page] = {}
        self.stories = Stories()
        self.sources = Sources()
        self.breaking = Breaking()

    def restore(self, now: float) -> None:
        """Take up stories, pins, exposure and orders where the predecessor left them.

        The log is read to its end: a page made from the first half of it would show yesterday's news.
        """
        for record, error in self.stories.absorb(history(self._bus, self._consumer, STORY_CHANGES.name)):
            log.error("a change could not be read: %s: %.200r", error, record.value)
        self.breaking.restore(events_of(self._bus, ALERTS_BREAKING.name, BreakingAlert))
        self.breaking.forget(now)
        for edition_id in EDITIONS:
            page = self._pages.read(edition_id, "top")
            if page is not None:
                self._rank_of(edition_id).order = [card.story_id for card in page.cards]
        last: dict[str, dict[int, RankDecision]] = {}
        for decision in events_of(self._bus, RANK_DECISIONS.name, RankDecision, RESTORED):
            if decision.section != "top":
                continue
            shown = last.setdefault(decision.edition, {})
            if shown and next(iter(shown.values())).page_version != decision.page_version:
                self._expose(shown.values(), decision.at, now)
                shown.clear()
            shown[decision.rank] = decision
        for shown in last.values():
            self._expose(shown.values(), now, now)

    def close(self) -> None:
        """Stop reading."""
        self._consumer.close()

    def catch_up(self, now: float) -> int:
        """Take in all changes that are there; returns how many. Raises ServiceUnavailable."""
        taken = 0
        dead: list[Outgoing] = []
        while records := self._consumer.poll(2000, 0.3 if not taken else 0.05):
            taken += len(records)
            dead += [dead_letter(record, error, PROCESS, now) for record, error in self.stories.absorb(records)]
        for record in dead:
            log.error("a change could not be read: %.200r", record.value)
        return taken

    def cycle(self, now: float) -> Cycle:
        """Rank every edition as of `now` and publish what changed."""
        self.catch_up(now)
        changed = self.sources.load(self._store)
        self.stories.refresh(self.sources, everything=changed)
        self._batch.load()
        self._vectors = {id: kept for id, kept in self._vectors.items() if id in self.stories.ranked}
        self.breaking.forget(now)
        self.breaking.merged({old: new for book in self.stories.books.values() for old, new in book.aliases.items()})
        measured, bursting = self._measure(now)
        cycle = Cycle(now, stories=sum(map(len, measured.values())), breaking=len(bursting))
        announced: dict[str, tuple[list[str], str]] = {}
        for edition_id in self._editions(measured.keys()):
            cycle.editions += 1
            rank = self._rank_of(edition_id)
            stories = measured[rank.edition.language]
            here = {s.story_id for s, m in stories if s.story_id in bursting and self._matters(s, m, rank)}
            try:
                ranked = rank.rank(stories, here, self._hot(edition_id), now)
                drafts = [(section, rank.page(section, ranked)) for section in PAGES]
            except FrontpageError:
                raise
            except Exception:  # its last pages stay, and the other editions go on
                log.exception("edition %s cannot be ranked", edition_id)
                cycle.refused.append(edition_id)
                continue
            for section, rows in drafts:
                self._draft(cycle, rank, section, rows)
            if any(page.edition == edition_id for page, _ in cycle.pages) or not 0 <= now - rank.pooled_at < REPOOL:
                cycle.pools.append(self._pool(rank, ranked, now))
                rank.pooled_at = now
            for row in ranked:
                if row.breaking:
                    headline = row.story.cards[row.choice.article_id].title
                    announced.setdefault(row.story.story_id, ([], headline))[0].append(edition_id)
        press = Press(self.sources, self._feeds.feeds() if announced else {})
        for story_id, (editions, headline) in announced.items():
            cycle.out += self.breaking.announce(self.stories.ranked[story_id], editions, headline, now, press)
        self._publish(cycle)
        return cycle

    def _publish(self, cycle: Cycle) -> None:
        """Decisions and alerts first, in one transaction; then pools, and last the pointers that readers follow."""
        if cycle.out:
            self._producer.transact(cycle.out, None)
        for pool in cycle.pools:
            self._pages.write_pool(pool)
        for page, expected in cycle.pages:
            if self._pages.point(page, expected):
                cycle.published += 1
                self._pages.trim(page.edition, page.section)
            else:  # rolled back by hand meanwhile: compare with what is there next time
                self._written.pop((page.edition, page.section), None)

    def _measure(self, now: float) -> tuple[dict[str, list[tuple[RankStory, Measure]]], set[str]]:
        """Active stories with their measures by language, and the ids of those that are breaking."""
        by_language: dict[str, list[tuple[RankStory, Measure]]] = {}
        older: dict[str, list[RankStory]] = {}
        bursting: set[str] = set()
        for story in self.stories.ranked.values():
            if now - story.latest_article > DEFAULT_POLICY.active:
                older.setdefault(story.language, []).append(story)
                continue
            try:
                measured = measure(story.reports, now)
                bursts = measured is not None and self.breaking.look(story, now)
            except Exception:  # pages without this story are better than no pages
                log.exception("story %s cannot be measured", story.story_id)
                continue
            if measured is None:
                continue
            by_language.setdefault(story.language, []).append((story, measured))
            if bursts:
                bursting.add(story.story_id)
        for language, stories in older.items():
            active = by_language.setdefault(language, [])
            missing = DEFAULT_POLICY.enough - len(active)
            newest = sorted(stories, key=lambda s: -s.latest_article)[: max(0, missing)]
            active += [(story, measured) for story in newest if (measured := measure(story.reports, now)) is not None]
        return by_language, bursting

    def _matters(self, story: RankStory, measured: Measure, rank: EditionRank) -> bool:
        return matters(measured, story, rank.edition, self.breaking.policy)

    def _editions(self, languages: Iterable[str]) -> list[str]:
        spoken = set(languages)
        return [
            edition.id
            for edition in EDITIONS.values()
            if edition.language in spoken and (not self._wanted or edition.id in self._wanted)
        ]

    def _rank_of(self, edition_id: str) -> EditionRank:
        return self._ranks.setdefault(edition_id, EditionRank(EDITIONS[edition_id]))

    def _hot(self, edition_id: str) -> TrendHot | None:
        with store_errors():
            value: Any = self._store.get(TRENDS.key(edition=edition_id))
        try:
            return TrendHot.decode(value)
        except UnreadableEvent as error:
            log.error("trends of %s: %s", edition_id, error)
            return None

    def _draft(self, cycle: Cycle, rank: EditionRank, section: str, rows: list[Ranked]) -> None:
        """Write a version of one page if it changed; it becomes visible when the cycle's transaction is through."""
        edition, now = rank.edition.id, cycle.now
        known = self._written.setdefault((edition, section), _Page())
        minutes = min(REWRITE, max(0.0, now - known.counted)) / 60.0 if known.counted is not None else 0.0
        known.counted = now
        if section == "top":
            for place, row in enumerate(rows, start=1):
                rank.exposure.add(row.choice.publisher_id, expected_impressions(place, minutes))
        if not rows:
            return
        cards = [rank.card(row) for row in rows]
        look = look_of(cards)
        if look == known.look and 0 <= now - known.at < REWRITE:
            return
        page = PageSnapshot(
            edition=edition, section=section, version=self._pages.next_version(edition, section), generated_at=now,
            cards=cards, watermark=dict(self.stories.watermark),
        )  # fmt: skip
        try:
            expected = self._pages.check(page, shrinking=known.refused >= PATIENCE)
            self._pages.write(page)
        except RefusedPage as error:
            known.refused += 1
            cycle.refused.append(f"{edition}/{section}")
            log.error("page refused, the last one stays: %s", error)
            return
        known.look, known.at, known.refused = look, now, 0
        cycle.pages.append((page, expected))
        decided = {row.story.story_id: (row.choice.article_id, cards[at].label) for at, row in enumerate(rows)}
        cycle.out += [
            decision_of(page, place, row, cards[place - 1].label)
            for place, row in enumerate(rows, start=1)
            # the top page is recorded whole, so that exposure can be added up again; a section's news only
            if section == "top" or known.decided.get(row.story.story_id) != decided[row.story.story_id]
        ]
        known.decided = decided

    def _pool(self, rank: EditionRank, ranked: list[Ranked], now: float) -> CandidatePool:
        entries = []
        for row in ranked:
            vector = self._vector(row.story)
            if vector is not None:
                features = rank.features(row, now, self._batch.ctr(row.story.story_id))
                entries.append(PoolEntry(card=rank.card(row), vector=vector, features=features))
        return CandidatePool(edition=rank.edition.id, version=int(now), generated_at=now, entries=entries)

    def _vector(self, story: RankStory) -> Vector | None:
        """The story's projected centroid, computed once for all editions until the story or the projection changes."""
        version = self._batch.version(story.encoder)
        known = self._vectors.get(story.story_id)
        if known is None or known[0] != (story.revision, version):
            known = ((story.revision, version), self._batch.project(story.encoder, story.centroid))
            self._vectors[story.story_id] = known
        return known[1]

    def _expose(self, shown: Iterable[RankDecision], until: float, now: float) -> None:
        for decision in shown:
            if decision.edition not in EDITIONS or decision.at < now - now % 86_400:
                continue
            rank = self._rank_of(decision.edition)
            rank.roll(now)
            minutes = min(REWRITE, max(0.0, until - decision.at)) / 60.0
            rank.exposure.add(decision.publisher_id, expected_impressions(decision.rank, minutes))


def tenure(runtime: Runtime, check: Callable[[], None], stop: threading.Event) -> None:
    """Rank until `stop`; raises Fenced or ServiceUnavailable."""
    producer = runtime.bus.transactional("ranker")
    ranker = Ranker(runtime.bus, runtime.redis, producer, editions=runtime.settings.editions)
    try:
        ranker.restore(runtime.clock.now())
        while not stop.is_set():
            check()
            started, as_of = time.monotonic(), runtime.clock.now()
            done = ranker.cycle(as_of)
            facts = {
                "editions": done.editions, "stories": done.stories, "pages": done.published, "refused": done.refused,
                "breaking": done.breaking, "seconds": round(time.monotonic() - started, 3),
            }  # fmt: skip
            while not stop.is_set():
                runtime.heartbeat(PROCESS, **facts)
                check()
                pause = real_left(runtime.clock, as_of, runtime.settings.rank_interval)
                left = max(started + SHORTEST_CYCLE - time.monotonic(), pause)
                if stop.wait(min(max(left, REST), 1.0)) or left <= 1.0:
                    break
    finally:
        ranker.close()
        producer.close()


def main(runtime: Runtime, stop: threading.Event) -> None:
    """Take the lease, rank, start over after failures; ends when `stop` is set."""
    lease = HeldLease(runtime.redis, "ranker", f"{socket.gethostname()}:{os.getpid()}")
    backoff = FIRST_BACKOFF
    while lease.wait(stop, lambda: runtime.heartbeat(PROCESS, state="standing by")):
        try:
            tenure(runtime, lease.check, stop)
            backoff = FIRST_BACKOFF
        except (Fenced, ServiceUnavailable, ValidationError) as error:
            log.warning("starting over in %.1f s: %s", backoff, error)
            stop.wait(backoff)
            backoff = min(backoff * 2, LONGEST_BACKOFF)
        finally:
            lease.release()


if __name__ == "__main__":
    run_process(PROCESS, main)
