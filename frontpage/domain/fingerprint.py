"""SimHash and MinHash of a text, and the bands that find candidates. Not for deciding what is a copy (`copies.py`).

Design: 64-bit SimHash in 4 bands of 16 bits, distance 3 or less; 100-hash MinHash of 5-word shingles in 20 bands of 5
rows, estimated Jaccard above 0.8. Two texts within distance 3 share at least one of four bands (pigeonhole); a pair at
Jaccard 0.8 shares a MinHash band with probability 1 - (1 - 0.8^5)^20 = 0.9996, one at 0.5 with 0.47.

Changing anything here changes stored fingerprints: raise `FINGERPRINT_VERSION` and rebuild the window.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from frontpage.domain.terms import Hashes, shingles

FINGERPRINT_VERSION: Final = 1
SIMHASH_DISTANCE: Final = 3
SIMHASH_BANDS: Final = 4
MINHASH_SIZE: Final = 100
MINHASH_BANDS: Final = 20
MINHASH_ROWS: Final = 5
MINHASH_JACCARD: Final = 0.8
SHINGLE_WORDS: Final = 5
#: Below this many words a fingerprint says "same template", not "same text" (a headline has 8 to 15 words).
MIN_WORDS: Final = 40

Minhash = npt.NDArray[np.uint32]
_MASK: Final = (1 << 64) - 1


def _splitmix(seed: int, count: int) -> npt.NDArray[np.uint64]:
    """SplitMix64 (Steele, Lea, Flood 2014): fixed pseudo-random constants without a random source."""
    values = []
    for _ in range(count):
        seed = (seed + 0x9E3779B97F4A7C15) & _MASK
        z = seed
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        values.append(z ^ (z >> 31))
    return np.array(values, dtype=np.uint64)


#: Multiply-shift hashing (Dietzfelbinger 1996): odd multipliers, any addends, the upper 32 bits are the hash.
_MULTIPLY: Final = _splitmix(0x46505F4D, MINHASH_SIZE) | np.uint64(1)
_ADD: Final = _splitmix(0x46505F41, MINHASH_SIZE)


def simhash(hashes: Hashes) -> int:
    """64-bit SimHash over word pairs (single words for one-word texts); 0 for an empty text."""
    features = shingles(hashes, 2) if len(hashes) > 1 else hashes
    if not len(features):
        return 0
    bits = np.unpackbits(features.astype("<u8").view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
    majority = bits.sum(axis=0, dtype=np.int64) * 2 > len(features)
    return int(np.packbits(majority, bitorder="little").view("<u8")[0])


def distance(left: int, right: int) -> int:
    """Hamming distance of two SimHashes, 0..64."""
    return (left ^ right).bit_count()


def simhash_bands(value: int) -> list[int]:
    """Four keys, each the band number and its 16 bits."""
    return [band << 16 | (value >> (16 * band)) & 0xFFFF for band in range(SIMHASH_BANDS)]


def minhash(hashes: Hashes) -> Minhash | None:
    """uint32 [100] over 5-word shingles, or None for a text below `MIN_WORDS` words."""
    if len(hashes) < MIN_WORDS:
        return None
    grams = np.unique(shingles(hashes, SHINGLE_WORDS))
    with np.errstate(over="ignore"):
        mixed = grams[:, None] * _MULTIPLY[None, :] + _ADD[None, :]
    lowest: Minhash = (mixed >> np.uint64(32)).min(axis=0).astype(np.uint32)
    return lowest


def jaccard(left: Minhash | None, right: Minhash | None) -> float:
    """Estimated Jaccard similarity, 0 when either text was too short."""
    if left is None or right is None:
        return 0.0
    return float(np.count_nonzero(left == right)) / MINHASH_SIZE


def minhash_bands(value: Minhash | None) -> list[bytes]:
    """Twenty keys: band number and its five rows as bytes; [] for no signature."""
    if value is None:
        return []
    rows = value.astype("<u4").reshape(MINHASH_BANDS, MINHASH_ROWS)
    return [bytes([band]) + rows[band].tobytes() for band in range(MINHASH_BANDS)]
