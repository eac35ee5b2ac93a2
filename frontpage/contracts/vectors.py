"""Vectors in JSON: base64 of little-endian float32, always with the name of the version that made them."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from frontpage.errors import UnknownVersion

Floats = npt.NDArray[np.float32]


#: What the encoders that we know make (`frontpage/adapters/encoder.py`); other versions may have any size.
DIMENSIONS: Final[Mapping[str, int]] = {"minilm-l6-v2@1": 384, "use-multilingual-v3@1": 512}


class Vector(BaseModel):
    """`version` names the encoder or projection (`minilm-l6-v2@1`); `data` is base64 little-endian float32."""

    model_config = ConfigDict(frozen=True)
    version: str
    data: str

    @classmethod
    def pack(cls, version: str, values: Floats) -> Vector:
        """Pack a 1-d array."""
        return cls(version=version, data=base64.b64encode(values.astype("<f4").tobytes()).decode("ascii"))

    def unpack(self, expected: str | None = None) -> Floats:
        """The 1-d array; raises UnknownVersion when `expected` names another version."""
        if expected is not None and self.version != expected:
            raise UnknownVersion(f"vector of {self.version}, expected {expected}")
        return np.frombuffer(base64.b64decode(self.data), dtype="<f4").astype(np.float32, copy=False)


def pack_uint32(values: npt.NDArray[np.uint32]) -> str:
    """Base64 of little-endian uint32 (MinHash signatures)."""
    return base64.b64encode(values.astype("<u4").tobytes()).decode("ascii")


def unpack_uint32(data: str) -> npt.NDArray[np.uint32]:
    """Inverse of `pack_uint32`."""
    return np.frombuffer(base64.b64decode(data), dtype="<u4").astype(np.uint32, copy=False)
