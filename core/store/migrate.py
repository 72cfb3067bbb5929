"""Brings an older SQLite database up to date. Imported only when there is something to do.

Under the engine's lock and in one transaction: a process that is killed changes nothing. The file
is copied to ``<database>.before-upgrade`` first.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import sqlalchemy
from alembic import command
from alembic.config import Config
from alembic.util import CommandError

from zonda.hooks.errors import StoreError

from . import schema
from .faults import explain
from .lock import EngineLock

FOLDER = Path(__file__).with_name("migrations")


def config() -> Config:
    """Alembic's configuration, made here: there is no ini file."""
    made = Config()
    made.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    return made


def upgrade(path: str, revision: str = "head") -> None:
    """Upgrade the database file ``path``, unless another process has by now.

    Raises StoreError; the database is what it was then, and the copy is left in place.
    """
    lock = EngineLock(path)
    if not lock.acquire():
        _wait_for_another(path, lock)
        return
    engine = _engine(path)
    try:
        with engine.begin() as connection:
            made = config()
            made.attributes["connection"] = connection
            copy = _copy(path)
            command.upgrade(made, revision)
    except CommandError as error:
        raise StoreError(
            f"The database {path} has a schema from before those that are brought up to date.",
            hint="Delete its stacks with the zonda that wrote it, or choose another ZONDA_HOME.",
        ) from error
    except sqlite3.Error as error:
        raise explain(error, path) from error
    except sqlalchemy.exc.SQLAlchemyError as error:
        raise StoreError(
            f"The database {path} could not be upgraded: {error}.",
            hint=f"It is as it was; a copy stands in {copy}.",
        ) from error
    finally:
        engine.dispose()
        lock.release()


def _wait_for_another(path: str, lock: EngineLock) -> None:
    """Wait for the transaction of the process that upgrades it; raises StoreError for an engine."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        version = schema.version_of(connection, path)
    if version != schema.HEAD:
        raise StoreError(
            f"The database {path} has to be brought up to date, and an older zonda uses it "
            f"(process {lock.holder() or 'unknown'}).",
            hint="Stop that process, then run the command again.",
        )


def _engine(path: str) -> sqlalchemy.Engine:
    """Connections whose transactions hold changes of tables, too: those of Python do not."""
    engine = sqlalchemy.create_engine(sqlalchemy.URL.create("sqlite", database=path))

    @sqlalchemy.event.listens_for(engine, "connect")
    def connected(connection: Any, _: object) -> None:
        connection.isolation_level = None

    @sqlalchemy.event.listens_for(engine, "begin")
    def began(connection: sqlalchemy.Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def _copy(path: str) -> str:
    """Copy the database as it is now; gives the file, which is for the owner alone."""
    copy = f"{path}.before-upgrade"
    Path(copy).unlink(missing_ok=True)
    schema.make_private(copy)
    with closing(sqlite3.connect(path)) as source:
        source.execute("VACUUM INTO ?", (copy,))
    return copy
