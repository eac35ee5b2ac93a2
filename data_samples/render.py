"""Feeds and pages of the made-up sites as bytes: RSS 2.0, Atom, JSON Feed, news sitemaps, front and article pages.

Pure functions of what is visible; no HTTP here (`serve.py`). The pages carry what real pages carry around the text:
navigation, related links, a newsletter box, a footer; canonical, OpenGraph and JSON-LD; one of three body templates.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import format_datetime
from html import escape
from typing import Any, Final

from data_samples.model import Article, Publisher, Version
from data_samples.sites import HUB_URL, Feed, amp_url, feeds_of, push_of, tags_links, tracks_clicks
from frontpage.domain.languages import direction

#: What a feed or front page shows: an article in one of its states.
Shown = tuple[Article, Version]

#: Words of the furniture around an article: home, newsletter, subscribe, related, rights.
_WORDS: Final = {
    "en": ("Home", "Get our newsletter every morning", "Subscribe to read the full story", "More from us", "All rights reserved"),
    "es": ("Portada", "Reciba nuestro boletín cada mañana", "Suscríbase para leer más", "Más noticias", "Todos los derechos reservados"),
    "de": ("Startseite", "Unser Newsletter jeden Morgen", "Mit Abo weiterlesen", "Mehr zum Thema", "Alle Rechte vorbehalten"),
    "fr": ("Accueil", "Notre lettre chaque matin", "Abonnez-vous pour lire la suite", "À lire aussi", "Tous droits réservés"),
    "pt": ("Início", "Receba a nossa newsletter", "Assine para ler tudo", "Leia também", "Todos os direitos reservados"),
    "it": ("Home", "La nostra newsletter", "Abbonati per leggere", "Leggi anche", "Tutti i diritti riservati"),
    "ja": ("ホーム", "毎朝のニュースレター", "続きは会員限定", "関連記事", "無断転載を禁じます"),
    "ar": ("الرئيسية", "نشرتنا كل صباح", "اشترك للمتابعة", "اقرأ أيضا", "جميع الحقوق محفوظة"),
}  # fmt: skip
_SECTIONS: Final = ("world", "politics", "business", "technology", "science", "health", "sports", "entertainment")


def image_url(publisher: Publisher, article: Article) -> str | None:
    """Address of an article's picture, None where it has none; PNG at every fifth site."""
    if not article.image:
        return None
    suffix = "png" if publisher.style % 5 == 2 else "jpg"
    return f"http://{publisher.host}/media/{article.id}.{suffix}"


def link_of(publisher: Publisher, article: Article, feed: str) -> str:
    """The address that a feed gives: the article's, with tracking parameters, or the site's own redirector."""
    if tracks_clicks(publisher):
        return f"http://{publisher.host}/r/{article.number}"
    if tags_links(publisher):
        return f"{article.url}{'&' if '?' in article.url else '?'}utm_source={feed}&utm_medium=feed"
    return article.url


