"""The upgrade of a database at the operator's word: ``zonda db upgrade``.

A file is upgraded as by any command. A server is not touched by other commands, since engines of
the release before may still use it: where every step only expands the schema they may go on
meanwhile, else none may run.
"""

from __future__ import annotations

import sqlalchemy
from alembic import command
from alembic.util import CommandError

from zonda.core.system.clock import SystemClock
from zonda.hooks.errors import StoreError

from ..database.protocols import Database
from ..file.migrate import build_config, find_compatible
from ..schema.version import COMPATIBLE, HEAD, read_compatible
from ..values.sealing import Sealer
from .copying import hold_engine_locks
from .snapshots import build_error, find_driver_connection, make_engine, read_version

#: Milliseconds for which a step waits for a table that members of a cluster use. Whoever comes
#: after it waits with it, and both may wait for each other, which PostgreSQL sees after a second.
_LOCK_WAIT = 250
#: The most tries to upgrade, and the seconds between two.
_TRIES, _PAUSE = 60, 0.5
_IN_USE = "55P03"


def upgrade(database: Database, sealer: Sealer) -> None:
    """Upgrade a database to this release's schema; make it where there is none.

    Raises StoreError: a newer schema, another key, an engine that must not run meanwhile.
    """
    if database.folder is None and database.is_made():
        _upgrade_server(database)
    database.open(sealer.fingerprint, read_only=False).close()


def _upgrade_server(database: Database) -> None:
    clock = SystemClock()
    for _ in range(_TRIES):
        if _try_upgrade(database):
            return
        clock.pause(_PAUSE)
    raise StoreError(
        f"The tables of {database.where} are in use all the time: nothing was changed.",
        hint="Run the command again when the members of the cluster have less to do.",
    )


def _try_upgrade(database: Database) -> bool:
    """Upgrade all in one transaction; False where a table was in use for too long."""
    engine = make_engine(database, reads=False)
    try:
        with engine.begin() as connection:
            raw = find_driver_connection(connection, database)
            before = read_version(raw, database.where) or ""
            if before >= HEAD:
                return True
            compatible = read_compatible(raw, raw.dialect.sql)
            oldest = find_compatible(before, compatible)
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = {_LOCK_WAIT}")
            config = build_config()
            config.attributes["connection"] = connection
            if oldest == (compatible or before):
                command.upgrade(config, "head")
            else:
                with hold_engine_locks(database):
                    command.upgrade(config, "head")
            raw.execute(raw.dialect.sql["put_meta"], (COMPATIBLE, oldest))
        return True
    except CommandError as error:
        raise StoreError(
            f"The database {database.where} has a schema that is not known: {error}.",
            hint="Use the zonda that wrote it.",
        ) from error
    except sqlalchemy.exc.DBAPIError as error:
        if getattr(error.orig, "sqlstate", "") == _IN_USE:
            return False
        raise build_error(error, database) from error
    finally:
        engine.dispose()
