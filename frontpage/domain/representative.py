"""Whose headline a story carries in an edition, and which four reports stand below it.

The rules of the editions document ("Representative"): candidates are the story's originals of the last 6 hours in the
edition's language; each is scored on centrality, authority, freshness, its headline and a boost for the first report
and, on local stories, for local publishers. Within 5 % of the best the pick rotates by hash(story, edition, hour); in
that band a free article goes before a paywalled one, and a publisher that already has its share of the day's
representative impressions (10 %) makes room. Every close call lost is reported with its reason.

Not here: how impressions are counted (`Exposure` only adds them up) and what a card looks like.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from frontpage.domain.diversity import mmr
from frontpage.domain.headline import headline_quality
from frontpage.domain.ids import digest

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class RepresentativePolicy:
    """Window, band, cap and number of links are the documents'; the weights are ours and sum to 1 without boosts."""

    window: float = 6 * 3600.0
    band: float = 0.05
    #: A call is close, and its loser told why, up to this far below the winner.
    close: float = 0.15
    share_cap: float = 0.10
    supporting: int = 4
    centrality: float = 0.45
    authority: float = 0.30
    freshness: float = 0.15
    headline: float = 0.10
    first_report: float = 0.06
    local: float = 0.06
    #: Two reports this close say the same thing and never stand below each other (one copy of a wire story).
    half_life: float = 4 * 3600.0


DEFAULT_POLICY = RepresentativePolicy()


@dataclass(frozen=True, slots=True)
class Candidate:
    """An article of the story. `centrality`: cosine with the centroid; `wire`: id of the text it shares, if any."""

    article_id: str
    publisher_id: str
    title: str
    language: str
    first_seen: float
    authority: float
    centrality: float
    vector: Floats
    paywalled: bool = False
    original: bool = True
    local: bool = False
    kind: str = "news"
    wire: str = ""


@dataclass(frozen=True, slots=True)
class Lost:
    """A close call: who nearly had the headline, and why not."""

    article_id: str
    publisher_id: str
    score: float
    why: str


@dataclass(frozen=True, slots=True)
class Choice:
    """The representative, at most four supporting articles in order, and the close calls lost."""

    article_id: str
    publisher_id: str
    score: float
    supporting: tuple[str, ...]
    lost: tuple[Lost, ...] = ()


@dataclass(slots=True)
class Exposure:
    """Representative impressions of one edition and day, per publisher; additive in any order."""

    counts: dict[str, float] = field(default_factory=dict)
    total: float = 0.0
    #: Below this many impressions a share says nothing: ten cards shown once would cap everybody.
    enough: float = 100.0

    def add(self, publisher_id: str, impressions: float) -> None:
        """Count impressions of cards that this publisher represents."""
        self.counts[publisher_id] = self.counts.get(publisher_id, 0.0) + impressions
        self.total += impressions

    def share(self, publisher_id: str) -> float:
        """0..1; 0 while there is too little to judge."""
        return self.counts.get(publisher_id, 0.0) / self.total if self.total >= self.enough else 0.0

    def herfindahl(self) -> float:
        """Concentration: sum of squared shares, 1/n for n equal publishers, 1 for a single one; 0 when empty."""
        return sum((count / self.total) ** 2 for count in self.counts.values()) if self.total else 0.0


@dataclass(slots=True)
class Contest:
    """The part of a choice that all editions of a language share: who may represent the story, best first.

    Valid while the members and the hour stay the same; `decide` adds what is an edition's own.
    """

    spoken: list[Candidate]
    ranked: list[Candidate]
    scores: dict[str, float]
    now: float
    policy: RepresentativePolicy
    _links: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def decide(self, *, story_id: str, edition: str, exposure: Exposure | None = None) -> Choice:
        """The edition's representative: rotation, the cap and paywalls within the band; links and close calls."""
        best = self.scores[self.ranked[0].article_id]
        band = [c for c in self.ranked if self.scores[c.article_id] >= best * (1 - self.policy.band)]
        winner, whys = _pick(band, f"{story_id}|{edition}|{int(self.now // 3600)}", exposure, self.policy)
        if winner.article_id not in self._links:
            others = [c for c in self.spoken if c.article_id != winner.article_id]
            links = _supporting(others, winner, self.scores, self.policy)
            self._links[winner.article_id] = tuple(c.article_id for c in links)
        lost = [
            Lost(
                c.article_id, c.publisher_id, round(self.scores[c.article_id], 4),
                whys.get(c.article_id) or _why(c, winner),
            )
            for c in self.ranked
            if c is not winner and self.scores[c.article_id] >= best * (1 - self.policy.close)
        ]  # fmt: skip
        copies = [c for c in self.spoken if not c.original and c.wire in (winner.article_id, winner.wire)]
        lost += [
            Lost(c.article_id, c.publisher_id, 0.0, "a copy of another publisher's report")
            for c in copies[:3]
            if c is not winner
        ]
        return Choice(
            winner.article_id, winner.publisher_id, round(self.scores[winner.article_id], 4),
            self._links[winner.article_id], tuple(lost[:8]),
        )  # fmt: skip


