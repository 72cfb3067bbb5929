"""``zonda stack protect`` and ``zonda stack unprotect``."""

from __future__ import annotations

import argparse

from zonda.core.engine.actions import ProtectStack

from ..options import nested
from ..session import Session


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("stack", metavar="STACK", help="name or id")
    parser.add_argument(
        "resources", metavar="RESOURCE", nargs="*", help="name, or OWNER/NAME; none: the stack"
    )


protect_arguments = unprotect_arguments = _arguments


def protect(session: Session, arguments: argparse.Namespace) -> int:
    """Refuse to delete the stack, or to delete or replace the named resources, from now on."""
    return _say(session, arguments, on=True)


def unprotect(session: Session, arguments: argparse.Namespace) -> int:
    """Take back what ``stack protect`` has said."""
    return _say(session, arguments, on=False)


def _say(session: Session, arguments: argparse.Namespace, *, on: bool) -> int:
    chosen = nested.by_stack(arguments.stack, arguments.resources) or {arguments.stack: []}
    for stack, names in chosen.items():
        session.app.act(ProtectStack(stack, tuple(names), on), drive=False)
    return 0
