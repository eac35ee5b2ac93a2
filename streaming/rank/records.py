"""What the ranker writes to and reads back from Kafka, and when a page counts as changed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TypeVar

from frontpage.adapters.bus import Bus, Outgoing
from frontpage.contracts.envelope import Event
from frontpage.contracts.rank_events import RankDecision
from frontpage.contracts.topics import RANK_DECISIONS
from frontpage.contracts.views import PageCard, PageSnapshot
from frontpage.domain.ids import digest
from frontpage.errors import UnreadableEvent
from streaming.rank.edition import Ranked

E = TypeVar("E", bound=Event)


def look_of(cards: list[PageCard]) -> str:
    """What a reader would notice: equal looks need no new version."""
    return digest(
        "|".join(
            f"{c.story_id},{c.label},{c.top.article_id}@{c.top.version},{c.sources},{c.articles},"
            f"{' '.join(s.article_id for s in c.supporting)},{c.also_published_by}"
            for c in cards
        )
    )


def expected_impressions(place: int, minutes: float) -> float:
    """Of a card at `place` (from 1) of a top page for so many minutes; 1 is the first place for a minute.

    One reader in log2(1 + place) is taken to see it. It stands in for measured impressions, which an edition has only
    from its readers' beacons: the cap must hold from its first minute.
    """
    return minutes / math.log2(1 + place)


def decision_of(page: PageSnapshot, place: int, row: Ranked, label: str | None) -> Outgoing:
    """The record of one card: whose headline, why there, and which close calls lost."""
    choice = row.choice
    decision = RankDecision(
        decision_id=f"{page.edition}/{page.section}/{page.version}/{place}",
        edition=page.edition,
        section=page.section,
        page_version=page.version,
        story_id=row.story.story_id,
        rank=place,
        score=round(row.score, 6),
        parts=row.parts,
        representative=choice.article_id,
        publisher_id=choice.publisher_id,
        lost=[
            {"article_id": call.article_id, "publisher_id": call.publisher_id, "score": call.score, "why": call.why}
            for call in choice.lost
        ],
        label=label,
        at=page.generated_at,
    )
    return Outgoing(RANK_DECISIONS.name, page.edition, decision.encode())


def events_of(bus: Bus, topic: str, kind: type[E], newest: int | None = None) -> Iterable[E]:
    """Readable events of a topic, or of about its `newest` records, partition by partition."""
    for partition, end in bus.end_offsets(topic).items():
        for record in bus.read(topic, partition, max(0, end - newest) if newest is not None else 0, end):
            try:
                event = kind.decode(record.value)
            except UnreadableEvent:
                continue
            if event is not None:
                yield event
