"""A store is closed while threads still use it: they are waited for, then refused."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from zonda.core.store.database.faults import Unusable
from zonda.core.store.values.sealing import Sealer, make_key
from zonda.core.store.write.database import open_store

LONG = 20.0


def test_a_transaction_that_is_open_ends_before_the_connection_is_closed(tmp_path: Path) -> None:
    store = open_store(tmp_path / "z.db", sealer=Sealer(make_key()))
    closing = threading.Thread(target=store.close)
    with store.transaction() as tx:
        closing.start()
        closing.join(0.01)
        assert closing.is_alive()
        tx.add_request("r", "text", 1.0)
    closing.join(LONG)
    with pytest.raises(Unusable), store.transaction():
        pass
