"""The section models: the shipped ones (sections_prior.json) and, once published, the batch layer's, from Redis.

Any trouble leaves what is known, at first the shipped model. Not here: training (`batch/section_training.py`).
"""

from __future__ import annotations

import base64
import json
import logging
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from pydantic import ValidationError

from frontpage.adapters.redis_store import store_errors
from frontpage.contracts.batch_views import ModelDocument, sections_pointer
from frontpage.contracts.views import MODEL, VERSIONS
from frontpage.domain.section_model import SectionModel
from frontpage.errors import ServiceUnavailable, UnknownVersion

if TYPE_CHECKING:
    import redis

log = logging.getLogger(__name__)

PRIOR: Final = Path(__file__).with_name("sections_prior.json")
#: Real seconds between looks at the pointer: models change once a night.
LOOK: Final = 60.0


def to_text(model: SectionModel) -> str:
    """The model as text for the registry: shapes as they are, numbers as base64 of little-endian float32."""
    weights, bias = (base64.b64encode(a.astype("<f4").tobytes()).decode("ascii") for a in (model.weights, model.bias))
    content = {"encoder": model.encoder, "classes": list(model.classes), "weights": weights, "bias": bias}
    return json.dumps(content, sort_keys=True)


def from_text(version: str, text: str) -> SectionModel:
    """Inverse of `to_text`; raises UnknownVersion for a text that is none."""
    try:
        content = json.loads(text)
        classes = tuple(str(name) for name in content["classes"])
        arrays = [np.frombuffer(base64.b64decode(content[name]), dtype="<f4") for name in ("weights", "bias")]
        weights, bias = (array.astype(np.float32) for array in arrays)
        if len(bias) != len(classes) or not all(np.isfinite(array).all() for array in arrays):
            raise ValueError("bias")
        return SectionModel(version, str(content["encoder"]), classes, weights.reshape(len(classes), -1), bias)
    except (ValueError, KeyError, TypeError) as error:
        raise UnknownVersion(f"section model {version}: {error}"[:200]) from None


@cache
def shipped() -> dict[str, SectionModel]:
    """The shipped models by encoder version."""
    content = json.loads(PRIOR.read_text(encoding="utf-8"))
    models = [from_text(version, text) for version, text in content["models"].items()]
    return {model.encoder: model for model in models}


class SectionStore:
    """The current model of each encoder that was asked for."""

    def __init__(self, store: redis.Redis) -> None:
        self._store = store
        self._known: dict[str, SectionModel | None] = {}
        self._look_at: dict[str, float] = {}

    def __call__(self, encoder: str) -> SectionModel | None:
        """The model for vectors of an encoder version; None when none ships and none is published."""
        if time.monotonic() >= self._look_at.get(encoder, float("-inf")):
            self._look_at[encoder] = time.monotonic() + LOOK
            known = self._known.get(encoder, shipped().get(encoder))
            try:
                self._known[encoder] = self._read(encoder, known)
            except (ServiceUnavailable, ValidationError, UnknownVersion) as error:
                self._known[encoder] = known
                log.warning("section model of %s not read: %.200s", encoder, error)
        return self._known[encoder]

    def _read(self, encoder: str, known: SectionModel | None) -> SectionModel | None:
        with store_errors():
            pointer: Any = self._store.hget(VERSIONS.key(), sections_pointer(encoder))
            version = pointer.decode() if pointer else ""
            if not version or (known is not None and version == known.version):
                return known
            value: Any = self._store.get(MODEL.key(version=version))
        if not value:
            log.error("section model %s is pointed at but missing", version)
            return known
        return from_text(version, ModelDocument.model_validate_json(value).model_text)
