"""Whatever column of a row is changed, the update writes it."""

from __future__ import annotations

import pytest

from zonda.core.store.schema.rows import FIXED, ResourceRow, StackRow, list_columns
from zonda.core.store.values.sealing import Sealer, make_key
from zonda.core.store.write.database import open_store

SEALER = Sealer(make_key())


def stack() -> StackRow:
    return StackRow("s1", "default", "stack1", created_at=1.0)


def resource() -> ResourceRow:
    return ResourceRow("id-a", "s1", "a", "T")


def _another(row: StackRow | ResourceRow, column: str) -> object:
    return "else" if "str" in str(row.__dataclass_fields__[column].type) else 7


@pytest.mark.parametrize(
    "column", [name for name in list_columns(ResourceRow) if name not in FIXED]
)
def test_a_change_of_any_column_of_a_resource_is_written(column: str) -> None:
    store = open_store(":memory:", sealer=SEALER)
    with store.transaction() as tx:
        tx.add_stack(stack())
        tx.add_resources([resource()])
    with store.transaction() as tx:
        row = tx.resource("id-a")
        assert row is not None
        wanted = _another(row, column)
        setattr(row, column, wanted)
    (found,) = store.reader().resource_rows("s1")
    assert getattr(found, column) == wanted
    store.close()


@pytest.mark.parametrize("column", [name for name in list_columns(StackRow) if name not in FIXED])
def test_a_change_of_any_column_of_a_stack_is_written(column: str) -> None:
    store = open_store(":memory:", sealer=SEALER)
    with store.transaction() as tx:
        tx.add_stack(stack())
    with store.transaction() as tx:
        row = tx.stack("s1")
        assert row is not None
        wanted = _another(row, column)
        setattr(row, column, wanted)
    assert getattr(store.reader().stack_row("s1"), column) == wanted
    store.close()
