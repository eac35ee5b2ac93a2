"""Which picture an item shows: Media RSS, then a picture in its text, then an enclosure; never a counting pixel."""

from __future__ import annotations

import html
import re
from typing import Any, Final

from frontpage.domain.urls import clean_link

_IMG: Final = re.compile(r"<img\b[^>]{0,4000}", re.IGNORECASE)
_ATTRIBUTE: Final = re.compile(r"([a-zA-Z:-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
_PIXEL_HOSTS: Final = re.compile(
    r"feedburner|feedsportal|doubleclick|/pixel|/beacon|pixel\.|1x1|spacer\.|stats\.wp\.com|/count(?:er)?[./?]|"
    r"gravatar|emoji|feeds\.wordpress\.com",
    re.IGNORECASE,
)
_IMAGE_FILE: Final = re.compile(r"\.(?:jpe?g|png|gif|webp|avif)(?:$|\?)", re.IGNORECASE)
_IMAGES_SEEN: Final = 20


def entry_image(raw: Any, base: str) -> str | None:
    """The absolute http(s) address of an item's picture, or None."""
    best: tuple[int, str] | None = None
    for part in [*_dicts(raw, "media_content"), *_dicts(raw, "media_thumbnail")]:
        kind = str(part.get("medium") or part.get("type") or "")
        address = str(part.get("url") or "")
        if not kind.startswith(("image", "")) or kind.startswith(("video", "audio", "document", "application")):
            continue
        found = _usable(address, base)
        if found:
            width = _number(part.get("width"))
            if best is None or width > best[0]:
                best = (width, found)
    if best:
        return best[1]
    for part in [*_dicts(raw, "content"), raw.get("summary_detail") or {}]:
        found = image_in_markup(str(part.get("value") or ""), str(part.get("base") or "") or base)
        if found:
            return found
    for link in [*_dicts(raw, "links"), *_dicts(raw, "enclosures")]:
        kind = str(link.get("type") or "")
        if link.get("rel", "enclosure") == "enclosure" and (
            kind.startswith("image/") or (not kind and _IMAGE_FILE.search(str(link.get("href") or "")))
        ):
            found = _usable(str(link.get("href") or ""), base)
            if found:
                return found
    return (
        _usable(str((raw.get("image") or {}).get("href") or ""), base) if isinstance(raw.get("image"), dict) else None
    )


def image_in_markup(markup: str, base: str) -> str | None:
    """The first `img` of a fragment that is a picture, resolved against `base`."""
    if "<img" not in markup and "<IMG" not in markup:
        return None
    for place, match in enumerate(_IMG.finditer(markup)):
        if place >= _IMAGES_SEEN:
            break
        attributes = {m[1].lower(): html.unescape(m[2] or m[3] or m[4] or "") for m in _ATTRIBUTE.finditer(match[0])}
        if any(0 < _number(attributes.get(side)) <= 40 for side in ("width", "height")):
            continue
        source = attributes.get("data-src") or attributes.get("src") or ""
        found = _usable(source, base)
        if found:
            return found
    return None


def _usable(address: str, base: str) -> str | None:
    if not address.strip() or _PIXEL_HOSTS.search(address):
        return None
    return clean_link(address, base)[0]


def _dicts(raw: Any, name: str) -> list[dict[str, Any]]:
    return [part for part in (raw.get(name) or []) if isinstance(part, dict)]


def _number(value: object) -> int:
    text = str(value or "")
    return int(text) if text.isdigit() and len(text) < 7 else 0
