"""Backups: one file each, which is a database of SQLite with all that was there at one time.

It is the same for every kind of database: of a server the rows are copied, all of one snapshot; of
a file SQLite's own backup copies the pages. So it is consistent while an engine writes. The sealing
key is not in a backup; its fingerprint is, as in every database. A file takes its name when it is
whole and on disk: a process that is killed leaves the backup of before, and a ``.partial`` beside.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from zonda.hooks.errors import StoreError

from ..database.protocols import Connection, Database
from ..file import version
from ..file.connection import FileConnection, connect, connect_read_only
from ..file.faults import to_store_error
from .copying import check_newest, copy_rows
from .snapshots import check_existence

#: Pages that are copied at a stretch (16 MB); Ctrl-C is heard in between.
STRETCH = 4096


def back_up(database: Database, file: Path, *, force: bool = False) -> None:
    """Write a backup of a database to ``file``, mode 0600, whole or not at all.

    ``force``: also where a file of that name exists. Raises StoreError: no database, a damaged one,
    a file that exists or cannot be written.
    """
    check_existence(database)
    _check_target(database.where, file, force)
    with write_whole_file(file) as beside:
        try:
            with closing(connect(beside, "rw")) as target:
                if database.folder is None:
                    _copy_server(database, target)
                else:
                    _copy_file(database.where, target)
                target.execute("PRAGMA journal_mode=DELETE")  # one file, without companions
                damage = find_damage(target)
        except sqlite3.Error as error:
            raise to_store_error(error, f"{database.where} or its backup {file}") from error
        if damage:
            raise StoreError(
                f"The database {database.where} is damaged, and so would be its backup: {damage}.",
                hint="'zonda db check' lists the damage; restore an older backup.",
            )
        _check_target(database.where, file, force)


def _copy_file(path: str, target: sqlite3.Connection) -> None:
    with closing(connect_read_only(path)[0]) as source:
        source.begin_snapshot()
        source.execute("SELECT count(*) FROM sqlite_master").fetchone()
        copy_pages(source, target)


def _copy_server(database: Database, target: FileConnection) -> None:
    """Copy a server's rows, all of one snapshot, to an empty file."""
    source = database.open_reader()
    try:
        check_newest(source, database.where)
        source.begin_snapshot()
        version.make_tables(target, read_fingerprint(source))
        copy_rows(source, target, target.where)
    finally:
        source.close()


def copy_pages(source: sqlite3.Connection, target: sqlite3.Connection) -> None:
    """Copy every page, in one transaction of the target."""
    source.backup(target, pages=STRETCH, progress=lambda *_: None)


def find_damage(connection: sqlite3.Connection) -> str:
    """Have SQLite check every page and index; its report, '' where all is whole."""
    said = [str(text) for (text,) in connection.execute("PRAGMA integrity_check(3)")]
    return "" if said == ["ok"] else "; ".join(said)


def read_fingerprint(connection: Connection) -> str:
    """The fingerprint of the key that a database was made with."""
    query = connection.dialect.sql["meta_value"]
    found = connection.execute(query, ("key_check",)).fetchone()
    return str(found[0]) if found else ""


@contextmanager
def write_whole_file(file: Path) -> Iterator[str]:
    """An empty file beside ``file`` to fill, which takes its name at the end, and only then.

    Its name has the process in it: two that write at once do not meet. Raises StoreError.
    """
    beside = f"{file}.{os.getpid()}.partial"
    try:
        with suppress(FileNotFoundError):
            os.unlink(beside)
        version.make_private(beside)
        yield beside
        _flush(beside)
        os.replace(beside, file)
        _flush(os.path.dirname(os.path.abspath(file)))
    except OSError as error:
        raise StoreError(
            f"The file {file} cannot be written: {error.strerror}.",
            hint="Make its folder writable and make room there, or choose another.",
        ) from error
    finally:
        for companion in ("", *version.COMPANIONS):
            with suppress(OSError):
                os.unlink(f"{beside}{companion}")


def _flush(path: str) -> None:
    """Have what a file or folder holds on disk before anything else happens."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _check_target(path: str, file: Path, force: bool) -> None:
    if not os.path.lexists(file):
        return
    if file.exists() and os.path.exists(path) and os.path.samefile(path, file):
        raise StoreError(f"The file {file} is the database itself.", hint="Choose another file.")
    if not file.is_file():
        raise StoreError(f"{file} is no file.", hint="Name a file, e.g. one in that folder.")
    if not force:
        raise StoreError(
            f"The file {file} exists already.", hint="Choose another, or overwrite it with --force."
        )
