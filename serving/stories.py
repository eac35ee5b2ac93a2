"""Full Coverage: a story row as readers see it. Copies stand under their original, kinds are labelled and told apart.

`StoryShelf` reads rows (one key each) and keeps what it rendered for the seconds that the edge keeps it anyway; when
Redis is away it answers from there or from the card in memory, for up to an hour.
"""

from __future__ import annotations

import logging
import re
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import redis
from pydantic import ValidationError

from frontpage.adapters.redis_store import store_errors
from frontpage.contracts.api import ArticleRef, LinkedStory, Story, TimelineEntry, iso
from frontpage.contracts.views import STORY, PageCard, StoryMember, StoryRow
from frontpage.domain.editions import DEFAULT_EDITION, EDITIONS, Edition
from frontpage.domain.languages import direction, primary_subtag
from frontpage.errors import NotFound, ServiceUnavailable
from serving.cards import CardMaker, Placement
from serving.pages_memory import SERVABLE, PageMemory
from serving.pool import place_keys

log = logging.getLogger(__name__)
STORY_ID: Final = re.compile(r"[0-9a-z]{1,32}\Z")
#: Real seconds that a story is answered from memory: with the edge's 30 s a reader is at most about half a minute late.
KEPT: Final = 5.0
SHELF: Final = 512
#: A story page shows at most this many originals, newest first; the timeline has them all up to its own limit.
SHOWN: Final = 200
#: Links followed from a story: an event has one or two stories in each language.
LINKED: Final = 30


@dataclass(frozen=True, slots=True)
class Moved:
    """The story was merged: answer 301 to the survivor."""

    survivor: str


class StoryShelf:
    """Rows of stories, read once in a few seconds."""

    def __init__(self, store: redis.Redis, memory: PageMemory) -> None:
        self._store, self._memory = store, memory
        self._kept: OrderedDict[str, tuple[float, Story | Moved]] = OrderedDict()

    def get(self, story_id: str) -> Story | Moved:
        """Raises NotFound, or ServiceUnavailable when nobody knows the story and Redis is away."""
        if not STORY_ID.match(story_id):
            raise NotFound("no such story")
        now = time.monotonic()
        kept = self._kept.get(story_id)
        if kept is not None and now - kept[0] < KEPT:
            return kept[1]
        try:
            made = self._read(story_id)
        except ServiceUnavailable:
            if kept is not None and now - kept[0] < SERVABLE:
                return kept[1]
            card = self._card(story_id)
            if card is None:
                raise
            return story_of(_row_of(card), self._memory.maker, card, ())
        # out and in again puts it last; another thread may drop the story at any moment between two steps
        self._kept.pop(story_id, None)
        self._kept[story_id] = (now, made)
        while len(self._kept) > SHELF:
            self._kept.popitem(last=False)
        return made

    def _read(self, story_id: str) -> Story | Moved:
        row = self._row(story_id)
        card = self._card(story_id)
        if row is None:
            # the page may be a moment ahead of the story store: both follow story.changes on their own
            if card is None:
                raise NotFound("no such story, or it is older than a week")
            row = _row_of(card)
        if row.alias_of:
            return Moved(row.alias_of)
        return story_of(row, self._memory.maker, card, self._linked(row))

    def _linked(self, row: StoryRow) -> list[StoryRow]:
        """Rows of linked stories, each once: a link names a story as it was called before merges."""
        found: dict[str, StoryRow] = {}
        for linked_id in row.links[:LINKED]:
            other = self._row(linked_id)
            if other is not None and other.alias_of:
                other = self._row(other.alias_of)
            if other is not None and other.story_id != row.story_id and not other.alias_of:
                found.setdefault(other.story_id, other)
        return sorted(found.values(), key=lambda other: (other.language, other.story_id))

    def _row(self, story_id: str) -> StoryRow | None:
        with store_errors():
            stored = self._store.get(STORY.key(story=story_id))
        if stored is None:
            return None
        try:
            return StoryRow.model_validate_json(stored)
        except ValidationError as error:
            log.error("story %s is unreadable: %.200s", story_id, error)
            return None

    def _card(self, story_id: str) -> PageCard | None:
        for pool in list(self._memory.pools.values()):
            at = pool.by_id.get(story_id)
            if at is not None:
                return pool.cards[at]
        for page in list(self._memory.pages.values()):
            for card in page.snapshot.cards:
                if card.story_id == story_id:
                    return card
        return None


