"""An article page to a PageReading: identity, title, text, dates, language, picture, kind, flags.

The hot path of enrich: one parse, one tree for all steps; libraries are the base (lxml, trafilatura, htmldate, lingua),
our rules stand on top where they are known to be wrong. Pure: nothing is fetched, and `body_text` is the caller's to
use in memory and drop. Not for: entities and topics (domain.entities, domain.sections), fingerprints, licence flags of
the registry.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final

from frontpage.adapters.parse import html_tree, language, page_text
from frontpage.adapters.parse.decode import header
from frontpage.adapters.parse.html_tree import Page
from frontpage.adapters.parse.page_dates import read_dates
from frontpage.adapters.parse.page_kinds import is_paywalled, page_kind
from frontpage.adapters.parse.page_title import page_title
from frontpage.adapters.parse.readings import PageReading
from frontpage.adapters.parse.structured import Structured, read_structured
from frontpage.domain.bylines import people
from frontpage.domain.canonical import identify
from frontpage.domain.languages import direction, language_tag, primary_subtag
from frontpage.domain.licence import clip as clip_snippet
from frontpage.domain.text import clip, direction_of, from_markup, plain, sentences
from frontpage.domain.urls import clean_link
from frontpage.errors import UnreadableInput

__all__ = ["PageReading", "read_page"]

LEAD_SENTENCES: Final = 3
_LEAD_LIMIT: Final = 1_200
_AUTHORS: Final = 10


def read_page(
    body: bytes,
    headers: Mapping[str, object],
    url: str,
    *,
    now: float,
    site_name: str | None = None,
    publisher_domains: Collection[str] = (),
    declared: str | None = None,
) -> PageReading:
    """Reads the page fetched at `now` from `url` (the address after redirects).

    `site_name` and `publisher_domains` come from the registry; `declared` is the language of feed or registry and
    stands in where the page states none. Raises UnreadableInput (`empty`, `not-html`, `too-large`, `bad-gzip`,
    `bad-url`); nothing else on any bytes.
    """
    address, cause = clean_link(url)
    if address is None:
        raise UnreadableInput(f"no page address: {cause}", cause="bad-url")
    page = html_tree.load(body, headers)
    data = read_structured(page.json_ld)
    names = _names(page, data, site_name)
    title = page_title(page, data, names, address)
    identity = identify(
        address,
        canonicals=page.links.get("canonical", ()),
        og_urls=page.meta.get("og:url", ()),
        base=page.base,
        title=title,
        is_amp=page.is_amp,
        publisher_domains=publisher_domains,
    )
    body_text, found_by = page_text.extract(page.root, data.body, address)
    stated = page.lang or page.first("equiv:content-language", "language", "dc.language") or data.language
    stated = stated or header(headers, "content-language").partition(",")[0].strip()
    detected = _language(body_text, title, stated or declared)
    dates = read_dates(page, data, address, now=now, language=detected, cached=_cached(headers))
    section = _section(page, data)
    reading = PageReading(
        canonical_url=identity.canonical,
        link=identity.link,
        title=title,
        lead=clip(" ".join(sentences(body_text[:4000].replace("\n", " "), LEAD_SENTENCES)), _LEAD_LIMIT),
        body_text=body_text,
        authors=_authors(page, data),
        published_at=dates.published_at,
        published_day_only=dates.day_only,
        modified_at=dates.modified_at,
        language=detected,
        declared_language=language_tag(plain(stated)),
        dir="rtl" if (direction_of(title + " " + body_text[:1000]) or direction(detected)) == "rtl" else "ltr",
        image=_image(page, data, address),
        section=section or None,
        keywords=_keywords(page, data),
        paywalled=is_paywalled(page, data, body_text),
        publisher=next((name.partition(" | ")[0] for name in names if name), None),
        syndicated_from=identity.syndicated_from,
        problems=[*page.problems, *identity.problems, *dates.problems],
    )
    reading.kind = page_kind(
        page, data, identity.canonical, section=section, title=title, text=body_text, language=detected
    )
    _apply_directives(reading, page, headers)
    if reading.snippet_allowed:
        reading.snippet = clip_snippet(_description(page, data) or reading.lead, allowed=True)
    if not title:
        reading.problems.append("no_title")
    if found_by == "none":
        reading.problems.append("no_text")
    return reading


def _language(body: str, title: str, declared: str | None) -> str:
    """By the body; a body too short to judge gets the title's help."""
    sample = body if len(body) >= 80 else f"{body} {title}"
    return language.detect(sample[:2000], declared)


