"""The upgrade of a database on a server: its schema is that of a new one, what is there is kept."""

from __future__ import annotations

import psycopg
import pytest
from tests.postgresql_server import PostgreSQL

from zonda.core.store.maintenance import upgrade as maintenance
from zonda.core.store.maintenance.upgrade import upgrade
from zonda.core.store.schema.rows import StackRow
from zonda.core.store.schema.version import HEAD
from zonda.core.store.values.sealing import Sealer, make_key
from zonda.core.store.write.database import find_database, open_store
from zonda.core.system.clock import SystemClock
from zonda.hooks.errors import StoreError

SEALER = Sealer(make_key())
COLUMNS = """SELECT table_name, column_name, data_type, collation_name, is_nullable
    FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2"""
INDEXES = "SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1, 2"


def read_schema(url: str) -> list[object]:
    return [*PostgreSQL(url).execute(COLUMNS), *PostgreSQL(url).execute(INDEXES)]


@pytest.fixture
def url(postgresql: PostgreSQL) -> str:
    """A database on a server as schema 0021 had it, the first with servers; it has a stack."""
    made = postgresql.make_database()
    with_stack = open_store(made, sealer=SEALER)
    with with_stack.transaction() as tx:
        tx.add_stack(StackRow("s1", "default", "web"))
    with_stack.close()
    PostgreSQL(made).execute("DROP TABLE page_state")
    PostgreSQL(made).execute("ALTER TABLE member DROP COLUMN listens")
    PostgreSQL(made).execute("UPDATE alembic_version SET version_num = '0021'")
    return made


def test_an_upgraded_schema_is_that_of_a_new_database(postgresql: PostgreSQL, url: str) -> None:
    fresh = postgresql.make_database()
    open_store(fresh, sealer=SEALER).close()
    upgrade(find_database(url), SEALER)
    assert PostgreSQL(url).execute("SELECT version_num FROM alembic_version") == [(HEAD,)]
    assert read_schema(url) == read_schema(fresh)
    store = open_store(url, sealer=SEALER)
    assert [stack.name for stack in store.reader().stacks()] == ["web"]
    store.close()


def test_an_upgrade_begins_again_when_a_table_is_in_use(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits for no lock for long: all who use the table would wait behind it."""
    user = psycopg.connect(url)
    user.execute("SELECT version_num FROM alembic_version FOR UPDATE")
    pauses = []

    def pause(self: SystemClock, seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 2:
            user.rollback()

    monkeypatch.setattr(SystemClock, "pause", pause)
    upgrade(find_database(url), SEALER)
    assert len(pauses) == 2
    assert PostgreSQL(url).execute("SELECT version_num FROM alembic_version") == [(HEAD,)]
    user.close()


def test_an_upgrade_gives_up_a_table_that_is_in_use_all_the_time(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = read_schema(url)
    monkeypatch.setattr(maintenance, "_TRIES", 1)
    monkeypatch.setattr(SystemClock, "pause", lambda self, seconds: None)
    with psycopg.connect(url) as user:
        user.execute("SELECT version_num FROM alembic_version FOR UPDATE")
        with pytest.raises(StoreError, match="in use all the time: nothing was changed"):
            upgrade(find_database(url), SEALER)
    assert read_schema(url) == before


def test_a_server_is_upgraded_by_the_operator_only(url: str) -> None:
    with pytest.raises(StoreError, match="0021 of an older zonda") as caught:
        open_store(url, sealer=SEALER)
    assert "zonda db upgrade" in caught.value.hint
