"""Which section an article belongs to when its publisher does not say: a linear model over its vector.

Trained on articles whose publishers do say (a shipped one by `benchmarks/train_sections.py`, later ones in the batch
layer). One model an encoder; it speaks every language that the encoder does. `nation` and `local` depend on
edition and place and are never guessed. Not for publishers' own labels (`sections.py`), which come first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from frontpage.domain.terms import Floats

#: What the model may say.
CLASSES: Final = (
    "world", "politics", "business", "technology", "science", "health", "sports", "entertainment", "climate"
)  # fmt: skip
#: Probability from which a section is said. On the labelled set (docs/sections.md) seven in eight are then right.
SAY: Final = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class SectionModel:
    """classes: n section ids; weights float32 [n, d], bias float32 [n], for unit vectors [d] of `encoder`."""

    version: str
    encoder: str
    classes: tuple[str, ...]
    weights: Floats
    bias: Floats

    def probabilities(self, vectors: Floats) -> Floats:
        """float32 [m, n] for float32 [m, d]; rows sum to 1."""
        logits = vectors @ self.weights.T + self.bias
        raised = np.exp(logits - logits.max(axis=1, keepdims=True))
        chances: Floats = (raised / raised.sum(axis=1, keepdims=True)).astype(np.float32)
        return chances

    def guess(self, vector: Floats, encoder: str) -> str | None:
        """The section of an article, None when the model is not sure or the vector is of another encoder."""
        if encoder != self.encoder or vector.shape != self.weights.shape[1:]:
            return None
        chances = self.probabilities(vector[None, :])[0]
        best = int(np.argmax(chances))
        return self.classes[best] if chances[best] >= SAY else None


def label(sections: Sequence[str]) -> str | None:
    """What an article with a publisher's sections teaches: the first that the model may say."""
    return next((section for section in sections if section in CLASSES), None)
