"""Reading a response body within limits: bytes on the wire and inflated, cut-off and mislabelled encodings.

A body is whole or refused, never half read: a gzip stream without its end, a label that the bytes contradict and a
body above its limit each raise `FetchFailed` with a cause. A bomb costs its limit and no more, because inflating
stops there. Brotli and zstd are not asked for, so a server that sends them anyway is mislabelled for us.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator
from typing import Final

from frontpage.errors import FetchFailed

#: What we ask for; both are in the standard library.
ACCEPT_ENCODING: Final = "gzip, deflate"


async def read_body(chunks: AsyncIterator[bytes], encoding: str, limit: int) -> bytes:
    """The decoded body, at most `limit` bytes both on the wire and decoded. Raises FetchFailed."""
    labels = [label for part in encoding.lower().split(",") if (label := part.strip()) and label != "identity"]
    if len(labels) > 1 or (labels and labels[0] not in ("gzip", "x-gzip", "deflate")):
        raise FetchFailed(f"content encoding {encoding[:40]!r} was not asked for", cause="encoding")
    inflater = _Inflater(labels[0], limit) if labels else None
    parts: list[bytes] = []
    wire = size = 0
    async for chunk in chunks:
        wire += len(chunk)
        decoded = inflater.feed(chunk) if inflater else chunk
        size += len(decoded)
        if wire > limit or size > limit:
            raise FetchFailed(f"body above {limit} bytes", cause="too-large")
        parts.append(decoded)
    if inflater is not None and wire:
        inflater.finish()
    return b"".join(parts)


class _Inflater:
    """Bounded inflating. `deflate` comes with and without the zlib header in the wild: the first byte decides."""

    def __init__(self, label: str, limit: int) -> None:
        self._label, self._limit = label, limit
        self._stream = zlib.decompressobj(wbits=31) if label != "deflate" else None

    def feed(self, chunk: bytes) -> bytes:
        if not chunk:
            return b""
        if self._stream is None:
            self._stream = zlib.decompressobj(wbits=15 if chunk[0] & 0x0F == 8 else -15)
        if self._stream.eof:
            return b""  # bytes after the end: padding of broken servers, not content
        try:
            decoded = self._stream.decompress(chunk, self._limit + 1)
        except zlib.error as error:
            raise FetchFailed(f"labelled {self._label}, but {error}"[:200], cause="encoding") from None
        if self._stream.unconsumed_tail:
            raise FetchFailed(f"body above {self._limit} bytes when inflated", cause="too-large")
        return decoded

    def finish(self) -> None:
        if self._stream is None or not self._stream.eof:
            raise FetchFailed(f"the {self._label} body was cut off", cause="truncated")
