"""The sample world through the streaming domain code, without services: the records that the topics would hold.

`sample_log(...)` derives each article, encodes it, lets the clusterer decide, and turns the world's clicks into reader
clicks and impressions. One pass, in time order, as the speed layer sees it; the batch layer gets the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from fakes.encoder import HashEncoder

from data_samples.world import World
from frontpage.adapters.story_models import policy_for
from frontpage.contracts import story_codec
from frontpage.contracts.events import ArticleCard, ArticleEvent, PollOutcome
from frontpage.contracts.reader_events import Click, ReaderEvent
from frontpage.contracts.topics import ARTICLES, POLLS, READER_CLICKS, READER_EVENTS, STORY_CHANGES
from frontpage.domain.article import derive, embedding_text, lead_of
from frontpage.domain.clustering import Clusterer
from frontpage.domain.features import FEATURES_VERSION, INDEX, REGISTRY
from frontpage.domain.ids import digest, feed_id
from frontpage.domain.languages import partition_of
from frontpage.domain.story import StoryBook


@dataclass
class SampleLog:
    """`records`: topic -> [(partition, key, value)] in the order written. `books`: what the writers hold at the end."""

    records: dict[str, list[tuple[int, str, bytes]]] = field(default_factory=dict)
    articles: dict[str, ArticleEvent] = field(default_factory=dict)
    books: dict[int, StoryBook] = field(default_factory=dict)
    now: float = 0.0

    def add(self, topic: str, partition: int, key: str, value: bytes) -> int:
        """Append; returns the offset in its partition."""
        self.records.setdefault(topic, []).append((partition, key, value))
        return sum(1 for p, _, _ in self.records[topic] if p == partition) - 1


def sample_log(
    world: World,
    *,
    languages: Iterable[str] = ("en", "de"),
    limit: int = 400,
    clicks: int = 600,
    encoders: Callable[[str], Any] | None = None,
    spread: Callable[[str], int] = lambda key: int(digest(key, 6), 16) % 4,
) -> SampleLog:
    """The first `limit` articles of each language with their corrections, and up to `clicks` clicks on them."""
    encoder_of = encoders or (lambda language: HashEncoder())
    log = SampleLog()
    clusterers: dict[int, Clusterer] = {}
    versions = []
    for language in languages:
        chosen = [a for a in world.articles if a.language == language][:limit]
        for article in chosen:
            seen = set()
            for number, version in enumerate(article.versions, 1):
                if (version.title, version.paragraphs) not in seen:
                    seen.add((version.title, version.paragraphs))
                    versions.append((version.at, article, number, version))
    versions.sort(key=lambda row: (row[0], row[1].id))
    for at, article, number, version in versions:
        publisher = world.publisher(article.publisher_id)
        text = "\n\n".join(version.paragraphs)
        signals = derive(
            article_id=article.id, title=version.title, lead=lead_of(text), body=text, language=article.language,
            publisher_id=publisher.id, publisher=publisher.name, entities=[article.place] if article.place else [],
            at=article.published_at, version=number, kind=article.kind,
        )  # fmt: skip
        encoder = encoder_of(article.language)
        vector = encoder.encode([embedding_text(version.title, lead_of(text))])[0]
        signals = signals.with_vector(np.asarray(vector, dtype=np.float32), encoder.version)
        card = ArticleCard(
            article_id=article.id, version=number, url=article.url, title=version.title, snippet="",
            publisher_id=publisher.id, publisher=publisher.name, domain=publisher.host, country=publisher.country,
            language=article.language, kind=article.kind, sections=[article.section], topics=[article.section],
            entities=[article.place] if article.place else [], published_at=version.claimed_at,
            first_seen_at=article.published_at + 45.0,
        )  # fmt: skip
        event = ArticleEvent(
            card=card, signals=story_codec.to_signals(signals), content_hash=digest(text), fetched_url=article.url,
            trace={"seen": at + 45.0, "normalised": at + 47.0},
        )  # fmt: skip
        log.articles[article.id] = event
        partition = partition_of(article.language)
        offset = log.add(ARTICLES.name, partition, article.language, event.encode())
        clusterer = clusterers.setdefault(partition, Clusterer(policy_for, StoryBook(), partition=partition))
        for change in clusterer.decide(signals, at + 48.0, (ARTICLES.name, partition, offset), card):
            log.add(STORY_CHANGES.name, partition, article.language, story_codec.to_event(change).encode())
        outcome = PollOutcome(
            feed_id=feed_id(publisher.host), feed_url=f"https://{publisher.host}/feed", publisher_id=publisher.id,
            domain=publisher.host, at=at + 45.0, status=200, outcome="new", new_items=1, items=20, delay=45.0,
            next_at=at + 105.0,
        )  # fmt: skip
        log.add(POLLS.name, spread(publisher.id), publisher.id, outcome.encode())
        log.now = max(log.now, at + 48.0)
    log.books = {partition: clusterer.book for partition, clusterer in clusterers.items()}
    _readers(log, world, clicks, spread)
    return log


def _readers(log: SampleLog, world: World, limit: int, spread: Callable[[str], int]) -> None:
    """Each click with the impression it answers, beside two impressions of other stories that were passed over."""
    known = [click for click in world.clicks if click.article_id in log.articles][:limit]
    names = sorted(log.articles)
    for number, click in enumerate(known):
        generator = np.random.default_rng(number)
        passed = [names[i] for i in generator.choice(len(names), 2, replace=False)]
        shown = [(click.article_id, True), *[(name, False) for name in passed if name != click.article_id]]
        reader = digest(click.reader_id, 16)
        for rank, (article_id, clicked) in enumerate(shown, 1):
            card = log.articles[article_id].card
            story = log.books[partition_of(card.language)].story_of[article_id]
            features = [feature.default for feature in REGISTRY]
            features[INDEX["interest"]] = float(generator.normal(0.6 if clicked else 0.0, 0.3))
            features[INDEX["fallback"]] = float(generator.uniform(0, 1))
            impression = digest(f"{number}:{rank}", 16)
            log.add(
                READER_EVENTS.name, spread(article_id), article_id,
                ReaderEvent(
                    event_id=impression, kind="impression", at=click.at - 5.0, edition="en-US", reader=reader,
                    story_id=story, article_id=article_id, publisher_id=card.publisher_id, surface="feed",
                    impression_id=impression, rank=rank, features=features, features_version=FEATURES_VERSION,
                    model_version="fallback",
                ).encode(),
            )  # fmt: skip
            if clicked:
                log.add(
                    READER_CLICKS.name, spread(article_id), article_id,
                    Click(
                        click_id=digest(f"click:{number}", 20), at=click.at, article_id=article_id, story_id=story,
                        publisher_id=card.publisher_id, url=card.url, surface="feed", position=rank, edition="en-US",
                        reader=reader, impression_id=impression, counted=number % 17 != 0,
                        why_not="bot" if number % 17 == 0 else None,
                    ).encode(),
                )  # fmt: skip
        if number % 5 == 0:
            kind = ("follow", "unfollow", "hide", "dwell", "read")[number // 5 % 5]
            card = log.articles[click.article_id].card
            log.add(
                READER_EVENTS.name, spread(click.article_id), click.article_id,
                ReaderEvent(
                    event_id=digest(f"act:{number}", 20), kind=kind, at=click.at + 30.0, edition="en-US", reader=reader,
                    article_id=click.article_id, story_id="s", publisher_id=card.publisher_id, dwell_seconds=45.0,
                    target_kind="topic" if kind != "hide" else "source",
                    target_id=card.topics[0] if kind != "hide" else card.publisher_id,
                ).encode(),
            )  # fmt: skip
        log.now = max(log.now, click.at + 60.0)
