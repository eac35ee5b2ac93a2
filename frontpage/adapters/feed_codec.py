"""A feed's row and its bytes: a line of JSON, then what is known of its items, packed.

JSON for what people read and versions add to; only what differs from the defaults. Digests of items are most of a row
and are nothing to read: 12 bytes each instead of 28. 200,000 rows with 200 items each are half a gigabyte so, not 1.1.
Rows of JSON alone (of earlier versions, or with digests of another form) are read like any others.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, overload

from frontpage.domain.schedule import FeedState

#: `guid digest:content digest` (`schedule.Entry.known_as`): 16 and 8 hex digits.
_PACKABLE: Final = re.compile(r"(?:[0-9a-f]{16}:[0-9a-f]{8})+")
#: Bytes of a guid's and a content's digest, and of an item's before them (`known_items.DIGITS`).
_GUID, _CONTENT, _TEXT = 8, 4, 6
_ITEM: Final = _GUID + _CONTENT + _TEXT


@dataclass(frozen=True, slots=True)
class FeedSource:
    """What we were told of a feed. `folder` is its OPML place, outermost first.

    main: the publisher's first feed, through which its news is found. Floors and ceilings: see `schedule.Policy`.
    """

    feed_id: str
    url: str
    publisher_id: str
    domain: str
    title: str = ""
    language: str | None = None
    kind: Literal["feed", "sitemap"] = "feed"
    authoritative: bool = False
    main: bool = False
    folder: tuple[str, ...] = ()
    site_url: str = ""


@dataclass(frozen=True, slots=True)
class FeedRow:
    """A feed as stored; `raw` is the exact value it was read from (empty for a new one).

    items: the last document's items (`packed_items`), when they could be told apart: a memory that saves reading them
    again, and nothing that anything else depends on.
    """

    source: FeedSource
    state: FeedState
    raw: bytes = b""
    items: bytes = b""

    def encode(self) -> bytes:
        """The row's bytes."""
        source, state = _spoken(self.source, _SOURCE), _spoken(self.state, _STATE)
        guids, packed = self.state.guids, b""
        if isinstance(guids, PackedGuids):
            packed = guids.packed
        elif _PACKABLE.fullmatch("".join(guids)):
            packed = _packed(guids)
        if packed:
            state["guids"] = len(guids)
        fields: dict[str, Any] = {"source": source, "state": state}
        if self.items:
            fields["items"] = len(self.items) // _ITEM
        line = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
        return line.encode("utf-8", "replace") + b"\n" + packed + self.items

    @classmethod
    def decode(cls, raw: bytes) -> FeedRow:
        """Inverse of `encode`. Unknown fields are dropped (a newer version wrote them).

        Raises ValueError, TypeError, KeyError or AttributeError on what is no row.
        """
        line, _, packed = raw.partition(b"\n")
        fields = json.loads(line)
        source, state = fields["source"], fields["state"]
        source["folder"] = tuple(source.get("folder", ()))
        guids, count = state.get("guids", ()), fields.get("items", 0)
        end = (_GUID + _CONTENT) * guids if isinstance(guids, int) else 0
        if len(packed) != end + _ITEM * count:
            raise ValueError(f"{guids} and {count} items in {len(packed)} bytes")
        state["guids"] = PackedGuids(packed[:end]) if end else tuple(guids)
        state["rate"] = {int(hour): rate for hour, rate in state.get("rate", {}).items()}
        return cls(FeedSource(**_known(_SOURCE, source)), _BLANK.but(**_known(_STATE, state)), raw, packed[end:])


class PackedGuids(Sequence[str]):
    """The guids of a row as they are stored; unpacked when first looked at, which four polls in five never do."""

    __slots__ = ("_made", "packed")

    def __init__(self, packed: bytes) -> None:
        self.packed = packed
        self._made: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.packed) // (_GUID + _CONTENT)

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        return self._all()[index]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, PackedGuids):
            return self.packed == other.packed
        return isinstance(other, tuple) and len(other) == len(self) and self._all() == other

    def __hash__(self) -> int:
        return hash(self._all())

    def __repr__(self) -> str:
        return repr(self._all())

    def _all(self) -> tuple[str, ...]:
        if self._made is None:
            self._made = tuple(_unpacked(self.packed))
        return self._made


def packed_items(items: Sequence[tuple[str, str]]) -> bytes:
    """(digest of an item's text, `guid digest:content digest`) of each, for `FeedRow.items`."""
    texts, known = zip(*items, strict=True) if items else ((), ())
    return bytes.fromhex("".join(texts)) + _packed(known)


def unpacked_items(packed: bytes) -> dict[str, str]:
    """Inverse of `packed_items`: `{digest of an item's text: its guid and content digests}`."""
    end = _TEXT * (len(packed) // _ITEM)
    return dict(zip(_hex(packed[:end], _TEXT), _unpacked(packed[end:]), strict=True))


def _hex(packed: bytes, size: int) -> list[str]:
    return packed.hex(":", -size).split(":") if packed else []


def _packed(digests: Iterable[str]) -> bytes:
    """All of one kind together: so they are unpacked by two calls."""
    guids, contents = [], []
    for one in digests:
        guids.append(one[:16])
        contents.append(one[17:])
    return bytes.fromhex("".join(guids) + "".join(contents))


def _unpacked(packed: bytes) -> list[str]:
    end = len(packed) // (_GUID + _CONTENT) * _GUID
    pairs = zip(_hex(packed[:end], _GUID), _hex(packed[end:], _CONTENT), strict=True)
    return [f"{guid}:{content}" for guid, content in pairs]


def _defaults(kind: type[FeedSource] | type[FeedState]) -> dict[str, Any]:
    return {
        each.name: each.default if each.default_factory is dataclasses.MISSING else each.default_factory()
        for each in dataclasses.fields(kind)
    }


_SOURCE: Final = _defaults(FeedSource)
_STATE: Final = _defaults(FeedState)
_BLANK: Final = FeedState()


def _spoken(row: FeedSource | FeedState, defaults: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, default in defaults.items() if (value := getattr(row, name)) != default}


def _known(defaults: dict[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
    return fields if fields.keys() <= defaults.keys() else {k: v for k, v in fields.items() if k in defaults}
