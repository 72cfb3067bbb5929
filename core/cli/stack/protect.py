"""``zonda stack protect`` and ``zonda stack unprotect``."""

from __future__ import annotations

import argparse

from zonda.core.engine.actions import ProtectStack

from ..arguments import STACK, argument, takes
from ..options import nested
from ..session import Session

_ARGUMENTS = (
    STACK,
    argument(
        "resources", metavar="RESOURCE", nargs="*", help="name, or OWNER/NAME; none: the stack"
    ),
)


@takes(*_ARGUMENTS)
def protect(session: Session, arguments: argparse.Namespace) -> int:
    """Protect the stack from deletion, or resources from deletion and replacement."""
    return _set_protection(session, arguments, on=True)


@takes(*_ARGUMENTS)
def unprotect(session: Session, arguments: argparse.Namespace) -> int:
    """Remove the protection of ``stack protect``."""
    return _set_protection(session, arguments, on=False)


def _set_protection(session: Session, arguments: argparse.Namespace, *, on: bool) -> int:
    chosen = nested.group_by_stack(arguments.stack, arguments.resources) or {arguments.stack: []}
    for stack, names in chosen.items():
        session.app.engine.act(ProtectStack(stack, tuple(names), on), drive=False)
    return 0
