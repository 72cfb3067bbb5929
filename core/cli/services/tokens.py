"""``zonda token create``, ``list`` and ``revoke``: tokens of ``identity = "tokens"``."""

from __future__ import annotations

import argparse
import json
from datetime import UTC, datetime

from zonda.core.api.identity.choice import TOKENS
from zonda.core.api.identity.tokens import add_token, list_tokens, remove_token
from zonda.core.system.folders import make_folder
from zonda.core.system.ids import make_token
from zonda.hooks.errors import UsageError

from ..arguments import argument, takes
from ..console import formats
from ..session import Session

_LONGEST = 36_500


def _days(text: str) -> int:
    value = int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0
    if not 1 <= value <= _LONGEST:
        raise argparse.ArgumentTypeError(f"must be a number of days from 1 to {_LONGEST}")
    return value


@takes(
    argument("user", metavar="USER", help="whose token it is"),
    argument("--project", metavar="PROJECT", required=True, help="the project that it is for"),
    argument(
        "--role",
        metavar="ROLE",
        action="append",
        default=[],
        help="reader, member, admin or heat_stack_user; may be given several times (default: "
        "member)",
    ),
    argument("--days", type=_days, metavar="DAYS", help="how long it is good (default: for ever)"),
)
def create(session: Session, arguments: argparse.Namespace) -> None:
    """Make a token and print it, once; the file of tokens holds only its hash."""
    for text in (arguments.user, arguments.project, *arguments.role):
        if not text.strip():
            raise UsageError("The user, the project and the roles must not be empty.")
    home, token = session.local.settings.home, make_token()
    make_folder(home)
    row = {
        "user": json.dumps(arguments.user),
        "project": json.dumps(arguments.project),
        "roles": json.dumps(arguments.role or ["member"]),
    }
    if arguments.days is not None:
        end = datetime.fromtimestamp(session.local.clock.now() + arguments.days * 86400, UTC)
        row["expires"] = end.strftime("%Y-%m-%dT%H:%M:%SZ")
    add_token(home / TOKENS, token, row)
    session.screen.out.write(f"{token}\n")
    session.screen.out.flush()
    session.screen.say(f"It is shown this once; {home / TOKENS} has its hash.")


@takes(formats.add_arguments)
def list_all(session: Session, arguments: argparse.Namespace) -> None:
    """List the tokens of the file, without the tokens themselves."""
    rows = [
        (
            each.id,
            each.caller.user,
            each.caller.project_id,
            ", ".join(sorted(each.caller.roles)),
            formats.format_time(each.caller.expires),
        )
        for each in list_tokens(session.local.settings.home / TOKENS)
    ]
    session.show_rows(arguments, ("ID", "User", "Project", "Roles", "Expires"), rows)


@takes(argument("id", metavar="ID", help="the id that 'zonda token list' shows"))
def revoke(session: Session, arguments: argparse.Namespace) -> None:
    """Take a token out of the file; a running server knows it no more at its next request."""
    caller = remove_token(session.local.settings.home / TOKENS, arguments.id)
    session.screen.say(f"The token of {caller.user} for {caller.project_id} is revoked.")
