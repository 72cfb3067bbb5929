"""``zonda db backup`` and ``db restore``: the whole database in one file, and back."""

from __future__ import annotations

import argparse
from pathlib import Path

from zonda.core.system.folders import make_folder

from ..arguments import argument, takes
from ..session import Session


@takes(
    argument("file", metavar="FILE", help="the file of the backup"),
    argument("--force", action="store_true", help="overwrite FILE"),
)
def back_up(session: Session, arguments: argparse.Namespace) -> None:
    """Write a consistent backup, also while an engine runs."""
    from zonda.core.store.maintenance import backup
    from zonda.core.store.maintenance.status import read_status
    from zonda.core.store.write.database import find_database

    app, file = session.local, Path(arguments.file)
    backup.back_up(app.database, file, force=arguments.force)
    made = read_status(find_database(file))
    session.screen.say(
        f"Backup of {app.database.where} in {file}: {made.stacks} stacks, schema {made.schema}."
    )
    session.screen.say(
        f"The sealing key is not in it, and it is of no use without: {made.fingerprint} is the "
        f"fingerprint of the key. Keep a copy of that elsewhere ({_name_key(session)})."
    )


def _name_key(session: Session) -> str:
    return "ZONDA_KEY" if session.settings.key else str(session.local.key_file)


@takes(
    argument("file", metavar="FILE", help="a backup, or any database of zonda"),
    argument("--force", action="store_true", help="replace a database that has stacks"),
)
def restore(session: Session, arguments: argparse.Namespace) -> None:
    """Make the database what a backup says; what was there is kept beside it."""
    from zonda.core.store.maintenance import restore as restoring
    from zonda.core.store.maintenance.status import read_status
    from zonda.core.store.schema.version import HEAD
    from zonda.core.store.write.database import find_database

    app, file = session.local, Path(arguments.file)
    where = app.database.where
    restoring.check_file(file, where)
    sealer = app.make_sealer_of(find_database(file))
    make_folder(app.folder)
    beside = Path(where) if app.database.folder else app.folder / "zonda.db"
    kept = restoring.restore(file, app.database, sealer, beside=beside, force=arguments.force)
    found = read_status(app.database)
    session.screen.say(f"Restored {where} from {file}: {found.stacks} stacks.")
    if kept:
        session.screen.say(f"What was there before is in {kept}.")
    if found.schema < HEAD:
        session.screen.say(f"Its schema is {found.schema}: 'zonda db upgrade' makes it {HEAD}.")
