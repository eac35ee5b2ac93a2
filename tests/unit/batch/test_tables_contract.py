"""The table contracts: documented, generated, free of bodies."""

from __future__ import annotations

from pathlib import Path

import pytest

from frontpage.contracts import tables

ROOT = Path(__file__).parents[3]


def test_docs_tables_is_what_the_contracts_say():
    assert (ROOT / "docs/tables.md").read_text() == tables.render(), "run: python -m frontpage.contracts.tables"


@pytest.mark.parametrize("table", tables.ALL, ids=lambda table: table.id)
def test_every_table_names_its_keys_version_and_columns(table):
    names = table.column_names()
    assert len(set(names)) == len(names)
    assert set(table.keys) <= set(names)
    assert table.version in names
    assert set(table.partition_by) <= set(names)
    assert all(column.doc and column.type for column in table.columns)
    assert not {"body", "text", "html", "content"} & set(names), "licence boundary"
