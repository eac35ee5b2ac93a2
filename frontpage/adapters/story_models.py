"""The shipped story models (stories_en.json, stories_vi.json, stories_other.json) as policies of the clusterer.

Made by `benchmarks/train_scorer.py`. A language with its own file uses it; all others share `other`, whose term weights
learn from the stream, as none ship, and from what the batch layer publishes (`term_store.py`). Not for the encoder,
which must be the one that the file names.
"""

from __future__ import annotations

import base64
import json
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from frontpage.contracts.vectors import unpack_uint32
from frontpage.domain.clustering import Policy
from frontpage.domain.copies import CopyModel
from frontpage.domain.joining import StoryScorer
from frontpage.domain.similarity import Background, LogisticModel, Model, PairScorer, TreesModel
from frontpage.domain.terms import TermWeights
from frontpage.errors import UnknownVersion

FOLDER: Final = Path(__file__).parent
_OWN: Final = ("en", "vi")


def policy_for(language: str) -> Policy:
    """A fresh policy for a primary language subtag; its learning term weights are not shared with other policies."""
    content = _read(language if language in _OWN else "other")
    scorer = PairScorer(read_model(content["model"]), shipped_weights(language), _background(content["background"]))
    stories = StoryScorer(read_model(content["stories"]), scorer.background)
    copies = content["copies"] or _read("en")["copies"]
    bars = content["policy"]
    return Policy(
        scorer=scorer,
        stories=stories,
        copies=CopyModel(np.array(copies["weights"], dtype=np.float32), copies["bias"], copies["threshold"]),
        join=bars["join"],
        merge=bars["merge"],
        part=bars["part"],
    )


def shipped_weights(language: str) -> TermWeights:
    """The prior that ships for a primary language subtag, with nothing observed; without one, empty."""
    terms = _read(language if language in _OWN else "other")["terms"]
    return TermWeights(int(terms["documents"]), unpack_uint32(terms["ids"]), unpack_uint32(terms["counts"]))


def similarity_scale(language: str) -> LogisticModel:
    """Likeness of two articles as a log-odds scale: `cross` for two languages, else the language's own."""
    content = _read("en" if language == "en" else "other")["similarity"]
    model = read_model(content["cross" if language == "cross" else "same"])
    if not isinstance(model, LogisticModel):
        raise UnknownVersion("the similarity scale is not logistic")
    return model


def read_model(content: Any) -> Model:
    """The scorer in a model file's `model` part; raises UnknownVersion for a kind this release does not have."""
    features = tuple(content["features"])
    if content["kind"] == "logistic":
        return LogisticModel(features, np.array(content["weights"], dtype=np.float32), float(content["bias"]))
    if content["kind"] == "trees":
        return _trees(features, content)
    raise UnknownVersion(f"story model of kind {content['kind']!r:.40}")


def _trees(features: tuple[str, ...], content: Any) -> TreesModel:
    trees = content["trees"]
    inner = max(len(tree["split"]) for tree in trees)
    arrays: dict[str, Any] = {
        "split": np.zeros((len(trees), inner), dtype=np.int16),
        "threshold": np.zeros((len(trees), inner), dtype=np.float32),
        "left": np.full((len(trees), inner), -1, dtype=np.int16),
        "right": np.full((len(trees), inner), -1, dtype=np.int16),
        "leaf": np.zeros((len(trees), inner + 1), dtype=np.float32),
    }
    for row, tree in enumerate(trees):
        for name, array in arrays.items():
            array[row, : len(tree[name])] = tree[name]
    return TreesModel(features, **arrays, bias=float(content["bias"]), depth=max(_depth(tree) for tree in trees))


def _depth(tree: Any, node: int = 0) -> int:
    return 1 + max(_depth(tree, child) if child >= 0 else 0 for child in (tree["left"][node], tree["right"][node]))


def _background(content: Any) -> Background | None:
    if content is None:
        return None
    packed = np.frombuffer(base64.b64decode(content["centres"]), dtype=np.int8)
    centres = packed.reshape(-1, int(content["dimension"])).astype(np.float32)
    return Background(centres / np.linalg.norm(centres, axis=1, keepdims=True), int(content["near"]))


@cache
def _read(name: str) -> Any:
    content = json.loads((FOLDER / f"stories_{name}.json").read_text(encoding="utf-8"))
    if content.get("version") != 1:
        raise UnknownVersion(f"stories_{name}.json has version {content.get('version')!r:.20}, expected 1")
    return content
