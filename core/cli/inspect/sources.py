"""``zonda stack environment show``, ``template show``, ``file list``: sources of a stack."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ..arguments import STACK, argument, takes
from ..console import formats
from ..session import Session

if TYPE_CHECKING:  # imported by the application once it is needed
    from zonda.core.reports.export import Sources

_ARGUMENTS = (
    STACK,
    argument("--with-secrets", action="store_true", help="show what is hidden, too"),
    argument("-f", "--format", choices=("yaml", "json"), help="yaml is the default"),
)


def _read(session: Session, arguments: argparse.Namespace) -> Sources:
    stack = session.app.stacks.find(arguments.stack)
    return session.app.exporter.read_sources(stack.id, with_secrets=arguments.with_secrets)


@takes(*_ARGUMENTS)
def environment(session: Session, arguments: argparse.Namespace) -> None:
    """Show all environments and parameters of a stack, as one environment."""
    found = _read(session, arguments).environment
    formats.write_data(session.screen.out, arguments.format or "yaml", found)


@takes(*_ARGUMENTS)
def template(session: Session, arguments: argparse.Namespace) -> None:
    """Show the template of a stack: its text, or its parsed data as JSON."""
    found, out = _read(session, arguments), session.screen.out
    if arguments.format == "json":
        formats.write_data(out, "json", found.data)
    else:
        out.write(found.template if found.template.endswith("\n") else found.template + "\n")


@takes(*_ARGUMENTS)
def files(session: Session, arguments: argparse.Namespace) -> None:
    """Show the files that template and environments name, with their contents."""
    found = _read(session, arguments).files
    formats.write_data(session.screen.out, arguments.format or "yaml", found)
