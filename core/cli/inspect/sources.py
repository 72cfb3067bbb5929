"""``zonda stack environment show``, ``template show``, ``file list``: sources of a stack."""

from __future__ import annotations

import argparse

from ..arguments import STACK, argument, takes
from ..console import formats
from ..session import Session

_ARGUMENTS = (
    STACK,
    argument("--with-secrets", action="store_true", help="show what is hidden, too"),
    argument("-f", "--format", choices=("yaml", "json"), help="yaml is the default"),
)


@takes(*_ARGUMENTS)
def environment(session: Session, arguments: argparse.Namespace) -> None:
    """Show all environments and parameters of a stack, as one environment."""
    stack = session.app.stacks.find(arguments.stack)
    found = session.app.exporter.environment(stack.id, with_secrets=arguments.with_secrets)
    formats.write_data(session.screen.out, arguments.format or "yaml", found)


@takes(*_ARGUMENTS)
def template(session: Session, arguments: argparse.Namespace) -> None:
    """Show the template of a stack: its text, or its parsed data as JSON."""
    stack = session.app.stacks.find(arguments.stack)
    exporting, secrets = session.app.exporter, arguments.with_secrets
    if arguments.format == "json":
        formats.write_data(
            session.screen.out, "json", exporting.data(stack.id, with_secrets=secrets)
        )
    else:
        text = exporting.template(stack.id, with_secrets=secrets)
        session.screen.out.write(text if text.endswith("\n") else text + "\n")


@takes(*_ARGUMENTS)
def files(session: Session, arguments: argparse.Namespace) -> None:
    """Show the files that template and environments name, with their contents."""
    stack = session.app.stacks.find(arguments.stack)
    found = session.app.exporter.files(stack.id, with_secrets=arguments.with_secrets)
    formats.write_data(session.screen.out, arguments.format or "yaml", found)
