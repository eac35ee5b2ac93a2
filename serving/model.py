"""The learned ranker in memory: follows the pointer that the batch layer moves, refuses what it cannot use.

A model that was trained on other features than this process computes is refused (UnknownVersion in the log, a metric),
and the last good one, or none, goes on. Not here: features and training.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import redis
from pydantic import ValidationError

from frontpage.contracts.batch_views import RANKER_POINTER, ModelDocument
from frontpage.contracts.views import MODEL, VERSIONS
from frontpage.domain.features import FEATURES_VERSION, NAMES
from frontpage.domain.profile import Floats
from frontpage.errors import FrontpageError, UnknownVersion
from serving.metrics import Metrics

if TYPE_CHECKING:
    import lightgbm

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Ranker:
    """A loaded model. `columns`: places in our feature rows of the names it was trained on, in its order."""

    version: str
    booster: lightgbm.Booster
    columns: Sequence[int]

    def scores(self, rows: Floats) -> Floats:
        """float32 [n, len(REGISTRY)] -> float32 [n]. One thread: more are slower on 100 rows (measured)."""
        predicted: Any = self.booster.predict(rows[:, list(self.columns)], num_threads=1)
        return np.asarray(predicted, dtype=np.float32)


def load(document: ModelDocument) -> Ranker:
    """Raises UnknownVersion when the model needs features that we do not compute, or is not a model."""
    import lightgbm

    if document.features_version != FEATURES_VERSION:
        raise UnknownVersion(f"model {document.version} needs {document.features_version}, not {FEATURES_VERSION}")
    unknown = [name for name in document.names if name not in NAMES]
    if unknown:
        raise UnknownVersion(f"model {document.version} needs the feature {unknown[0]!r}")
    try:
        booster = lightgbm.Booster(model_str=document.model_text)
    except lightgbm.basic.LightGBMError as error:
        raise UnknownVersion(f"model {document.version} is not a LightGBM model: {error}"[:200]) from None
    if booster.num_feature() != len(document.names):
        raise UnknownVersion(
            f"model {document.version} names {len(document.names)} of {booster.num_feature()} features"
        )
    return Ranker(document.version, booster, [NAMES.index(name) for name in document.names])


class ModelHolder:
    """`current` is swapped whole; `refresh` is called by the follower thread."""

    def __init__(self, store: redis.Redis, metrics: Metrics) -> None:
        self._store, self._metrics = store, metrics
        self.current: Ranker | None = None
        self._refused: str | None = None

    def refresh(self) -> None:
        """Load what the pointer names, if it is new. Raises redis.RedisError."""
        pointer = self._store.hget(VERSIONS.pattern, RANKER_POINTER)
        if pointer is None:
            self.current = None
            return
        version = pointer.decode()  # type: ignore[union-attr]
        if version in (self._refused, self.current.version if self.current else None):
            return
        try:
            stored = self._store.get(MODEL.key(version=version))
            if stored is None:
                raise UnknownVersion(f"the pointer names model {version}, which is gone")
            self.current = load(ModelDocument.model_validate_json(stored))
            log.info("ranker model %s", version)
        except (FrontpageError, ValidationError) as error:
            self._refused = version
            self._metrics.degraded.labels("model-refused").inc()
            log.error("keeping the previous ranker: %.300s", error)