def contest(
    candidates: Sequence[Candidate], *, language: str, now: float, policy: RepresentativePolicy = DEFAULT_POLICY
) -> Contest | None:
    """Who may represent a story; None when it has no article in the language.

    When nobody published an original within the window the latest originals stand in, then any article: a story
    that is still on the page needs a headline. Opinion, fact-checks and live blogs represent only when alone.
    """
    spoken = [c for c in candidates if c.language == language]
    pool = _eligible(spoken, now, policy)
    if not pool:
        return None
    first = min((candidate.first_seen for candidate in spoken if candidate.original), default=now)
    scores = {c.article_id: _score(c, first, now, policy) for c in spoken}
    ranked = sorted(pool, key=lambda c: (-scores[c.article_id], c.article_id))
    return Contest(spoken, ranked, scores, now, policy)


def choose(
    candidates: Sequence[Candidate],
    *,
    story_id: str,
    edition: str,
    language: str,
    now: float,
    exposure: Exposure | None = None,
    policy: RepresentativePolicy = DEFAULT_POLICY,
) -> Choice | None:
    """`contest` and `decide` in one, for a single edition."""  # fmt: skip
    held = contest(candidates, language=language, now=now, policy=policy)
    return held.decide(story_id=story_id, edition=edition, exposure=exposure) if held is not None else None


def _eligible(spoken: Sequence[Candidate], now: float, policy: RepresentativePolicy) -> list[Candidate]:
    originals = [c for c in spoken if c.original]
    recent = [c for c in originals if now - c.first_seen <= policy.window]
    for group in (recent, originals, list(spoken)):
        news = [c for c in group if c.kind in ("news", "other")]
        if news or group:
            return news or group
    return []


def _score(candidate: Candidate, first: float, now: float, policy: RepresentativePolicy) -> float:
    value = (
        policy.centrality * max(0.0, candidate.centrality)
        + policy.authority * candidate.authority
        + policy.freshness * 0.5 ** (max(0.0, now - candidate.first_seen) / policy.half_life)
        + policy.headline * headline_quality(candidate.title)
    )
    if candidate.original and candidate.first_seen <= first:
        value += policy.first_report
    if candidate.local:
        value += policy.local
    return float(value)


def _pick(
    band: Sequence[Candidate],
    turn: str,
    exposure: Exposure | None,
    policy: RepresentativePolicy,
) -> tuple[Candidate, dict[str, str]]:
    """The winner within the band, and why each of the others lost there."""  # fmt: skip
    whys: dict[str, str] = {}
    left = list(band)
    if exposure is not None:
        under = [c for c in left if exposure.share(c.publisher_id) < policy.share_cap]
        if under:
            for c in left:
                if c not in under:
                    whys[c.article_id] = "its publisher has its share of this edition's headlines today"
            left = under
    free = [c for c in left if not c.paywalled]
    if free:
        for c in left:
            if c.paywalled:
                whys[c.article_id] = "behind a paywall, and a free report is as good"
        left = free
    # highest hash wins: the pick stays the same within the hour even when others enter or leave the band
    winner = max(left, key=lambda c: digest(f"{turn}|{c.article_id}"))
    for c in left:
        if c is not winner:
            whys[c.article_id] = "a near tie: it was another publisher's turn this hour"
    return winner, whys


def _why(loser: Candidate, winner: Candidate) -> str:
    gaps = {
        "less central to the story": DEFAULT_POLICY.centrality * (winner.centrality - loser.centrality),
        "less authority on the subject": DEFAULT_POLICY.authority * (winner.authority - loser.authority),
        "older": (winner.first_seen - loser.first_seen) / 3600.0 * 0.02,
        "a weaker headline": DEFAULT_POLICY.headline * (headline_quality(winner.title) - headline_quality(loser.title)),
    }
    return max(gaps, key=lambda reason: gaps[reason])


def _supporting(
    others: Sequence[Candidate], winner: Candidate, scores: Mapping[str, float], policy: RepresentativePolicy
) -> list[Candidate]:
    """Four links by maximal marginal relevance: one per publisher, one copy of any wire text, none of the winner's."""
    pool = sorted(others, key=lambda c: (not c.original, -scores[c.article_id], c.article_id))[:60]

    def allowed(candidate: Candidate, picked: Sequence[Candidate]) -> bool:
        taken = [winner, *picked]
        publishers = {c.publisher_id for c in taken}
        texts = {c.wire or c.article_id for c in taken}
        return candidate.publisher_id not in publishers and (candidate.wire or candidate.article_id) not in texts

    return mmr(
        pool,
        relevance=lambda c: scores[c.article_id],
        similarity=lambda a, b: float(a.vector @ b.vector) if a.vector.shape == b.vector.shape else 0.0,
        count=policy.supporting,
        allowed=allowed,
    )