def story_of(row: StoryRow, maker: CardMaker, card: PageCard | None, linked: Sequence[StoryRow]) -> Story:
    """The story as shown. `card` is its present card on some page: it knows the representative headline."""
    members = sorted((m for m in row.members if maker.shown(m.article)), key=lambda m: m.article.first_seen_at)
    if not members:
        raise NotFound("no article of this story may be shown any more")
    ids = {member.article.article_id for member in members}
    copies: dict[str, list[str]] = {}
    originals: list[StoryMember] = []
    for member in members:
        if member.copy_of in ids and member.copy_of != member.article.article_id:
            copies.setdefault(str(member.copy_of), []).append(member.article.publisher)
        else:
            originals.append(member)
    # the token's time is the story's last change, so that two servers make the same bytes
    place = Placement(home_edition(row.language).id, "story", "", 0, row.updated_at)
    places = {key for m in members for p in m.article.places for key in place_keys(p)}
    refs: list[tuple[StoryMember, ArticleRef]] = []
    for at, member in enumerate(sorted(originals, key=lambda m: -m.article.first_seen_at)[:SHOWN], start=1):
        publisher = maker.publisher(member.article.publisher_id)
        local = bool(publisher and publisher.place and not places.isdisjoint(place_keys(publisher.place)))
        also = list(dict.fromkeys(copies.get(member.article.article_id, [])))
        where = Placement(place.edition, "story", "", at, place.issued_at)
        refs.append((member, maker.article(member.article, row.story_id, where, also=also, local=local)))
    headline = card.headline if card is not None else _headline(originals, maker)
    topics = list(dict.fromkeys(t for m in originals for t in (*m.article.topics, *m.article.entities)))[:12]
    return Story(
        story_id=row.story_id,
        cluster_id=row.story_id,
        headline=headline,
        language=row.language,
        dir="rtl" if direction(row.language) == "rtl" else "ltr",
        sources=len({m.article.publisher_id for m in originals}),
        first_seen_at=iso(members[0].article.first_seen_at),
        updated_at=iso(row.updated_at or members[-1].article.first_seen_at),
        articles=[
            ref for member, ref in refs if member.article.kind not in ("opinion", "fact_check") and not ref.local
        ],
        local=[ref for member, ref in refs if ref.local and member.article.kind not in ("opinion", "fact_check")],
        opinion=[ref for member, ref in refs if member.article.kind == "opinion"],
        fact_checks=[ref for member, ref in refs if member.article.kind == "fact_check"],
        timeline=_timeline(row, originals),
        publishers=sorted({m.article.publisher for m in members}, key=str.casefold),
        related_topics=topics,
        other_languages=[_link(other, maker) for other in linked if any(maker.shown(m.article) for m in other.members)],
    )


def home_edition(language: str) -> Edition:
    """The edition in whose words a story is told and to which its clicks count: the first of its language."""
    subtag = primary_subtag(language)
    return next((e for e in EDITIONS.values() if e.language == subtag), EDITIONS[DEFAULT_EDITION])


def _headline(originals: Sequence[StoryMember], maker: CardMaker) -> str:
    """Without a page that shows the story: the headline of its most authoritative news article, earliest first."""

    def rank(member: StoryMember) -> tuple[bool, float, float]:
        publisher = maker.publisher(member.article.publisher_id)
        return (
            member.article.kind != "news",
            -(publisher.authority if publisher else 0.0),
            member.article.first_seen_at,
        )

    return min(originals, key=rank).article.title


def _timeline(row: StoryRow, originals: Sequence[StoryMember]) -> list[TimelineEntry]:
    """Originals by when they were first seen, corrections, and what repair did, oldest first."""
    entries: list[tuple[float, TimelineEntry]] = []
    for at, member in enumerate(originals):
        article = member.article
        what = "first_report" if at == 0 else "article"
        entries.append((article.first_seen_at, _entry(article.first_seen_at, what, member)))
        if article.version > 1 and article.modified_at is not None:
            entries.append((article.modified_at, _entry(article.modified_at, "corrected", member)))
    for change in row.history:
        kind, when = change.get("kind"), change.get("at")
        if kind in ("merge", "split") and isinstance(when, int | float):
            what = "merged" if kind == "merge" else "split"
            entries.append((float(when), TimelineEntry.model_validate({"at": iso(float(when)), "what": what})))
    return [entry for _, entry in sorted(entries, key=lambda pair: pair[0])][:SHOWN]


def _entry(at: float, what: str, member: StoryMember) -> TimelineEntry:
    article = member.article
    fields = {"at": iso(at), "what": what, "article_id": article.article_id}
    return TimelineEntry.model_validate({**fields, "title": article.title, "publisher": article.publisher})


def _link(row: StoryRow, maker: CardMaker) -> LinkedStory:
    originals = [m for m in row.members if maker.shown(m.article) and not m.copy_of]
    shown = originals or [m for m in row.members if maker.shown(m.article)]
    return LinkedStory(
        story_id=row.story_id,
        language=row.language,
        dir="rtl" if direction(row.language) == "rtl" else "ltr",
        headline=_headline(shown, maker),
        sources=len({m.article.publisher_id for m in shown}),
        story_url=f"/stories/{row.story_id}",
    )


def _row_of(card: PageCard) -> StoryRow:
    """What a page's card knows of a story, when its row cannot be had."""
    articles = [card.top, *card.supporting]
    return StoryRow(
        story_id=card.story_id, language=card.lang, created_at=card.first_seen_at, updated_at=card.updated_at,
        members=[StoryMember(article=article, joined_at=article.first_seen_at) for article in articles],
    )  # fmt: skip
