"""Learnt slogans of publishers, read from Redis by enrich. Any trouble leaves what is known."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from frontpage.adapters.redis_store import store_errors
from frontpage.contracts.batch_views import SLOGANS_POINTER, SlogansDocument
from frontpage.contracts.views import SLOGANS, VERSIONS
from frontpage.errors import ServiceUnavailable

if TYPE_CHECKING:
    import redis

log = logging.getLogger(__name__)

#: Real seconds between looks: slogans change once a night.
LOOK: Final = 60.0


class SloganStore:
    """What each publisher writes beside most of its headlines."""

    def __init__(self, store: redis.Redis) -> None:
        self._store = store
        self._version = ""
        self._known: dict[str, list[str]] = {}
        self._look_at = float("-inf")

    def __call__(self, publisher_id: str) -> list[str]:
        """The slogans of a publisher; [] while none are known."""
        if time.monotonic() >= self._look_at:
            self._look_at = time.monotonic() + LOOK
            try:
                self._read()
            except (ServiceUnavailable, ValidationError) as error:
                log.warning("slogans not read: %.200s", error)
        return self._known.get(publisher_id, [])

    def _read(self) -> None:
        with store_errors():
            pointer: Any = self._store.hget(VERSIONS.key(), SLOGANS_POINTER)
            if not pointer or pointer.decode() == self._version:
                return
            value: Any = self._store.get(SLOGANS.key())
        document = SlogansDocument.model_validate_json(value or b"")
        self._version, self._known = document.version, document.by_publisher
