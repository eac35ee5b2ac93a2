"""One edition's order of stories: scores, smoothing, pins, and the cards of its pages and pool.

`EditionRank` keeps what must outlive a cycle (score history, last order, exposure, choices); everything else is
computed anew each cycle from the shared measures. Writing pages and events is `ranker.py`'s.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from frontpage.contracts.rank_events import TrendHot
from frontpage.contracts.views import PageCard
from frontpage.domain.diversity import Placed, arrange
from frontpage.domain.editions import SECTIONS, Edition
from frontpage.domain.languages import direction
from frontpage.domain.representative import DEFAULT_POLICY as REPRESENT
from frontpage.domain.representative import Choice, Exposure
from frontpage.domain.scoring import DEFAULT_POLICY, Measure, score, settle, smooth
from streaming.rank.state import RankStory

#: Stories that an edition orders: the pool, and everything its pages may show.
ORDERED: Final = 1000
PAGE_LENGTH: Final = 30
#: Sections with a page; "local" is built per place on demand by serving, from the pool.
PAGES: Final = tuple(section for section in SECTIONS if section != "local")
#: National news needs a tie to the nation: half of its coverage or places. Elsewhere's national news is world news.
NATION: Final = 0.5
_KIND_LABELS: Final[Mapping[str, str]] = {"opinion": "opinion", "fact_check": "fact-check", "live": "live"}


@dataclass(slots=True)
class Ranked:
    """A story in an edition this cycle. `raw` is this cycle's score, `score` the smoothed one; `clicks` of 15 min."""

    story: RankStory
    measured: Measure
    raw: float
    score: float
    parts: dict[str, float]
    breaking: bool
    clicks: int
    choice: Choice


