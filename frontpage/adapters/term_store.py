"""Published term weights, read from Redis: what the story writer asks at its start and between transactions.

Any trouble (no Redis, no document, a damaged one) leaves what is known, at first the shipped prior: articles do not
wait for the batch layer. Not here: how tables are learnt (`batch/gold_terms.py`) and published (`batch/publish.py`).
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from frontpage.adapters.redis_store import store_errors
from frontpage.adapters.story_models import policy_for, shipped_weights
from frontpage.contracts.batch_views import TermsDocument, terms_pointer
from frontpage.contracts.views import TERMS, VERSIONS
from frontpage.domain.clustering import Clusterer, Policy
from frontpage.domain.languages import primary_subtag
from frontpage.domain.term_tables import TermTable, joined
from frontpage.errors import ServiceUnavailable

if TYPE_CHECKING:
    import redis

log = logging.getLogger(__name__)

#: Real seconds between looks at the pointers: tables change once a night.
LOOK: Final = 60.0


class TermStore:
    """The current table of each language. One a thread: `refresh` keeps the time of its last look."""

    def __init__(self, store: redis.Redis) -> None:
        self._store = store
        self._looked_at = float("-inf")

    def current(self, language: str, known: str = "") -> TermTable | None:
        """The table of a primary subtag; None when there is none, none readable, or it is the version `known`."""
        try:
            with store_errors():
                pointer: Any = self._store.hget(VERSIONS.key(), terms_pointer(language))
                version = pointer.decode() if pointer else ""
                if version in ("", known):
                    return None
                value: Any = self._store.get(TERMS.key(version=version))
            if not value:
                log.error("term weights %s are named but missing", version)
                return None
            return TermsDocument.model_validate_json(value).unpack()
        except (ServiceUnavailable, ValidationError, ValueError) as error:
            log.warning("term weights of %s not read: %.200s", language, error)
            return None

    def policy(self, language: str) -> Policy:
        """The shipped policy of a language, its words weighed by the published table when there is one."""
        made = policy_for(language)
        table = self.current(primary_subtag(language))
        if table is not None:
            made.scorer.weights = joined(shipped_weights(language), table)
        return made

    def refresh(self, clusterer: Clusterer, *, now: bool = False) -> list[str]:
        """Let `clusterer` adopt what is new, when it is time to look or at once; the versions adopted.

        Call with nothing decided that is not committed.
        """
        if not now and time.monotonic() - self._looked_at < LOOK:
            return []
        self._looked_at = time.monotonic()
        adopted = []
        for language in clusterer.policies_made:
            table = self.current(language, clusterer.policy(language).scorer.weights.version)
            if table is not None:
                clusterer.adopt(language, joined(shipped_weights(language), table))
                adopted.append(table.version)
        if adopted:
            log.info("partition %d weighs words by %s", clusterer.partition, ", ".join(adopted))
        return adopted
