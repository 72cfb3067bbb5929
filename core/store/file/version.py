"""The schema of a database file: its creation on first use, and its version.

Called by ``store.open_store``. A new database is made beside its place, under a lock of the folder,
and renamed into it: a process that is killed leaves either none or a whole one.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from zonda.core.system.folders import hold_folder
from zonda.hooks.errors import StoreError

from ..schema import version as versions
from ..schema.prepared import SCHEMA, SQL

#: Files that SQLite keeps beside a database file.
COMPANIONS = ("-wal", "-shm", "-journal")
#: The size of a database without tables; what is in the log alone is not counted.
ONE_PAGE = 4096


def read_version(connection: sqlite3.Connection, path: str) -> str | None:
    """The version of the schema; None where there are no tables at all.

    Raises StoreError for the database of another program.
    """
    query = "SELECT name FROM sqlite_master WHERE type = 'table'"
    tables = {name for (name,) in connection.execute(query)}
    if not tables:
        return None
    row = None
    if "alembic_version" in tables:
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    if row is None or "stack" not in tables:
        raise StoreError(
            f"The database {path} has no schema of zonda.",
            hint="It belongs to another program: choose another ZONDA_HOME or database_url.",
        )
    return str(row[0])


def has_tables(path: str) -> bool:
    """Whether there is a database with at least one table.

    Raises sqlite3.Error for a file that is none.
    """
    if not os.path.exists(path) or not os.path.getsize(path):
        return False
    if os.path.getsize(path) > ONE_PAGE:  # there are tables: it need not be opened
        return True
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT count(*) FROM sqlite_master"
        return bool(connection.execute(query).fetchone()[0])


def make_database(path: str, key_check: str) -> None:
    """Make the database ``path`` for its owner alone, unless another process has by now."""
    # Not the engine's lock: whoever made the database a moment ago may be its engine for days.
    with hold_folder(Path(path).parent):
        if has_tables(path):
            return
        beside = f"{path}.new"
        for file in (path, beside):
            for companion in ("", *COMPANIONS):
                with suppress(FileNotFoundError):
                    os.unlink(f"{file}{companion}")
        make_private(beside)
        with closing(sqlite3.connect(beside, isolation_level=None)) as connection:
            connection.execute("BEGIN")
            make_tables(connection, key_check)
            connection.execute("COMMIT")
            connection.execute("PRAGMA journal_mode=WAL")
        os.rename(beside, path)


def make_tables(connection: sqlite3.Connection, key_check: str) -> None:
    """Make every table in an empty database."""
    for statement in SCHEMA:
        connection.execute(statement)
    connection.execute(versions.VERSION_TABLE)
    connection.execute("INSERT INTO alembic_version VALUES (?)", (versions.HEAD,))
    connection.execute(SQL["put_meta"], ("key_check", key_check))


def make_private(path: str) -> None:
    """Make an empty file for its owner alone; SQLite gives its companions the same mode."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    os.fchmod(handle, 0o600)  # whatever the umask takes away
    os.close(handle)
