"""``zonda stack environment show``, ``template show``, ``file list``: sources of a stack."""

from __future__ import annotations

import argparse

from ..console import formats
from ..session import Session


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("stack", metavar="STACK", help="name or id")
    parser.add_argument("--with-secrets", action="store_true", help="show what is hidden, too")
    parser.add_argument("-f", "--format", choices=("yaml", "json"), help="yaml is the default")


environment_arguments = template_arguments = files_arguments = _arguments


def environment(session: Session, arguments: argparse.Namespace) -> int:
    """Show all environments and parameters of a stack, as one environment."""
    stack = session.app.stacks.find(arguments.stack)
    found = session.app.exporter.environment(stack.id, with_secrets=arguments.with_secrets)
    formats.write_data(session.screen.out, arguments.format or "yaml", found)
    return 0


def template(session: Session, arguments: argparse.Namespace) -> int:
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
    return 0


def files(session: Session, arguments: argparse.Namespace) -> int:
    """Show the files that template and environments name, with their contents."""
    stack = session.app.stacks.find(arguments.stack)
    found = session.app.exporter.files(stack.id, with_secrets=arguments.with_secrets)
    formats.write_data(session.screen.out, arguments.format or "yaml", found)
    return 0
