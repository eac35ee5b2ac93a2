"""What the ranker knows: stories from `story.changes`, kept in memory, so that a cycle reads almost nothing.

`Stories.absorb` applies changes to a `StoryBook` per partition; `refresh` recomputes the ranking view (`RankStory`) of
the stories that were touched, and of all when authorities changed. Not here: scores and pages (`edition.py`).
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from frontpage.adapters.bus import Record
from frontpage.adapters.loop import fault_of
from frontpage.contracts.events import ArticleCard, StoryChange
from frontpage.contracts.story_codec import from_event
from frontpage.domain.representative import Candidate, Contest, contest
from frontpage.domain.scoring import Report
from frontpage.domain.story import Member, Story, StoryBook
from frontpage.errors import UnreadableInput
from streaming.rank.sources import Sources, town

log = logging.getLogger(__name__)

Floats = npt.NDArray[np.float32]
#: Documents: "weighted toward recent articles". One that is 6 hours older weighs half; our choice.
CENTROID_HALF_LIFE = 6 * 3600.0
#: A label that a third of a story's articles carry is the story's.
SHARED = 1 / 3


@dataclass(slots=True)
class RankStory:
    """A story as a cycle needs it. `centroid`: unit float32 of `encoder`; labels are the most frequent first.

    `sources` counts distinct publishers of originals (1 while only copies are known), as Full Coverage and the tables
    do; `copies` lists the copies by the original they copy.
    """

    story_id: str
    language: str
    revision: int
    reports: list[Report]
    candidates: list[Candidate]
    cards: dict[str, ArticleCard]
    copies: dict[str, list[str]]
    quality: dict[str, float]
    centroid: Floats
    encoder: str
    sections: list[str]
    topics: list[str]
    entities: list[str]
    places: list[str]
    first_seen: float
    latest_article: float
    sources: int
    _contest: tuple[int, Contest | None] = (-1, None)

    def contest(self, now: float) -> Contest | None:
        """Who may represent the story, shared by the editions of its language and kept for the hour."""
        hour = int(now // 3600)
        if self._contest[0] != hour:
            self._contest = (hour, contest(self.candidates, language=self.language, now=now))
        return self._contest[1]

    @property
    def section(self) -> str:
        """The section that most articles name, "" when none does."""
        return self.sections[0] if self.sections else ""

    def text_of(self, article_id: str) -> str:
        """Id of the article whose text this is: itself unless it is a copy."""
        return next((c.wire for c in self.candidates if c.article_id == article_id), article_id)

    def authority_of(self, article_id: str) -> float:
        """Of the article's publisher on the story's topic."""
        return next((c.authority for c in self.candidates if c.article_id == article_id), 0.0)

    def publishers(self) -> set[str]:
        """All publishers, copies included."""
        return {report.publisher_id for report in self.reports}


@dataclass(slots=True)
class Stories:
    """All partitions' open stories, and the position in the log that they stand for."""

    books: dict[int, StoryBook] = field(default_factory=dict)
    ranked: dict[str, RankStory] = field(default_factory=dict)
    watermark: dict[str, int] = field(default_factory=dict)
    _touched: dict[str, tuple[int, Story]] = field(default_factory=dict)
    _quality: dict[str, float] = field(default_factory=dict)
    _revision: int = 0

    def absorb(self, records: Iterable[Record]) -> list[tuple[Record, UnreadableInput]]:
        """Apply changes; returns what could not be read or applied. Applying a record again changes nothing."""
        unreadable: list[tuple[Record, UnreadableInput]] = []
        for record in records:
            self.watermark[f"{record.topic}/{record.partition}"] = record.offset + 1
            try:
                event = StoryChange.decode(record.value)
                if event is None:
                    continue
                self._apply(record.partition, event)
            except Exception as error:  # noqa: BLE001 - `fault_of` raises what is not the record's fault
                unreadable.append((record, fault_of(record, error)))
        return unreadable

    def _apply(self, partition: int, event: StoryChange) -> None:
        change = from_event(event)
        if event.article is not None and event.signals is not None:
            self._quality[event.article.article_id] = event.signals.quality
        for story in self.books.setdefault(partition, StoryBook()).apply(change):
            self._touched[story.story_id] = (partition, story)

    def refresh(self, sources: Sources, *, everything: bool = False) -> None:
        """Bring `ranked` up to date with what was absorbed; `everything` when authorities changed."""
        if everything:
            for partition, book in self.books.items():
                self._touched |= {id: (partition, story) for id, story in book.stories.items()}
        for story_id, (partition, story) in self._touched.items():
            if self.books[partition].stories.get(story_id) is story and story.members:
                self._revision += 1
                try:
                    self.ranked[story_id] = view_of(story, sources, self._quality, self._revision)
                except Exception:
                    # pages without this story are better than no pages; its next change tries again
                    log.exception("story %s cannot be ranked", story_id)
                    self.ranked.pop(story_id, None)
            else:
                self.ranked.pop(story_id, None)
                for article_id in story.members:
                    if story.closed:
                        self._quality.pop(article_id, None)
        self._touched.clear()

    def languages(self) -> set[str]:
        """Languages that have an open story."""
        return {story.language for story in self.ranked.values()}

    def resolve(self, story_id: str) -> str:
        """The surviving id of a story."""
        for book in self.books.values():
            if story_id in book.aliases:
                return book.aliases[story_id]
        return story_id


