"""Identifiers: how each is formed. Ids are opaque strings to everyone else.

- article id: first 20 hex digits (80 bits) of SHA-256 of the canonical URL; 2 M articles a day for ten
  years (7e9) collide with probability below 3e-5 (birthday bound n^2 / 2^81).
- story id: 64-bit, time-ordered, minted only by the language's writer: 42 bits milliseconds since
  2020-01-01, 4 bits partition, 18 bits counter; written as 13 characters of Crockford base 32.
- change id: deterministic in the input record and the ordinal of the decision, so that a replay of the same
  input after a crash repeats the id and consumers drop the repeat.
"""

from __future__ import annotations

import hashlib
from typing import Final

EPOCH_MS: Final = 1_577_836_800_000  # 2020-01-01T00:00:00Z
_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
_COUNTER_BITS: Final = 18
_PARTITION_BITS: Final = 4


def digest(text: str, length: int = 20) -> str:
    """First `length` hex digits of SHA-256 over UTF-8 (lone surrogates are replaced, never an error)."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]


def article_id(canonical_url: str) -> str:
    """Identity of an article: 20 hex digits of its canonical URL."""
    return digest(canonical_url)


def feed_id(url: str) -> str:
    """Identity of a feed: `f` and 16 hex digits of its address as configured."""
    return "f" + digest(url, 16)


def url_key(url: str) -> str:
    """Key of `items.raw`: two sightings of one address stay in order."""
    return digest(url, 16)


def story_id(now_ms: int, partition: int, counter: int) -> str:
    """Mint a story id. `counter` counts mints within the writer's life, modulo 2**18; ids sort by time."""
    if not 0 <= partition < 1 << _PARTITION_BITS:
        raise ValueError(f"partition {partition} does not fit {_PARTITION_BITS} bits")
    stamp = max(0, now_ms - EPOCH_MS)
    number = (stamp << (_PARTITION_BITS + _COUNTER_BITS)) | (partition << _COUNTER_BITS)
    number |= counter % (1 << _COUNTER_BITS)
    characters = []
    for _ in range(13):
        characters.append(_ALPHABET[number & 31])
        number >>= 5
    return "".join(reversed(characters))


def change_id(topic: str, partition: int, offset: int, ordinal: int) -> str:
    """Deterministic id of the `ordinal`-th decision taken on one input record."""
    return f"{digest(topic, 6)}-{partition}-{offset}-{ordinal}"
