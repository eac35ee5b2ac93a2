"""JSON Feed 1.0 and 1.1 (jsonfeed.org) to a FeedReading. Nothing in it is trusted to have the type it should."""

from __future__ import annotations

import json
from typing import Any

from frontpage.adapters.parse.feed_images import image_in_markup
from frontpage.adapters.parse.readings import FeedEntry, FeedMeta, FeedReading
from frontpage.domain.dates import not_in_future, parse_date
from frontpage.domain.languages import language_tag
from frontpage.domain.text import clip, from_markup, headline, plain
from frontpage.domain.urls import clean_link
from frontpage.errors import UnreadableInput

_ENTRIES = 5_000


def read(text: str, url: str, *, now: float, language: str | None = None) -> FeedReading:
    """Reads a JSON Feed document; raises UnreadableInput `not-a-feed` when it is something else."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableInput(f"broken JSON: {error}"[:200], cause="not-a-feed") from None
    if not isinstance(document, dict) or not isinstance(document.get("items"), list):
        raise UnreadableInput("JSON, but no JSON Feed", cause="not-a-feed")
    if "jsonfeed.org" not in _string(document, "version") and not _string(document, "title"):
        raise UnreadableInput("JSON, but no JSON Feed", cause="not-a-feed")
    home, _ = clean_link(_string(document, "home_page_url"), url)
    base = url or home or ""
    hubs = [hub for hub in document.get("hubs") or [] if isinstance(hub, dict)] if _is_list(document, "hubs") else []
    meta = FeedMeta(
        title=clip(from_markup(_string(document, "title")), 500),
        link=home,
        language=language_tag(plain(_string(document, "language"))) or language,
        description=clip(from_markup(_string(document, "description")), 1000),
        hub=next((link for hub in hubs if (link := clean_link(_string(hub, "url"), base)[0])), None),
        self_url=clean_link(_string(document, "feed_url"), base)[0],
        format="json1",
    )
    items = [item for item in document["items"] if isinstance(item, dict)]
    problems = ["too_many_entries"] if len(items) > _ENTRIES else []
    entries = [_entry(item, base, now, meta.language) for item in items[:_ENTRIES]]
    return FeedReading(meta, entries, problems)


def _is_list(fields: dict[str, Any], name: str) -> bool:
    return isinstance(fields.get(name), list)


def _string(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    if isinstance(value, str):
        return value
    # Version 1.0 allowed numbers as ids; every other type is somebody's mistake.
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def _entry(item: dict[str, Any], base: str, now: float, language: str | None) -> FeedEntry:
    entry = FeedEntry(id=plain(_string(item, "id"))[:1024] or None)
    cause: str | None = None
    for candidate in (_string(item, "url"), _string(item, "external_url")):
        entry.url, found = clean_link(candidate, base)
        if entry.url:
            break
        cause = found if found != "empty" else cause
    if not entry.url:
        entry.url, _ = clean_link(entry.id)
    if not entry.url:
        entry.problems.append(f"refused_link: {cause}" if cause else "no_link")
    markup = _string(item, "content_html")
    entry.title = clip(headline(_string(item, "title")), 500)
    if not entry.title:
        entry.problems.append("no_title")
    entry.summary = clip(from_markup(_string(item, "summary") or _string(item, "content_text") or markup), 1000)
    people = item.get("authors") if _is_list(item, "authors") else [item.get("author")]
    names = (plain(_string(person, "name")) for person in people or [] if isinstance(person, dict))
    entry.authors = [clip(name, 120) for name in dict.fromkeys(names) if name][:30]
    if _is_list(item, "tags"):
        entry.categories = [clip(plain(tag), 120) for tag in item["tags"] if isinstance(tag, str) and tag.strip()][:30]
    for name in ("image", "banner_image"):
        entry.image = entry.image or clean_link(_string(item, name), base)[0]
    entry.image = entry.image or image_in_markup(markup, base)
    entry.language = language_tag(plain(_string(item, "language")))
    raw = _string(item, "date_published") or _string(item, "date_modified")
    if raw:
        entry.published_raw = clip(plain(raw), 120)
        entry.published_at, problems = not_in_future(parse_date(raw, language=language), now)
        entry.problems += [f"date: {problem}" for problem in problems]
    else:
        entry.problems.append("no_date")
    if _string(item, "date_modified"):
        entry.updated_at, _ = not_in_future(parse_date(_string(item, "date_modified")), now)
    return entry