def iso(at: float) -> str:
    """ISO 8601 in UTC."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def http_date(at: float) -> str:
    """RFC 9110 date (also RSS's)."""
    return format_datetime(datetime.fromtimestamp(int(at), UTC), usegmt=True)


def feed_body(publisher: Publisher, feed: Feed, items: Sequence[Shown], updated: float) -> tuple[bytes, str]:
    """A feed's bytes and content type."""
    if feed.kind == "rss":
        return _rss(publisher, feed, items, updated), "application/rss+xml; charset=utf-8"
    if feed.kind == "atom":
        return _atom(publisher, feed, items, updated), "application/atom+xml; charset=utf-8"
    if feed.kind == "json":
        return _json_feed(publisher, feed, items), "application/feed+json; charset=utf-8"
    return _sitemap(publisher, items), "application/xml; charset=utf-8"


def _hub(publisher: Publisher, element: str) -> str:
    return f'<{element} rel="hub" href="{HUB_URL}"/>' if push_of(publisher) == "websub" else ""


def _rss(publisher: Publisher, feed: Feed, items: Sequence[Shown], updated: float) -> bytes:
    out = [
        '<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" '
        'xmlns:media="http://search.yahoo.com/mrss/" xmlns:atom="http://www.w3.org/2005/Atom">\n<channel>'
        f"<title>{escape(publisher.name)}</title><link>http://{publisher.host}/</link>"
        f"<description>{escape(publisher.name)}</description><language>{publisher.language}-{publisher.country}</language>"
        f'<atom:link rel="self" type="application/rss+xml" href="{feed.url}"/>{_hub(publisher, "atom:link")}'
        f"<lastBuildDate>{http_date(updated)}</lastBuildDate><ttl>5</ttl>"
    ]
    for article, version in items:
        picture = image_url(publisher, article)
        out.append(
            f"\n<item><title>{escape(version.title)}</title>"
            f"<link>{escape(link_of(publisher, article, 'rss'))}</link>"
            f'<guid isPermaLink="false">{publisher.id}:{article.number}</guid>'
            f"<pubDate>{http_date(version.claimed_at)}</pubDate><dc:creator>{escape(article.author)}</dc:creator>"
            f"<category>{article.section}</category><description>{escape(version.summary)}</description>"
            + (f'<media:content url="{picture}" medium="image"/>' if picture else "")
            + "</item>"
        )
    return ("".join(out) + "\n</channel></rss>\n").encode()


def _atom(publisher: Publisher, feed: Feed, items: Sequence[Shown], updated: float) -> bytes:
    out = [
        f'<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="{publisher.language}">'
        f"<title>{escape(publisher.name)}</title><id>{feed.url}</id><updated>{iso(updated)}</updated>"
        f'<link rel="self" href="{feed.url}"/>{_hub(publisher, "link")}<link href="http://{publisher.host}/"/>'
    ]
    out += [
        f"\n<entry><id>tag:{publisher.host},2026:{article.number}</id><title>{escape(version.title)}</title>"
        f'<link rel="alternate" type="text/html" href="{escape(link_of(publisher, article, "atom"))}"/>'
        f"<published>{iso(version.claimed_at)}</published><updated>{iso(version.at)}</updated>"
        f'<author><name>{escape(article.author)}</name></author><category term="{article.section}"/>'
        f'<summary type="text">{escape(version.summary)}</summary></entry>'
        for article, version in items
    ]
    return ("".join(out) + "\n</feed>\n").encode()


def _json_feed(publisher: Publisher, feed: Feed, items: Sequence[Shown]) -> bytes:
    rows = []
    for article, version in items:
        row: dict[str, Any] = {
            "id": f"{publisher.id}/{article.number}",
            "url": link_of(publisher, article, "json"),
            "title": version.title,
            "summary": version.summary,
            "date_published": iso(version.claimed_at),
            "date_modified": iso(version.at),
            "authors": [{"name": article.author}],
            "tags": [article.section],
            "language": article.language,
        }
        if picture := image_url(publisher, article):
            row["image"] = picture
        rows.append(row)
    whole = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": publisher.name,
        "home_page_url": f"http://{publisher.host}/",
        "feed_url": feed.url,
        **({"hubs": [{"type": "WebSub", "url": HUB_URL}]} if push_of(publisher) == "websub" else {}),
        "language": f"{publisher.language}-{publisher.country}",
        "items": rows,
    }
    return json.dumps(whole, ensure_ascii=False).encode()


def _sitemap(publisher: Publisher, items: Sequence[Shown]) -> bytes:
    out = [
        '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
        'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">'
    ]
    out += [
        f"\n<url><loc>{escape(article.url)}</loc><lastmod>{iso(version.at)}</lastmod><news:news><news:publication>"
        f"<news:name>{escape(publisher.name)}</news:name><news:language>{publisher.language}</news:language>"
        f"</news:publication><news:publication_date>{iso(version.claimed_at)}</news:publication_date>"
        f"<news:title>{escape(version.title)}</news:title></news:news></url>"
        for article, version in items
    ]
    return ("".join(out) + "\n</urlset>\n").encode()


def robots_body(publisher: Publisher) -> bytes:
    """robots.txt: a few closed paths everywhere, a crawl delay at some sites, ours shut out where it opted out."""
    lines = ["User-agent: *", "Disallow: /search", "Disallow: /private/", "Disallow: /print/"]
    if publisher.style % 11 == 10:
        lines.append("Crawl-delay: 1")
    if publisher.opted_out:
        lines += ["", "User-agent: Frontpage", "Disallow: /"]
    lines += ["", *(f"Sitemap: {feed.url}" for feed in feeds_of(publisher) if feed.kind == "sitemap")]
    return ("\n".join(lines) + "\n").encode()


def front_page(publisher: Publisher, items: Sequence[Shown]) -> bytes:
    """The site's front page with links to its feeds (autodiscovery) and its latest articles."""
    types = {"rss": "application/rss+xml", "atom": "application/atom+xml", "json": "application/feed+json"}
    links = "".join(
        f'<link rel="alternate" type="{types[feed.kind]}" title="{escape(publisher.name)}" href="{feed.path}">'
        for feed in feeds_of(publisher)
        if feed.kind in types
    )
    teasers = "".join(
        f'<li><a href="{escape(article.url)}">{escape(version.title)}</a><p>{escape(version.summary)}</p></li>'
        for article, version in items
    )
    return _document(
        publisher, publisher.name, links, f"<main><h1>{escape(publisher.name)}</h1><ul>{teasers}</ul></main>"
    )


