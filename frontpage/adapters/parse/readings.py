"""What the readers return. Plain data; times are seconds since epoch UTC, None when unknown.

`problems` are short machine-readable words, some with a detail after ": " (`refused_link: scheme`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["news", "opinion", "fact_check", "live", "other"]


@dataclass(slots=True)
class FeedMeta:
    """The feed itself. `ttl` seconds between polls as the feed asks; `hub` and `self_url` for WebSub."""

    title: str = ""
    link: str | None = None
    language: str | None = None
    description: str = ""
    hub: str | None = None
    self_url: str | None = None
    ttl: float | None = None
    updated_at: float | None = None
    format: str = ""
    encoding: str = ""


@dataclass(slots=True)
class FeedEntry:
    """One item. `url` keeps the publisher's spelling and is None when the item has no usable page; `id` is the item's
    own id or None when absent or blank. `published_raw` is kept because a date that we refuse may interest a publisher.
    """

    id: str | None = None
    url: str | None = None
    title: str = ""
    summary: str = ""
    published_at: float | None = None
    updated_at: float | None = None
    authors: list[str] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    image: str | None = None
    problems: list[str] = field(default_factory=list)
    published_raw: str | None = None
    language: str | None = None


@dataclass(slots=True)
class FeedReading:
    """A feed: entries in document order, twins joined.

    items: a digest of every item's text in document order, empty when items and entries do not match one to one;
    left_out: the places among them of items that the caller knew, which are missing from `entries`.
    """

    feed: FeedMeta
    entries: list[FeedEntry]
    problems: list[str] = field(default_factory=list)
    items: tuple[str, ...] = ()
    left_out: frozenset[int] = frozenset()


@dataclass(slots=True)
class SitemapNews:
    """The news part of a sitemap row; `published_day_only` when no time was stated."""

    title: str = ""
    publication: str = ""
    language: str | None = None
    published_at: float | None = None
    published_day_only: bool = False
    keywords: list[str] = field(default_factory=list)


@dataclass(slots=True)
class SitemapEntry:
    """One row. In an index, `url` is a further sitemap."""

    url: str
    lastmod: float | None = None
    news: SitemapNews | None = None
    image: str | None = None
    problems: list[str] = field(default_factory=list)


@dataclass(slots=True)
class SitemapReading:
    """`lastmod_trusted` is False when all rows share one instant: then it is the clock of the generator."""

    kind: Literal["index", "urlset", "news", "text"]
    entries: list[SitemapEntry]
    problems: list[str] = field(default_factory=list)
    lastmod_trusted: bool = True


@dataclass(slots=True)
class PageReading:
    """An article page. `body_text` and `lead` live in memory only: they never reach a topic, table, key or log.

    `canonical_url` is the identity (`urls.canonicalise`); `link` the publisher's own spelling, to send readers to.
    `section` is the publisher's own label; `keywords` are stated tags. `dir` by script, not by tag.
    """

    canonical_url: str
    link: str
    title: str = ""
    snippet: str = ""
    lead: str = ""
    body_text: str = ""
    authors: list[str] = field(default_factory=list)
    published_at: float | None = None
    published_day_only: bool = False
    modified_at: float | None = None
    language: str = "und"
    declared_language: str | None = None
    dir: Literal["ltr", "rtl"] = "ltr"
    image: str | None = None
    section: str | None = None
    keywords: list[str] = field(default_factory=list)
    kind: Kind = "news"
    paywalled: bool = False
    publisher: str | None = None
    syndicated_from: str | None = None
    snippet_allowed: bool = True
    problems: list[str] = field(default_factory=list)
