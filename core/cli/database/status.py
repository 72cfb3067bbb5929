"""``zonda db status``, ``db check`` and ``db upgrade``: the database's state, and its schema."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from zonda.core.app.app import App
from zonda.core.diagnostics.finding import FAULT, Finding
from zonda.core.system.folders import make_folder
from zonda.hooks.errors import StoreError

from ..arguments import takes
from ..console import formats
from ..session import Session

COLUMNS = ("Check", "Status", "Finding", "What to do")


@takes(formats.add_field_arguments)
def status(session: Session, arguments: argparse.Namespace) -> None:
    """Show what is known of the database; changes nothing, not even an older schema."""
    from zonda.core.store.maintenance.status import read_status

    found = read_status(session.local.database)
    engine = f"process {found.process or 'unknown'}" if found.engine else "none"
    session.show_fields(
        arguments,
        {
            "url": found.where if "://" in found.where else f"sqlite:///{found.where}",
            "schema": found.schema,
            "newest_schema": found.newest_schema,
            "compatible_from": found.compatible_from,
            "engine": engine,
            "stacks": found.stacks,
            "resources": found.resources,
            "events": found.events,
            "bytes": found.size,
            "key_fingerprint": found.fingerprint,
            "key": _compare_key(session.local, found.fingerprint),
        },
    )


def _compare_key(app: App, fingerprint: str) -> str:
    try:
        return "fits" if app.sealer.fingerprint == fingerprint else "is another"
    except StoreError as error:
        return str(error)


@takes(formats.add_arguments)
def check(session: Session, arguments: argparse.Namespace) -> int:
    """Check all of the database; exit code 1 if anything is wrong."""
    found = list(_list_findings(session.local))
    rows = [(each.check, each.status, each.text, each.hint) for each in found]
    session.show_rows(arguments, COLUMNS, rows)
    return int(any(each.status == FAULT for each in found))


def _list_findings(app: App) -> Iterator[Finding]:
    from zonda.core.store.maintenance import check as checking
    from zonda.core.store.maintenance.snapshots import check_existence, open_snapshot

    check_existence(app.database)
    try:
        with open_snapshot(app.database) as connection:
            yield from checking.list_findings(connection, app.database, app.sealer)
    except StoreError as error:
        yield Finding("database", FAULT, str(error), error.hint)


def upgrade(session: Session, _: argparse.Namespace) -> None:
    """Bring the schema up to date, or make an empty database; says what was done."""
    from zonda.core.store.maintenance import upgrade as upgrading
    from zonda.core.store.maintenance.status import read_status

    app, say = session.local, session.screen.say
    where, before = app.database.where, ""
    if app.database.is_made():
        before = read_status(app.database).schema
    for folder in (session.settings.home, app.folder):
        make_folder(folder)
    upgrading.upgrade(app.database, app.sealer)
    if app.is_clustered:
        _upgrade_cluster(session)
    found = read_status(app.database)
    if not before:
        say(f"Made the database {where} with the schema {found.schema}.")
    elif before == found.schema:
        say(f"The database {where} has the schema {found.schema} already.")
    else:
        say(f"Upgraded {where} from the schema {before} to {found.schema}.")
        say(f"Releases of the schema {found.compatible_from} and later can use it.")
        if app.database.folder:
            say(f"As it was before, it is in {where}.before-upgrade.")


def _upgrade_cluster(session: Session) -> None:
    """Bring what several engines need on a server up to date: settings of the role, the queue."""
    from zonda.core.cluster.lives import apply_role_settings

    database = session.local.database
    apply_role_settings(database, session.settings.lease)
    try:
        from zonda.core.cluster import queue_schema
    except ImportError:  # without the extra there is no queue
        return
    if queue_schema.upgrade(database):
        session.screen.say("Brought the queue of the cluster up to date.")