@dataclass(slots=True)
class EditionRank:
    """The memory of one edition. `day` is the UTC day that `exposure` counts."""

    edition: Edition
    history: dict[str, deque[float]] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)
    exposure: Exposure = field(default_factory=Exposure)
    day: int = 0
    pooled_at: float = float("-inf")
    _choices: dict[str, tuple[tuple[int, int, frozenset[str]], Choice | None]] = field(default_factory=dict)

    def rank(
        self, stories: Sequence[tuple[RankStory, Measure]], breaking: Collection[str], hot: TrendHot | None, now: float
    ) -> list[Ranked]:
        """The best stories of the edition's language that somebody can represent, breaking ones on top."""
        self.roll(now)
        clicks = {row[0]: (row[1], row[2]) for row in hot.stories} if hot is not None else {}
        found: dict[str, tuple[RankStory, Measure, float, dict[str, float]]] = {}
        for story, measured in stories:
            speed, _ = clicks.get(story.story_id, (0.0, 0))
            raw, parts = score(measured, region=self.edition.region, clicks_per_minute=speed)
            history = self.history.setdefault(story.story_id, deque(maxlen=DEFAULT_POLICY.cycles))
            history.append(raw)
            found[story.story_id] = (story, measured, raw, parts)
        for gone in self.history.keys() - found.keys():
            del self.history[gone]
            self._choices.pop(gone, None)
        smoothed = {story_id: smooth(list(self.history[story_id])) for story_id in found}
        best = sorted(found, key=lambda story_id: (story_id not in breaking, -smoothed[story_id], story_id))[:ORDERED]
        self.order = settle(self.order, {story_id: smoothed[story_id] for story_id in best})
        ordered: list[Ranked] = []
        for story_id in self.order:
            story, measured, raw, parts = found[story_id]
            choice = self._represent(story, now)
            if choice is not None:
                quarter = clicks.get(story_id, (0.0, 0))[1]
                ordered.append(
                    Ranked(story, measured, raw, smoothed[story_id], parts, story_id in breaking, quarter, choice)
                )
        pinned = sorted((row for row in ordered if row.breaking), key=lambda row: -row.raw)
        return pinned + [row for row in ordered if not row.breaking]

    def page(self, section: str, ranked: Sequence[Ranked]) -> list[Ranked]:
        """The stories of a page in order, at most 30, after the diversity rules."""
        listed = [row for row in ranked if section == "top" or section in self.sections_of(row)]
        placed = [Placed(row.story.story_id, row.story.section, row.story.centroid) for row in listed[:300]]
        ids, _ = arrange(placed, limit=PAGE_LENGTH, sections=section == "top")
        by_id = {row.story.story_id: row for row in listed}
        return [by_id[story_id] for story_id in ids]

    def sections_of(self, row: Ranked) -> set[str]:
        """The sections that list the story in this edition."""
        sections = set(row.story.sections)
        if "nation" in sections and row.parts["relevance"] < NATION:
            sections.discard("nation")
            sections.add("world")
        return sections

    def _represent(self, story: RankStory, now: float) -> Choice | None:
        """The story's representative here; the same within the hour unless the story or a publisher's cap changed."""
        capped = frozenset(p for p in story.publishers() if self.exposure.share(p) >= REPRESENT.share_cap)
        state = (story.revision, int(now // 3600), capped)
        known = self._choices.get(story.story_id)
        if known is None or known[0] != state:
            held = story.contest(now)
            choice = None
            if held is not None:
                choice = held.decide(story_id=story.story_id, edition=self.edition.id, exposure=self.exposure)
            known = self._choices[story.story_id] = (state, choice)
        return known[1]

    def roll(self, now: float) -> None:
        """Start a new day's count of exposure at midnight UTC."""
        today = int(now // 86_400)
        if today != self.day:
            self.day, self.exposure = today, Exposure()

    def card(self, row: Ranked) -> PageCard:
        """What is shown of the story: the publisher's own headline, and why it is there."""
        choice = row.choice
        story, top = row.story, row.story.cards[choice.article_id]
        text = story.text_of(choice.article_id)
        copies = [story.cards[id] for id in (text, *story.copies.get(text, ())) if id in story.cards]
        names = sorted({card.publisher for card in copies if card.publisher_id != top.publisher_id})
        return PageCard(
            story_id=story.story_id,
            headline=top.title,
            top=top,
            supporting=[story.cards[article_id] for article_id in choice.supporting],
            also_published_by=names,
            sources=story.sources,
            articles=len(story.cards),
            label="breaking" if row.breaking else _KIND_LABELS.get(top.kind) or ("paywall" if top.paywalled else None),
            reason=reason(row, self.edition),
            updated_at=story.latest_article,
            first_seen_at=story.first_seen,
            score=round(row.score, 6),
            parts=row.parts,
            sections=story.sections,
            topics=story.topics,
            entities=story.entities,
            places=story.places,
            lang=top.language,
            dir=direction(top.language),
        )

    @staticmethod
    def features(row: Ranked, now: float, ctr: float) -> dict[str, float]:
        """Story-side values of the feature registry (`frontpage/domain/features.py`)."""
        return {
            "score": row.score,
            "coverage": row.measured.coverage,
            "velocity": row.measured.velocity,
            "freshness": row.measured.freshness,
            "regional": row.parts["relevance"],
            "authority": row.story.authority_of(row.choice.article_id),
            "quality": row.story.quality.get(row.choice.article_id, 0.5),
            "sources": float(row.story.sources),
            "articles": float(len(row.story.cards)),
            "articles_1h": float(sum(1 for r in row.story.reports if now - r.first_seen <= 3600.0)),
            "clicks_15m": float(row.clicks),
            "click_velocity": row.parts["clicks"],
            "ctr": ctr,
            "breaking": float(row.breaking),
            "latest_at": row.measured.latest,
        }


def reason(row: Ranked, edition: Edition) -> str:
    """Why a story stands where it does, in words a reader understands."""
    sources = row.story.sources
    recent = row.measured.originals_30m
    if row.breaking:
        return f"Breaking: {sources} sources are reporting it"
    words = "One source reports it" if sources == 1 else f"{sources} sources report it"
    if recent >= 2 and row.measured.velocity > 0:
        words += f", {recent} new reports in the last half hour"
    elif row.parts["clicks"] > 1.0:
        words += ", and many are reading it now"
    if sources > 1 and row.parts["relevance"] >= 0.8:
        words += f"; mostly covered in {edition.name}"
    return words
