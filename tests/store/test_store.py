"""Opening, its refusals, and transactions."""

from __future__ import annotations

import errno
import fcntl
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from zonda.core.store.file import turn
from zonda.core.store.file.database import DatabaseFile
from zonda.core.store.file.lock import EngineLock, ServerLock
from zonda.core.store.schema.rows import EventRow, ResourceRow, StackRow
from zonda.core.store.values.sealing import Sealer, load_key, make_key, make_sealer
from zonda.core.store.write.database import Fenced, Store, find_database, open_store
from zonda.hooks.errors import NotFound, StoreError

SEALER = Sealer(make_key())


@pytest.fixture(params=["memory", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened = open_store(
        ":memory:" if request.param == "memory" else tmp_path / "z.db", sealer=SEALER
    )
    yield opened
    opened.close()


def stack(number: int = 1) -> StackRow:
    return StackRow(f"s{number}", "default", f"stack{number}", created_at=float(number))


def resource(name: str = "a") -> ResourceRow:
    return ResourceRow(f"id-{name}", "s1", name, "T")


# -- opening ----------------------------------------------------------------------------------


def test_a_database_is_found_as_it_was_left(tmp_path: Path) -> None:
    path = tmp_path / "z.db"
    first = open_store(path, sealer=SEALER)
    with first.transaction() as tx:
        tx.add_stack(stack())
    first.close()
    second = open_store(f"sqlite:///{path}", sealer=SEALER)
    assert second.reader().stack("stack1").id == "s1"
    second.close()


def _garbage(path: Path) -> None:
    path.write_bytes(b"this is not a database" * 100)


def _newer(path: Path) -> None:
    open_store(path, sealer=SEALER).close()
    connection = sqlite3.connect(path)
    connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.commit()
    connection.close()


def _other_key(path: Path) -> None:
    open_store(path, sealer=Sealer(make_key())).close()


def _truncated(path: Path) -> None:
    open_store(path, sealer=SEALER).close()
    path.write_bytes(path.read_bytes()[:5000])


def _folder_missing(path: Path) -> None:
    path.parent.rmdir()


@pytest.mark.sqlite
@pytest.mark.parametrize(
    ("damage", "told"),
    [
        pytest.param(_garbage, "not a database", id="another file"),
        pytest.param(_newer, "9999 of a newer zonda", id="newer schema"),
        pytest.param(_other_key, "another sealing key", id="another key"),
        pytest.param(_truncated, "damaged", id="truncated"),
        pytest.param(_folder_missing, "opened", id="no folder"),
    ],
)
def test_a_database_that_cannot_be_used_is_refused_with_advice(
    damage: object, told: str, tmp_path: Path
) -> None:
    path = tmp_path / "home" / "z.db"
    path.parent.mkdir()
    damage(path)  # type: ignore[operator]
    with pytest.raises(StoreError, match=told) as caught:
        open_store(path, sealer=SEALER)
    assert caught.value.hint
    assert str(path.parent) in str(caught.value)


@pytest.mark.sqlite
def test_reading_only_needs_a_database(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no database"):
        open_store(tmp_path / "z.db", sealer=SEALER, read_only=True)


@pytest.mark.sqlite
def test_a_locked_database_is_told_after_a_while(tmp_path: Path) -> None:
    opened = open_store(tmp_path / "z.db", sealer=SEALER)
    opened._connection.execute("PRAGMA busy_timeout=1")
    other = sqlite3.connect(tmp_path / "z.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="locked"), opened.transaction():
        pass
    other.close()
    with opened.transaction() as tx:
        tx.add_stack(stack())
    opened.close()


class Impatient:
    """A connection that waits a millisecond at a stretch, and does something before the third."""

    def __init__(self, connection: sqlite3.Connection, third: Callable[[], None]) -> None:
        self._connection = connection
        self._third = third
        self._begun = 0
        connection.execute("PRAGMA busy_timeout=1")

    def __getattr__(self, name: str) -> object:
        return getattr(self._connection, name)

    def begin(self) -> None:
        turn.begin_transaction(self)  # type: ignore[arg-type]

    def execute(self, statement: str, *values: object) -> object:
        self._begun += statement == "BEGIN IMMEDIATE"
        if self._begun == 3:
            self._third()
        return self._connection.execute(statement, *values)


@pytest.mark.sqlite
def test_who_writes_waits_longer_for_another_than_sqlite_does(tmp_path: Path) -> None:
    opened = open_store(tmp_path / "z.db", sealer=SEALER)
    other = sqlite3.connect(tmp_path / "z.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    opened._connection = Impatient(opened._connection, other.close)  # type: ignore[assignment]
    with opened.transaction() as tx:
        tx.add_stack(stack())
    opened.close()


def test_opening_imports_neither_sqlalchemy_nor_alembic(tmp_path: Path) -> None:
    code = (
        "import sys; from zonda.core.store.write.database import open_store\n"
        "from zonda.core.store.values.sealing import Sealer, make_key\n"
        f"open_store({str(tmp_path / 'z.db')!r}, sealer=Sealer(make_key())).close()\n"
        "print({'sqlalchemy', 'alembic', 'sqlmodel'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


# -- transactions -----------------------------------------------------------------------------


def test_what_was_changed_in_place_is_written(store: Store) -> None:
    with store.transaction() as tx:
        tx.add_stack(stack())
        tx.add_resources([resource()])
    with store.transaction() as tx:
        row = tx.resource("id-a")
        assert row is not None
        row.status_reason = "changed"
        assert tx.resource("id-a") is row
    assert store.reader().resource("s1", "a").status_reason == "changed"


def test_an_error_undoes_everything(store: Store) -> None:
    def fail() -> None:
        with store.transaction() as tx:
            tx.add_stack(stack())
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert store.reader().stacks() == []


def test_a_row_that_was_taken_over_is_not_written(store: Store) -> None:
    with store.transaction() as tx:
        tx.add_stack(stack())
        tx.add_resources([resource()])

    def write() -> None:
        with store.transaction() as tx:
            row = tx.resource("id-a")
            assert row is not None
            row.status_reason = "mine"
            tx._connection.execute("UPDATE resource SET fence = fence + 1")

    with pytest.raises(Fenced):
        write()
    assert store.reader().resource("s1", "a").status_reason == ""


def test_two_live_stacks_never_share_a_name(store: Store) -> None:
    with store.transaction() as tx:
        tx.add_stack(stack())

    def again() -> None:
        with store.transaction() as tx:
            other = stack(2)
            other.name = "stack1"
            tx.add_stack(other)

    with pytest.raises(StoreError):
        again()


def test_a_deleted_stack_is_found_by_id_only(store: Store) -> None:
    with store.transaction() as tx:
        row = stack()
        row.deleted_at = 5.0
        tx.add_stack(row)
    reader = store.reader()
    assert reader.stack("s1").deleted_at == 5.0
    with pytest.raises(NotFound):
        reader.stack("stack1")


def test_events_are_numbered_in_the_order_of_their_commits(store: Store) -> None:
    def event(number: int) -> EventRow:
        return EventRow(f"e{number}", "s1", "x", 1, None, "", "", None, "CREATE", "FAILED", "", 1.0)

    with store.transaction() as tx:
        tx.add_stack(stack())
        tx.add_event(event(1))
        tx.add_event(event(2))
    assert tx.event_seqs == [1, 2]
    with store.transaction() as tx:
        tx.add_event(event(3))
    reader = store.reader()
    assert [(item.seq, item.id) for item in reader.events("s1", after=1)] == [(2, "e2"), (3, "e3")]
    assert reader.last_event() == 3


def test_deleting_an_instance_deletes_its_edges(store: Store) -> None:
    with store.transaction() as tx:
        tx.add_stack(stack())
        a, b = resource("a"), resource("b")
        tx.add_resources([a, b])
        tx.add_edges("s1", [("id-a", "id-b")])
    with store.transaction() as tx:
        row = tx.resource("id-b")
        assert row is not None
        tx.remove_resource(row)
        assert tx.edges("s1") == []


def test_hidden_values_are_masked_and_sealed_ones_shown(store: Store) -> None:
    row = resource()
    row.properties = SEALER.dump({"open": 1, "secret": "hush"}, sealed=True)
    row.outputs = SEALER.dump({"value": "shown", "hidden": "hush"}, sealed=True)
    row.hidden = '{"properties": ["secret"], "attributes": ["hidden"]}'
    with store.transaction() as tx:
        tx.add_stack(stack())
        tx.add_resources([row])
    view = store.reader().resource("s1", "a")
    assert view.properties == {"open": 1, "secret": "(hidden)"}
    assert view.attributes == {"value": "shown", "hidden": "(hidden)"}
    assert "hush" not in repr(view)


def test_requirements_are_shown_both_ways(store: Store) -> None:
    a, b = resource("a"), resource("b")
    a.requires = '["b"]'
    with store.transaction() as tx:
        tx.add_stack(stack())
        tx.add_resources([a, b])
    reader = store.reader()
    assert reader.resource("s1", "a").requires == ("b",)
    assert reader.resource("s1", "b").required_by == ("a",)


# -- lock and keys ----------------------------------------------------------------------------


def test_one_engine_holds_the_lock_and_its_process_is_known(tmp_path: Path) -> None:
    first, second = EngineLock(tmp_path / "z.db"), EngineLock(tmp_path / "z.db")
    assert first.acquire()
    assert first.acquire()
    assert not second.acquire()
    assert second.read_holder() == os.getpid()
    first.release()
    assert second.read_holder() is None
    assert second.acquire()
    second.release()


@pytest.mark.parametrize("kind", [EngineLock, ServerLock])
def test_a_lock_that_is_looked_at_can_be_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type[EngineLock]
) -> None:
    """Who looks holds a shared lock for a moment: that moment is when another one wants it."""
    lock, looks = kind(tmp_path / "z.db"), [1, 2]
    lock.path.touch()
    flock, looker = fcntl.flock, os.open(lock.path, os.O_RDONLY)

    def while_looked_at(handle: int, how: int) -> None:
        if handle != looker and looks and how & fcntl.LOCK_EX:
            looks.pop()
            flock(looker, fcntl.LOCK_SH)
            try:
                flock(handle, how)
            finally:
                flock(looker, fcntl.LOCK_UN)
        flock(handle, how)

    monkeypatch.setattr(fcntl, "flock", while_looked_at)
    assert lock.acquire()
    assert looks == []
    lock.release()
    os.close(looker)


def test_a_key_file_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "key"
    key = load_key(file)
    assert load_key(file) == key
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.sqlite
def test_a_missing_key_is_not_replaced_beside_a_database(tmp_path: Path) -> None:
    key, database = tmp_path / "key", tmp_path / "z.db"
    open_store(database, sealer=make_sealer(None, key, database=find_database(database))).close()
    key.unlink()

    with pytest.raises(StoreError, match="is missing") as caught:
        make_sealer(None, key, database=find_database(database))

    assert "ZONDA_KEY" in caught.value.hint
    assert not key.exists()
    make_sealer(make_key(), key, database=find_database(database))


@pytest.mark.parametrize(
    ("content", "kept"),
    [pytest.param(b"", True, id="empty"), pytest.param(b"garbage", False, id="no-database")],
)
def test_a_key_is_made_for_an_empty_file_only(tmp_path: Path, content: bytes, kept: bool) -> None:
    (tmp_path / "z.db").write_bytes(content)

    assert make_sealer(None, tmp_path / "key", database=find_database(tmp_path / "z.db"))

    assert (tmp_path / "key").exists() is kept


def test_a_key_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(b"\xff\xfe")

    with pytest.raises(StoreError, match="not text"):
        load_key(tmp_path / "key")


@pytest.mark.sqlite
def test_a_database_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "z.db"
    store = open_store(path, sealer=SEALER)
    modes = {file.name: file.stat().st_mode & 0o777 for file in tmp_path.iterdir()}
    store.close()

    assert set(modes) >= {"z.db", "z.db-wal", "z.db-shm"}
    assert set(modes.values()) == {0o600}


@pytest.mark.sqlite
def test_a_database_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "z.db"
    open_store(path, sealer=SEALER).close()
    path.chmod(0o640)

    open_store(path, sealer=SEALER).close()

    assert path.stat().st_mode & 0o777 == 0o640


def test_a_new_key_opens_what_the_old_one_sealed() -> None:
    old, new = make_key(), make_key()
    sealed = Sealer(old).seal({"a": 1})
    assert Sealer(new, old).open(sealed) == {"a": 1}
    with pytest.raises(StoreError, match="cannot be opened"):
        Sealer(new).open(sealed)


@pytest.mark.parametrize("key", ["", "short", "ä" * 44])
def test_a_bad_key_is_refused(key: str) -> None:
    with pytest.raises(StoreError, match="sealing key"):
        Sealer(key)


@pytest.mark.sqlite
def test_key_and_database_are_made_beside_the_engine_that_came_first(tmp_path: Path) -> None:
    path = str(tmp_path / "zonda.db")
    with EngineLock(path):  # for as long as that engine runs
        key = load_key(tmp_path / "key", DatabaseFile(path))
        open_store(path, sealer=Sealer(key)).close()
    assert DatabaseFile(path).is_made()


def test_a_lock_that_cannot_be_written_is_told_and_not_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*given: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    lock = EngineLock(tmp_path / "zonda.db")
    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", full)
        with pytest.raises(StoreError, match="cannot be written: No space left on device"):
            lock.acquire()
    assert not lock.held
    assert EngineLock(tmp_path / "zonda.db").acquire()
