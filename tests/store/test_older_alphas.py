"""A database of an alpha whose schema is not known any more is refused, and left as it is."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from zonda.core.store.sealing import Sealer, make_key
from zonda.core.store.store import open_store
from zonda.hooks.errors import StoreError


def test_who_only_reads_is_told_that_it_is_older(tmp_path: Path) -> None:
    path, sealer = tmp_path / "z.db", Sealer(make_key())
    open_store(path, sealer=sealer).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0001'")
    connection.close()

    with pytest.raises(StoreError, match="0001 of an older zonda") as caught:
        open_store(path, sealer=sealer, read_only=True)

    assert "brings it up to date" in caught.value.hint
    connection = sqlite3.connect(path)
    connection.execute("DROP TABLE alembic_version")
    connection.close()
    with pytest.raises(StoreError, match="no schema of zonda"):
        open_store(path, sealer=sealer, read_only=True)


def test_it_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path, sealer = tmp_path / "z.db", Sealer(make_key())
    open_store(path, sealer=sealer).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0001'")
    connection.close()

    with pytest.raises(StoreError, match="alpha") as caught:
        open_store(path, sealer=sealer)

    assert "ZONDA_HOME" in caught.value.hint
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == ("0001",)
    connection.close()
