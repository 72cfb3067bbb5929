"""Brings an older SQLite database up to date. Imported only when there is something to do.

The file is copied to ``<database>.before-<version>`` first.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

import sqlalchemy
from alembic import command
from alembic.config import Config
from alembic.util import CommandError

from zonda.hooks.errors import StoreError

FOLDER = Path(__file__).with_name("migrations")


def config() -> Config:
    """Alembic's configuration, made here: there is no ini file."""
    made = Config()
    made.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    return made


def upgrade(path: str, revision: str = "head") -> None:
    """Upgrade the database file ``path``; raises StoreError, the copy is left in place then."""
    copy = f"{path}.before-upgrade"
    if Path(path).exists():
        with sqlite3.connect(path) as source:
            Path(copy).unlink(missing_ok=True)
            source.execute("VACUUM INTO ?", (copy,))
        source.close()
    engine = sqlalchemy.create_engine(f"sqlite:///{path}")
    made = config()
    try:
        with engine.begin() as connection:
            made.attributes["connection"] = connection
            command.upgrade(made, revision)
    except CommandError as error:
        raise StoreError(
            f"The database {path} was made by an alpha that this zonda cannot read.",
            hint="Delete its stacks with the zonda that wrote it, or choose another ZONDA_HOME.",
        ) from error
    except sqlalchemy.exc.SQLAlchemyError as error:
        raise StoreError(
            f"The database {path} could not be upgraded: {error}.",
            hint=f"A copy from before stands in {copy}.",
        ) from error
    finally:
        engine.dispose()
