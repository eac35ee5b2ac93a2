"""Which feeds a publisher has: read from the poller's rows, for those who ask for closer polling."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Final

from frontpage.adapters.feed_rows import FeedRows
from frontpage.errors import ServiceUnavailable

if TYPE_CHECKING:
    import redis

log = logging.getLogger(__name__)

#: Real seconds. Feeds come and go by hand; 200,000 rows take some seconds to read.
REFRESH: Final = 300.0


class FeedIndex:
    """publisher id -> feed ids, as of the last look."""

    def __init__(self, store: redis.Redis) -> None:
        self._rows = FeedRows(store)
        self._loaded_at = float("-inf")
        self._feeds: dict[str, list[str]] = {}

    def feeds(self) -> dict[str, list[str]]:
        """The index, read again when it is old. A Redis that is away leaves the last one."""
        if time.monotonic() - self._loaded_at >= REFRESH or not self._feeds:
            found: dict[str, list[str]] = {}
            try:
                for row in self._rows.all():
                    found.setdefault(row.source.publisher_id, []).append(row.source.feed_id)
                self._feeds = {publisher: sorted(feeds) for publisher, feeds in found.items()}
                self._loaded_at = time.monotonic()
            except ServiceUnavailable as error:
                log.warning("feeds not re-read: %s", error)
        return self._feeds
