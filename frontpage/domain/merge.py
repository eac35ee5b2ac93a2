"""The merge of the lambda architecture: batch view plus what happened after its watermark.

Law (tests/unit/batch/test_merge_law.py): for any events and any watermark, the merged profile and counters equal those
of one pass over all events. It holds because folding is commutative (`profile.py`) and because every event is counted
by exactly one side: an event below the batch product's watermark is the batch's, any other is the speed layer's. The
same click may stand in the log twice (a personal card opened again): where the first is the batch's, the second is
nobody's, as far back as the speed layer still holds the first.
Not here: reading the two sides (serving, trends) and making the batch side (`batch/`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from frontpage.domain.profile import Profile, ProfileEvent, Register, RegisterKey, SlowProfile, fold, put_register


def merge(
    slow: SlowProfile | None,
    fast_events: Iterable[ProfileEvent],
    explicit: Mapping[RegisterKey, Register] | None = None,
    *,
    reference: float | None = None,
) -> Profile:
    """The reader's profile now. `explicit`: follows and hides as serving wrote them through, same last-writer rule.

    Sums are relative to `reference`, by default the slow profile's (0 events and no slow profile: the empty profile).
    """
    if slow is None:
        later = list(fast_events)
        anchor = reference if reference is not None else max((event.at for event in later), default=0.0)
        merged = fold(later, anchor)
    else:
        later = _later(list(fast_events), slow)
        anchor = slow.profile.reference if reference is None else reference
        merged = fold(later, anchor, slow.profile)
    if not explicit:
        return merged
    registers = dict(merged.registers)
    for key, register in explicit.items():
        if merged.deleted_at is None or register.at > merged.deleted_at:
            put_register(registers, key, register.at, register.event_id, register.on)
    return Profile(
        merged.reference, merged.affinities, merged.total, merged.engagements, merged.vectors, merged.recent,
        registers, merged.deleted_at,
    )  # fmt: skip


def _later(events: list[ProfileEvent], slow: SlowProfile) -> list[ProfileEvent]:
    """The speed layer's own events: not covered by the batch, and no repetition of one that is."""
    fresh = [event for event in events if not event.covered_by(slow.watermark)]
    erased = [event.at for event in fresh if event.kind == "delete"]
    if slow.profile.deleted_at is not None:
        erased.append(slow.profile.deleted_at)
    horizon = max(erased, default=float("-inf"))
    # what was erased counts nowhere, so that doing it again counts
    counted = {event.event_id for event in events if event.at > horizon and event.covered_by(slow.watermark)}
    return [event for event in fresh if not event.weight() or event.event_id not in counted]


@dataclass(frozen=True, slots=True)
class CountEvent:
    """A counted click (or impression) at its place in the log."""

    topic: str
    partition: int
    offset: int
    event_id: str
    article_id: str


@dataclass(frozen=True, slots=True)
class Counts:
    """Clicks by article with the offsets they cover. By article, because an article's story can change."""

    by_article: Mapping[str, int] = field(default_factory=dict)
    watermark: Mapping[str, int] = field(default_factory=dict)


def merge_counts(batch: Counts, events: Iterable[CountEvent]) -> Counts:
    """`batch` plus the events after its watermark, each event id once; the watermark moves past them."""
    counts = dict(batch.by_article)
    watermark = dict(batch.watermark)
    fresh: list[CountEvent] = []
    seen: set[str] = set()
    for event in events:
        if event.offset < batch.watermark.get(f"{event.topic}/{event.partition}", 0):
            seen.add(event.event_id)  # the batch has counted it
        else:
            fresh.append(event)
    for event in fresh:
        source = f"{event.topic}/{event.partition}"
        watermark[source] = max(watermark.get(source, 0), event.offset + 1)
        if event.event_id not in seen:
            seen.add(event.event_id)
            counts[event.article_id] = counts.get(event.article_id, 0) + 1
    return Counts(counts, watermark)


def by_story(counts: Counts, story_of: Callable[[str], str | None]) -> dict[str, int]:
    """Clicks rolled up to present stories (after merges and splits); articles without a story are left out."""
    totals: dict[str, int] = {}
    for article, clicks in counts.by_article.items():
        story = story_of(article)
        if story:
            totals[story] = totals.get(story, 0) + clicks
    return totals
