"""The upgrade of a database at the operator's word: ``zonda db upgrade``.

A file is upgraded as by any command. A server is not touched by other commands, since engines of
the release before may still use it: where every step only expands the schema they may go on
meanwhile, else none may run.
"""

from __future__ import annotations

import sqlalchemy
from alembic import command
from alembic.util import CommandError

from zonda.hooks.errors import StoreError

from ..database.protocols import Database
from ..file.migrate import build_config, find_compatible
from ..schema.version import COMPATIBLE, HEAD, read_compatible
from ..values.sealing import Sealer
from .copying import hold_engine_locks
from .snapshots import build_error, find_driver_connection, make_engine, read_version


def upgrade(database: Database, sealer: Sealer) -> None:
    """Upgrade a database to this release's schema; make it where there is none.

    Raises StoreError: a newer schema, another key, an engine that must not run meanwhile.
    """
    if database.folder is None and database.is_made():
        _upgrade_server(database)
    database.open(sealer.fingerprint, read_only=False).close()


def _upgrade_server(database: Database) -> None:
    engine = make_engine(database, reads=False)
    try:
        with engine.begin() as connection:
            raw = find_driver_connection(connection, database)
            before = read_version(raw, database.where) or ""
            if before >= HEAD:
                return
            compatible = read_compatible(raw, raw.dialect.sql)
            oldest = find_compatible(before, compatible)
            config = build_config()
            config.attributes["connection"] = connection
            if oldest == (compatible or before):
                command.upgrade(config, "head")
            else:
                with hold_engine_locks(database):
                    command.upgrade(config, "head")
            raw.execute(raw.dialect.sql["put_meta"], (COMPATIBLE, oldest))
    except CommandError as error:
        raise StoreError(
            f"The database {database.where} has a schema that is not known: {error}.",
            hint="Use the zonda that wrote it.",
        ) from error
    except sqlalchemy.exc.DBAPIError as error:
        raise build_error(error, database) from error
    finally:
        engine.dispose()
