"""The desk that turns texts into articles: addresses, bylines, versions, paywalls. It decides no wording."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from random import Random

from data_samples.events import People
from data_samples.grammar import Text
from data_samples.model import Article, Form, Kind, Publisher, Version
from data_samples.publishers import WIRE_NAME, slug
from frontpage.domain.ids import article_id

_NEWS_TYPES = ("NewsArticle", "NewsArticle", "ReportageNewsArticle", "Article", None)


class Desk:
    """Files articles in order of call; numbers are unique per publisher."""

    def __init__(self, seed: int, publishers: list[Publisher], start: float, span: float) -> None:
        self.publishers = {p.id: p for p in publishers}
        self.start, self.end = start, start + span
        self.articles: list[Article] = []
        self._rng = Random(f"{seed}:desk")
        self._numbers: Counter[str] = Counter()
        self._urls: set[str] = set()
        self._people = {lang: People(lang, self._rng) for lang in sorted({p.language for p in publishers})}
        self._staff: dict[str, list[str]] = {}

    def file(
        self, publisher: Publisher, text: Text, at: float, *, section: str, form: Form, kind: Kind = "news",
        event_id: str | None = None, touches: tuple[str, ...] = (), copy_of: str | None = None,
        place: str | None = None, credit: str | None = None, marked: bool | None = None,
    ) -> Article | None:  # fmt: skip
        """File one article; None when its time is outside the world. `marked` says whether markup tells the kind."""
        if not self.start <= at < self.end:
            return None
        rng = self._rng
        self._numbers[publisher.id] += 1
        number = self._numbers[publisher.id] + 1000 * (publisher.style % 7 + 1)
        marked = rng.random() < 0.65 if marked is None else marked
        folder = {"opinion": "opinion", "fact_check": "fact-check", "live": "live"}.get(kind if marked else "", section)
        path = _path(publisher.style, text.title, at, number=number, folder=folder)
        url = f"http://{publisher.host}{path}"
        if url in self._urls:  # two pieces of one day under one headline
            url = url.removesuffix(".html") + f"-{number}" + (".html" if url.endswith(".html") else "")
        self._urls.add(url)
        article = Article(
            id=article_id(url), number=number, url=url, publisher_id=publisher.id, language=publisher.language,
            section=section, kind=kind, form=form, event_id=event_id, touches=touches, copy_of=copy_of,
            author=credit if credit and rng.random() < 0.6 else self._byline(publisher),
            paywalled=publisher.paywalled and rng.random() < 0.7,
            schema_type=self._schema(kind, marked),
            image=publisher.tier != "wire" and rng.random() < 0.8,
            place=place, credit=credit,
            versions=(Version(at, at, text.title, text.summary, text.paragraphs),),
        )  # fmt: skip
        self.articles.append(article)
        return article

    def replace(self, old: Article, new: Article) -> None:
        """Put a changed article in the place of the one filed."""
        self.articles[self.articles.index(old)] = new

    def _byline(self, publisher: Publisher) -> str:
        if publisher.wire:
            return WIRE_NAME
        if publisher.id not in self._staff:
            people = self._people[publisher.language]
            self._staff[publisher.id] = [people.person(("women", "men")[i % 2])[0] for i in range(4)]
        return self._rng.choice(self._staff[publisher.id])

    def _schema(self, kind: Kind, marked: bool) -> str | None:
        if kind == "opinion":
            return "OpinionNewsArticle" if marked else "NewsArticle"
        if kind == "fact_check":
            return "ClaimReview" if marked else "NewsArticle"
        if kind == "live":
            return "LiveBlogPosting"
        return self._rng.choice(_NEWS_TYPES)


def _path(style: int, title: str, at: float, *, number: int, folder: str) -> str:
    day = datetime.fromtimestamp(at, UTC)
    words = "-".join(slug(title).split("-")[:8]) or f"n{number}"
    return {
        0: f"/{folder}/{day:%Y/%m/%d}/{words}",
        1: f"/{folder}/{words}-{number}",
        2: f"/{folder}/{day:%Y/%m}/{words}.html",
        3: f"/{folder}/article/{number}/{words}",
        4: f"/{folder}/{words}?id={number}",
    }[style % 5]
