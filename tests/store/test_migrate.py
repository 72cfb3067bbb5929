"""How a database of an older schema is brought up to date: in place, whole or not at all."""

from __future__ import annotations

import shutil
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from zonda.core.store.file import migrate, turn
from zonda.core.store.file.lock import EngineLock
from zonda.core.store.schema import version as schema
from zonda.core.store.values.sealing import Sealer, make_key
from zonda.core.store.write.database import open_store
from zonda.hooks.errors import StoreError

pytestmark = pytest.mark.sqlite

SEALER = Sealer(make_key())
NEXT = "9999"
REVISION = f'''
"""A schema of a later release."""
from alembic import op
import sqlalchemy as sa

revision = "{NEXT}"
down_revision = "{schema.HEAD}"
branch_labels = depends_on = None


def upgrade():
    op.create_table("later", sa.Column("id", sa.Text()))
    with op.batch_alter_table("stack") as batch:
        batch.add_column(sa.Column("later", sa.Text()))
    FAULT
'''


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A database of this release, for a later one that has added a table and a column."""
    found = tmp_path / "home" / "z.db"
    found.parent.mkdir()
    open_store(found, sealer=SEALER).close()
    folder = tmp_path / "migrations"
    shutil.copytree(migrate.FOLDER, folder)
    later(folder, "pass")
    monkeypatch.setattr(migrate, "FOLDER", folder)
    monkeypatch.setattr(schema, "HEAD", NEXT)
    return found


def later(folder: Path, fault: str) -> None:
    (folder / "versions" / "later.py").write_text(REVISION.replace("FAULT", fault))


def content(path: Path) -> tuple[str, bool]:
    """The version, and whether the table of the later release is there."""
    with closing(sqlite3.connect(path)) as connection:
        (version,) = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        names = connection.execute("SELECT name FROM sqlite_master WHERE name = 'later'")
        return version, names.fetchone() is not None


@pytest.mark.parametrize("read_only", [False, True])
def test_any_command_brings_an_older_database_up_to_date(path: Path, read_only: bool) -> None:
    open_store(path, sealer=SEALER, read_only=read_only).close()
    assert content(path) == (NEXT, True)


def test_the_copy_from_before_is_its_owners_alone(path: Path) -> None:
    open_store(path, sealer=SEALER).close()
    copy = path.with_name("z.db.before-upgrade")
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert content(copy)[1] is False


def test_a_migration_that_fails_changes_nothing(path: Path) -> None:
    was = content(path)
    later(migrate.FOLDER, "op.execute('nonsense')")
    with pytest.raises(StoreError, match="could not be upgraded") as caught:
        open_store(path, sealer=SEALER)
    assert "before-upgrade" in caught.value.hint
    assert content(path) == was
    later(migrate.FOLDER, "pass")
    open_store(path, sealer=SEALER).close()
    assert content(path) == (NEXT, True)


def test_a_database_that_an_older_engine_uses_is_not_upgraded_under_it(path: Path) -> None:
    was = content(path)
    with (
        EngineLock(path) as lock,
        pytest.raises(StoreError, match=f"process {lock.read_holder()}") as caught,
    ):
        open_store(path, sealer=SEALER)
    assert "Stop that process" in caught.value.hint
    assert content(path) == was


def test_who_comes_while_another_upgrades_goes_on_after_it(path: Path) -> None:
    migrate.upgrade(str(path))
    with EngineLock(path):  # by now the other has ended its transaction, and drives stacks
        migrate.upgrade(str(path))
    open_store(path, sealer=SEALER).close()


def test_two_that_upgrade_at_once_do_not_take_each_other_for_an_engine(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    acquire = EngineLock.acquire

    def acquire_in_transaction(lock: EngineLock) -> bool:
        with (
            closing(sqlite3.connect(path, isolation_level=None, timeout=0)) as second,
            pytest.raises(sqlite3.OperationalError, match="locked"),
        ):
            second.execute("BEGIN IMMEDIATE")  # as the other does before it asks for the lock
        return acquire(lock)

    monkeypatch.setattr(EngineLock, "acquire", acquire_in_transaction)
    migrate.upgrade(str(path))
    assert content(path) == (NEXT, True)


def test_a_database_that_is_kept_locked_is_not_upgraded_and_says_so(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turn, "STRETCHES", 1)
    monkeypatch.setattr(turn, "STRETCH", 0.001)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="locked for too long"):
            migrate.upgrade(str(path))
    migrate.upgrade(str(path))


def test_a_schema_from_before_the_first_that_is_kept_is_refused_and_left_alone(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0001'")
        connection.commit()
    with pytest.raises(StoreError, match="from before those") as caught:
        open_store(path, sealer=SEALER)
    assert "ZONDA_HOME" in caught.value.hint
    assert content(path)[0] == "0001"


@pytest.mark.parametrize("read_only", [False, True])
def test_a_schema_of_a_newer_release_is_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch, read_only: bool
) -> None:
    open_store(path, sealer=SEALER).close()
    monkeypatch.undo()
    with pytest.raises(StoreError, match="newer zonda"):
        open_store(path, sealer=SEALER, read_only=read_only)
