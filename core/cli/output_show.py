"""``zonda stack output list`` and ``zonda stack output show``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from zonda.hooks.errors import NotFound, UsageError

from . import output
from .session import Session

if TYPE_CHECKING:  # listing stacks must not pay for the engine
    from zonda.core.engine.outputs import OutputView


def list_outputs_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``stack output list``."""
    parser.add_argument("stack", metavar="STACK", help="name or id")
    output.add_arguments(parser)


def list_outputs(session: Session, arguments: argparse.Namespace) -> int:
    """Names and descriptions; values are computed when they are shown."""
    screen = session.screen
    found = [(shown.name, shown.description) for shown in _outputs(session, arguments.stack)]
    output.rows(screen.out, arguments, ("output_key", "description"), found, screen.width)
    return 0


def show_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``stack output show``."""
    parser.add_argument("stack", metavar="STACK", help="name or id")
    parser.add_argument("key", metavar="OUTPUT", nargs="?", help="name of the output")
    parser.add_argument("--all", action="store_true", help="show every output")
    add_refresh(parser)
    parser.add_argument(
        "--show-hidden", action="store_true", help="print hidden values, too: in clear"
    )
    output.add_arguments(parser)


def add_refresh(parser: argparse.ArgumentParser) -> None:
    """``--refresh``."""
    parser.add_argument(
        "--refresh", action="store_true", help="ask the resources, not what was stored"
    )


def show(session: Session, arguments: argparse.Namespace) -> int:
    """One output as fields, or all of them as a list. An output that failed gives exit code 1."""
    if arguments.all == bool(arguments.key):
        raise UsageError("Give the name of an output, or --all for every output.")
    found = _outputs(
        session, arguments.stack, refresh=arguments.refresh, reveal=arguments.show_hidden
    )
    if arguments.key:
        found = [_named(found, arguments.key)]
    screen = session.screen
    if arguments.key:
        output.fields(screen.out, arguments, as_fields(found[0]), screen.width)
    elif arguments.format in ("json", "yaml") and not arguments.column:
        output.data(screen.out, arguments.format, {shown.name: as_fields(shown) for shown in found})
    else:
        rows = [(shown.name, shown.value, shown.description) for shown in found]
        columns = ("output_key", "output_value", "description")
        output.rows(screen.out, arguments, columns, rows, screen.width)
    failed = [shown for shown in found if shown.error]
    for shown in failed:
        screen.say(f"{screen.coloured('error', 'red')}: output {shown.name}: {shown.error}")
    return 1 if failed else 0


def _outputs(
    session: Session, name: str, *, refresh: bool = False, reveal: bool = False
) -> list[OutputView]:
    stack = session.app.stack(name)
    return session.app.details(stack, refresh=refresh, reveal=reveal).outputs


def _named(found: list[OutputView], name: str) -> OutputView:
    for shown in found:
        if shown.name == name:
            return shown
    names = ", ".join(shown.name for shown in found)
    raise NotFound("output", name, hint=f"The outputs are {names}." if names else "")


def as_fields(shown: OutputView) -> dict[str, Any]:
    """An output under the names of Heat's API; ``output_error`` only where there is one."""
    fields = {
        "output_key": shown.name,
        "output_value": shown.value,
        "description": shown.description,
    }
    return {**fields, "output_error": shown.error} if shown.error else fields
