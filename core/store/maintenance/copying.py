"""Copies of all rows of one database to another, of whatever kind, counted and compared.

Called by ``zonda db copy``, and for backups of a server and their restoration. Everything is one
transaction of the target: a process that is killed leaves it as it was.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from hashlib import blake2b
from typing import Any, NamedTuple

from sqlalchemy import Table

from zonda.hooks.errors import StoreError

from ..database.protocols import Connection, Database
from ..file.connection import FileConnection
from ..schema import cluster_tables, page_tables, software_tables  # noqa: F401 - their tables, too
from ..schema.drift_tables import metadata
from ..schema.tables import EVENT, IN_ORDER, META
from ..schema.version import COMPATIBLE, HEAD, build_version_error
from ..values.sealing import Sealer
from .snapshots import check_existence, read_version

#: Rows that are read and written at a time.
PAGE = 500
#: The names in ``meta`` that a database has of its own making.
_OWN = frozenset({"key_check", COMPATIBLE})
#: The tables that speak of processes at one database.
_OF_CLUSTER = ("duty", "member")


class CopiedTable(NamedTuple):
    """A table of the target that has all rows of the source. ``digest``: of its rows in order."""

    name: str
    rows: int
    digest: str


def copy_database(source: Database, target: Database, sealer: Sealer) -> list[CopiedTable]:
    """Copy all rows to a target without any, while no engine runs at either.

    Raises StoreError, the target without rows: an engine that runs, a target that has rows, another
    key, a schema that is not this release's, rows that do not arrive as they were.
    """
    if _is_same(source, target):
        raise StoreError(
            f"Source and target are the same database, {source.where}.", hint="Name two."
        )
    check_existence(source)
    with ExitStack() as stack:
        reads = source.open(sealer.fingerprint, read_only=True)
        stack.callback(source.close)
        stack.callback(reads.close)
        writes = target.open(sealer.fingerprint, read_only=False)
        stack.callback(target.close)
        stack.callback(writes.close)
        for database, connection in ((source, reads), (target, writes)):
            check_newest(connection, database.where)
            stack.enter_context(hold_engine_locks(database))
        reads.begin_snapshot()
        stack.callback(reads.rollback)
        return copy_rows(reads, writes, target.where)


def copy_rows(
    source: Connection, target: Connection, where: str, *, replaces: bool = False
) -> list[CopiedTable]:
    """Copy all rows in one transaction of ``target``, the database ``where``; compare them there.

    ``replaces``: what is there goes first; else rows that are there are an error.
    """
    try:
        target.begin()
        _clear(target, where, replaces)
        tables = [table for table in metadata.sorted_tables if table.name not in _OF_CLUSTER]
        copied = [_copy_table(source, target, table) for table in tables]
        _set_last_event(target, _read_last_event(source))
        _begin_duties(target)
        target.commit()
    except BaseException as error:
        if target.in_transaction:
            target.rollback()
        for connection in (target, source):
            if isinstance(error, connection.Error):
                raise connection.to_store_error(error) from error
        raise
    return copied


@contextmanager
def hold_engine_locks(database: Database) -> Iterator[None]:
    """Be the only one who may change the database; raises StoreError while an engine runs."""
    locks = (database.engine_lock(), database.server_lock())
    try:
        for lock in locks:
            if not lock.acquire():
                raise StoreError(
                    f"An engine uses the database {database.where} "
                    f"(process {lock.read_holder() or 'unknown'}).",
                    hint="Stop that process, then run the command again.",
                )
        yield
    finally:
        for lock in locks:
            if lock.held:
                lock.release()


def check_newest(connection: Connection, where: str) -> None:
    """Raise StoreError for a schema that is not this release's: columns would be lost."""
    version = read_version(connection, where) or ""
    if version != HEAD:
        raise build_version_error(where, version)


def _is_same(source: Database, target: Database) -> bool:
    if source.folder is None or target.folder is None:
        return source.where == target.where
    paths = (source.where, target.where)
    return paths[0] == paths[1] or (all(map(os.path.exists, paths)) and os.path.samefile(*paths))


