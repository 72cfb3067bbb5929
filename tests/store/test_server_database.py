"""A database on a PostgreSQL server: made, refused, locked; texts, numbers, lost sessions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg_pool import ConnectionPool
from tests.postgresql_server import PostgreSQL

from zonda.core.store.database.faults import Lost, Refused
from zonda.core.store.postgresql.faults import to_store_error
from zonda.core.store.schema.rows import EventRow, StackRow
from zonda.core.store.values.sealing import Sealer, make_key
from zonda.core.store.write.database import Store, find_database, open_store
from zonda.hooks.errors import StoreError

SEALER = Sealer(make_key())


@pytest.fixture
def url(postgresql: PostgreSQL) -> str:
    return postgresql.make_database()


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    opened = open_store(url, sealer=SEALER)
    yield opened
    opened.close()


def add(store: Store, **given: object) -> None:
    with store.transaction() as tx:
        tx.add_stack(StackRow("s1", "default", "web", **given))  # type: ignore[arg-type]


def test_a_database_is_found_as_it_was_left(url: str) -> None:
    first = open_store(url, sealer=SEALER)
    add(first)
    first.close()
    second = open_store(url, sealer=SEALER, read_only=True)
    assert second.reader().stack("web").id == "s1"
    second.close()


def test_another_key_is_refused(store: Store, url: str) -> None:
    with pytest.raises(StoreError, match="another sealing key"):
        open_store(url, sealer=Sealer(make_key()))


def test_the_database_of_another_program_is_left_alone(postgresql: PostgreSQL, url: str) -> None:
    PostgreSQL(url).execute("CREATE TABLE theirs (id integer)")
    with pytest.raises(StoreError, match="no schema of zonda"):
        open_store(url, sealer=SEALER)
    tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
    assert PostgreSQL(url).execute(tables) == [("theirs",)]


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param("postgresql://u:hush@127.0.0.1:1/x", id="no server"),
        pytest.param("postgresql://u:hush@h@[/x?foo=1", id="no URL"),
    ],
)
def test_no_error_shows_the_password(bad: str) -> None:
    with pytest.raises(StoreError) as caught:
        open_store(bad, sealer=SEALER)
    assert "hush" not in f"{caught.value} {caught.value.hint}"


def test_nul_becomes_its_picture_and_large_numbers_are_refused_as_by_sqlite(store: Store) -> None:
    add(store, status_reason="a\0b", remaining=2**62)
    view = store.reader().stack("web")
    assert view.status_reason == "a\N{SYMBOL FOR NULL}b"
    with pytest.raises(OverflowError), store.transaction() as tx:
        tx.add_stack(StackRow("s2", "default", "other", remaining=2**70))
    with pytest.raises(UnicodeEncodeError), store.transaction() as tx:
        tx.add_stack(StackRow("s2", "default", "other\ud800"))
    assert [stack.name for stack in store.reader().stacks()] == ["web"]


def test_a_snapshot_sees_one_state(store: Store) -> None:
    reader = store.reader()
    with reader.snapshot():
        assert reader.stacks() == []
        add(store)
        assert reader.stacks() == []
    assert len(reader.stacks()) == 1


def test_events_are_told_their_numbers(store: Store) -> None:
    for number in range(2):
        with store.transaction() as tx:
            for each in range(2):
                key = f"e{number}{each}"
                tx.add_event(EventRow(key, "s1", "web", 1, None, "", "", None, "A", "B", "", 1.0))
        found = store.reader().events("s1", limit=-1)
        assert [event.seq for event in found][-2:] == tx.event_seqs


def test_one_process_at_a_time_holds_a_lock(store: Store, url: str) -> None:
    lock = store.database.engine_lock()
    assert lock.acquire()
    other = find_database(url)
    assert not other.engine_lock().acquire()
    assert other.engine_lock().is_taken()
    lock.release()
    taken = other.engine_lock()
    assert taken.acquire()
    taken.release()
    other.close()
    assert not store.database.engine_lock().is_taken()


def test_a_session_that_is_ended_loses_its_lock_and_writes_nothing(store: Store, url: str) -> None:
    assert store.database.engine_lock().acquire()
    reader = store.reader()
    assert reader.stacks() == []
    PostgreSQL(url).execute(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
        " WHERE application_name LIKE 'zonda %' AND datname = current_database()"
    )
    with pytest.raises(Lost):
        add(store)
    assert reader.stacks() == []  # on a new connection
    assert not store.database.engine_lock().is_taken()


def test_a_reader_finds_a_server_soon_that_was_away(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It asks it often, not after 1, 2, 4 and 8 seconds."""
    refusals, connect = [*range(6)], ConnectionPool._connect

    def refuse(self: Any, timeout: float | None = None) -> Any:
        if refusals:
            refusals.pop()
            raise psycopg.OperationalError("connection refused")
        return connect(self, timeout)

    monkeypatch.setattr(ConnectionPool, "_connect", refuse)
    store = open_store(url, sealer=SEALER)
    assert store.reader().stacks() == []
    assert refusals == []
    store.close()


def test_who_names_no_database_is_told_where_to_look(url: str) -> None:
    parts = urlsplit(url)
    with pytest.raises(Lost, match="_nowhere") as caught:
        find_database(parts._replace(path=f"{parts.path}_nowhere").geturl()).is_made()
    assert "the user, the password, a database that is there" in caught.value.hint


def test_a_statement_that_was_cancelled_is_tried_again_and_told_of() -> None:
    found = to_store_error(psycopg.errors.QueryCanceled("canceling statement"), "x")
    assert isinstance(found, Refused)
    assert "statement_timeout" in found.hint
