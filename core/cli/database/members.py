"""``zonda member list``, ``member drain`` and ``duty list``: the engines on one PostgreSQL."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from zonda.hooks.errors import NotFound, UsageError

from ..arguments import argument, takes
from ..console import formats
from ..session import Session

if TYPE_CHECKING:
    from zonda.core.store.postgresql.members import Members

COLUMNS = ("ID", "Host", "Process", "Version", "Plug-ins", "URL", "State", "Duties", "Lease")


@takes(formats.add_arguments)
def list_members(session: Session, arguments: argparse.Namespace) -> None:
    """List the engines on one PostgreSQL, the oldest first."""
    with _open_members(session) as members:
        found = members.list_members()
    rows = [
        (
            each.id,
            each.host,
            each.pid,
            each.version,
            each.plugins or "none",
            each.url,
            "draining" if each.draining else "active",
            each.duties,
            f"{each.left:.1f} s",
        )
        for each in found
    ]
    session.show_rows(arguments, COLUMNS, rows)


@takes(
    argument("id", metavar="ID", help="the id that 'zonda member list' shows"),
    argument("--undo", action="store_true", help="have it take stacks again"),
)
def drain(session: Session, arguments: argparse.Namespace) -> None:
    """Have an engine hand its stacks to others and take none; it goes on to answer requests."""
    with _open_members(session) as members:
        if not members.set_draining(arguments.id, not arguments.undo):
            raise NotFound("member", arguments.id, hint="'zonda member list' shows all.")
    what = "takes stacks again" if arguments.undo else "drains"
    session.screen.say(f"Member {arguments.id} {what} from its next sign of life on.")


@takes(formats.add_arguments)
def list_duties(session: Session, arguments: argparse.Namespace) -> None:
    """List the stacks that engines look after, the oldest duty first."""
    with _open_members(session) as members:
        found = members.list_duties()
    rows = [
        (
            each.key,
            each.stack or "",
            each.project or "",
            each.member or "nobody",
            formats.format_time(each.since),
            each.takeovers,
            f"{each.waits:.0f} s" if each.waits else "",
        )
        for each in found
    ]
    columns = ("Duty", "Stack", "Project", "Member", "Since", "Take-overs", "Waits")
    session.show_rows(arguments, columns, rows)


@contextmanager
def _open_members(session: Session) -> Iterator[Members]:
    app = session.local
    if not app.is_clustered:
        raise UsageError(
            "Only engines on a PostgreSQL are members of a cluster.",
            hint="Set database_url to postgresql://HOST/NAME. 'zonda db status' shows the engine "
            "of a file.",
        )
    from zonda.core.store.postgresql.members import Members

    with closing(Members(app.database.url, app.database.where)) as members:
        yield members
