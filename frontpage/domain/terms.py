"""Words of a text, hashed: the vocabulary of fingerprints and lexical similarity. Not for display, not for entities.

Scripts without spaces (Japanese, Chinese, Thai ...) give character bigrams, which serve as words everywhere below.
Hashes are XXH3 of the NFKC-folded token: stable between processes and releases (golden digests pin them).
`TermWeights` tells rare words from common ones: a prior per language (shipped, and learnt by the batch layer, see
term_tables.py), and counts over the first articles of stories as they arrive (one vote a story, so a burst does not
make its own words look common).
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt
import xxhash

Hashes = npt.NDArray[np.uint64]
Ids = npt.NDArray[np.uint32]
Floats = npt.NDArray[np.float32]

_WORD: Final = re.compile(r"\w+(?:[.,]\d+)*", re.UNICODE)
_UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+"
)
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio: the usual odd multiplier


def fold(text: str) -> str:
    """NFKC, case-folded, curly apostrophes straightened, possessive `'s` dropped."""
    text = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")
    return text.replace("'s ", " ").replace("'", "")


def tokens(text: str) -> list[str]:
    """Folded words in order; runs of unspaced scripts become overlapping character bigrams."""
    found: list[str] = []
    for word in _WORD.findall(fold(text)):
        if not word.isascii() and _UNSPACED.search(word):
            found.extend(_unspaced(word))
        else:
            found.append(word)
    return found


def _unspaced(word: str) -> list[str]:
    parts: list[str] = []
    at = 0
    for run in _UNSPACED.finditer(word):
        if run.start() > at:
            parts.append(word[at : run.start()])
        text = run.group()
        parts.extend(text[i : i + 2] for i in range(max(1, len(text) - 1)))
        at = run.end()
    if at < len(word):
        parts.append(word[at:])
    return parts


@lru_cache(maxsize=1 << 17)
def hash_token(token: str) -> int:
    """64-bit XXH3 of the token's UTF-8."""
    return xxhash.xxh3_64_intdigest(token.encode("utf-8", "surrogatepass"))


def hash_tokens(words: Sequence[str]) -> Hashes:
    """uint64 [n], in order."""
    return np.fromiter((hash_token(word) for word in words), dtype=np.uint64, count=len(words))


def shingles(hashes: Hashes, size: int) -> Hashes:
    """Order-sensitive hashes of each run of `size` tokens: uint64 [max(0, n - size + 1)]."""
    count = len(hashes) - size + 1
    if count <= 0:
        return np.empty(0, dtype=np.uint64)
    with np.errstate(over="ignore"):
        mixed = hashes[:count].copy()
        for step in range(1, size):
            mixed = mixed * _MIX + hashes[step : step + count]
            mixed ^= mixed >> np.uint64(29)
        return mixed * _MIX


def term_ids(hashes: Hashes) -> Ids:
    """The upper 32 bits: what events and tables carry as term hashes."""
    return (hashes >> np.uint64(32)).astype(np.uint32)


def counted(ids: Ids) -> tuple[Ids, Floats]:
    """Distinct ids, ascending, with the damped count 1 + ln(n)."""
    unique, counts = np.unique(ids, return_counts=True)
    return unique, (1.0 + np.log(counts)).astype(np.float32)


class TermWeights:
    """Inverse document frequencies of term ids: `idf = ln((N + 1) / (df + 0.5))`, at least 0.

    `documents` and the (sorted) `ids`/`counts` are the prior, which speaks with the voice of `PRIOR` documents;
    `observe` adds what arrives, so that a word that is everywhere this week (a war) tells its stories apart less.
    Without a prior, counts are read as if `PRIOR` documents had been seen, so that weights keep one scale.
    `version` names what was learnt, "" when nothing was; stories that began up to `until` are in the prior already.
    """

    PRIOR: Final = 1_000
    #: A first handful of documents is no sample: a word of the only one seen so far is not a word of all.
    FEW: Final = 20.0

    def __init__(
        self, documents: float = 0, ids: Ids | None = None, counts: Ids | Floats | None = None, *,
        version: str = "", until: float = float("-inf"),
    ) -> None:  # fmt: skip
        self.documents, self.version, self.until = documents, version, until
        self._ids: Ids = ids if ids is not None else np.empty(0, dtype=np.uint32)
        self._counts: Ids | Floats = counts if counts is not None else np.empty(0, dtype=np.uint32)
        self._seen: dict[int, int] = {}
        self._seen_documents = 0

    def observe(self, ids: Ids) -> None:
        """Count one document's distinct term ids."""
        self._seen_documents += 1
        seen = self._seen
        for term in ids.tolist():
            seen[term] = seen.get(term, 0) + 1

    def idf(self, ids: Ids) -> Floats:
        """float32 [n] for ids in any order."""
        frequency = np.zeros(len(ids), dtype=np.float64)
        documents = float(self._seen_documents)
        if len(self._ids):
            at = np.minimum(np.searchsorted(self._ids, ids), len(self._ids) - 1)
            frequency = np.where(self._ids[at] == ids, self._counts[at], 0) * (self.PRIOR / self.documents)
            documents += self.PRIOR
        if self._seen:
            frequency = frequency + self._online(ids)
        scale = max(documents, self.PRIOR)
        value = np.log((scale + 1.0) / (frequency * (scale / max(documents, self.FEW)) + 0.5))
        return np.maximum(value, 0.0).astype(np.float32)

    def table(self) -> tuple[Ids, Ids | Floats]:
        """The prior's ids, ascending, and their document counts (whole numbers unless they were learnt)."""
        return self._ids, self._counts

    def unknown(self, ids: Ids) -> list[bool]:
        """For each id whether the prior does not have it; all False where there is no prior to know."""
        if not len(self._ids):
            return [False] * len(ids)
        at = np.minimum(np.searchsorted(self._ids, ids), len(self._ids) - 1)
        return [bool(new) for new in self._ids[at] != ids]

    def _online(self, ids: Ids) -> npt.NDArray[np.float64]:
        return np.fromiter((self._seen.get(term, 0) for term in ids.tolist()), dtype=np.float64, count=len(ids))


def weigh(counts: Floats | None, idf: Floats) -> Floats:
    """Unit-norm TF-IDF weights for damped counts (None: each once); zeros stay zeros."""
    values = idf if counts is None else counts * idf
    norm = math.sqrt(float(values @ values))
    return values / np.float32(norm) if norm > 0.0 else values


def distinct(groups: Iterable[Ids]) -> Ids:
    """Sorted union."""
    arrays = list(groups)
    return np.unique(np.concatenate(arrays)) if arrays else np.empty(0, dtype=np.uint32)
