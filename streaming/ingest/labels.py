"""Sections, entities, places and topics of a draft, by the domain's rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streaming.ingest.pages import Draft


@dataclass(frozen=True, slots=True)
class Labels:
    """What an article is about; ids of sections, names of the rest."""

    sections: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()


def label(draft: Draft) -> Labels:
    """The labels of a draft."""
    return Labels(places=(draft.publisher.place,) if draft.publisher.place else ())