def view_of(story: Story, sources: Sources, quality: Mapping[str, float], revision: int) -> RankStory:
    """The ranking view of one story from its members."""
    members = [member for member in story.members.values() if isinstance(member.card, ArticleCard)]
    cards = {member.card.article_id: member.card for member in members}
    sections = _common(card.sections for card in cards.values())
    places = _common((card.places for card in cards.values()), share=0.2)
    topic = sections[0] if sections else "*"
    latest = max((card.first_seen_at for card in cards.values()), default=story.updated_at)
    centroid, encoder = _centroid(members, latest)
    copies: dict[str, list[str]] = {}
    for member in members:
        if member.copy_of is not None:
            copies.setdefault(member.copy_of, []).append(member.card.article_id)
    return RankStory(
        story_id=story.story_id,
        language=story.language,
        revision=revision,
        reports=[_report(member, sources, topic) for member in members],
        candidates=[_candidate(member, sources, topic, (centroid, encoder), places) for member in members],
        cards=cards,
        copies=copies,
        quality={article_id: quality.get(article_id, 0.5) for article_id in cards},
        centroid=centroid,
        encoder=encoder,
        sections=sections,
        topics=_common((card.topics for card in cards.values()), share=0.2),
        entities=_common((card.entities for card in cards.values()), share=0.2)[:20],
        places=places,
        first_seen=min((card.first_seen_at for card in cards.values()), default=story.created_at),
        latest_article=latest,
        sources=max(1, len({member.card.publisher_id for member in members if member.copy_of is None})),
    )


def _report(member: Member, sources: Sources, topic: str) -> Report:
    card: ArticleCard = member.card
    return Report(
        publisher_id=card.publisher_id,
        country=card.country or sources.country(card.publisher_id),
        first_seen=card.first_seen_at,
        authority=sources.authority(card.publisher_id, topic),
        original=member.copy_of is None,
        places=frozenset(region for place in card.places if (region := sources.region_of_place(place))),
    )


def _candidate(
    member: Member, sources: Sources, topic: str, centre: tuple[Floats, str], places: list[str]
) -> Candidate:
    centroid, encoder = centre
    card: ArticleCard = member.card
    vector = member.article.vector
    comparable = member.article.encoder == encoder and vector.shape == centroid.shape and vector.size > 0
    return Candidate(
        article_id=card.article_id,
        publisher_id=card.publisher_id,
        title=card.title,
        language=card.language,
        first_seen=card.first_seen_at,
        authority=sources.authority(card.publisher_id, topic),
        centrality=float(vector @ centroid) if comparable else 0.5,
        vector=vector,
        paywalled=card.paywalled,
        original=member.copy_of is None,
        local=sources.place(card.publisher_id) in {town(place) for place in places} if places else False,
        kind=card.kind,
        wire=member.copy_of or card.article_id,
    )


def _centroid(members: list[Member], latest: float) -> tuple[Floats, str]:
    """Recency-weighted unit mean over the members of the newest one's encoder."""
    encoded = [member for member in members if member.article.vector.size]
    if not encoded:
        return np.zeros(0, dtype=np.float32), ""
    encoder = max(encoded, key=lambda member: member.card.first_seen_at).article.encoder
    size = max((m.article.vector.size for m in encoded if m.article.encoder == encoder), default=0)
    # an encoder whose size we do not know may have been replaced under its name: those that differ have no say
    chosen = [m for m in encoded if m.article.encoder == encoder and m.article.vector.size == size]
    ages = np.array([latest - member.card.first_seen_at for member in chosen], dtype=np.float32)
    weights = np.float32(0.5) ** (np.maximum(ages, 0) / np.float32(CENTROID_HALF_LIFE))
    summed: Floats = (weights @ np.stack([member.article.vector for member in chosen])).astype(np.float32)
    norm = float(np.linalg.norm(summed))
    unit: Floats = (summed / norm).astype(np.float32) if norm > 0 else summed
    return unit, encoder


def _common(labels: Iterable[Iterable[str]], share: float = SHARED) -> list[str]:
    """Labels that at least `share` of the articles carry, the most frequent first, ties by name."""
    listed = [set(each) for each in labels]
    counts = Counter(label for each in listed for label in each)
    kept = [label for label, count in counts.items() if count >= share * len(listed)]
    return sorted(kept, key=lambda label: (-counts[label], label))
