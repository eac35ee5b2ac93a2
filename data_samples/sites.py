"""How each made-up site is laid out: which feeds it has, which articles they show, AMP twins, tracking links.

Only decisions about addresses; what is written at them is rendered in `render.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from data_samples.model import Article, FeedKind, Publisher
from frontpage.domain.ids import digest

#: Address of a feed by kind; sites differ in where they put it.
_PATHS: Final[dict[FeedKind, tuple[str, ...]]] = {
    "rss": ("/rss.xml", "/feed", "/feeds/news.rss"),
    "atom": ("/atom.xml", "/feed/atom", "/feeds/all.atom"),
    "json": ("/feed.json", "/feeds/news.json", "/index.jsonfeed"),
    "sitemap": ("/news-sitemap.xml", "/sitemap-news.xml", "/sitemaps/news.xml"),
}
#: Which feeds a site has, by its style: one to three, every kind common somewhere.
_SETS: Final[tuple[tuple[FeedKind, ...], ...]] = (
    ("rss",),
    ("atom",),
    ("rss", "sitemap"),
    ("json",),
    ("atom", "rss"),
    ("sitemap",),
    ("rss", "json", "sitemap"),
)
#: Items that a feed shows at most.
_LENGTHS: Final = (30, 40, 50, 60)
#: The hub that most sites use.
HUB_HOST: Final = "hub.example"
HUB_URL: Final = f"http://{HUB_HOST}/"
#: The site whose feed has moved for good: its listed address answers 301.
MOVED_FEED_SITE: Final = "union-daily"


@dataclass(frozen=True, slots=True)
class Feed:
    """One feed of a site; `length` items at most."""

    url: str
    path: str
    kind: FeedKind
    length: int


def feeds_of(publisher: Publisher) -> list[Feed]:
    """The feeds that a site announces, the main one first."""
    chosen = _SETS[publisher.style % len(_SETS)]
    if publisher.tier == "wire":
        chosen = ("atom", "sitemap")
    out = []
    for kind in chosen:
        path = _PATHS[kind][publisher.style % 3]
        if publisher.id == MOVED_FEED_SITE:
            path = f"/old{path}"
        out.append(Feed(f"http://{publisher.host}{path}", path, kind, _LENGTHS[publisher.style % len(_LENGTHS)]))
    return out


def tracks_clicks(publisher: Publisher) -> bool:
    """Whether the site's feeds link through its own redirector instead of to the article."""
    return publisher.style % 9 == 4 and publisher.tier == "national"


def tags_links(publisher: Publisher) -> bool:
    """Whether the site's feeds add utm parameters to their links."""
    return publisher.style % 4 == 1


def amp_url(publisher: Publisher, article: Article) -> str | None:
    """Address of the AMP twin, None where the site has none."""
    if publisher.style % 6 != 3 or "?" in article.url or article.kind == "live":
        return None
    return article.url.removesuffix(".html") + "/amp"


def push_of(publisher: Publisher) -> Literal["websub", "ping"] | None:
    """How the site tells of news: through the hub (most), by pinging us (sitemaps only), or not at all (a few small)."""
    if publisher.tier in ("local", "rewriter") and publisher.style % 8 == 3:
        return None
    return "websub" if any(feed.kind != "sitemap" for feed in feeds_of(publisher)) else "ping"


def ping_key(publisher: Publisher) -> str:
    """The key that a pinging site was given. Made-up sites have made-up secrets."""
    return digest(f"sample ping key of {publisher.id}", 40)
