"""From a draft and its ruling to what leaves the process: the offer, the signals, the article event. Pure functions.

This is the licence boundary in code: of a draft's body only hashes and derived signals pass, of its lead only a clipped
snippet, and that only where the publisher allows it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontpage.adapters.article_rows import Offer, Ruling
from frontpage.adapters.bus import Outgoing
from frontpage.contracts.events import ArticleCard, ArticleEvent
from frontpage.contracts.story_codec import to_signals
from frontpage.contracts.topics import ARTICLES
from frontpage.domain.article import ArticleSignals, derive
from frontpage.domain.ids import article_id
from frontpage.domain.languages import partition_of
from frontpage.domain.licence import clip
from streaming.ingest.identity import content_hash, own_text, quality, title_hash

if TYPE_CHECKING:
    from streaming.ingest.labels import Labels
    from streaming.ingest.pages import Draft


def offer_of(draft: Draft) -> Offer:
    """What is offered to the article row."""
    return Offer(
        article_id=article_id(draft.canonical),
        publisher_id=draft.publisher.publisher_id,
        content_hash=content_hash(draft.body or draft.lead),
        title_hash=title_hash(draft.title),
        seen_at=draft.item.seen_at,
        modified_at=draft.modified_at,
        from_feed=draft.from_feed,
        own_text=own_text(draft.body),
    )


def signals_of(draft: Draft, ruling: Ruling, found: Labels) -> ArticleSignals:
    """Signals without their vector."""
    return derive(
        article_id=article_id(draft.canonical),
        title=draft.title,
        lead=draft.lead,
        body=draft.body,
        language=draft.language,
        publisher_id=draft.publisher.publisher_id,
        publisher=draft.publisher.name,
        entities=found.entities,
        at=draft.published_at if draft.published_at is not None else ruling.first_seen_at,
        version=ruling.version,
        kind=draft.kind,
    )


def event_of(
    draft: Draft, ruling: Ruling, found: Labels, signals: ArticleSignals, *, thumb: str | None, now: float
) -> Outgoing:
    """The record for `articles.normalised`, on its language's partition."""
    publisher = draft.publisher
    card = ArticleCard(
        article_id=article_id(draft.canonical),
        version=ruling.version,
        url=draft.link,
        title=draft.title[:500],
        snippet=clip(draft.snippet, publisher.snippet_allowed),
        publisher_id=publisher.publisher_id,
        publisher=publisher.name,
        domain=draft.domain,
        country=publisher.country,
        language=draft.language,
        dir=draft.dir,
        kind=draft.kind,
        paywalled=draft.paywalled,
        thumb_id=thumb,
        authors=[author[:120] for author in draft.authors[:10]],
        sections=list(found.sections),
        topics=list(found.topics),
        entities=list(found.entities),
        places=list(found.places),
        published_at=draft.published_at,
        modified_at=draft.modified_at,
        first_seen_at=ruling.first_seen_at,
    )
    event = ArticleEvent(
        card=card,
        signals=to_signals(signals, quality(draft)),
        sections_by=found.sections_by,
        content_hash=content_hash(draft.body or draft.lead),
        fetched_url=draft.fetched_url,
        syndicated_from=draft.syndicated_from,
        declared_language=draft.declared_language,
        from_feed=draft.from_feed,
        feed_id=draft.item.feed_id,
        image_url=draft.image if publisher.thumb_allowed else None,
        arrived_by=draft.item.arrived_by,
        problems=[problem[:200] for problem in draft.problems[:20]],
        trace={"seen": draft.item.seen_at, "fetched": draft.fetched_at, "normalised": now},
    )
    return Outgoing(ARTICLES.name, draft.language, event.encode(), partition_of(draft.language))
