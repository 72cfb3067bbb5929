"""Brings an older SQLite database up to date. Imported only when there is something to do.

Under the engine's lock and in one transaction: a process that is killed changes nothing. The file
is copied to ``<database>.before-upgrade`` first.

A migration *contracts* (``contracts = True`` in its module; without a word it counts as that) where
the release before it could not use the schema any more. All others only expand it. The database
keeps the oldest schema whose release can use it, since that release does not know the migration.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import sqlalchemy
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from alembic.util import CommandError

from zonda.hooks.errors import StoreError

from ..schema import version as versions
from ..schema.prepared import SQL
from . import turn, version
from .faults import to_store_error
from .lock import EngineLock

FOLDER = Path(__file__).with_name("migrations")


def build_config() -> Config:
    """Alembic's configuration, made here: there is no ini file."""
    made = Config()
    made.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    return made


def upgrade(path: str, revision: str = "head") -> None:
    """Upgrade the database file ``path``, unless another process has by now.

    Who upgrades has begun the transaction before it asks for the engine's lock: what holds the lock
    then is an engine. Raises StoreError; the database is what it was then, and the copy is left in
    place.
    """
    lock = EngineLock(path)
    copy = f"{path}.before-upgrade"
    engine = _make_engine(path)
    try:
        with engine.begin() as connection:
            raw = _get_driver_connection(connection)
            before = version.read_version(raw, path)
            if before == versions.HEAD:
                return
            if not lock.acquire():
                raise _build_in_use_error(path, lock)
            _copy(path, copy)
            made = build_config()
            made.attributes["connection"] = connection
            command.upgrade(made, revision)
            if before is not None:
                oldest = find_compatible(before, versions.read_compatible(raw, SQL), revision)
                raw.execute(SQL["put_meta"], (versions.COMPATIBLE, oldest))
    except CommandError as error:
        raise StoreError(
            f"The database {path} has a schema from before those that are brought up to date.",
            hint="Delete its stacks with the zonda that wrote it, or choose another ZONDA_HOME.",
        ) from error
    except sqlite3.Error as error:
        raise to_store_error(error, path) from error
    except sqlalchemy.exc.SQLAlchemyError as error:
        raise StoreError(
            f"The database {path} could not be upgraded: {error}.",
            hint=f"It is as it was; a copy stands in {copy}.",
        ) from error
    finally:
        engine.dispose()
        lock.release()


def find_compatible(before: str, recorded: str, revision: str = "head") -> str:
    """The oldest schema whose release can use a database that was upgraded from ``before``.

    ``recorded``: that of the database before, '' for none.
    """
    oldest = recorded or before
    steps = ScriptDirectory.from_config(build_config()).iterate_revisions(revision, before)
    for step in reversed([*steps]):
        if getattr(step.module, "contracts", True):
            oldest = step.revision
    return oldest


def _build_in_use_error(path: str, lock: EngineLock) -> StoreError:
    return StoreError(
        f"The database {path} has to be brought up to date, and an older zonda uses it "
        f"(process {lock.read_holder() or 'unknown'}).",
        hint="Stop that process, then run the command again.",
    )


def _make_engine(path: str) -> sqlalchemy.Engine:
    """Connections whose transactions hold changes of tables, too: those of Python do not."""
    url = sqlalchemy.URL.create("sqlite", database=path)
    engine = sqlalchemy.create_engine(url, connect_args={"timeout": turn.STRETCH})

    @sqlalchemy.event.listens_for(engine, "connect")
    def disable_implicit_transactions(connection: Any, _: object) -> None:
        connection.isolation_level = None

    @sqlalchemy.event.listens_for(engine, "begin")
    def begin_transaction(connection: sqlalchemy.Connection) -> None:
        turn.begin_transaction(_get_driver_connection(connection))

    return engine


def _get_driver_connection(connection: sqlalchemy.Connection) -> sqlite3.Connection:
    found = connection.connection.dbapi_connection
    assert isinstance(found, sqlite3.Connection)
    return found


def _copy(path: str, copy: str) -> None:
    """Copy the database as it is now into a file for the owner alone."""
    Path(copy).unlink(missing_ok=True)
    version.make_private(copy)
    with closing(sqlite3.connect(path)) as source:
        source.execute("VACUUM INTO ?", (copy,))
