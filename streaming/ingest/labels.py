"""Sections, entities, places and topics of a draft, by the domain's rules. The body is read in memory only.

Places of the registry (a local paper's town) are known beside the gazetteer's, so that small towns are found in texts.
Names that the batch layer has learnt are known by the article's language. Topics are the publisher's own tags as slugs,
sections among them left out. Not here: the rules themselves (`domain/sections.py`, `domain/entities.py`).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from frontpage.domain.entities import Gazetteer, tag
from frontpage.domain.names import Names
from frontpage.domain.section_model import SectionModel
from frontpage.domain.sections import sections_of
from frontpage.domain.terms import Floats

if TYPE_CHECKING:
    from streaming.ingest.pages import Draft

#: Tags beyond these say more about search engines than about the article.
MOST_TOPICS: Final = 8
LONGEST_TOPIC: Final = 60


@dataclass(frozen=True, slots=True)
class Labels:
    """What an article is about; section ids, canonical names of entities and places, topic slugs.

    sections_by: who says the sections: the publisher, or a section model by its version.
    """

    sections: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    sections_by: str = "publisher"


#: Learnt names by language tag (`adapters/name_store.py`).
Learnt = Callable[[str], Names]


def _nothing_learnt(_: str) -> Names:
    return Names()


class Labeller:
    """Labels drafts with one gazetteer and what names have been learnt."""

    def __init__(self, gazetteer: Gazetteer, learnt: Learnt = _nothing_learnt) -> None:
        self._gazetteer = gazetteer
        self._learnt = learnt

    def label(self, draft: Draft) -> Labels:
        """The labels of a draft; its home town counts as a place of a local paper's article."""
        sections = sections_of(draft.section, draft.link, draft.keywords)
        learnt = self._learnt(draft.language)
        tagged = tag(draft.title, draft.lead, draft.body, draft.language, self._gazetteer, learnt=learnt)
        home = draft.publisher.place
        places = [*tagged.places, *([home] if home and home not in tagged.places else [])]
        topics = [topic for word in draft.keywords if (topic := slug(word)) and topic not in sections]
        return Labels(
            tuple(sections), tuple(tagged.entities), tuple(places), tuple(dict.fromkeys(topics))[:MOST_TOPICS]
        )


def with_guess(labels: Labels, model: SectionModel | None, vector: Floats, encoder: str) -> Labels:
    """The labels with the model's section where the publisher gives none and the model is sure."""
    section = model.guess(vector, encoder) if model is not None and not labels.sections else None
    if model is None or section is None:
        return labels
    topics = tuple(topic for topic in labels.topics if topic != section)
    return replace(labels, sections=(section,), topics=topics, sections_by=model.version)


def slug(word: str) -> str:
    """`World Cup 2026` -> `world-cup-2026`, in any script; empty when nothing is left or it is a sentence."""
    folded = unicodedata.normalize("NFKC", word).casefold()
    found = "-".join("".join(c if c.isalnum() else " " for c in folded).split())
    return found if len(found) <= LONGEST_TOPIC else ""
