"""Articles as the enrich worker would send them, and a clusterer whose choices a test can foresee."""

from __future__ import annotations

from typing import Any

from fakes.encoder import HashEncoder

from frontpage.contracts.events import ArticleCard, ArticleEvent
from frontpage.contracts.story_codec import to_signals
from frontpage.domain import ids
from frontpage.domain.article import ArticleSignals, derive, embedding_text
from frontpage.domain.clustering import Clusterer, Source
from frontpage.domain.reviews import Reviews
from frontpage.domain.story import Change, StoryBook

NOW = 1_770_000_000.0
_ENCODER = HashEncoder()


def article(
    name: str, *, event: str, publisher: str = "pub-a", language: str = "en", country: str = "GB", at: float = NOW,
    version: int = 1, title: str | None = None, section: str = "world", **card: Any,
) -> ArticleEvent:  # fmt: skip
    """`event` is the first entity: what `EventClusterer` groups by."""
    url = f"https://{publisher}.example/{name}"
    title = title or f"{event.capitalize()} {event}alpha {event}beta {event}gamma report number {name}"
    # words of the event's own, so that an encoder and a real clusterer tell events apart as well
    words = " ".join(
        f"{event}{part}" for part in ("alpha", "beta", "gamma", "delta", "omega", "sigma", "kappa", "zeta")
    )
    body = f"{title}. {words} was reported by {publisher} with details of {name}. {words}. " * 3
    derived = derive(
        article_id=ids.article_id(url), title=title, lead=body, language=language, publisher_id=publisher,
        publisher=publisher, entities=[event], at=at, version=version,
    )  # fmt: skip
    vector = _ENCODER.encode([embedding_text(title, body)])[0]
    full = ArticleCard(
        article_id=derived.article_id, version=version, url=url, title=title, publisher_id=publisher,
        publisher=publisher, domain=f"{publisher}.example", country=country, language=language, sections=[section],
        entities=[event], first_seen_at=at, published_at=at, **card,
    )  # fmt: skip
    signals = to_signals(derived.with_vector(vector, _ENCODER.version))
    return ArticleEvent(card=full, signals=signals, content_hash=ids.digest(body), fetched_url=url)


class _Nothing:
    """Takes whatever is asked of a scorer or an index: the choices below need neither."""

    def __getattr__(self, name: str) -> Any:
        return self

    def __call__(self, *_: Any, **__: Any) -> Any:
        return self


class EventClusterer(Clusterer):
    """Joins articles whose first entity is the same, as copies when titled "Reprint"; else as the real one."""

    def __init__(self, book: StoryBook, partition: int) -> None:
        self.book, self.partition = book, partition
        self.reviews = Reviews()
        self.fail_on: set[str] = set()

    def decide(self, article: ArticleSignals, now: float, source: Source, card: Any = None) -> list[Change]:
        if article.title in self.fail_on:
            raise ArithmeticError("cannot be compared")
        held = self.book.story_of_article(article.article_id)
        if held is not None:
            if article.version <= held.members[article.article_id].article.version:
                return []
            return self._take("update", held.story_id, article, now, source, card)
        event = min(article.entities)
        for story in self.book.stories.values():
            if any(event in member.article.entities for member in story.members.values()):
                return self._take("assign", story.story_id, article, now, source, card)
        minted = ids.story_id(int(now * 1000), self.partition, self.book.sequence + 1)
        return self._take("create", minted, article, now, source, card)

    def apply(self, change: Change) -> None:
        self.book.apply(change)

    def index(self, language: str) -> Any:
        return _Nothing()

    def policy(self, language: str) -> Any:
        return _Nothing()

    def _observe(self, article: ArticleSignals, began: float) -> None:
        pass

    def repair(self, now: float, source: Source) -> list[Change]:
        return []

    def expire(self, now: float, source: Source) -> list[Change]:
        old = [story for story in self.book.stories.values() if now - story.updated_at > 48 * 3600]
        changes = []
        for ordinal, story in enumerate(old):
            changes.append(self.change("close", story.story_id, story.language, now, source=source, ordinal=ordinal))
            self.book.apply(changes[-1])
        return changes

    def _take(
        self, kind: Any, story_id: str, article: ArticleSignals, now: float, source: Source, card: Any
    ) -> list[Change]:
        held = self.book.stories.get(story_id)
        original = next(iter(held.members), None) if held is not None else None
        change = self.change(
            kind, story_id, article.language, now, source=source, ordinal=0, article=article, card=card,
            copy_of=original if article.title.startswith("Reprint") else None,
        )  # fmt: skip
        self.book.apply(change)
        return [change]
