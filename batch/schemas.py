"""Spark schemas from the contracts' event classes, so that a field is spelled once.

`ddl(FeedItem)` gives `feed_id STRING, ...`. A field of several shapes (evidence values) becomes a STRING with its JSON
text. Not here: checking values; bronze has done that with the classes themselves.
"""

from __future__ import annotations

import types
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

_SCALARS = {str: "STRING", int: "BIGINT", float: "DOUBLE", bool: "BOOLEAN"}


def ddl(model: type[BaseModel]) -> str:
    """Column list of `model` in declaration order."""
    return ", ".join(f"`{name}` {_type(field.annotation)}" for name, field in model.model_fields.items())


def _type(annotation: Any) -> str:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    if origin is Annotated:  # a bound on values: columns have none
        return _type(arguments[0])
    if origin is Literal:
        return "STRING"
    if origin in (Union, types.UnionType):
        present = [argument for argument in arguments if argument is not type(None)]
        return _type(present[0]) if len(present) == 1 else "STRING"
    if origin in (list, set, frozenset):
        return f"ARRAY<{_type(arguments[0])}>"
    if origin is tuple:
        return "STRING"
    if origin is dict:
        return f"MAP<STRING, {_type(arguments[1])}>"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        fields = ", ".join(f"`{name}`: {_type(field.annotation)}" for name, field in annotation.model_fields.items())
        return f"STRUCT<{fields}>"
    raise TypeError(f"no Spark type for {annotation!r}")
