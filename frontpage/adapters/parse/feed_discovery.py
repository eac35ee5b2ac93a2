"""Which feeds a site may have: what its pages declare and link, and where feeds usually are. Guesses, not proofs.

What counts as a feed's media type or address is trafilatura's knowledge (`FEED_TYPES`, `LINK_VALIDATION_RE`). Its
`determine_feed` is not called: it knows no base element, reads no `<a>` where a `<link>` stands, gives no titles and
drops comment feeds in silence. Not here: fetching and proving (`streaming/ingest/discovery.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Literal
from urllib.parse import urljoin, urlsplit

from trafilatura.feeds import FEED_TYPES, LINK_VALIDATION_RE

from frontpage.adapters.parse.html_tree import load
from frontpage.adapters.parse.readings import FeedEntry
from frontpage.domain.hosts import registrable_domain
from frontpage.domain.text import clip, plain
from frontpage.domain.urls import canonicalise, clean_link

Via = Literal["address", "link", "anchor", "sitemap", "usual"]

#: Where feeds are that nobody declares: WordPress and Ghost, static generators, then the names that are left.
USUAL_FEEDS: Final = (
    "/feed", "/rss", "/rss.xml", "/feed.xml", "/atom.xml", "/index.xml", "/feed.json", "/feeds", "/?feed=rss2",
    "/arc/outboundfeeds/rss/?outputType=xml",
)  # fmt: skip
#: And sitemaps, where robots.txt names none.
USUAL_SITEMAPS: Final = (
    "/news-sitemap.xml", "/sitemap-news.xml", "/sitemap_news.xml", "/googlenews.xml", "/sitemap.xml",
)  # fmt: skip
#: A page that lists more is a directory; the first ones are its main feeds.
CANDIDATES: Final = 50
#: Candidates that are compared at all; a page of a million links is an attack.
_LOOKED_AT: Final = 1_000
#: So many equal items at the head of two feeds make them one feed in two formats.
EQUAL_HEAD: Final = 3

#: By address (WordPress's is the same in every language) or by a title that says so. A "commentary" or "Kommentare"
#: alone is a section of opinions.
_COMMENTS: Final = re.compile(
    r"/comments?(?:[/.?]|$)|[?&]feed=comments|comments[-_]?(?:feed|rss|atom)|\bcomments? (?:feed|rss|atom)\b|"
    r"kommentar-?feed|flux des commentaires|feed de (?:los )?coment[aá]rios|feed dei commenti|reacties ?feed|"
    r"yorum akışı|kanał z komentarzami|лента комментариев|стрічка коментарів|"
    r"コメント ?フィード|评论 ?feed|迴響 ?feed|댓글 ?피드",
    re.IGNORECASE,
)
_SEARCH: Final = re.compile(r"/search(?:/|\?|$)|[?&](?:s|q|query|search)=", re.IGNORECASE)
#: WordPress declares its REST and oEmbed answers as alternates of each page.
_NO_FEED: Final = re.compile(r"/wp-json/|oembed", re.IGNORECASE)
#: The words of an anchor; "feed" among others is a headline about cats.
_CALLED_FEED: Final = re.compile(r"\brss\b|^\W*(?:(?:web|news|xml|atom)[ -]?)?feeds?\W*$", re.IGNORECASE)
_NEWS: Final = re.compile(r"news|noticias|nachrichten|actu", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Candidate:
    """An address that may be a feed. `aside`: comments or a search, never what a site's reader asks for."""

    url: str
    via: Via
    title: str = ""
    aside: bool = False


def page_candidates(body: bytes, headers: Mapping[str, object], url: str) -> list[Candidate]:
    """What the page at `url` declares (`<link rel=alternate>`), then what it links; asides last, each address once.

    Raises UnreadableInput as `html_tree.load` when it is no page.
    """
    page = load(body, headers)
    base = clean_link(page.base, url)[0] or url
    home = _site(url)
    links = (found for element in page.root.iter("link") if (found := _link(element, base)))
    anchors = (found for element in page.root.iter("a") if (found := _anchor(element, base, home)))
    return ranked([*islice(links, _LOOKED_AT), *islice(anchors, _LOOKED_AT)])


def ranked(candidates: Iterable[Candidate]) -> list[Candidate]:
    """In their order, asides last, one of each canonical address, `CANDIDATES` at most."""
    first: dict[str, Candidate] = {}
    for one in candidates:
        first.setdefault(address_key(one.url), one)
    return sorted(first.values(), key=lambda one: one.aside)[:CANDIDATES]


def usual_candidates(url: str, paths: Sequence[str], via: Via = "usual") -> list[Candidate]:
    """The usual places on the host of `url`."""
    return [Candidate(urljoin(url, path), via) for path in paths]


def sitemaps_first(urls: Iterable[str]) -> list[str]:
    """News sitemaps first, archives by year or topic behind, each once."""
    return sorted(dict.fromkeys(urls), key=lambda url: not news_like(url))


def news_like(url: str) -> bool:
    """Whether a sitemap's address says that it lists news; the host's name does not count."""
    parts = urlsplit(url)
    return _NEWS.search(f"{parts.path}?{parts.query}") is not None


def address_key(url: str) -> str:
    """One key of an address's spellings."""
    return canonicalise(url).canonical or url


def same_items(one: Sequence[FeedEntry], other: Sequence[FeedEntry]) -> bool:
    """Whether two feeds are one in two formats or at two addresses: the same items at the head, in the same order.

    A section's feed is no twin of the main feed that carries its items among others.
    """
    left, right = [_item(entry) for entry in one], [_item(entry) for entry in other]
    short = min(len(left), len(right))
    if short == 0 or (short < EQUAL_HEAD and len(left) != len(right)):
        return False
    return left[:short] == right[:short]


def _item(entry: FeedEntry) -> str:
    return address_key(entry.url) if entry.url else (entry.id or entry.title)


def _link(element: Any, base: str) -> Candidate | None:
    relations = (element.get("rel") or "").lower().split()
    if "alternate" not in relations and "feed" not in relations:
        return None
    media = (element.get("type") or "").partition(";")[0].strip().lower()
    href = element.get("href") or ""
    if media not in FEED_TYPES and not (not media and "hreflang" not in element.attrib and _feed_like(href)):
        return None
    return _candidate(href, base, "link", element.get("title"))


def _anchor(element: Any, base: str, home: str) -> Candidate | None:
    href = element.get("href") or ""
    said = plain(f"{element.text_content()[:200]} {element.get('title') or ''}")
    if not _feed_like(href) and not (len(said) < 40 and _CALLED_FEED.search(said)):
        return None
    found = _candidate(href, base, "anchor", said)
    # others' feeds are linked, too, and validators, and readers to subscribe with
    return found if found and _site(found.url) == home else None


def _feed_like(href: str) -> bool:
    address = href.partition("#")[0].rstrip("/")
    path = urlsplit(address).path if "?" not in address else address
    return bool(address) and LINK_VALIDATION_RE.search(path) is not None


def _candidate(href: str, base: str, via: Via, title: str | None) -> Candidate | None:
    url, _ = clean_link(href, base)
    if url is None or _NO_FEED.search(url):
        return None
    url = url.partition("#")[0]
    name = clip(plain(title), 200)
    parts = urlsplit(url)
    spoken = f"{parts.path}?{parts.query} {name}"
    return Candidate(url, via, name, aside=bool(_COMMENTS.search(spoken) or _SEARCH.search(url)))


def _site(url: str) -> str:
    return registrable_domain(urlsplit(url).hostname or "")
