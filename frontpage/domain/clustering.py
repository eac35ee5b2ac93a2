"""Online clustering: which story an article joins, decided by one writer per language, one article at a time.

`Clusterer` is the writer's mind: it holds the indexes over an open `StoryBook`, decides, applies its own decisions to
the book and returns them as changes. It reads no clock and mints ids from its input, so the same inputs give the same
changes. Persistence, leases and transactions belong to streaming/cluster.
"""

from __future__ import annotations

from typing import Any

from frontpage.domain.article import ArticleSignals
from frontpage.domain.recluster import Proposal
from frontpage.domain.story import Change, StoryBook

#: (topic, partition, offset) of the input record that a decision answers: makes change ids deterministic.
Source = tuple[str, int, int]


class Clusterer:
    """Decides for one partition. Every returned change has already been applied to `book`.

    When the transaction that carries the changes is aborted, the book is ahead of the log: make a new book from the
    log and a new clusterer on it.
    """

    def __init__(self, book: StoryBook, policies: Any = None, *, partition: int = 0) -> None:
        self.book = book

    def decide(self, article: ArticleSignals, now: float, source: Source, card: Any = None) -> list[Change]:
        """create, assign or update for one article; [] when this version is already in the book."""
        raise NotImplementedError

    def repair(self, now: float, source: Source) -> list[Change]:
        """Merges, splits and moves among recently updated stories; at most one repair per story in 30 minutes."""
        raise NotImplementedError

    def consider(self, proposal: Proposal, now: float, source: Source) -> list[Change]:
        """A batch proposal, checked against the stories as they are now; [] when it no longer fits."""
        raise NotImplementedError

    def expire(self, now: float, source: Source) -> list[Change]:
        """Close stories without a new article for the window."""
        raise NotImplementedError