def _clear(target: Connection, where: str, replaces: bool) -> None:
    """Remove all rows; without ``replaces``, raise StoreError where there are any."""
    for table in reversed(metadata.sorted_tables):
        if replaces:
            kept = ", ".join(f"'{name}'" for name in sorted(_OWN))
            where_clause = f" WHERE name NOT IN ({kept})" if table is META else ""
            target.execute(f'DELETE FROM "{table.name}"{where_clause}')
        elif next(_read_pages(target, table), None):
            raise StoreError(
                f"The database {where} is not empty: its table {table.name} has rows.",
                hint="Name a database that has none.",
            )


def _copy_table(source: Connection, target: Connection, table: Table) -> CopiedTable:
    columns = ", ".join(_quote(table.columns.keys()))
    places = ", ".join([target.dialect.place] * len(table.columns))
    statement = f'INSERT INTO "{table.name}" ({columns}) VALUES ({places})'
    there, here = _Digest(), _Digest()
    for page in _read_pages(source, table):
        there.add(page)
        target.executemany(statement, page)
    for page in _read_pages(target, table):
        here.add(page)
    if (there.rows, there.read()) != (here.rows, here.read()):
        raise StoreError(
            f"The table {table.name} did not arrive as it was: {there.rows} rows were sent, "
            f"{here.rows} are there, or differ.",
            hint="Nothing was copied. Check the source: zonda db check.",
        )
    return CopiedTable(table.name, here.rows, here.read())


class _Digest:
    """The number of rows, and their hash. PostgreSQL has no NUL: its picture stands for it."""

    def __init__(self) -> None:
        self.rows = 0
        self._hash = blake2b(digest_size=16)

    def add(self, rows: list[tuple[Any, ...]]) -> None:
        """Add rows, in their order."""
        for row in rows:
            self.rows += 1
            text = repr(row).replace("\\x00", "\N{SYMBOL FOR NULL}")
            self._hash.update(text.encode("utf-8", "surrogatepass"))

    def read(self) -> str:
        """The hash of all rows, 32 hexadecimal digits."""
        return self._hash.hexdigest()


def _read_pages(connection: Connection, table: Table) -> Iterator[list[tuple[Any, ...]]]:
    """The rows by pages: in the order of their keys, or in which they were added."""
    names = _quote(table.columns.keys())
    keys = ["rowid"] if table.name in IN_ORDER else _quote(table.primary_key.columns.keys())
    order, place = ", ".join(keys), connection.dialect.place
    select = f'SELECT {", ".join([*keys, *names])} FROM "{table.name}"'
    limit = f"ORDER BY {order} LIMIT {PAGE}"
    rows = connection.execute(f"{select} {limit}").fetchall()
    while rows:
        page = [tuple(row[len(keys) :]) for row in rows]
        page = [row for row in page if table is not META or row[0] not in _OWN]
        if page:
            yield page
        behind = f"WHERE ({order}) > ({', '.join([place] * len(keys))})"
        last = tuple(rows[-1][: len(keys)])
        rows = connection.execute(f"{select} {behind} {limit}", last).fetchall()


def _quote(names: list[str]) -> list[str]:
    return [f'"{name}"' for name in names]


def _read_last_event(source: Connection) -> int:
    """The last number that an event has had, perhaps of one that was removed by now.

    Sinks know how far they are by it: no later event may have a smaller one.
    """
    if isinstance(source, FileConnection):
        query = "SELECT seq FROM sqlite_sequence WHERE name = 'event'"
    else:
        query = "SELECT last_value FROM event_seq_seq WHERE is_called"
    found = source.execute(query).fetchone()
    return int(found[0]) if found else 0


def _begin_duties(target: Connection) -> None:
    """Give every tree with something to do a duty, which the first member of a cluster takes.

    A file is no cluster's: one engine has all trees.
    """
    if not isinstance(target, FileConnection):
        target.execute(target.dialect.sql["duties_owed"])


def _set_last_event(target: Connection, last: int) -> None:
    if not last:
        return
    if isinstance(target, FileConnection):
        target.execute("DELETE FROM sqlite_sequence WHERE name = ?", (EVENT.name,))
        target.execute("INSERT INTO sqlite_sequence VALUES (?, ?)", (EVENT.name, last))
    else:
        target.execute("SELECT setval('event_seq_seq', %s)", (last,))
