"""What a reader likes, as sums that may be added up in any order: the shared arithmetic of both layers.

A profile is built from `ProfileEvent`s (clicks, reads, dwell, follows, hides). The batch layer folds 90 days of them
into a `SlowProfile` with a watermark; the speed layer keeps the later events; `merge.py` joins the two. Everything here
is commutative, so that it does not matter in which layer or order an event is folded:

- affinities and interest vectors are exponentially decayed sums relative to a reference time,
- the last 200 engagements are the greatest by (time, event id),
- follows and hides are registers, last writer wins by (time, event id); a removed follow stays as an "off" register.

Not here: who the reader is (keyed hashes, `tokens.py`), how features use a profile (`features.py`), storage
(`contracts/profiles.py`). Pure: no clock, no I/O.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from frontpage.domain.ids import digest

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
EventKind = Literal["click", "read", "dwell", "follow", "unfollow", "hide", "unhide", "delete"]
AffinityKind = Literal["topic", "entity", "section", "source"]

#: Dimensions of reader vectors (editions document: "a 64-dimension interest vector").
DIMENSIONS: Final = 64
#: "decays toward recent reads": an engagement weighs half after a week. A choice, to be tuned by `eval ranker`.
HALF_LIFE: Final = 7 * 86_400.0
#: Editions document: the last 200 stories read.
RECENT_LIMIT: Final = 200
#: A dwell of half a minute or more confirms an engagement and adds half of one.
DWELL_FLOOR: Final = 30.0
WEIGHTS: Final[Mapping[str, float]] = {"click": 1.0, "read": 1.0, "dwell": 0.5}
#: Affinity shares are shrunk as if so many engagements with nothing in particular had come first.
PRIOR: Final = 5.0
_SWITCHES: Final[Mapping[str, tuple[str, bool]]] = {
    "follow": ("follow", True),
    "unfollow": ("follow", False),
    "hide": ("hide", True),
    "unhide": ("hide", False),
}


@dataclass(frozen=True, slots=True)
class ProfileEvent:
    """One act of a reader with what is needed to fold it; `(topic, partition, offset)` is its place in the log.

    `at`: seconds since 1970 UTC (virtual). `vectors`: the article's projected vector [64] by projection version; an
    event may carry several while projections change. `target_kind`/`target_id` belong to follows and hides.
    """

    topic: str
    partition: int
    offset: int
    kind: EventKind
    at: float
    event_id: str
    article_id: str = ""
    story_id: str = ""
    publisher_id: str = ""
    topics: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    vectors: Mapping[str, Floats] = field(default_factory=dict)
    dwell_seconds: float | None = None
    target_kind: str = ""
    target_id: str = ""

    def covered_by(self, watermark: Mapping[str, int]) -> bool:
        """True when a batch product with this watermark ({"topic/partition": next offset}) has seen the event."""
        return self.offset < watermark.get(f"{self.topic}/{self.partition}", 0)

    def weight(self) -> float:
        """How much of an engagement this is: 0 for follows, hides and short dwells."""
        if self.kind == "dwell" and (self.dwell_seconds or 0.0) < DWELL_FLOOR:
            return 0.0
        return WEIGHTS.get(self.kind, 0.0)


@dataclass(frozen=True, slots=True, order=True)
class Engagement:
    """An entry of the last 200, ordered by (at, event_id)."""

    at: float
    event_id: str
    kind: str
    article_id: str
    story_id: str
    publisher_id: str


@dataclass(frozen=True, slots=True, order=True)
class Register:
    """A follow or hide switch: the greatest (at, event_id) wins."""

    at: float
    event_id: str
    on: bool


#: ("follow" or "hide", target kind: topic, entity, source or story, target id)
RegisterKey = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Profile:
    """What merging gives, and what features read. Sums are relative to `reference` (weight 1 at that moment).

    `affinities`: kind -> id -> decayed sum. `total`: decayed sum of all engagements. `engagements`: plain count.
    `vectors`: projection version -> decayed sum of unit vectors, float64 [64]. `recent`: newest first, at most 200.
    `deleted_at`: everything up to that moment was erased on the reader's request.
    """

    reference: float = 0.0
    affinities: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    total: float = 0.0
    engagements: int = 0
    vectors: Mapping[str, Doubles] = field(default_factory=dict)
    recent: tuple[Engagement, ...] = ()
    registers: Mapping[RegisterKey, Register] = field(default_factory=dict)
    deleted_at: float | None = None

    def affinity(self, kind: AffinityKind, ids: Iterable[str], now: float) -> float:
        """Share 0..1 of decayed engagement with any of `ids`, shrunk by `PRIOR`; 0 for a new reader."""
        sums = self.affinities.get(kind)
        if not sums:
            return 0.0
        factor = decay(now - self.reference)
        return min(1.0, factor * sum(sums.get(id, 0.0) for id in set(ids)) / (factor * self.total + PRIOR))

    def interest(self, version: str) -> Floats | None:
        """Unit interest vector float32 [64] in projection `version`; None when nothing was read in it."""
        summed = self.vectors.get(version)
        if summed is None:
            return None
        norm = float(np.linalg.norm(summed))
        return (summed / norm).astype(np.float32) if norm > 0 else None

    def switched_on(self, action: Literal["follow", "hide"], kind: str) -> frozenset[str]:
        """Ids of `kind` (topic, entity, source, story) that are followed or hidden now."""
        return frozenset(id for (a, k, id), r in self.registers.items() if a == action and k == kind and r.on)

    def read_stories(self) -> frozenset[str]:
        """Stories among the last 200 engagements."""
        return frozenset(entry.story_id for entry in self.recent if entry.story_id)


@dataclass(frozen=True, slots=True)
class SlowProfile:
    """The batch product: a profile, the offsets it covers and the time it was made."""

    reader: str
    profile: Profile
    watermark: Mapping[str, int]
    as_of: float


EMPTY: Final = Profile()


def decay(age: float) -> float:
    """Weight of an engagement `age` seconds before the reference; above 1 for one after it."""
    return float(2.0 ** (-age / HALF_LIFE))


def rereference(profile: Profile, reference: float) -> Profile:
    """The same profile with sums relative to another moment."""
    if reference == profile.reference or not profile.total:
        return replace(profile, reference=reference)
    factor = decay(reference - profile.reference)
    return replace(
        profile,
        reference=reference,
        affinities={kind: {id: v * factor for id, v in sums.items()} for kind, sums in profile.affinities.items()},
        total=profile.total * factor,
        vectors={version: summed * factor for version, summed in profile.vectors.items()},
    )


def fold(events: Iterable[ProfileEvent], reference: float, start: Profile = EMPTY) -> Profile:
    """Fold `events`, in any order, onto `start`; sums relative to `reference`.

    An event id counts once (also when it is among `start.recent`). A "delete" erases everything up to its time; what
    `start` summed cannot be taken apart, so a delete later than `start.deleted_at` drops all of it (privacy first).
    """
    listed = list(events)
    deleted_at = max((e.at for e in listed if e.kind == "delete"), default=None)
    if deleted_at is not None and (start.deleted_at is None or deleted_at > start.deleted_at):
        start = Profile(deleted_at=deleted_at)
    horizon = start.deleted_at
    base = rereference(start, reference)
    affinities = {kind: dict(sums) for kind, sums in base.affinities.items()}
    vectors = {version: summed.copy() for version, summed in base.vectors.items()}
    registers = dict(base.registers)
    recent = list(base.recent)
    seen = {entry.event_id for entry in recent}
    total, engagements = base.total, base.engagements
    for event in listed:
        if event.kind == "delete" or (horizon is not None and event.at <= horizon):
            continue
        switch = _SWITCHES.get(event.kind)
        if switch is not None:
            put_register(
                registers, (switch[0], event.target_kind, event.target_id), event.at, event.event_id, switch[1]
            )
            continue
        weight = event.weight()
        if not weight or event.event_id in seen:
            continue
        seen.add(event.event_id)
        amount = weight * decay(reference - event.at)
        total += amount
        engagements += 1
        sources = (event.publisher_id,) if event.publisher_id else ()
        named = {"topic": event.topics, "entity": event.entities, "section": event.sections, "source": sources}
        for kind, ids in named.items():
            sums = affinities.setdefault(kind, {}) if ids else {}
            for id in set(ids):
                sums[id] = sums.get(id, 0.0) + amount
        for version, vector in event.vectors.items():
            summed = vectors.setdefault(version, np.zeros(len(vector), dtype=np.float64))
            summed += amount * vector.astype(np.float64)
        recent.append(
            Engagement(event.at, event.event_id, event.kind, event.article_id, event.story_id, event.publisher_id)
        )
    recent.sort(reverse=True)
    return Profile(reference, affinities, total, engagements, vectors, tuple(recent[:RECENT_LIMIT]), registers, horizon)


def put_register(registers: dict[RegisterKey, Register], key: RegisterKey, at: float, event_id: str, on: bool) -> None:
    """Last writer wins by (at, event_id)."""
    candidate = Register(at, event_id, on)
    if key not in registers or registers[key] < candidate:
        registers[key] = candidate


def default_projection(encoder_version: str, dimension: int) -> Floats:
    """[dimension, 64] seeded Gaussian / sqrt(64): used until the batch layer publishes a fitted projection.

    Deterministic in its arguments (Philox keyed by the version name), so both layers make the same matrix. Keeps
    cosines within about 1/sqrt(64) = 0.125 standard deviation (Johnson-Lindenstrauss).
    """
    generator = np.random.Generator(np.random.Philox(key=int(digest(encoder_version, 32), 16)))
    matrix: Doubles = generator.standard_normal((dimension, DIMENSIONS)) / np.sqrt(DIMENSIONS)
    return matrix.astype(np.float32)


def default_projection_version(encoder_version: str) -> str:
    """Name of `default_projection` of an encoder, for example `minilm-l6-v2@1/gauss64@1`."""
    return f"{encoder_version}/gauss64@1"


def project(vectors: Floats, matrix: Floats) -> Floats:
    """Unit-norm rows of `vectors` [n, d] or [d] times `matrix` [d, 64]; zero rows stay zero."""
    projected: Floats = vectors @ matrix
    norms = np.linalg.norm(projected, axis=-1, keepdims=True)
    scaled: Floats = (projected / np.where(norms > 0, norms, 1.0)).astype(np.float32)
    return scaled
