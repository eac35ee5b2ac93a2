"""Which items of a feed are new: those whose guid is not among the last 200. Pure.

A known guid under another title or address is a changed item. Not here: what follows from it (`schedule.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from frontpage.domain.ids import digest

#: "the last 200 item guids" (editions document); a longer document keeps all of its own, up to this bound.
GUIDS: Final = 200
GUIDS_BOUND: Final = 2_000


@dataclass(frozen=True, slots=True)
class Entry:
    """What the schedule needs of an item: its guid (or address), its title and address, its stated time."""

    guid: str
    content: str
    published_at: float | None = None

    @property
    def known_as(self) -> str:
        """`guid digest:content digest`: bounded, whatever a feed writes in its guids."""
        return f"{digest(self.guid, 16)}:{digest(self.content, 8)}"


def news(known: Sequence[str], entries: tuple[Entry, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Indices of new and of changed entries. known: `known_as` of each, newest first."""
    contents = dict(reversed([guid.split(":", 1) for guid in known]))
    fresh, changed = [], []
    for index, entry in enumerate(entries):
        guid, content = entry.known_as.split(":")
        if guid not in contents:
            fresh.append(index)
        elif contents[guid] != content:
            changed.append(index)
        contents[guid] = content
    return tuple(fresh), tuple(changed)


def remembered(known: Sequence[str], entries: tuple[Entry, ...]) -> tuple[str, ...]:
    """What is known after a document: its own items first, then as many older ones as there is room for."""
    present = {entry.known_as.split(":")[0]: entry.known_as for entry in entries}
    kept = list(present.values())[:GUIDS_BOUND]
    kept += [guid for guid in known if guid.split(":")[0] not in present][: max(0, GUIDS - len(kept))]
    return tuple(kept)
