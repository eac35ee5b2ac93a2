"""An edition's candidate pool, decoded once and indexed, so that a request reads no store and decodes nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from frontpage.contracts.profiles import candidate_of
from frontpage.contracts.views import CandidatePool, PageCard
from frontpage.domain.features import Candidate
from frontpage.domain.profile import Floats


@dataclass(frozen=True, slots=True)
class Pool:
    """Positions are places in the ranker's order. `matrices`: projection -> (positions, float32 [n, 64])."""

    edition: str
    version: int
    generated_at: float
    cards: tuple[PageCard, ...]
    candidates: tuple[Candidate, ...]
    by_id: Mapping[str, int]
    by_topic: Mapping[str, tuple[int, ...]]
    by_source: Mapping[str, tuple[int, ...]]
    by_place: Mapping[str, tuple[int, ...]]
    by_clicks: tuple[int, ...]
    matrices: Mapping[str, tuple[tuple[int, ...], Floats]]

    @classmethod
    def of(cls, stored: CandidatePool) -> Pool:
        """Index a stored pool. Lists under a topic (sections and entities included) or source are newest first."""
        candidates = tuple(candidate_of(entry) for entry in stored.entries)
        cards = tuple(entry.card for entry in stored.entries)
        newest = sorted(range(len(cards)), key=lambda at: (-cards[at].updated_at, cards[at].story_id))
        clicks = [(c.features.get("click_velocity", 0.0), c.features.get("clicks_15m", 0.0)) for c in candidates]
        hottest = sorted((at for at in range(len(cards)) if clicks[at][1] > 0), key=lambda at: clicks[at], reverse=True)
        grouped: dict[str, list[int]] = {}
        for at, candidate in enumerate(candidates):
            if candidate.vector is not None:
                grouped.setdefault(candidate.projection, []).append(at)
        matrices = {
            projection: (tuple(places), np.stack([v for at in places if (v := candidates[at].vector) is not None]))
            for projection, places in grouped.items()
        }
        return cls(
            stored.edition,
            stored.version,
            stored.generated_at,
            cards,
            candidates,
            {card.story_id: at for at, card in enumerate(cards)},
            _index((at, (*cards[at].topics, *cards[at].sections, *cards[at].entities)) for at in newest),
            _index((at, (cards[at].top.publisher_id,)) for at in newest),
            _index((at, [key for place in cards[at].places for key in sorted(place_keys(place))]) for at in newest),
            tuple(hottest),
            matrices,
        )

    def neighbours(self, interest: Floats, projection: str, count: int) -> list[int]:
        """Positions of the `count` stories nearest to a reader's unit vector of that projection (exact search)."""
        places, matrix = self.matrices.get(projection, ((), np.empty((0, len(interest)), dtype=np.float32)))
        if not places or matrix.shape[1] != len(interest):
            return []
        return [places[int(at)] for at in np.argsort(-(matrix @ interest), kind="stable")[:count]]


def place_key(place: str) -> str:
    """How a place is spelt in addresses: lower case, everything but letters and digits is a dash."""
    return "-".join(filter(None, re.split(r"[\W_]+", place.casefold())))


def place_keys(place: str) -> frozenset[str]:
    """Under what a place is found: `Halifax, GB` as `halifax-gb` and, shared with its namesakes, `halifax`."""
    return frozenset(filter(None, (place_key(place), place_key(place.split(",", maxsplit=1)[0]))))


def _index(rows: Iterable[tuple[int, Iterable[str]]]) -> dict[str, tuple[int, ...]]:
    index: dict[str, list[int]] = {}
    for at, words in rows:
        for word in dict.fromkeys(words):
            index.setdefault(word, []).append(at)
    return {word: tuple(places) for word, places in index.items()}
