"""Reader profiles as JSON: what stands under `profile:slow`, `profile:fast` and `profile:explicit`, and candidates.

Maps between the domain's dataclasses and stored bytes, and nothing else. A row that cannot be read raises
`UnreadableInput`; callers then serve without it (the edition's top stories), never fail.
- slow: one JSON document a reader, with the watermark of its events.
- fast: a sorted set; score = event time, member = the event's JSON (equal events are equal bytes: adds repeat safely).
- explicit: a hash; field `action:kind:id` (`follow:topic:health`), value the JSON `[at, event_id, on]`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, RootModel, ValidationError

from frontpage.contracts.vectors import Vector
from frontpage.contracts.views import PoolEntry
from frontpage.domain.features import Candidate
from frontpage.domain.profile import (
    Engagement,
    EventKind,
    Floats,
    Profile,
    ProfileEvent,
    Register,
    RegisterKey,
    SlowProfile,
)
from frontpage.errors import UnreadableInput


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, allow_inf_nan=False)


class FastEventRow(_Row):
    """A member of `profile:fast:{reader}`."""

    topic: str
    partition: int
    offset: int
    kind: EventKind
    at: float
    event_id: str
    article_id: str = ""
    story_id: str = ""
    publisher_id: str = ""
    topics: list[str] = []
    entities: list[str] = []
    sections: list[str] = []
    vectors: list[Vector] = []
    dwell_seconds: float | None = None
    target_kind: str = ""
    target_id: str = ""


class SlowProfileRow(_Row):
    """`profile:slow:{reader}`. Vectors are decayed sums (not unit) per projection version."""

    format: Literal[1] = 1
    reader: str
    as_of: float
    watermark: dict[str, int]
    reference: float
    affinities: dict[str, dict[str, float]] = {}
    total: float = 0.0
    engagements: int = 0
    vectors: list[Vector] = []
    #: [at, event_id, kind, article_id, story_id, publisher_id], newest first
    recent: list[tuple[float, str, str, str, str, str]] = []
    #: [action, kind, id, at, event_id, on]
    registers: list[tuple[str, str, str, float, str, bool]] = []
    deleted_at: float | None = None


class _RegisterValue(RootModel[tuple[float, str, bool]]):
    """[at, event_id, on]"""


def event_to_json(event: ProfileEvent) -> bytes:
    """Canonical bytes of a fast event (fields in declaration order, sorted vectors)."""
    row = FastEventRow(
        topic=event.topic, partition=event.partition, offset=event.offset, kind=event.kind, at=event.at,
        event_id=event.event_id, article_id=event.article_id, story_id=event.story_id,
        publisher_id=event.publisher_id, topics=list(event.topics), entities=list(event.entities),
        sections=list(event.sections), vectors=[Vector.pack(v, a) for v, a in sorted(event.vectors.items())],
        dwell_seconds=event.dwell_seconds, target_kind=event.target_kind, target_id=event.target_id,
    )  # fmt: skip
    return row.model_dump_json().encode()


def event_from_json(value: bytes) -> ProfileEvent:
    """Inverse of `event_to_json`; raises UnreadableInput."""
    try:
        row = FastEventRow.model_validate_json(value)
        vectors = _vectors(row.vectors)
    except ValueError as error:
        raise UnreadableInput(f"fast profile event: {error}"[:200], cause="invalid-fields") from None
    return ProfileEvent(
        row.topic, row.partition, row.offset, row.kind, row.at, row.event_id, row.article_id, row.story_id,
        row.publisher_id, tuple(row.topics), tuple(row.entities), tuple(row.sections), vectors,
        row.dwell_seconds, row.target_kind, row.target_id,
    )  # fmt: skip


def slow_to_json(slow: SlowProfile) -> bytes:
    """The stored form of a slow profile (about 5 kB for a busy reader)."""
    profile = slow.profile
    row = SlowProfileRow(
        reader=slow.reader, as_of=slow.as_of, watermark=dict(slow.watermark), reference=profile.reference,
        affinities={kind: dict(sums) for kind, sums in profile.affinities.items()}, total=profile.total,
        engagements=profile.engagements,
        vectors=[Vector.pack(v, a.astype(np.float32)) for v, a in sorted(profile.vectors.items())],
        recent=[(e.at, e.event_id, e.kind, e.article_id, e.story_id, e.publisher_id) for e in profile.recent],
        registers=[(*key, r.at, r.event_id, r.on) for key, r in sorted(profile.registers.items())],
        deleted_at=profile.deleted_at,
    )  # fmt: skip
    return row.model_dump_json().encode()


def slow_from_json(value: bytes) -> SlowProfile:
    """Inverse of `slow_to_json` (vectors at float32 precision); raises UnreadableInput."""
    try:
        row = SlowProfileRow.model_validate_json(value)
        vectors = {version: a.astype(np.float64) for version, a in _vectors(row.vectors).items()}
    except ValueError as error:
        raise UnreadableInput(f"slow profile: {error}"[:200], cause="invalid-fields") from None
    profile = Profile(
        row.reference, row.affinities, row.total, row.engagements, vectors,
        tuple(Engagement(*entry) for entry in row.recent),
        {(a, k, id): Register(at, event, on) for a, k, id, at, event, on in row.registers}, row.deleted_at,
    )  # fmt: skip
    return SlowProfile(row.reader, profile, row.watermark, row.as_of)


def register_to_field(key: RegisterKey, register: Register) -> tuple[str, str]:
    """(hash field, value) of `profile:explicit:{reader}`."""
    at, event_id, on = register.at, register.event_id, register.on
    return ":".join(key), _RegisterValue((at, event_id, on)).model_dump_json()


def registers_from_hash(fields: Mapping[bytes, bytes]) -> dict[RegisterKey, Register]:
    """Follows and hides of an explicit hash; fields of another form (settings) are left to their owner."""
    registers: dict[RegisterKey, Register] = {}
    for name, value in fields.items():
        parts = name.decode("utf-8", "replace").split(":", 2)
        if len(parts) != 3 or parts[0] not in ("follow", "hide"):
            continue
        try:
            at, event_id, on = _RegisterValue.model_validate_json(value).root
        except ValidationError:
            continue
        registers[(parts[0], parts[1], parts[2])] = Register(at, event_id, on)
    return registers


def candidate_of(entry: PoolEntry) -> Candidate:
    """A pool entry as the personal ranker sees it; decode once per pool, not per request."""
    card = entry.card
    return Candidate(
        story_id=card.story_id, publisher_id=card.top.publisher_id, country=card.top.country,
        topics=tuple(card.topics), entities=tuple(card.entities), sections=tuple(card.sections),
        paywalled=card.top.paywalled, opinion=card.top.kind == "opinion",
        latest_at=entry.features.get("latest_at", card.updated_at), vector=entry.vector.unpack(),
        projection=entry.vector.version, features=entry.features,
    )  # fmt: skip


def _vectors(rows: list[Vector]) -> dict[str, Floats]:
    return {row.version: row.unpack() for row in rows}
