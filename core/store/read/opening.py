"""Databases by their URLs, opened to read: without what writes, which ``write.database`` adds."""

from __future__ import annotations

from pathlib import Path

from zonda.hooks.errors import StoreError

from ..database.protocols import Database
from ..file.database import DatabaseFile
from ..values.sealing import Sealer
from .reader import Reader

#: The beginnings of URLs of a server.
POSTGRESQL = ("postgresql://", "postgres://")
_SQLITE = "sqlite:///"


def find_database(url: str | Path, synchronous: str = "NORMAL") -> Database:
    """The database of ``url``: a path, ``sqlite:///path``, ``postgresql://...`` or ``:memory:``.

    It is not opened. ``synchronous`` is SQLite's: NORMAL (safe against the death of the process)
    or FULL (against power cuts too). Raises StoreError for a URL of PostgreSQL that cannot be read,
    and where the extra is not installed.
    """
    text = str(url)
    if text.startswith(POSTGRESQL):
        return _find_server(text)
    return DatabaseFile(text.removeprefix(_SQLITE), synchronous)


def _find_server(url: str) -> Database:
    try:
        from ..postgresql.database import Server  # few have a server: 0.1 s to import
    except ImportError as error:
        raise StoreError(
            f"PostgreSQL needs a package that is not installed ({error.name}).",
            hint="Run: pip install 'zonda[postgresql]'.",
        ) from error
    return Server(url)


def open_reader(database: Database, sealer: Sealer) -> Reader:
    """Open a reader of a database that is made. Raises StoreError, see ``Database.open``."""
    return Reader(database.open(sealer.fingerprint, read_only=True), sealer)
