"""``zonda template schema``: the template language for editors, with the installed types."""

from __future__ import annotations

import argparse
import json

from ..arguments import argument, takes
from ..session import Session


@takes(
    argument(
        "--version",
        metavar="VERSION",
        help="e.g. 2018-08-31 or rocky (default: a schema for templates of any version)",
    ),
    argument(
        "--type",
        dest="types",
        metavar="TYPE",
        action="append",
        default=[],
        help="also describe this type, one of thousands of a plug-in, or those that a pattern with "
        "* and ? names; repeatable",
    ),
)
def schema(session: Session, arguments: argparse.Namespace) -> None:
    """Print a JSON Schema on standard output."""
    made = session.app.reference.build_schema(arguments.version, arguments.types)
    session.screen.out.write(json.dumps(made, indent=2) + "\n")
