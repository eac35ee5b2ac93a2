"""Bodies rendered once: JSON, HTML, RSS, Atom and JSON Feed of a list of cards, each also gzipped, with strong ETags.

Everything here is a pure function of its arguments: the same page gives the same bytes in every process and for every
reader. Not here: which page is current (`pages_memory.py`) and headers (`shared.py`).
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from frontpage.contracts.api import Shape, StoryCard
from serving.words import age, count_sources, pretty, words

HERE: Final = Path(__file__).parent
JSON: Final = "application/json"
HTML: Final = "text/html; charset=utf-8"
FEED_TYPES: Final[Mapping[str, str]] = {
    "rss": "application/rss+xml; charset=utf-8",
    "atom": "application/atom+xml; charset=utf-8",
    "json": "application/feed+json; charset=utf-8",
}
#: Below this, gzip saves nothing that matters.
_GZIP_FROM: Final = 512
#: Everything outside the Char production of XML 1.0, section 2.2: one such character makes a whole feed unreadable.
_FORBIDDEN: Final = re.compile(r"[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]")


@dataclass(frozen=True, slots=True)
class Body:
    """One rendered answer. `packed` is its gzip form (None when tiny); each form has its own strong ETag."""

    content: bytes
    media_type: str
    etag: str
    packed: bytes | None
    packed_etag: str

    @classmethod
    def of(cls, content: bytes, media_type: str) -> Body:
        """Gzip (mtime 0, so that equal bytes stay equal) and tag `content`."""
        tag = sha256(content).hexdigest()[:24]
        packed = gzip.compress(content, 6, mtime=0) if len(content) >= _GZIP_FROM else None
        return cls(content, media_type, f'"{tag}"', packed, f'"{tag}-gz"')


@dataclass(frozen=True, slots=True)
class Channel:
    """What a syndication feed says about itself. `path` without suffix, relative to the site."""

    title: str
    path: str
    language: str
    updated: float


def json_body(shape: Shape) -> Body:
    """The API's JSON."""
    return Body.of(shape.model_dump_json().encode(), JSON)


def feed_body(kind: str, channel: Channel, cards: list[StoryCard], base: str) -> Body:
    """RSS 2.0, Atom or JSON Feed 1.1. `base` is the public address (no slash at its end)."""
    make = {"rss": _rss, "atom": _atom, "json": _json_feed}[kind]
    return Body.of(make(channel, cards, base).encode(), FEED_TYPES[kind])


def _rss(channel: Channel, cards: list[StoryCard], base: str) -> str:
    items = "".join(
        f"<item><title>{_text(c.headline)}</title><link>{_text(base + c.top_article.click_url)}</link>"
        f'<guid isPermaLink="false">{_text(c.story_id)}</guid><pubDate>{_rfc822(c.updated_at)}</pubDate>'
        f"<description>{_text(_description(c))}</description>"
        f"<source url={quoteattr(base + channel.path + '.rss')}>{_text(c.top_article.publisher)}</source></item>"
        for c in cards
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>'
        f"<title>{_text(channel.title)}</title><link>{_text(base + channel.path)}</link>"
        f'<atom:link href={quoteattr(base + channel.path + ".rss")} rel="self" type="application/rss+xml"/>'
        f"<description>{_text(channel.title)}</description><language>{_text(channel.language)}</language>"
        f"<lastBuildDate>{format_datetime(datetime.fromtimestamp(channel.updated, UTC), usegmt=True)}</lastBuildDate>"
        f"<ttl>1</ttl>{items}</channel></rss>"
    )


def _atom(channel: Channel, cards: list[StoryCard], base: str) -> str:
    entries = "".join(
        f"<entry><title>{_text(c.headline)}</title><id>{_text(base + c.story_url)}</id>"
        f'<link rel="alternate" href={quoteattr(base + c.top_article.click_url)}/>'
        f'<link rel="related" href={quoteattr(base + c.story_url)}/><updated>{c.updated_at}</updated>'
        f"<author><name>{_text(c.top_article.publisher)}</name></author><summary>{_text(_description(c))}</summary></entry>"
        for c in cards
    )
    updated = datetime.fromtimestamp(channel.updated, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return (
        '<?xml version="1.0" encoding="UTF-8"?>'
        f'<feed xmlns="http://www.w3.org/2005/Atom" xml:lang={quoteattr(channel.language)}>'
        f"<title>{_text(channel.title)}</title><id>{_text(base + channel.path)}</id><updated>{updated}</updated>"
        f'<link rel="self" href={quoteattr(base + channel.path + ".atom")}/>{entries}</feed>'
    )


def _json_feed(channel: Channel, cards: list[StoryCard], base: str) -> str:
    items = [
        {
            "id": c.story_id, "url": base + c.top_article.click_url, "external_url": base + c.story_url,
            "title": c.headline, "content_text": _description(c), "date_modified": c.updated_at,
            "date_published": c.first_seen_at, "language": c.lang, "tags": c.topics,
            "authors": [{"name": c.top_article.publisher}],
            **({"image": base + c.top_article.thumb_url} if c.top_article.thumb_url else {}),
        }
        for c in cards
    ]  # fmt: skip
    feed = {
        "version": "https://jsonfeed.org/version/1.1", "title": channel.title, "language": channel.language,
        "home_page_url": base + channel.path, "feed_url": f"{base}{channel.path}.json", "items": items,
    }  # fmt: skip
    return json.dumps(feed, ensure_ascii=False, separators=(",", ":"))


def _description(card: StoryCard) -> str:
    parts = [card.top_article.snippet, f"{card.top_article.publisher}; {count_sources(card.sources, words(card.lang))}"]
    return " — ".join(part for part in parts if part)


def _text(value: str) -> str:
    """XML text without the control characters that XML 1.0 forbids."""
    return escape(_FORBIDDEN.sub("", value))


def _rfc822(iso: str | None) -> str:
    return format_datetime(datetime.fromisoformat(iso), usegmt=True) if iso else ""


def make_environment() -> Environment:
    """Jinja2 with autoescaping everywhere, undefined names as errors, and the page's filters."""
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters["pretty"] = pretty
    environment.globals["asset"] = _asset
    return environment


def _asset(name: str) -> str:
    """`/static/page.css?v=<hash>`: cacheable for a year, new address when it changes."""
    if name not in _ASSETS:
        _ASSETS[name] = sha256((HERE / "static" / name).read_bytes()).hexdigest()[:10]
    return f"/static/{name}?v={_ASSETS[name]}"


_ASSETS: dict[str, str] = {}


def html_body(environment: Environment, template: str, *, language: str, now: float, **context: Any) -> Body:
    """A page in the words of `language`; ages count from `now` (the page's own time on shared pages)."""
    text = words(language)

    def ago(iso: str | None) -> str:
        return age(datetime.fromisoformat(iso).timestamp() if iso else None, now, text)

    rendered = environment.get_template(template).render(
        text=text, ago=ago, sources=lambda n: count_sources(n, text), language=language, **context
    )
    return Body.of(rendered.encode(), HTML)
