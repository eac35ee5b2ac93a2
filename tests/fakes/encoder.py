"""In-memory twin of the encoders: a hashed bag of words, so texts that share words are near each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from frontpage.domain.terms import hash_token, tokens


class HashEncoder:
    """Deterministic; `dimension` is small so that collisions are rare but possible, as in a real encoder."""

    def __init__(self, version: str = "hash@1", dimension: int = 128) -> None:
        self.version = version
        self.dimension = dimension

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """float32 [n, d], unit norm."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for token in tokens(text) or [""]:
                value = hash_token(token)
                vectors[row, value % self.dimension] += 1.0 if value >> 63 else -1.0
            if not vectors[row].any():
                vectors[row, 0] = 1.0
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: npt.NDArray[np.float32] = (vectors / norms).astype(np.float32)
        return unit
