"""What the batch layer publishes that the ranker uses: projections to 64 dimensions and click-through rates.

Until there is a fitted projection of an encoder its seeded default is used; both layers make the same one.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from pydantic import ValidationError

from frontpage.adapters.redis_store import store_errors
from frontpage.contracts.batch_views import ClicksDocument, ProjectionDocument, projection_pointer
from frontpage.contracts.vectors import Floats, Vector
from frontpage.contracts.views import CLICKS_BATCH, PROJECTION, VERSIONS
from frontpage.domain.profile import default_projection, default_projection_version, project
from frontpage.errors import ServiceUnavailable

if TYPE_CHECKING:
    import redis

log = logging.getLogger(__name__)

#: Real seconds between looks: the batch layer publishes every few minutes at most.
REFRESH: Final = 30.0
#: Click-through is shrunk as if each story had been shown so often at the usual rate (registry default 0.05).
PRIOR_SHOWN: Final = 20.0
USUAL_CTR: Final = 0.05
_NONE: Final[Floats] = np.zeros((0, 0), dtype=np.float32)


class BatchViews:
    """Documents as of the last `load`; a Redis that is away leaves what is known."""

    def __init__(self, store: redis.Redis) -> None:
        self._store = store
        self._loaded_at = float("-inf")
        self._projections: dict[str, tuple[str, Floats]] = {}
        self._clicks: ClicksDocument | None = None

    def load(self) -> None:
        """Re-read when it is time."""
        if time.monotonic() - self._loaded_at < REFRESH:
            return
        self._loaded_at = time.monotonic()
        try:
            with store_errors():
                clicks: Any = self._store.get(CLICKS_BATCH.key())
            self._clicks = ClicksDocument.model_validate_json(clicks) if clicks else None
            for encoder in list(self._projections):
                self._projections[encoder] = self._current(encoder)
        except (ServiceUnavailable, ValidationError) as error:
            log.warning("batch views not re-read: %s", str(error)[:200])

    def ctr(self, story_id: str) -> float:
        """Clicks per impression 0..1, shrunk towards the usual."""
        if self._clicks is None:
            return USUAL_CTR
        shown = self._clicks.impressions.get(story_id, 0)
        clicked = self._clicks.by_story.get(story_id, 0)
        return min(1.0, (clicked + USUAL_CTR * PRIOR_SHOWN) / (shown + PRIOR_SHOWN))

    def version(self, encoder: str) -> str:
        """Name of the projection that `project` uses, "" before its first use."""
        return self._projections.get(encoder, ("", _NONE))[0]

    def project(self, encoder: str, centroid: Floats) -> Vector | None:
        """The unit vector [64] of a centroid in the encoder's current projection; None without a centroid."""
        if not encoder or not centroid.size:
            return None
        if encoder not in self._projections:
            self._projections[encoder] = self._current(encoder)
        version, matrix = self._projections[encoder]
        if not matrix.size or matrix.shape[0] != centroid.shape[0]:
            version = default_projection_version(encoder)
            matrix = default_projection(encoder, centroid.shape[0])
            self._projections[encoder] = (version, matrix)
        return Vector.pack(version, project(centroid, matrix))

    def _current(self, encoder: str) -> tuple[str, Floats]:
        """(version, matrix) as published; the last known, or an empty matrix, when there is none to be had."""
        known = self._projections.get(encoder, ("", _NONE))
        with store_errors():
            pointer: Any = self._store.hget(VERSIONS.key(), projection_pointer(encoder))
            if not pointer or pointer.decode() == known[0]:
                return known
            value: Any = self._store.get(PROJECTION.key(version=pointer.decode()))
        if not value:
            log.error("projection %s is named but missing", pointer.decode())
            return known
        try:
            document = ProjectionDocument.model_validate_json(value)
            return document.version, document.unpack()
        except (ValidationError, ValueError) as error:
            log.error("projection %s is unreadable: %.200s", pointer.decode(), error)
            return known
