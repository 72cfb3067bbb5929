"""A connection to a SQLite file, as ``database.protocols`` describes it.

The statements run in SQLite's own methods, which this class inherits: a step executes dozens.
Transactions are by hand (BEGIN IMMEDIATE), foreign keys are on.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

from zonda.hooks.errors import StoreError

from ..database.protocols import Dialect, Row
from ..schema.prepared import SQL
from . import turn
from .faults import to_store_error
from .version import read_version

MEMORY = ":memory:"
DIALECT = Dialect(
    sql=SQL,
    place="?",
    is_one_of="{} IN (SELECT value FROM json_each(?))",
    has_tag="EXISTS (SELECT 1 FROM json_each({}) AS tag"
    " WHERE tag.value IN (SELECT json_extract(value, '$') FROM json_each(?)))",
    contains="INSTR(LOWER({}), LOWER(?)) > 0",
)


class FileConnection(sqlite3.Connection):
    """A connection to a file, or to a database in memory."""

    dialect = DIALECT
    where = MEMORY

    def find_final_event(self) -> None:
        """Nothing: one process writes at a time, so that numbers are in the order of commits."""

    def begin(self) -> None:
        """Begin a transaction that writes; waits for its turn."""
        turn.begin_transaction(self)

    def begin_snapshot(self) -> None:
        """Begin a transaction that sees one state of the database."""
        self.execute("BEGIN")

    def add_events(self, rows: Sequence[Row]) -> list[int]:
        """Insert events; the ``seq`` of each."""
        self.executemany(SQL["insert_event"], rows)
        last = int(self.execute("SELECT last_insert_rowid()").fetchone()[0])
        return list(range(last - len(rows) + 1, last + 1))

    def wait_for_others(self, what: str) -> None:
        """Nothing: one transaction writes at a time."""

    def make_list(self, values: Iterable[str]) -> str:
        """A list of texts as one parameter."""
        return json.dumps([*values])

    def make_limit(self, most: int | None) -> int:
        """The parameter of a limit; None: no limit."""
        return -1 if most is None else most

    def find_damage(self) -> str:
        """SQLite's report of damage, '' where the file is whole."""
        said = [str(row[0]) for row in self.execute("PRAGMA quick_check(3)")]
        return "" if said == ["ok"] else "; ".join(said)

    def to_store_error(self, error: Exception) -> StoreError:
        """See ``faults.to_store_error``."""
        assert isinstance(error, sqlite3.Error)
        return to_store_error(error, self.where)


def connect(path: str, mode: str) -> FileConnection:
    """Open a file: ``rw``, ``ro``, or '' for a database in memory."""
    target = f"{Path(path).absolute().as_uri()}?mode={mode}" if mode else path
    connection = sqlite3.connect(
        target,
        timeout=turn.STRETCH,
        isolation_level=None,
        check_same_thread=False,
        uri=bool(mode),
        factory=FileConnection,
    )
    connection.where = path
    connection.execute("PRAGMA foreign_keys=ON")
    return connection


def connect_read_only(path: str) -> tuple[FileConnection, str | None]:
    """A connection that only reads, and the version of the schema.

    SQLite shares memory with those that write through a file beside the database. Where that
    cannot be made, since nobody can write there, the database is what its file says.
    """
    connection = connect(path, "ro")
    try:
        return connection, read_version_or_close(connection, path)
    except sqlite3.OperationalError:
        wal = f"{path}-wal"
        if is_writable(path) or (os.path.exists(wal) and os.path.getsize(wal)):
            raise
    connection = connect(path, "ro&immutable=1")
    return connection, read_version_or_close(connection, path)


def is_writable(path: str) -> bool:
    """Whether the file and its folder can be written."""
    folder = os.path.dirname(os.path.abspath(path))
    return os.access(path, os.W_OK) and os.access(folder, os.W_OK)


def read_version_or_close(connection: sqlite3.Connection, path: str) -> str | None:
    """As ``version.read_version``; closes the connection where that raises."""
    try:
        return read_version(connection, path)
    except BaseException:
        connection.close()
        raise
