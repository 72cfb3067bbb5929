"""``zonda stack environment show``, ``template show``, ``file list``: what a stack is made of."""

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
    """All environments and parameters of a stack, as one environment."""
    stack = session.app.stack(arguments.stack)
    found = session.app.exporting.environment(stack.id, with_secrets=arguments.with_secrets)
    formats.data(session.screen.out, arguments.format or "yaml", found)
    return 0


def template(session: Session, arguments: argparse.Namespace) -> int:
    """The template of a stack: its text, or what it means as JSON."""
    stack = session.app.stack(arguments.stack)
    exporting, secrets = session.app.exporting, arguments.with_secrets
    if arguments.format == "json":
        formats.data(session.screen.out, "json", exporting.data(stack.id, with_secrets=secrets))
    else:
        text = exporting.template(stack.id, with_secrets=secrets)
        session.screen.out.write(text if text.endswith("\n") else text + "\n")
    return 0


def files(session: Session, arguments: argparse.Namespace) -> int:
    """The files that template and environments name, with what is in them."""
    stack = session.app.stack(arguments.stack)
    found = session.app.exporting.files(stack.id, with_secrets=arguments.with_secrets)
    formats.data(session.screen.out, arguments.format or "yaml", found)
    return 0
