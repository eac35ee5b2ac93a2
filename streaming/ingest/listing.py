"""What a feed lists, from a reading in which known items were not read again: entries of the schedule, and new ones.

Pure. What was left out must be exactly what the feed's state knows, or the document is read whole (`listed` says None).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from frontpage.adapters.feed_codec import packed_items, unpacked_items
from frontpage.domain.ids import digest
from frontpage.domain.schedule import Entry

if TYPE_CHECKING:
    from frontpage.adapters.feed_codec import FeedRow
    from frontpage.adapters.parse.readings import FeedEntry, FeedMeta, FeedReading


@dataclass(frozen=True, slots=True)
class Listed(Entry):
    """An entry whose digests were made once: a decision asks for them five times. Known ones have nothing else."""

    digests: str = ""

    @property
    def known_as(self) -> str:
        """See `Entry`."""
        return self.digests


@dataclass(frozen=True, slots=True)
class Listing:
    """`known` (for the schedule) and `entries` (None where the item was left out as known) are in document order.

    items: for the feed's row, see `FeedRow.items`.
    """

    meta: FeedMeta
    known: tuple[Listed, ...]
    entries: tuple[FeedEntry | None, ...]
    items: bytes = b""


def known_items(row: FeedRow) -> dict[str, str]:
    """`{digest of an item's text: its guid and content digests}`: what need not be read again."""
    if row.state.body_at is None:
        return {}
    remembered = frozenset(row.state.guids)
    return {text: known for text, known in unpacked_items(row.items).items() if known in remembered}


def listed(reading: FeedReading, known: Mapping[str, str]) -> Listing | None:
    """The listing of a reading for which `known` was left out; None when it must be read without leaving anything out.

    That is so when two items share a guid or a title with address: whether they are one is decided by what is in them.
    """
    new = iter(reading.entries)
    rows: list[Listed] = []
    entries: list[FeedEntry | None] = []
    for place in range(len(reading.entries) + len(reading.left_out)):
        if place in reading.left_out:
            entries.append(None)
            rows.append(Listed("", "", None, known[reading.items[place]]))
            continue
        entry = next(new)
        made = Entry(entry.id or entry.url or entry.title, f"{entry.title}\n{entry.url}", entry.published_at)
        entries.append(entry)
        rows.append(
            Listed(made.guid, made.content, made.published_at, f"{digest(made.guid, 16)}:{digest(made.content, 8)}")
        )
    if reading.left_out:
        parts = [row.digests.split(":") for row in rows]
        if any(len({part[n] for part in parts}) < len(parts) for n in (0, 1)):
            return None
    # items that could not be told apart have no digests: then nothing is remembered
    items = [(text, row.digests) for text, row in zip(reading.items, rows, strict=False)]
    return Listing(reading.feed, tuple(rows), tuple(entries), packed_items(items))
