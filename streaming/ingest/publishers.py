"""The publisher registry as poller and enrich see it: all rows in memory, re-read once a minute.

50,000 rows of half a kilobyte are 25 MB, and every item asks, so that a look-up per item would be the wrong trade.
Not here: writing the registry (`registry.py`).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from pydantic import ValidationError

from frontpage.adapters.redis_store import store_errors
from frontpage.contracts.views import PUBLISHER, PUBLISHERS, Publisher
from frontpage.domain.hosts import ascii_host, registrable_domain

if TYPE_CHECKING:
    import redis

#: Real seconds. An opt-out takes effect within this time.
REFRESH: Final = 60.0
#: A newcomer's authority until the batch layer knows better; the contract's default.
UNKNOWN_AUTHORITY: Final = 0.3


class PublisherBook:
    """Look-ups by id and by address. Raises ServiceUnavailable when Redis does not answer."""

    def __init__(self, store: redis.Redis, refresh: float = REFRESH) -> None:
        self._store = store
        self._refresh = refresh
        self._read_at = float("-inf")
        self._by_id: dict[str, Publisher] = {}
        self._by_domain: dict[str, Publisher] = {}

    def of(self, publisher_id: str, url: str) -> Publisher:
        """Who publishes the page at `url`: the owner of its host, else the feed's publisher, else a newcomer.

        The host decides, because aggregators' feeds carry other people's articles and their licences.
        """
        self._follow()
        host = ascii_host(urlsplit(url).hostname or "") or ""
        found = self._by_domain.get(host) or self._by_domain.get(registrable_domain(host))
        return found or self._by_id.get(publisher_id) or newcomer(registrable_domain(host))

    def get(self, publisher_id: str) -> Publisher | None:
        """By id."""
        self._follow()
        return self._by_id.get(publisher_id)

    def domains(self) -> dict[str, str]:
        """{domain: publisher id} of everyone known."""
        self._follow()
        return {domain: publisher.publisher_id for domain, publisher in self._by_domain.items()}

    def _follow(self) -> None:
        if time.monotonic() - self._read_at < self._refresh:
            return
        rows = read_publishers(self._store)
        self._by_id = {row.publisher_id: row for row in rows}
        self._by_domain = {domain: row for row in rows for domain in row.domains}
        self._read_at = time.monotonic()


def read_publishers(store: redis.Redis) -> list[Publisher]:
    """All rows of the registry; damaged ones are left out."""
    rows: list[Publisher] = []
    with store_errors():
        members: Any = store.smembers(PUBLISHERS.key())
        ids = sorted(members)
        for start in range(0, len(ids), 1_000):
            keys = [PUBLISHER.key(publisher=one.decode()) for one in ids[start : start + 1_000]]
            values: Any = store.mget(keys)
            for value in values:
                try:
                    if value is not None:
                        rows.append(Publisher.model_validate_json(value))
                except ValidationError:
                    continue
    return rows


def newcomer(domain: str) -> Publisher:
    """A site that nobody registered: its domain is its id and name, its licence the usual one (a short snippet)."""
    return Publisher(
        publisher_id=domain,
        name=domain,
        domains=[domain],
        country="",
        language="und",
        authority=UNKNOWN_AUTHORITY,
    )
