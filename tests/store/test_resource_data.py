"""The data of resources: many are read by one statement before the commit."""

from __future__ import annotations

from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.core.store.values.sealing import Sealer, make_key
from zonda.core.store.write.database import open_store

SEALER = Sealer(make_key())


def test_data_that_was_requested_is_there_after_the_commit() -> None:
    store = open_store(":memory:", sealer=SEALER)
    with store.transaction() as tx:
        tx.add_stack(StackRow("s", "default", "s"))
        tx.add_resources([ResourceRow(name, "s", name, "T") for name in ("a", "b", "c")])
        tx.put_data("a", "kept", "one", False)
        tx.put_data("b", "gone", "two", True)
    with store.transaction() as tx:
        found = {name: tx.request_data(name) for name in ("a", "b", "c")}
        again = tx.request_data("a")
        assert found == {"a": [], "b": [], "c": []}
        tx.drop_data("b", "gone")
        tx.put_data("c", "new", "three", False)
    assert found == {"a": [("kept", "one", 0)], "b": [], "c": [("new", "three", 0)]}
    assert again == found["a"]
    store.close()
