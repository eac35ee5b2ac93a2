"""What a Delta table is made of; the tables themselves are in `tables_silver.py`, `tables_gold.py` and `tables.py`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Column:
    """`type` is Spark DDL."""

    name: str
    type: str
    doc: str


@dataclass(frozen=True, slots=True)
class Table:
    """`keys` are unique; of two rows of one key the greater `version` column is kept. Bronze has no keys but places."""

    layer: str
    name: str
    doc: str
    columns: tuple[Column, ...]
    keys: tuple[str, ...] = ()
    version: str = ""
    partition_by: tuple[str, ...] = ()
    change_feed: bool = False

    @property
    def id(self) -> str:
        """`layer/name`, also the path under LAKE_URI."""
        return f"{self.layer}/{self.name}"

    def column_names(self) -> list[str]:
        """In table order."""
        return [column.name for column in self.columns]


def columns_of(text: str) -> tuple[Column, ...]:
    """One column a line: `name TYPE - meaning`."""
    rows = []
    for line in text.strip().splitlines():
        head, _, doc = line.strip().partition(" - ")
        name, _, type = head.partition(" ")
        rows.append(Column(name, type.strip(), doc))
    return tuple(rows)
