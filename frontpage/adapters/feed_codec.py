"""A feed's row and its bytes: a line of JSON, then what is known of its items, packed.

JSON for what people read and versions add to; only what differs from the defaults. Digests of items are most of a row
and are nothing to read: 12 bytes each instead of 28. 200,000 rows with 200 items each are half a gigabyte so, not 1.1.
Rows of JSON alone (of earlier versions, or with digests of another form) are read like any others.
"""

from __future__ import annotations

import dataclasses
import json
import re
from dataclasses import dataclass
from typing import Any, Final, Literal

from frontpage.domain.schedule import FeedState

#: `guid digest:content digest` (`schedule.Entry.known_as`): 16 and 8 hex digits; with the item's own before them: 12.
_PACKED: Final = 12
_PACKED_ITEM: Final = 18
_PACKABLE: Final = re.compile(r"(?:[0-9a-f]{16}:[0-9a-f]{8})+")
_PACKABLE_ITEMS: Final = re.compile(r"(?:[0-9a-f]{12}:[0-9a-f]{16}:[0-9a-f]{8})+")


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

    items: the last document's items, `digest of its text:guid digest:content digest`, when they could be told apart: a
    memory that saves reading them again, and nothing that anything else depends on.
    """

    source: FeedSource
    state: FeedState
    raw: bytes = b""
    items: tuple[str, ...] = ()

    def encode(self) -> bytes:
        """The row's bytes."""
        source, state = _spoken(self.source, _SOURCE), _spoken(self.state, _STATE)
        packed = b""
        joined = "".join(self.state.guids)
        if _PACKABLE.fullmatch(joined):
            state["guids"] = len(self.state.guids)
            packed = bytes.fromhex(joined.replace(":", ""))
        fields: dict[str, Any] = {"source": source, "state": state}
        items = "".join(self.items)
        if _PACKABLE_ITEMS.fullmatch(items):
            fields["items"] = len(self.items)
            packed += bytes.fromhex(items.replace(":", ""))
        line = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
        return line.encode("utf-8", "replace") + b"\n" + packed

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
        ends = _PACKED * guids if isinstance(guids, int) else 0
        if len(packed) != ends + _PACKED_ITEM * count:
            raise ValueError(f"{guids} and {count} items in {len(packed)} bytes")
        if isinstance(guids, int):
            digits = packed[:ends].hex()
            guids = [f"{digits[at : at + 16]}:{digits[at + 16 : at + 24]}" for at in range(0, len(digits), 24)]
        state["guids"] = tuple(guids)
        state["rate"] = {int(hour): count for hour, count in state.get("rate", {}).items()}
        digits = packed[ends:].hex()
        items = tuple(
            f"{digits[at : at + 12]}:{digits[at + 12 : at + 28]}:{digits[at + 28 : at + 36]}"
            for at in range(0, len(digits), 36)
        )
        return cls(FeedSource(**_known(_SOURCE, source)), FeedState(**_known(_STATE, state)), raw, items)


def _defaults(kind: type[FeedSource] | type[FeedState]) -> dict[str, Any]:
    return {
        field.name: field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
        for field in dataclasses.fields(kind)
    }


_SOURCE: Final = _defaults(FeedSource)
_STATE: Final = _defaults(FeedState)


def _spoken(row: FeedSource | FeedState, defaults: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, default in defaults.items() if (value := getattr(row, name)) != default}


def _known(defaults: dict[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
    return fields if fields.keys() <= defaults.keys() else {k: v for k, v in fields.items() if k in defaults}
