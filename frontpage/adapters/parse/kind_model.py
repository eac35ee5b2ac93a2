"""The shipped model of opinion style (kinds.json), made by `python -m benchmarks.train_kinds`.

The file says what it was fitted on and how it did on what was held out. Not here: the signals and the decision
(`domain/kind_cues`), what publishers state (`domain/page_kind`).
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

from frontpage.domain.kind_cues import FEATURES, StyleModel
from frontpage.errors import UnknownVersion

FILE: Final = Path(__file__).with_name("kinds.json")
#: Of the file's form and of the signals: a model of other signals must not be read.
VERSION: Final = 1


@cache
def opinion_model() -> StyleModel:
    """The model; raises UnknownVersion when the file was made for another release's signals."""
    return read(json.loads(FILE.read_text(encoding="utf-8")))


def read(content: Any) -> StyleModel:
    """The model in a file's content."""
    if content.get("version") != VERSION or tuple(content.get("features", ())) != FEATURES:
        raise UnknownVersion(f"{FILE.name} has version {content.get('version')!r:.20} or other signals; train it anew")
    return StyleModel(
        version=VERSION,
        weights=tuple(content["weights"]),
        bias=float(content["bias"]),
        threshold=float(content["threshold"]),
        usual={language: tuple(values) for language, values in content["usual"].items()},
    )
