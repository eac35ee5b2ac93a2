"""Learnt names, read from Redis: what enrich asks for each article's language. Any trouble leaves what is known.

Not here: how names are learnt (`batch/gold_entities.py`) and published (`batch/publish.py`).
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from frontpage.adapters.redis_store import store_errors
from frontpage.contracts.batch_views import NamesDocument, names_pointer
from frontpage.contracts.views import NAMES, VERSIONS
from frontpage.domain.languages import primary_subtag
from frontpage.domain.names import Names, dictionary
from frontpage.errors import ServiceUnavailable

if TYPE_CHECKING:
    import redis

log = logging.getLogger(__name__)

#: Real seconds between looks at a language's pointer: dictionaries change once an hour at most.
LOOK: Final = 60.0


class NameStore:
    """The current dictionary of each language that was asked for."""

    def __init__(self, store: redis.Redis) -> None:
        self._store = store
        self._known: dict[str, Names] = {}
        self._look_at: dict[str, float] = {}

    def __call__(self, language: str) -> Names:
        """The names of a language tag, empty while none are published."""
        language = primary_subtag(language)
        if time.monotonic() >= self._look_at.get(language, float("-inf")):
            self._look_at[language] = time.monotonic() + LOOK
            try:
                self._known[language] = self._read(language, self._known.get(language, Names()))
            except (ServiceUnavailable, ValidationError) as error:
                log.warning("names of %s not read: %.200s", language, error)
        return self._known.get(language, Names())

    def _read(self, language: str, known: Names) -> Names:
        with store_errors():
            pointer: Any = self._store.hget(VERSIONS.key(), names_pointer(language))
            version = pointer.decode() if pointer else ""
            if version in ("", known.version):
                return known
            value: Any = self._store.get(NAMES.key(version=version))
        if not value:
            log.error("names %s are pointed at but missing", version)
            return known
        document = NamesDocument.model_validate_json(value)
        return dictionary(document.entries(), language, document.version)
