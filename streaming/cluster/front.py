"""What stands on the front pages now, and who represents it: the writer holds doubtful merges of these stories for a
person, and lets the half of a split that has the representative keep the id.

A front page is the `top` section of an edition, as far as its first `TOP` stories. Only editions in the languages of
the partition are read, at most once a minute; while Redis does not answer, what was last read stands.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from frontpage.adapters.pages import PageStore
from frontpage.domain.editions import EDITIONS
from frontpage.domain.languages import partition_of
from frontpage.errors import FrontpageError

if TYPE_CHECKING:
    import redis

log = logging.getLogger(__name__)

#: Stories of a front page in whose sight a wrong merge is seen at once (the health report looks at as many).
TOP: Final = 10
#: Real seconds between two looks: pages change once a minute.
FRESH: Final = 60.0


class FrontPages:
    """The top stories in a partition's languages, each with its representative; call it."""

    def __init__(self, store: redis.Redis, partition: int) -> None:
        self._pages = PageStore(store)
        self._editions = [e.id for e in EDITIONS.values() if partition_of(e.language) == partition]
        self._stories: dict[str, str] = {}
        self._read_at = float("-inf")

    def __call__(self) -> Mapping[str, str]:
        """Story id -> article id, as of a minute ago or less; where editions differ, the last one's."""
        if time.monotonic() - self._read_at >= FRESH:
            self._read_at = time.monotonic()
            try:
                pages = [self._pages.read(edition, "top") for edition in self._editions]
                self._stories = {
                    card.story_id: card.top.article_id for page in pages if page for card in page.cards[:TOP]
                }
            except FrontpageError as error:
                log.warning("front pages as they were: %s", error)
        return self._stories
