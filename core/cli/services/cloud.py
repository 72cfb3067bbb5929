"""``zonda cloud check``: the credentials and services of a cloud."""

from __future__ import annotations

import argparse

from zonda.hooks.errors import NotFound

from ..arguments import argument, takes
from ..console import formats
from ..session import Session

COLUMNS = ("Asked", "Verdict", "How")


@takes(
    argument(
        "name",
        metavar="NAME",
        nargs="?",
        default="",
        help="a section of clouds.yaml; default: OS_CLOUD, or the OS_* variables",
    ),
    formats.add_arguments,
)
def check(session: Session, arguments: argparse.Namespace) -> int:
    """Sign in and ask each service for one thing; exit code 1 if anything fails.

    Nothing is made. A service that the cloud has not is no failure.
    """
    rows = session.local.plugins.check_clouds(arguments.name)
    if not rows:
        raise NotFound(
            "plug-in that knows clouds",
            arguments.name or "any",
            hint="For OpenStack: pip install 'zonda-heat-compat[openstack]'.",
        )
    session.show_rows(arguments, COLUMNS, rows)
    return int(any(verdict == "fails" for _, verdict, _ in rows))
