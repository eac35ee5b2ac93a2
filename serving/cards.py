"""From stored cards to what a reader sees: display flags of the publishers table, labels, click tokens, reasons.

The one place where `PageCard`/`ArticleCard` become `StoryCard`/`ArticleRef`. Licence flags are obeyed here a second
time (they were at fetch): a publisher that opts out or forbids snippets today disappears from pages made yesterday.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from frontpage.contracts.api import ArticleRef, Label, StoryCard, iso
from frontpage.contracts.events import ArticleCard
from frontpage.contracts.views import PageCard, Publisher
from frontpage.domain.languages import direction
from frontpage.domain.tokens import ClickToken, KeyRing, is_web_address, sign_click
from serving.words import count_sources, words

#: Licence: a snippet has 200 characters at most (both ingestion documents). Clipped again in case a writer slipped.
SNIPPET_LIMIT = 200
Surface = Literal["top", "section", "local", "topic", "story", "feed"]
_LABELS: Mapping[str, Label] = {
    "breaking": "breaking", "opinion": "opinion", "fact_check": "fact-check", "fact-check": "fact-check",
    "live": "live", "paywall": "paywall",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a card stands: what its click token says. `reader` and `impression_id` only on private surfaces."""

    edition: str
    surface: Surface
    section: str
    position: int
    issued_at: float
    reader: str | None = None
    impression_id: str | None = None


class CardMaker:
    """Makes cards with one key ring and the publishers as they are now."""

    def __init__(self, ring: KeyRing, publishers: Mapping[str, Publisher]) -> None:
        self._ring = ring
        self._publishers = publishers

    def publisher(self, publisher_id: str) -> Publisher | None:
        """The registry's row."""
        return self._publishers.get(publisher_id)

    def shown(self, article: ArticleCard) -> bool:
        """False when its publisher opted out, or its address must not be linked to."""
        publisher = self._publishers.get(article.publisher_id)
        return not (publisher and publisher.opted_out) and is_web_address(article.url)

    def article(
        self,
        article: ArticleCard,
        story_id: str,
        place: Placement,
        *,
        also: list[str] | None = None,
        local: bool = False,
    ) -> ArticleRef:
        """One article; call `shown` first."""
        publisher = self._publishers.get(article.publisher_id)
        paywalled = article.paywalled or bool(publisher and publisher.paywalled)
        snippet = article.snippet if publisher is None or publisher.snippet_allowed else ""
        thumb = article.thumb_id if publisher is None or publisher.thumb_allowed else None
        click = ClickToken(
            article.url, article.article_id, story_id, article.publisher_id, place.surface, place.section,
            place.position, place.edition, place.issued_at, place.reader, place.impression_id,
        )  # fmt: skip
        return ArticleRef(
            article_id=article.article_id,
            title=article.title,
            snippet=snippet[:SNIPPET_LIMIT],
            publisher=article.publisher,
            publisher_id=article.publisher_id,
            published_at=iso(article.published_at),
            first_seen_at=iso(article.first_seen_at),
            thumb_url=f"/thumb/{thumb}" if thumb else None,
            click_url=f"/r/{sign_click(self._ring, click)}",
            label=_LABELS.get(article.kind) or ("paywall" if paywalled else None),
            paywalled=paywalled,
            also_published_by=also or [],
            local=local,
            lang=article.language,
            dir=article.dir,
        )

    def story(self, card: PageCard, place: Placement, reason: str | None = None) -> StoryCard | None:
        """One story; None when nobody of it may be shown. `reason` in words, by default the ranker's."""
        articles = [article for article in (card.top, *card.supporting) if self.shown(article)]
        if not articles:
            return None
        top = self.article(articles[0], card.story_id, place)
        text = words(card.lang)
        return StoryCard(
            story_id=card.story_id,
            cluster_id=card.story_id,
            headline=card.headline if articles[0] is card.top else top.title,
            top_article=top,
            supporting=[self.article(a, card.story_id, place) for a in articles[1:]],
            also_published_by=card.also_published_by,
            sources=card.sources,
            more_sources=max(0, card.sources - 1),
            articles=card.articles,
            label=_LABELS.get((card.label or "").lower()) or top.label,
            reason=reason if reason is not None else card.reason or count_sources(card.sources, text),
            updated_at=iso(card.updated_at),
            first_seen_at=iso(card.first_seen_at),
            story_url=f"/stories/{card.story_id}",
            topics=card.topics,
            sections=card.sections,
            lang=card.lang,
            dir="rtl" if direction(card.lang) == "rtl" else "ltr",
            impression_id=place.impression_id,
        )

    def stories(self, cards: list[PageCard], place: Placement) -> list[StoryCard]:
        """A list, with positions counted from 1 over what is really shown."""
        shown: list[StoryCard] = []
        for card in cards:
            made = self.story(card, replace(place, position=len(shown) + 1))
            if made is not None:
                shown.append(made)
        return shown
