"""Between events and the domain: ArticleEvent -> ArticleSignals, Change <-> StoryChange, StoryProposal -> Proposal.

Arrays travel in `Signals.extra` as one base64 string of little-endian uint32 a name; sets as lists of strings, sorted.
A record that decodes but whose signals do not fit raises UnreadableEvent, so that it is dead-lettered like any other.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from frontpage.contracts.events import ArticleCard, ArticleEvent, Signals, StoryChange, StoryProposal
from frontpage.contracts.vectors import DIMENSIONS, Floats, Vector, pack_uint32, unpack_uint32
from frontpage.domain.article import ArticleSignals
from frontpage.domain.fingerprint import MINHASH_SIZE
from frontpage.domain.languages import primary_subtag
from frontpage.domain.marks import core_title
from frontpage.domain.recluster import Proposal
from frontpage.domain.story import Change
from frontpage.domain.terms import Ids
from frontpage.errors import UnreadableEvent

#: Weights are counts of words in a text, damped; their squares are summed in float32.
_HEAVIEST: Final = 1e9
_ARRAYS: Final = ("head", "pairs", "lead", "names")
_SETS: Final = ("numbers", "days", "credits")


def to_signals(article: ArticleSignals, quality: float = 0.5) -> Signals:
    """What `articles.normalised` and `story.changes` carry of `article` beside its card."""
    order = np.argsort(-article.counts, kind="stable")
    return Signals(
        vector=Vector.pack(article.encoder, article.vector),
        simhash=f"{article.simhash:016x}",
        minhash=None if article.minhash is None else pack_uint32(article.minhash),
        terms={str(article.terms[i]): round(float(article.counts[i]), 4) for i in order},
        extra={
            **{name: [pack_uint32(getattr(article, name))] for name in _ARRAYS},
            **{name: sorted(getattr(article, name)) for name in _SETS},
        },
        words=article.words,
        quality=quality,
    )


def from_signals(card: ArticleCard, signals: Signals) -> ArticleSignals:
    """The domain's view of an article; raises UnreadableEvent (`invalid-signals`) on arrays that do not decode."""
    try:
        minhash = None if signals.minhash is None else unpack_uint32(signals.minhash)
        if minhash is not None and len(minhash) != MINHASH_SIZE:
            raise ValueError(f"minhash of {len(minhash)} values")
        terms = np.array([int(term) for term in signals.terms], dtype=np.uint32)
        counts = np.array(list(signals.terms.values()), dtype=np.float32)
        if counts.size and not (counts.min() >= 0 and counts.max() <= _HEAVIEST):
            raise ValueError(f"term weights from {counts.min()} to {counts.max()}")
        order = np.argsort(terms, kind="stable")
        arrays = {name: _array(signals, name) for name in _ARRAYS}
        return ArticleSignals(
            article_id=card.article_id,
            version=card.version,
            language=primary_subtag(card.language),
            publisher_id=card.publisher_id,
            title=card.title,
            core=core_title(card.title, card.publisher, card.domain),
            vector=_vector(signals),
            encoder=signals.vector.version,
            simhash=int(signals.simhash, 16),
            minhash=minhash,
            head=arrays["head"],
            pairs=arrays["pairs"],
            terms=terms[order],
            counts=counts[order],
            lead=arrays["lead"],
            names=arrays["names"],
            numbers=frozenset(signals.extra.get("numbers", ())),
            days=frozenset(signals.extra.get("days", ())),
            credits=frozenset(signals.extra.get("credits", ())),
            entities=frozenset(entity.casefold() for entity in card.entities),
            words=signals.words,
            at=_event_time(card),
            kind=card.kind,
        )
    except (ValueError, OverflowError) as error:
        raise UnreadableEvent(f"signals of {card.article_id}: {error}"[:200], cause="invalid-signals") from None


def article_signals(event: ArticleEvent) -> ArticleSignals:
    """Signals of an article event."""
    return from_signals(event.card, event.signals)


def to_event(change: Change, trace: dict[str, float] | None = None, quality: float = 0.5) -> StoryChange:
    """The record for `story.changes`; `change.card` must be the ArticleCard given to the clusterer (or None)."""
    return StoryChange(
        change_id=change.change_id,
        sequence=change.sequence,
        language=change.language,
        kind=change.kind,
        story_id=change.story_id,
        at=change.at,
        article=change.card,
        signals=None if change.article is None else to_signals(change.article, quality),
        copy_of=change.copy_of,
        from_story=change.from_story,
        absorbed=list(change.absorbed),
        moved=list(change.moved),
        score=change.score,
        evidence=dict(change.evidence),
        trace=trace or {},
    )


def from_event(event: StoryChange) -> Change:
    """The change in a `story.changes` record; `card` is its ArticleCard."""
    signals = None
    if event.article is not None and event.signals is not None:
        signals = from_signals(event.article, event.signals)
    return Change(
        change_id=event.change_id,
        sequence=event.sequence,
        language=event.language,
        kind=event.kind,
        story_id=event.story_id,
        at=event.at,
        article=signals,
        card=event.article,
        copy_of=event.copy_of,
        from_story=event.from_story,
        absorbed=tuple(event.absorbed),
        moved=tuple(event.moved),
        score=event.score,
        evidence=event.evidence,
    )


def to_proposal(event: StoryProposal) -> Proposal:
    """The proposal in a `story.proposals` record."""
    return Proposal(
        proposal_id=event.proposal_id,
        language=event.language,
        kind=event.kind,
        stories=tuple(event.stories),
        groups=tuple(tuple(group) for group in event.groups),
        evidence=event.evidence,
        at=event.at,
    )


def from_proposal(proposal: Proposal, watermark: dict[str, int]) -> StoryProposal:
    """The record for `story.proposals`."""
    return StoryProposal(
        proposal_id=proposal.proposal_id,
        language=proposal.language,
        kind=proposal.kind,
        stories=list(proposal.stories),
        groups=[list(group) for group in proposal.groups],
        evidence=dict(proposal.evidence),
        watermark=watermark,
        at=proposal.at,
    )


def _vector(signals: Signals) -> Floats:
    vector = signals.vector.unpack()
    dimension = DIMENSIONS.get(signals.vector.version, vector.size)
    if vector.size != dimension or not np.isfinite(vector).all():
        raise ValueError(f"a vector of {vector.size} values of {signals.vector.version}, or one that is no number")
    return vector


def _array(signals: Signals, name: str) -> Ids:
    packed = signals.extra.get(name) or [""]
    return unpack_uint32(packed[0])


def _event_time(card: ArticleCard) -> float:
    """Publication time when it is not after we first saw the article, else the latter: a future date is a mistake."""
    if card.published_at is None or card.published_at > card.first_seen_at:
        return card.first_seen_at
    return card.published_at
