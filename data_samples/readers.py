"""Simulated readers with known tastes, and the clicks they would make.

A reader clicks an article at position p with probability activity x taste / (1 + 0.35 p): the falling attention of
ordinary result lists. Taste comes from the section, the town and disliked publishers, so a ranker that learns from
these clicks can be held against the truth.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from random import Random
from typing import Final

from data_samples.events import HOUR
from data_samples.model import Article, Click, Impression, Publisher, Reader

READERS: Final = 320
_SECTIONS: Final = (
    "world", "nation", "politics", "business", "technology", "science", "health", "sports", "entertainment", "climate",
)  # fmt: skip
_EDITIONS: Final = (
    "en-US", "en-US", "en-GB", "en-GB", "en-IN", "en-AU", "es-ES", "es-MX", "de-DE", "fr-FR", "pt-BR", "en-CA",
)  # fmt: skip


def build_readers(seed: int, publishers: list[Publisher]) -> list[Reader]:
    """Readers with two or three loved sections, little interest in the rest, a town and a disliked site or two."""
    rng = Random(f"{seed}:readers")
    readers = []
    for number in range(READERS):
        edition = _EDITIONS[number % len(_EDITIONS)]
        language, country = edition.split("-")
        loved = rng.sample(_SECTIONS, rng.choice((2, 2, 3)))
        sections = {s: round(rng.uniform(0.65, 0.95) if s in loved else rng.uniform(0.02, 0.15), 3) for s in _SECTIONS}
        mine = [p for p in publishers if p.language == language]
        towns = [p.place for p in mine if p.place and p.country == country]
        readers.append(
            Reader(
                id=f"reader-{number:03d}",
                language=language,
                country=country,
                edition=edition,
                sections=sections,
                places=(rng.choice(towns),) if towns and rng.random() < 0.6 else (),
                disliked_publishers=tuple(p.id for p in rng.sample(mine, 2)),
                activity=round(rng.uniform(0.4, 1.0), 3),
            )
        )
    return readers


def taste(reader: Reader, section: str, publisher_id: str, place: str | None = None) -> float:
    """How much a reader wants an article, 0..1; the truth that a ranker should find."""
    if publisher_id in reader.disliked_publishers:
        return 0.02
    if place is not None:
        return 0.9 if place in reader.places else 0.03
    return reader.sections.get(section, 0.1)


def clicks_on(reader: Reader, impressions: Iterable[Impression], rng: Random) -> list[Click]:
    """The clicks that this reader makes on what was shown, with reading times in seconds."""
    made = []
    for shown in impressions:
        wanted = taste(reader, shown.section, shown.publisher_id, shown.place)
        if rng.random() < reader.activity * wanted / (1 + 0.35 * shown.position):
            dwell = round(rng.lognormvariate(3.2 + 1.4 * wanted, 0.6), 1)
            at = shown.at + rng.uniform(1, 40)
            click = Click(
                at=at, reader_id=reader.id, article_id=shown.article_id, publisher_id=shown.publisher_id,
                section=shown.section, position=shown.position, edition=reader.edition, dwell=dwell,
            )  # fmt: skip
            made.append(click)
    return made


def browse(seed: int, readers: list[Reader], articles: list[Article], start: float, span: float) -> list[Click]:
    """Clicks of 48 hours: each reader looks three to seven times at 24 recent articles in the own language."""
    rng = Random(f"{seed}:clicks")
    by_language: dict[str, list[Article]] = {}
    for article in sorted(articles, key=lambda a: (a.published_at, a.id)):
        by_language.setdefault(article.language, []).append(article)
    times = {language: [a.published_at for a in rows] for language, rows in by_language.items()}
    clicks: list[Click] = []
    for reader in readers:
        rows = by_language[reader.language]
        for _ in range(rng.randint(3, 7)):
            at = start + rng.uniform(2 * HOUR, span)
            low = bisect_left(times[reader.language], at - 8 * HOUR)
            high = bisect_right(times[reader.language], at)
            recent = rows[low:high]
            page = rng.sample(recent, min(24, len(recent)))
            shown = (
                Impression(at, reader.id, a.id, a.publisher_id, a.section, position, a.place)
                for position, a in enumerate(page)
            )
            clicks += clicks_on(reader, shown, rng)
    return sorted(clicks, key=lambda c: (c.at, c.reader_id))
