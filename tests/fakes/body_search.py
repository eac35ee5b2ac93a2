"""Looks for text that only article bodies have: in topics, tables, keys, blobs, logs and files of any kind.

    search = BodySearch(world.articles)
    search.look("topic items.raw", value)          # text, bytes, or rows of either
    assert search.found == {}
    assert search.control > 0                      # what may be kept was seen, so the search can find text

Every place of a body is known by 48 characters, and what is looked at is cut every 16: 63 characters of a body in one
piece are always found, however they are wrapped, and the name of somebody (kept as an entity) is none. White space and JSON's escapes do not hide text, nor do base64, gzip
and zlib.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from data_samples.model import Article

WINDOW = 48
STRIDE = 16
#: Characters of a body that its lead and the licence's snippet may repeat.
LEAD = 260
#: Kafka's indexes are empty space allocated in advance; Parquet is packed and read by `look_at_parquet`.
_NO_TEXT = {".index", ".timeindex", ".jsa", ".so", ".jar", ".parquet", ".crc"}
_BASE64 = re.compile(r"[A-Za-z0-9+/]{80,}={0,2}")


class BodySearch:
    """`found`: places where body text was, with an excerpt. `control`: sightings of headlines and summaries."""

    def __init__(self, articles: Iterable[Article]) -> None:
        bodies: set[str] = set()
        self._allowed: set[str] = set()
        for article in articles:
            for version in article.versions:
                text = _flat(" ".join(version.paragraphs))
                bodies.update(_windows(text, 1))
                for kept in (version.title, version.summary, text[:LEAD]):
                    self._allowed.update(_windows(_flat(kept), 1))
        #: a headline of one article may be a sentence of another's text
        self._bodies = bodies - self._allowed
        self.found: dict[str, str] = {}
        self.control = 0
        self.looked: Counter[str] = Counter()

    def look(self, place: str, value: Any) -> None:
        """Search a text, bytes, or what a row or a document is made of."""
        for text in _texts(value):
            flat = _flat(text)
            self.looked[place.partition(" ")[0]] += len(flat)
            for window in _windows(flat, STRIDE):
                if window in self._bodies:
                    self.found[place] = window
                self.control += window in self._allowed

    def look_at_redis(self, store: Any) -> None:
        """Every key of a Redis client that does not decode, with its name."""
        readers = {
            b"string": store.get, b"hash": store.hgetall, b"set": store.smembers,
            b"list": lambda key: store.lrange(key, 0, -1), b"zset": lambda key: store.zrange(key, 0, -1),
            b"stream": lambda key: [fields for _, fields in store.xrange(key)],
        }  # fmt: skip
        for key in store.scan_iter("*", count=1000):
            kind = store.type(key)
            if kind != b"none":  # it expired since the scan named it
                self.look(f"key {key!r}", [key, readers[kind](key)])

    def look_at_topics(self, bus: Any, names: list[str]) -> None:
        """Every record of every topic: key and value."""
        for name in names:
            for partition, end in bus.end_offsets(name).items():
                for record in bus.read(name, partition, 0, end) if end else ():
                    self.look(f"topic {name}", [record.key, record.value])

    def look_at_files(self, folder: Path) -> None:
        """Every file below a folder as it lies there: logs, Kafka's segments (with aborted records), dumps, blobs."""
        for path in folder.rglob("*"):
            if path.is_file() and path.suffix not in _NO_TEXT:
                self.look(f"file {path.relative_to(folder)}", path.read_bytes())

    def look_at_parquet(self, folder: Path) -> None:
        """Every row of every Parquet file, also of those that a table has replaced."""
        import pyarrow.parquet as parquet

        for path in folder.rglob("*.parquet"):
            for column in parquet.read_table(path, partitioning=None).columns:
                if _holds_text(column.type):
                    self.look(f"table {path.relative_to(folder)}", column.to_pylist())


def _holds_text(kind: Any) -> bool:
    """Whether an Arrow type has strings or bytes anywhere inside."""
    return any(word in str(kind) for word in ("string", "binary"))


def _flat(text: str) -> str:
    return " ".join(text.split())


def _windows(text: str, step: int) -> Iterator[str]:
    return (text[at : at + WINDOW] for at in range(0, len(text) - WINDOW + 1, step))


def _texts(value: Any, depth: int = 0) -> Iterator[str]:
    if value is None or isinstance(value, bool | int | float) or depth > 12:
        return
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _texts(key, depth + 1)
            yield from _texts(part, depth + 1)
    elif isinstance(value, bytes | bytearray):
        yield from _from_bytes(bytes(value), depth)
    elif isinstance(value, str):
        yield value
        yield from _inside(value, depth)
    elif isinstance(value, list | tuple | set | frozenset):
        for part in value:
            yield from _texts(part, depth + 1)


def _from_bytes(value: bytes, depth: int) -> Iterator[str]:
    unpack = gzip.decompress if value[:2] == b"\x1f\x8b" else zlib.decompress if value[:1] == b"\x78" else None
    if unpack is not None:
        with suppress(OSError, EOFError, zlib.error):
            yield from _texts(unpack(value), depth + 1)
    text = value.decode("utf-8", "ignore")
    yield text
    yield from _inside(text, depth)


def _inside(text: str, depth: int) -> Iterator[str]:
    if text[:1] in "{[":
        try:
            yield from _texts(json.loads(text), depth + 1)
        except ValueError:
            pass
        else:
            return
    for packed in _BASE64.findall(text):
        with suppress(ValueError):
            bare = base64.b64decode(packed + "=" * (-len(packed) % 4))
            if _is_text(bare):
                yield from _texts(bare, depth + 1)


def _is_text(value: bytes) -> bool:
    """Whether bytes begin as a text or something packed does; most of what is in base64 here are vectors."""
    if value[:2] == b"\x1f\x8b" or value[:1] == b"\x78":
        return True
    return not any(byte < 9 or 13 < byte < 32 for byte in value[:48])