def article_page(publisher: Publisher, article: Article, version: Version, related: Sequence[Article]) -> bytes:
    """The article's page; the text behind a paywall is in the page, marked as schema.org asks."""
    words = _WORDS[publisher.language]
    picture = image_url(publisher, article)
    head = [
        f'<link rel="canonical" href="{escape(article.url)}">',
        f'<meta name="description" content="{escape(version.summary)}">',
        f'<meta property="og:type" content="article"><meta property="og:url" content="{escape(article.url)}">',
        f'<meta property="og:title" content="{escape(version.title)}">',
        f'<meta property="og:site_name" content="{escape(publisher.name)}">',
        f'<meta property="article:published_time" content="{iso(version.claimed_at)}">',
        f'<meta property="article:section" content="{article.section}">',
    ]
    if picture:
        head.append(f'<meta property="og:image" content="{picture}">')
    if twin := amp_url(publisher, article):
        head.append(f'<link rel="amphtml" href="{twin}">')
    linked = json.dumps(_json_ld(publisher, article, version, picture), ensure_ascii=False).replace("</", "<\\/")
    head.append(f'<script type="application/ld+json">{linked}</script>')
    text = _body(publisher, article, version)
    figure = f'<figure><img src="{picture}" alt="" width="640" height="360"></figure>' if picture else ""
    more = "".join(f'<li><a href="{escape(a.url)}">{escape(a.title)}</a></li>' for a in related)
    subscribe = f'<div class="subscribe">{words[2]}</div>' if article.paywalled else ""
    byline = (
        f'<p class="byline"><span class="author">{escape(article.author)}</span> '
        f'<time datetime="{iso(version.claimed_at)}">{iso(version.claimed_at)[:10]}</time></p>'
    )
    heading = f"<h1>{escape(version.title)}</h1>"
    template = publisher.style % 3
    if template == 0:
        main = f"<main><article><header>{heading}{byline}</header>{figure}{text}{subscribe}</article></main>"
    elif template == 1:
        main = f'<div id="content">{heading}{byline}{figure}<div class="story-body">{text}</div>{subscribe}</div>'
    else:
        main = f'<main>{heading}{figure}<section class="text" itemprop="articleBody">{byline}{text}</section>{subscribe}</main>'
    aside = f'<aside class="related"><h2>{words[3]}</h2><ul>{more}</ul></aside>' if more else ""
    return _document(publisher, f"{version.title} | {publisher.name}", "".join(head), main + aside)


def amp_page(publisher: Publisher, article: Article, version: Version) -> bytes:
    """The AMP twin: the same text, its canonical pointing at the article."""
    text = "".join(f"<p>{escape(paragraph)}</p>" for paragraph in version.paragraphs)
    return (
        f'<!doctype html><html amp lang="{publisher.language}"><head><meta charset="utf-8">'
        f'<title>{escape(version.title)}</title><link rel="canonical" href="{escape(article.url)}"></head>'
        f"<body><h1>{escape(version.title)}</h1><article>{text}</article></body></html>\n"
    ).encode()


def _body(publisher: Publisher, article: Article, version: Version) -> str:
    parts = [f"<p>{escape(paragraph)}</p>" for paragraph in version.paragraphs]
    if article.paywalled:
        parts = [parts[0], f'<div class="paywall">{"".join(parts[1:])}</div>']
    elif publisher.style % 4 == 2 and len(parts) > 3:
        parts.insert(2, f'<div class="newsletter-box">{_WORDS[publisher.language][1]}</div>')
    if article.credit and article.author != article.credit:
        parts.append(f'<p class="credit">({escape(article.credit)})</p>')
    return "\n".join(parts)


def _json_ld(publisher: Publisher, article: Article, version: Version, picture: str | None) -> dict[str, Any]:
    row: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": article.schema_type or "WebPage",
        "headline": version.title,
        "url": article.url,
        "mainEntityOfPage": article.url,
        "datePublished": iso(version.claimed_at),
        "dateModified": iso(max(version.at, version.claimed_at)),
        "author": {"@type": "Person", "name": article.author},
        "publisher": {"@type": "Organization", "name": publisher.name},
        "articleSection": article.section,
        "inLanguage": f"{publisher.language}-{publisher.country}",
        "isAccessibleForFree": not article.paywalled,
    }
    if picture:
        row["image"] = [picture]
    if article.paywalled:
        row["hasPart"] = {"@type": "WebPageElement", "isAccessibleForFree": False, "cssSelector": ".paywall"}
    if article.schema_type == "ClaimReview":
        row["claimReviewed"] = version.title
        row["reviewRating"] = {"@type": "Rating", "ratingValue": 1, "bestRating": 5, "alternateName": "False"}
    return row


def _document(publisher: Publisher, title: str, head: str, main: str) -> bytes:
    words = _WORDS[publisher.language]
    nav = "".join(f'<li><a href="/{section}/">{section.title()}</a></li>' for section in _SECTIONS)
    return (
        f'<!doctype html>\n<html lang="{publisher.language}-{publisher.country}" dir="{direction(publisher.language)}">'
        f'<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
        f'{head}</head>\n<body><nav class="menu"><ul><li><a href="/">{words[0]}</a></li>{nav}</ul></nav>\n{main}\n'
        f'<footer><form action="/newsletter"><label>{words[1]}</label><input name="mail"></form>'
        f"<p>© 2026 {escape(publisher.name)}. {words[4]}.</p></footer></body></html>\n"
    ).encode()
