"""Databases on a server that are lent to tests in place of files, and used again by others.

To make one costs fifteen times as much as to empty it. One that is lent has its tables already, and
no key: it looks as one that is not made, and takes the first key that it is opened with.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.postgresql_server import PostgreSQL

from zonda.core.store.database.protocols import Database

_TABLES = """SELECT tablename FROM pg_tables
    WHERE schemaname = 'public' AND tablename <> 'alembic_version'"""
#: The schema of a database that no test has changed: its version, and its columns.
_SCHEMA = """SELECT (SELECT version_num FROM alembic_version), COUNT(*) FROM pg_attribute
    JOIN pg_class ON pg_class.oid = attrelid AND relkind = 'r' AND relname NOT LIKE 'procrastinate%'
    WHERE relnamespace = 'public'::regnamespace AND attnum > 0 AND NOT attisdropped"""
_SEQUENCES = "SELECT sequencename FROM pg_sequences WHERE schemaname = 'public'"
_END_SESSIONS = """SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()"""


@dataclass(eq=False)
class _Holder:
    """A module or a test: the databases of its files, and what it has open."""

    urls: dict[str, str] = field(default_factory=dict)
    opened: list[Database] = field(default_factory=list)


class Loans:
    """The databases of one server that are lent."""

    def __init__(self, server: PostgreSQL) -> None:
        self._server = PostgreSQL(server.url, "lent")
        self._free: list[str] = []
        self._holders: list[_Holder] = []
        #: Those that look as if they were not made.
        self.untouched: set[str] = set()

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Lend databases until the end."""
        holder = _Holder()
        self._holders.append(holder)
        yield
        self._holders.remove(holder)
        for each in holder.opened:
            each.close()
        for url in holder.urls.values():
            self._take_back(url)

    def find_url(self, url: str) -> str:
        """The URL of a server for that of a file; another one as it is."""
        name = url.removeprefix("sqlite:///")
        if not self._holders or "://" in name:
            return url
        for holder in self._holders:
            if name in holder.urls and name != ":memory:":
                return holder.urls[name]
        holder = self._holders[-1]
        lent = self._lend()
        holder.urls[name if name != ":memory:" else lent] = lent
        return lent

    def note_opened(self, database: Database) -> None:
        """Close a database at the end of whoever has opened it."""
        if self._holders:
            self._holders[-1].opened.append(database)

    def end(self) -> None:
        """Drop all."""
        self._server.drop_databases()

    def _lend(self) -> str:
        if self._free:
            url = self._free.pop()
            self.untouched.add(url)
            return url
        return self._server.make_database()

    def _take_back(self, url: str) -> None:
        from psycopg import Error

        self.untouched.discard(url)
        database = PostgreSQL(url)
        tables = [name for (name,) in database.execute(_TABLES)]
        if not tables or database.execute(_SCHEMA) != [_build_schema()]:
            self._server.drop_database(url)  # nobody has opened it, or a test has changed it
            return
        sequences = [name for (name,) in database.execute(_SEQUENCES)]
        empty = [f'DELETE FROM "{name}"' for name in tables]
        again = [f'ALTER SEQUENCE "{name}" RESTART' for name in sequences]
        try:
            database.execute(_END_SESSIONS)
            # in any order: references count for nothing
            database.execute("; ".join(["SET session_replication_role = replica", *empty, *again]))
        except Error:  # a test has changed its tables
            self._server.drop_database(url)
            return
        self._free.append(url)


def _build_schema() -> tuple[str, int]:
    from zonda.core.store.schema.drift_tables import metadata
    from zonda.core.store.schema.version import HEAD

    return HEAD, 1 + sum(len(table.columns) for table in metadata.tables.values())


@contextmanager
def lend_databases(server: PostgreSQL) -> Iterator[Loans]:
    """Have every file that would be a database be one on ``server``, but for tests of files."""
    from zonda.core.settings.table import Settings
    from zonda.core.store.postgresql.database import Server
    from zonda.core.store.write import database

    loans = Loans(server)
    find_database, is_made, open_it = database.find_database, Server.is_made, Server.open
    make_settings: Any = Settings.__init__

    def find_on_server(url: str | Path, synchronous: str = "NORMAL") -> Database:
        found = find_database(loans.find_url(str(url)), synchronous)
        loans.note_opened(found)
        return found

    def look_made(this: Server) -> bool:
        return this.url not in loans.untouched and is_made(this)

    def open_first(this: Server, key_check: str, *, read_only: bool) -> Any:
        if this.url in loans.untouched and not read_only:
            loans.untouched.discard(this.url)
            PostgreSQL(this.url).execute(f"INSERT INTO meta VALUES ('key_check', '{key_check}')")
        return open_it(this, key_check, read_only=read_only)

    def set_on_server(this: Settings, **values: Any) -> None:
        if "database_url" in values:
            values["database_url"] = loans.find_url(values["database_url"])
        make_settings(this, **values)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "find_database", find_on_server)
        patch.setattr(Settings, "__init__", set_on_server)
        patch.setattr(Server, "is_made", look_made)
        patch.setattr(Server, "open", open_first)
        yield loans
    loans.end()
