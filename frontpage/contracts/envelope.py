"""How a record is written on a topic and read back: JSON with `schema` {name, version} beside its fields.

`decode` is the only way in. It never lets bytes decide what happens next: bytes that are not UTF-8 JSON, an
unknown schema, an unknown version and missing fields each raise `UnreadableEvent` with a cause, which the
caller turns into a `DeadLetter`; a null value is a tombstone (None). Unknown fields are kept and written back.
Times in events are seconds since 1970-01-01 UTC (float), or null when unknown.
"""

from __future__ import annotations

import json
import math
import re
from typing import Annotated, Any, ClassVar, Final, NoReturn, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import PydanticSerializationError

from frontpage.errors import UnreadableEvent

#: Seconds since 1970, from 1900 to 2100. Outside of that a time is a mistake (milliseconds, most often), and one such
#: article would be the newest for ever.
Moment = Annotated[float, Field(ge=-2_208_988_800, le=4_102_444_800)]
#: An id of ours or of a publisher. What carries a thousand of them must still fit into one record.
Id = Annotated[str, Field(max_length=512)]
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")


class Event(BaseModel):
    """Base of all events. Subclasses set `schema_name` and `schema_version`."""

    model_config = ConfigDict(extra="allow", frozen=True, allow_inf_nan=False)
    schema_name: ClassVar[str]
    schema_version: ClassVar[int] = 1

    def encode(self) -> bytes:
        """UTF-8 JSON; keys in declaration order, so equal events are equal bytes."""
        head = f'{{"schema":{{"name":"{self.schema_name}","version":{self.schema_version}}}'
        try:
            body = self.model_dump_json()[1:]
        except PydanticSerializationError:  # half a surrogate pair, which is no UTF-8
            fields = self.model_dump(mode="json")
            body = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))[1:]
        return (head + ("," if len(body) > 1 else "") + body).encode("utf-8", "replace")

    @classmethod
    def decode(cls, value: bytes | None) -> Self | None:
        """The event in `value`, None for a tombstone; raises UnreadableEvent with a cause otherwise."""
        if value is None:
            return None
        return cls.from_fields(read_fields(value))

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Self:
        """Checks schema, version and fields of an already parsed record."""
        schema = fields.get("schema")
        if not isinstance(schema, dict) or schema.get("name") != cls.schema_name:
            raise UnreadableEvent(f"expected schema {cls.schema_name}, found {schema!r:.80}", cause="unknown-schema")
        if schema.get("version") != cls.schema_version:
            raise UnreadableEvent(
                f"{cls.schema_name} version {schema.get('version')!r:.20} is not {cls.schema_version}",
                cause="unknown-version",
            )
        try:
            return cls.model_validate({k: v for k, v in fields.items() if k != "schema"})
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            raise UnreadableEvent(f"{cls.schema_name}: {where}: {first['msg']}", cause="invalid-fields") from None


def read_fields(value: bytes) -> dict[str, Any]:
    """The JSON object in `value`; raises UnreadableEvent (`not-utf8`, `not-json`, `not-an-object`).

    What JSON can spell and UTF-8 or arithmetic cannot hold (half a surrogate pair, NaN, 1e999) is refused here,
    because it would only fail later, in a process that must write or compare it and could not skip the record.
    """
    try:
        parsed = json.loads(value.decode("utf-8"), parse_constant=_no_number, parse_float=_finite)
        if _SURROGATE.search(value):  # most are whole pairs; only writing them back tells
            json.dumps(parsed, ensure_ascii=False).encode("utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableEvent(f"not UTF-8 at byte {error.start}", cause="not-utf8") from None
    except UnicodeEncodeError:
        raise UnreadableEvent("half a surrogate pair is no character", cause="not-utf8") from None
    except (ValueError, RecursionError) as error:
        raise UnreadableEvent(f"not JSON: {error}"[:200], cause="not-json") from None
    if not isinstance(parsed, dict):
        raise UnreadableEvent("JSON, but not an object", cause="not-an-object")
    return parsed


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits[:20]} is too large a number")
    return number
