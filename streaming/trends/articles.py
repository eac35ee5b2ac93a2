"""What a click is about: labels and vector of each recent article, from `articles.normalised`, for reader profiles.

Read without a group from the start of what the topic keeps (3 days); the newest version of an article wins. Bounded:
the oldest articles fall out first. The batch layer takes the same fields of the same events, so both layers fold alike.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from frontpage.adapters.bus import Bus, Record, history
from frontpage.adapters.loop import fault_of, place_of
from frontpage.contracts.events import ArticleEvent
from frontpage.contracts.topics import ARTICLES
from frontpage.contracts.vectors import Floats
from frontpage.domain.languages import LANGUAGE_PARTITIONS

log = logging.getLogger(__name__)

#: 2 kB each: 400 MB at most, three hours of the documents' whole world and all of a small one.
LIMIT: Final = 200_000


@dataclass(frozen=True, slots=True)
class Facts:
    """`vector`: float32, unit norm, of `encoder`."""

    version: int
    topics: tuple[str, ...]
    entities: tuple[str, ...]
    sections: tuple[str, ...]
    encoder: str
    vector: Floats


class ArticleFacts:
    """article id -> facts; call `catch_up` before asking."""

    def __init__(self, bus: Bus, limit: int = LIMIT) -> None:
        self._bus = bus
        self._begun = False
        self._consumer = bus.consumer("trends-articles", [ARTICLES.name], partitions=range(LANGUAGE_PARTITIONS))
        self._limit = limit
        self._facts: OrderedDict[str, Facts] = OrderedDict()

    def catch_up(self) -> int:
        """Read what has come since the last call; returns how many articles. Raises ServiceUnavailable."""
        taken = 0
        if not self._begun:  # polls may come back empty before the end: what is not known yet would be folded without
            taken = self._take(history(self._bus, self._consumer, ARTICLES.name))
            self._begun = True
        while records := self._consumer.poll(1000, 0.0 if taken else 0.05):
            taken += self._take(records)
        return taken

    def get(self, article_id: str) -> Facts | None:
        """None for an article that is too old or has not come through yet."""
        return self._facts.get(article_id)

    def close(self) -> None:
        """Stop reading."""
        self._consumer.close()

    def _take(self, records: Iterable[Record]) -> int:
        taken = 0
        for record in records:
            taken += 1
            try:
                event = ArticleEvent.decode(record.value)
                if event is not None:
                    self._put(event)
            except Exception as error:  # noqa: BLE001 - `fault_of` raises what is not the record's fault
                log.warning("article at %s: %s", place_of(record), fault_of(record, error))
        return taken

    def _put(self, event: ArticleEvent) -> None:
        card, vector = event.card, event.signals.vector
        known = self._facts.get(card.article_id)
        if known is not None and known.version > card.version:
            return
        self._facts[card.article_id] = Facts(
            card.version, tuple(card.topics), tuple(card.entities), tuple(card.sections), vector.version,
            vector.unpack(),
        )  # fmt: skip
        self._facts.move_to_end(card.article_id)
        while len(self._facts) > self._limit:
            self._facts.popitem(last=False)