def _cached(headers: Mapping[str, object]) -> float:
    """Seconds for which caches had held the answer (RFC 9111, 5.1); nonsense is none, a day the most."""
    said = header(headers, "age").strip()
    seconds = float(said) if said.isascii() and said.isdigit() and len(said) < 8 else 0.0
    return seconds if seconds <= 86_400.0 else 0.0


def _names(page: Page, data: Structured, site_name: str | None) -> list[str]:
    stated = (
        site_name or "",
        page.first("og:site_name"),
        data.publisher,
        page.first("application-name", "apple-mobile-web-app-title"),
    )
    return list(dict.fromkeys(plain(name) for name in stated))


def _description(page: Page, data: Structured) -> str:
    text = from_markup(
        page.first("og:description", "description", "twitter:description", "dc.description") or data.description
    )
    return text if len(text) >= 20 else ""


def _section(page: Page, data: Structured) -> str:
    label = page.first(
        "article:section", "parsely-section", "section", "sailthru.section", "cxenseparse:section"
    ) or next(iter(data.sections), "")
    if not label and len(data.breadcrumbs) >= 2:
        label = data.breadcrumbs[1]
    return clip(from_markup(label), 80)


def _keywords(page: Page, data: Structured) -> list[str]:
    tags = [from_markup(tag) for tag in page.meta.get("article:tag", ())]
    stated = page.first("news_keywords", "keywords", "parsely-tags")
    tags += [from_markup(part) for part in re.split(r"[,;،、]", stated)] + data.keywords
    return [clip(tag, 80) for tag in dict.fromkeys(tags) if 1 < len(tag) <= 200][:30]


_AUTHOR_META: Final = (
    "author",
    "article:author",
    "byl",
    "dc.creator",
    "parsely-author",
    "sailthru.author",
    "dcterms.creator",
)


def _authors(page: Page, data: Structured) -> list[str]:
    names = list(data.authors)
    if not names:
        names = [value for key in _AUTHOR_META for value in page.meta.get(key, ())]
    if not names:
        marked = page.root.xpath("//*[@itemprop='author' or @rel='author']")[:5]
        names = [plain(element.text_content()) for element in marked]
    return people(names)[:_AUTHORS]


#: Pictures that stand in for one: loaders, spacers, counting pixels.
_PLACEHOLDER: Final = re.compile(
    r"(?:^|[/_-])(?:blank|preload(?:er)?|spacer|placeholder|pixel|1x1|transparent|loading|sprite)[\w-]*\.|^data:",
    re.IGNORECASE,
)


def _image(page: Page, data: Structured, url: str) -> str | None:
    stated = (
        page.first("og:image:secure_url", "og:image", "og:image:url", "twitter:image", "twitter:image:src"),
        data.image,
        *page.links.get("image_src", ()),
        page.first("thumbnailurl", "image"),
    )
    for raw in stated:
        link, _ = clean_link(raw, page.base or url) if raw and not _PLACEHOLDER.search(raw) else (None, None)
        if link:
            return link
    for picture in page.root.xpath("//article//img[@src]")[:5]:
        width = picture.get("width") or ""
        if not width.isdigit() or int(width) >= 200:
            link, _ = clean_link(picture.get("src"), url)
            if link and not _PLACEHOLDER.search(link):
                return link
    return None


def _apply_directives(reading: PageReading, page: Page, headers: Mapping[str, object]) -> None:
    """Opt-outs that a page states for itself (robots meta and X-Robots-Tag): no snippet, no picture, not listed."""
    stated = ",".join(
        [*page.meta.get("robots", ()), *page.meta.get("googlebot-news", ()), header(headers, "x-robots-tag")]
    ).lower()
    directives = {part.strip().replace(" ", "") for part in stated.split(",")}
    if directives & {"nosnippet", "max-snippet:0"}:
        reading.snippet_allowed = False
        reading.problems.append("nosnippet")
    if directives & {"noimageindex", "max-image-preview:none"}:
        reading.image = None
        reading.problems.append("noimage")
    if directives & {"noindex", "none"}:
        reading.problems.append("noindex")
    refresh = page.first("equiv:refresh")
    target = re.search(r"url\s*=\s*['\"]?([^'\"]+)", refresh, re.IGNORECASE) if refresh else None
    if target:
        link, _ = clean_link(target[1], reading.link)
        if link and link != reading.link:
            reading.problems.append(f"meta_refresh: {link}")


def declared_or(reading: PageReading, fallback: str | None) -> str:
    """The page's language, or the registry's when the page gave none."""
    return reading.language if reading.language != "und" else primary_subtag(fallback)
