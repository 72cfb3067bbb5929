"""The database of a home as other programs see it: a file, or one on a server."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from zonda.core.settings.settings import load_settings
from zonda.core.store.database.protocols import Database
from zonda.core.store.write import database


def find_url(home: Path) -> str:
    """The URL of the database of a home."""
    return load_settings({"home": str(home)}, {}).database_url


def find_shown_url(home: Path) -> str:
    """The URL of the database of a home as commands show it."""
    where = open_database(home).where
    return where if "://" in where else f"sqlite:///{where}"


def open_database(home: Path) -> Database:
    """The database of a home, for its locks."""
    return database.find_database(find_url(home))


def execute(home: Path, *statements: str) -> None:
    """Change something in the database of a home: each statement changes at least a row."""
    url = find_url(home)
    if url.startswith("sqlite:///"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
            for statement in statements:
                assert connection.execute(statement).rowcount, statement
            connection.commit()
        return
    import psycopg

    with psycopg.connect(url) as connection:
        for statement in statements:
            assert connection.execute(statement.encode()).rowcount, statement
