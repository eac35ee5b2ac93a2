"""One item listed twice in one feed is one entry: by the canonical address, or by a guid that moved to https."""

from __future__ import annotations

from frontpage.adapters.parse.readings import FeedEntry, FeedReading
from frontpage.domain.urls import canonicalise


def join_twins(reading: FeedReading) -> FeedReading:
    """Joins entries that name one page and have one title or one id; order and first positions stay.

    An address alone is not enough: some feeds give every item the address of the front page.
    """
    kept: list[FeedEntry] = []
    seen: dict[str, list[FeedEntry]] = {}
    for entry in reading.entries:
        result = canonicalise(entry.url) if entry.url else None
        key = result.canonical if result else None
        if key is None:
            kept.append(entry)
            continue
        twin = next((other for other in seen.get(key, []) if _same(entry, other)), None)
        if twin is None:
            seen.setdefault(key, []).append(entry)
            kept.append(entry)
            continue
        _fill(twin, entry)
        if result and not result.removed and entry.url:
            twin.url = entry.url  # the spelling without tracking
        if "twins_joined" not in reading.problems:
            reading.problems.append("twins_joined")
    reading.entries = kept
    return reading


def _same(left: FeedEntry, right: FeedEntry) -> bool:
    return left.title.casefold() == right.title.casefold() or (
        left.id is not None and _fold(left.id) == _fold(right.id)
    )


def _fold(id: str | None) -> str:
    return (id or "").removeprefix("https://").removeprefix("http://")


def _fill(kept: FeedEntry, other: FeedEntry) -> None:
    for name in ("id", "summary", "published_at", "updated_at", "authors", "categories", "image", "published_raw"):
        if not getattr(kept, name):
            setattr(kept, name, getattr(other, name))
