"""For you: candidates, two-stage ranking, diversity, a list kept for 5 minutes, pages cut from it, impressions.

Requirements (personalised-feed document): a cursor names the ranked list and an offset, so that paging never
reshuffles, repeats or loses; what a reader does (follow, hide, click) shows in the next list at once, because a
list remembers the state it was made from (`ReaderState.tag`); every degraded step still answers: no model or no time
gives the fallback order, no profile or no room gives the edition's top stories, labelled so.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
import zlib
from dataclasses import dataclass
from typing import Final

import numpy as np
import redis
from pydantic import BaseModel, ValidationError

from frontpage.adapters.clock import Clock
from frontpage.adapters.redis_store import store_errors
from frontpage.contracts.api import Feed, StoryCard, iso
from frontpage.contracts.reader_events import ReaderEvent
from frontpage.contracts.topics import READER_EVENTS
from frontpage.contracts.vectors import Vector
from frontpage.contracts.views import RANKED, RANKED_LATEST, STORY, PageCard, StoryRow
from frontpage.domain.features import FEATURES_VERSION, NAMES, vectorise_all
from frontpage.domain.ids import digest
from frontpage.domain.personal import (
    RERANKED,
    best,
    diversify,
    explain,
    fast_scores,
    relevance,
)
from frontpage.domain.profile import Floats
from frontpage.domain.tokens import KeyRing
from frontpage.errors import ServiceUnavailable, UnreadableInput
from serving.candidates import Found, Hidden, gather, siblings_of
from serving.cards import Placement
from serving.metrics import Metrics
from serving.model import ModelHolder
from serving.pages_memory import PageMemory
from serving.pool import Pool
from serving.problems import NothingRanked, ProblemError
from serving.readers import Readers, ReaderState
from serving.sending import EventSender
from serving.words import REASONS, pretty

log = logging.getLogger(__name__)
#: Real seconds of one ranking after which the model is skipped (documents: p95 200 ms in all, 40 of them for the rest).
BUDGET: Final = 0.15
#: Rankings at once in this process; more readers than that get the top stories instead of a queue (shed first).
ROOM: Final = 16
#: How many of the top page count as "top stories" for the limit "at least one top story".
TOP: Final = 10
_CURSOR: Final = "feed-cursor"


class RankedItem(BaseModel):
    """A place in a list."""

    story_id: str
    reason: str
    subject: str = ""


class RankedList(BaseModel):
    """`ranked:{reader}:{edition}:{snapshot}`, zlib JSON: 200 ids with reasons and the feature rows that ranked them."""

    snapshot: str
    made_at: float
    #: real seconds since 1970: the list's five minutes are a reader's, not the replay's
    made_real: float
    tag: str
    breaking: list[str]
    model: str | None
    late: bool = False
    items: list[RankedItem]
    #: float32 [len(items) * len(REGISTRY)], row-major, versioned like the registry
    features: Vector

    def rows(self) -> Floats:
        """float32 [n, len(REGISTRY)]."""
        return self.features.unpack(FEATURES_VERSION).reshape(len(self.items), len(NAMES))


@dataclass(frozen=True, slots=True)
class ForYou:
    """Everything that one feed request touches."""

    store: redis.Redis
    clock: Clock
    ring: KeyRing
    memory: PageMemory
    readers: Readers
    model: ModelHolder
    sender: EventSender
    metrics: Metrics
    room: asyncio.Semaphore

    async def feed(self, reader: str, edition: str | None, cursor: str | None, limit: int) -> Feed:
        """One page. Raises ProblemError 400 for a cursor that does not verify, 410 for one whose list is gone."""
        place = self._read_cursor(cursor, reader) if cursor is not None else None
        try:
            state = await asyncio.to_thread(self.readers.load, reader)
        except ServiceUnavailable:
            return self._top_stories(edition or (place[0] if place else None), limit, "profile-store")
        chosen = place[0] if place else edition or state.edition
        pool = self.memory.pools.get(chosen)
        if pool is None:
            return self._top_stories(chosen, limit, "no-candidates")
        try:
            if place is not None:
                ranked = await asyncio.to_thread(self._stored, reader, chosen, place[1])
                if ranked is None:
                    raise ProblemError(410, "cursor-expired", "this list is older than five minutes: start again")
                return await self._cut(state, pool, ranked, place[2], limit)
            ranked = await asyncio.to_thread(self._current, state, chosen)
            if ranked is None:
                if self.room.locked():
                    return self._top_stories(chosen, limit, "overload")
                async with self.room:
                    ranked = await self._rank(state, pool)
                await asyncio.to_thread(self._keep, reader, chosen, ranked)
        except ServiceUnavailable:
            return self._top_stories(chosen, limit, "profile-store")
        return await self._cut(state, pool, ranked, 0, limit)

    def _read_cursor(self, cursor: str, reader: str) -> tuple[str, str, int]:
        try:
            fields = self.ring.verify(_CURSOR, cursor)
        except UnreadableInput:
            raise ProblemError(400, "bad-cursor", "this cursor is not one of ours: start without it") from None
        match fields:
            case [str(owner), str(edition), str(snapshot), int(offset)] if owner == reader and offset >= 0:
                return edition, snapshot, offset
        raise ProblemError(400, "bad-cursor", "this cursor belongs to another reader")

    def _current(self, state: ReaderState, edition: str) -> RankedList | None:
        """The kept list, unless the reader or the news has moved on since."""
        with store_errors():
            latest = self.store.get(RANKED_LATEST.key(reader=state.reader, edition=edition))
        if latest is None:
            self.metrics.feed_cache.labels("none").inc()
            return None
        ranked = self._stored(state.reader, edition, latest.decode())  # type: ignore[union-attr]
        if ranked is None or ranked.tag != state.tag:
            self.metrics.feed_cache.labels("outdated").inc()
            return None
        if not set(self._breaking(edition)) <= set(ranked.breaking):
            self.metrics.feed_cache.labels("breaking").inc()
            return None
        self.metrics.feed_cache.labels("hit").inc()
        return ranked

    def _stored(self, reader: str, edition: str, snapshot: str) -> RankedList | None:
        with store_errors():
            stored = self.store.get(RANKED.key(reader=reader, edition=edition, snapshot=snapshot))
        if stored is None:
            return None
        try:
            ranked = RankedList.model_validate_json(zlib.decompress(stored))  # type: ignore[arg-type]
        except (ValidationError, zlib.error) as error:
            log.error("a ranked list is unreadable: %.200s", error)
            return None
        return ranked if ranked.features.version == FEATURES_VERSION else None

    def _keep(self, reader: str, edition: str, ranked: RankedList) -> None:
        data = zlib.compress(ranked.model_dump_json().encode(), 1)
        with store_errors():
            pipe = self.store.pipeline(transaction=True)
            pipe.set(RANKED.key(reader=reader, edition=edition, snapshot=ranked.snapshot), data, ex=RANKED.ttl)
            pipe.set(RANKED_LATEST.key(reader=reader, edition=edition), ranked.snapshot, ex=RANKED_LATEST.ttl)
            pipe.execute()

    def _breaking(self, edition: str) -> list[str]:
        page = self.memory.page(edition, "top")
        return [card.story_id for card in page.cards if card.label == "breaking"] if page else []

    async def _rank(self, state: ReaderState, pool: Pool) -> RankedList:
        started = time.perf_counter()
        found = await gather(state, pool, siblings_of(pool, self.memory.pools), self.metrics)
        ranked = await asyncio.to_thread(self._order, state, pool, found, started)
        self.metrics.feed_seconds.observe(time.perf_counter() - started)
        return ranked

    def _order(self, state: ReaderState, pool: Pool, found: list[Found], started: float) -> RankedList:
        now = self.clock.now()
        candidates = [item.candidate for item in found]
        rows = vectorise_all(candidates, state.profile, pool.edition, now)
        page = self.memory.page(pool.edition, "top")
        top = [card.story_id for card in page.cards[:TOP]] if page else []
        breaking = self._breaking(pool.edition)
        present = {candidate.story_id for candidate in candidates}
        pinned = next((story for story in breaking if story in present), None)
        late = time.perf_counter() - started > BUDGET
        model = None if late else self.model.current
        if late:
            self.metrics.degraded.labels("ranker-late").inc()
        # without a model the fast pass stands alone: the fallback formula, raised by what the reader follows and reads
        fast = fast_scores(rows)
        head = best(fast, RERANKED) if model else []
        scores = relevance(fast, head, model.scores(rows[head]) if model and head else None, rows)
        order = diversify(candidates, scores, top_stories=set(top), pinned=pinned, alpha=state.alpha)
        items = []
        for at in order:
            why = explain(candidates[at], rows[at], state.profile, is_top=candidates[at].story_id in top)
            items.append(RankedItem(story_id=candidates[at].story_id, reason=why.code, subject=why.subject))
        return RankedList(
            snapshot=uuid.uuid4().hex[:16], made_at=now, made_real=time.time(), tag=state.tag, breaking=breaking,
            model=model.version if model else None, late=late, items=items,
            features=Vector.pack(FEATURES_VERSION, rows[np.asarray(order, dtype=np.int64)].reshape(-1)),
        )  # fmt: skip

    async def _cut(self, state: ReaderState, pool: Pool, ranked: RankedList, offset: int, limit: int) -> Feed:
        """Cards from `offset` on. Offsets count places of the list, so a story that cannot be shown leaves no trace."""
        items: list[StoryCard] = []
        hidden = Hidden.of(state)
        at = offset
        rows = ranked.rows()
        shown: set[str] = set()
        while at < len(ranked.items) and len(items) < limit:
            item = ranked.items[at]
            card = await self._card(pool, item.story_id)
            if card is not None and not hidden.hides(card) and card.story_id not in shown:
                made = self._served(state, pool.edition, ranked, at=at, card=card, row=rows[at])
                if made is not None:
                    items.append(made)
                    shown.add(card.story_id)
            at += 1
        more = at < len(ranked.items)
        return Feed(
            edition=pool.edition,
            label="For you",
            degraded="ranker-late" if ranked.late else None,
            generated_at=iso(ranked.made_at),
            model_version=ranked.model,
            items=items,
            next_cursor=self.ring.sign(_CURSOR, [state.reader, pool.edition, ranked.snapshot, at]) if more else None,
        )

    async def _card(self, pool: Pool, story_id: str) -> PageCard | None:
        """From the pool, the one before, a sibling edition's, or the story's row: a list outlives its pool."""
        places = (pool, self.memory.previous_pools.get(pool.edition), *self.memory.pools.values())
        for place in places:
            if place is not None and (at := place.by_id.get(story_id)) is not None:
                return place.cards[at]
        try:
            return await asyncio.to_thread(self._card_of_row, story_id)
        except ServiceUnavailable:
            return None

    def _card_of_row(self, story_id: str) -> PageCard | None:
        with store_errors():
            stored = self.store.get(STORY.key(story=story_id))
        try:
            row = StoryRow.model_validate_json(stored) if stored else None
        except ValidationError:
            return None
        if row is None or row.alias_of or not row.members:
            return None
        originals = [m.article for m in row.members if not m.copy_of] or [row.members[0].article]
        return PageCard(
            story_id=story_id, headline=originals[0].title, top=originals[0], supporting=originals[1:5],
            sources=len({a.publisher_id for a in originals}), articles=len(row.members), updated_at=row.updated_at,
            first_seen_at=row.created_at, score=0.0, lang=row.language, topics=originals[0].topics,
        )  # fmt: skip

    def _served(
        self, state: ReaderState, edition: str, ranked: RankedList, *, at: int, card: PageCard, row: Floats
    ) -> StoryCard | None:
        # one id per place of a list: reloading the page is the same impression, and the click finds it
        impression = digest(f"{state.reader}:{ranked.snapshot}:{at}", 16)
        named = not state.paused
        place = Placement(
            edition, "feed", "for-you", at + 1, ranked.made_at,
            state.reader if named else None, impression if named else None,
        )  # fmt: skip
        made = self.memory.maker.story(card, place, self._reason(ranked.items[at], card))
        if made is not None and named:
            event = ReaderEvent(
                event_id=impression, kind="impression", at=self.clock.now(), edition=edition, reader=state.reader,
                story_id=card.story_id, article_id=card.top.article_id, publisher_id=card.top.publisher_id,
                surface="feed", impression_id=impression, rank=at + 1, features=[float(value) for value in row],
                features_version=FEATURES_VERSION, model_version=ranked.model,
            )  # fmt: skip
            self.sender.offer(READER_EVENTS, card.top.article_id, event)
        return made

    def _reason(self, item: RankedItem, card: PageCard) -> str:
        subject = item.subject
        if item.reason.endswith("_source"):
            subject = card.top.publisher if subject == card.top.publisher_id else subject
        elif item.reason.endswith(("_topic", "_entity")):
            subject = pretty(subject)
        return REASONS.get(item.reason, REASONS["coverage"]).format(subject=subject)

    def _top_stories(self, edition: str | None, limit: int, why: str) -> Feed:
        """The labelled stand-in; raises NothingRanked when there is no page either."""
        self.metrics.degraded.labels(why).inc()
        known = edition or next(iter(self.memory.editions()), "")
        page = self.memory.page(known, "top")
        if page is None:
            raise NothingRanked
        return Feed(
            edition=known, label="Top stories", degraded=why, generated_at=iso(page.snapshot.generated_at),
            items=list(page.cards[:limit]),
        )  # fmt: skip
