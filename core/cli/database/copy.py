"""``zonda db copy``: all of one database in another one, of whatever kind."""

from __future__ import annotations

import argparse

from ..arguments import argument, takes
from ..console import formats
from ..session import Session

COLUMNS = ("Table", "Rows", "Hash")


@takes(
    argument("source", metavar="SOURCE_URL", help="the database to copy"),
    argument("target", metavar="TARGET_URL", help="a database without rows; a file may be missing"),
    formats.add_arguments,
)
def copy(session: Session, arguments: argparse.Namespace) -> None:
    """Copy all rows while no engine runs, and compare them; the source stays as it is."""
    from zonda.core.store.maintenance.copying import copy_database
    from zonda.core.store.maintenance.snapshots import check_existence

    app = session.local
    source, target = app.find_database(arguments.source), app.find_database(arguments.target)
    check_existence(source)
    copied = copy_database(source, target, app.make_sealer_of(source))
    session.show_rows(arguments, COLUMNS, copied)
    rows = sum(table.rows for table in copied)
    session.screen.say(f"Copied {rows} rows from {source.where} to {target.where}.")
    session.screen.say("Its sealing key is that of the source: keep it, and set database_url.")
