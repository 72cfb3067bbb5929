"""The restoration of a backup, while no engine runs.

A file that exists gets the pages of the backup in one transaction of SQLite, so that it is either
what it was or what the backup says, and a process that has it open sees the same as all others. A
new one is made beside its place and renamed into it. A server gets the rows, in one transaction as
well. What was there is kept first, as a backup.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from zonda.hooks.errors import StoreError

from ..database.protocols import Connection, Database
from ..file import migrate, version
from ..file.connection import FileConnection, connect, connect_read_only
from ..file.database import DatabaseFile
from ..file.faults import to_store_error
from ..schema.version import HEAD, build_version_error, is_usable, read_compatible
from ..values.sealing import Sealer
from .backup import back_up, copy_pages, find_damage, read_fingerprint, write_whole_file
from .copying import check_newest, copy_rows, hold_engine_locks

#: The end of the name of what was there before.
KEPT = ".before-restore"
_DAMAGED = "is damaged"


def restore(
    file: Path, database: Database, sealer: Sealer, *, beside: Path, force: bool = False
) -> str:
    """Make a database what the backup ``file`` says; the path of what was there, or ''.

    ``beside``: what was there is kept under this name with ``.before-restore``. ``force``: also
    where it has stacks, or is damaged. Raises StoreError, the database as it was: a backup that is
    missing, damaged, of another key or a newer schema; an engine that runs.
    """
    with closing(_open_backup(file, database.where, sealer)) as source:
        if database.folder is None:
            return _restore_server(source, database, sealer, beside, force)
        with hold_engine_locks(database):
            return _restore_file(source, database.where, force)


def _restore_file(source: FileConnection, path: str, force: bool) -> str:
    state = _read_state(path)
    _check_state(path, state, force)
    kept = _choose_kept(path)
    try:
        if state == _DAMAGED:
            _move_away(path, kept)
        elif version.has_tables(path):
            back_up(DatabaseFile(path), Path(kept))
        else:
            kept = ""
        _fill(source, path)
    except sqlite3.Error as error:
        raise to_store_error(error, path) from error
    except OSError as error:
        raise StoreError(
            f"The database {path} cannot be kept beside: {error.strerror}.",
            hint="Make its folder writable, or choose another ZONDA_HOME.",
        ) from error
    return kept


def _restore_server(
    source: FileConnection, database: Database, sealer: Sealer, beside: Path, force: bool
) -> str:
    target = database.open(sealer.fingerprint, read_only=False)
    try:
        check_newest(target, database.where)
        with hold_engine_locks(database), _upgrade_copy(source, beside.parent) as newest:
            state = _describe_stacks(target)
            _check_state(database.where, state, force)
            kept = _choose_kept(str(beside)) if state else ""
            if kept:
                back_up(database, Path(kept))
            copy_rows(newest, target, database.where, replaces=True)
            return kept
    finally:
        target.close()


@contextmanager
def _upgrade_copy(source: FileConnection, folder: Path) -> Iterator[FileConnection]:
    """A backup at this release's schema: itself, or a copy in ``folder`` for a while."""
    if version.read_version(source, source.where) == HEAD:
        yield source
        return
    with TemporaryDirectory(prefix="zonda-", dir=folder) as made:
        path = f"{made}/zonda.db"
        version.make_private(path)
        with closing(connect(path, "rw")) as copy:
            copy_pages(source, copy)
        migrate.upgrade(path)
        with closing(connect_read_only(path)[0]) as found:
            yield found


def _check_state(where: str, state: str, force: bool) -> None:
    if state and not force:
        raise StoreError(
            f"The database {where} {state}.",
            hint="Restore to another ZONDA_HOME, or with --force: it is kept beside.",
        )


def _describe_stacks(connection: Connection) -> str:
    """The number of stacks, nested ones included; '' for none."""
    query = "SELECT count(*) FROM stack WHERE deleted_at IS NULL"
    stacks = connection.execute(query).fetchone()[0]
    return f"has {stacks} stacks" if stacks else ""


def check_file(file: Path, path: str) -> None:
    """Raise StoreError where a backup is no file, or the database ``path`` itself."""
    if not file.is_file():
        raise StoreError(f"There is no backup {file}.", hint="Check the path.")
    if os.path.exists(path) and os.path.samefile(file, path):
        raise StoreError(f"The backup {file} is the database itself.", hint="Name a backup.")


def _open_backup(file: Path, path: str, sealer: Sealer) -> FileConnection:
    """Open a backup that can be restored; raises StoreError for any other file."""
    check_file(file, path)
    try:
        connection, schema = connect_read_only(str(file))
    except sqlite3.Error as error:
        raise _build_damage_error(file, str(error)) from error
    try:
        _check_backup(connection, schema, file, sealer)
    except sqlite3.Error as error:
        connection.close()
        raise _build_damage_error(file, str(error)) from error
    except BaseException:
        connection.close()
        raise
    return connection


def _check_backup(
    connection: FileConnection, schema: str | None, file: Path, sealer: Sealer
) -> None:
    damage = find_damage(connection) if schema else "it is empty"
    if damage or schema is None:
        raise _build_damage_error(file, damage)
    compatible = read_compatible(connection, connection.dialect.sql)
    if schema > HEAD and not is_usable(schema, compatible):
        raise build_version_error(str(file), schema)
    fingerprint = read_fingerprint(connection)
    if fingerprint != sealer.fingerprint:
        raise StoreError(
            f"The backup {file} was made with another sealing key: its fingerprint is "
            f"{fingerprint or 'missing'}, that of this key {sealer.fingerprint}.",
            hint="Give that key in ZONDA_KEY or put its key file back, then restore.",
        )


def _build_damage_error(file: Path, damage: str) -> StoreError:
    return StoreError(
        f"The backup {file} cannot be used: {damage}.", hint="Restore an older backup."
    )


def _read_state(path: str) -> str:
    """A reason to keep a database, '' where nothing would be lost."""
    if not os.path.exists(path):
        return ""
    try:
        with closing(connect_read_only(path)[0]) as connection:
            if version.read_version(connection, path) is None:
                return ""
            stacks = _describe_stacks(connection)
            return _DAMAGED if find_damage(connection) else stacks
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise to_store_error(error, path) from error
        return _DAMAGED


def _choose_kept(path: str) -> str:
    """A name beside the database that is not taken."""
    number = 1
    while os.path.lexists(name := f"{path}{KEPT}" + (f"-{number}" if number > 1 else "")):
        number += 1
    return name


def _move_away(path: str, kept: str) -> None:
    """Rename a damaged database; what SQLite keeps beside it goes first, as it belongs to it."""
    for companion in (*version.COMPANIONS, ""):
        if os.path.exists(f"{path}{companion}"):
            os.rename(f"{path}{companion}", f"{kept}{companion}")


def _fill(source: FileConnection, path: str) -> None:
    """Give the database the content of a backup, in one step."""
    if version.has_tables(path):
        with closing(sqlite3.connect(path, isolation_level=None)) as target:
            copy_pages(source, target)
            target.execute("PRAGMA journal_mode=WAL")
        return
    with (
        write_whole_file(Path(path)) as beside,
        closing(sqlite3.connect(beside, isolation_level=None)) as target,
    ):
        copy_pages(source, target)
        target.execute("PRAGMA journal_mode=WAL")
