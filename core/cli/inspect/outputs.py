"""``zonda stack output list`` and ``zonda stack output show``."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from zonda.hooks.errors import NotFound, UsageError
from zonda.hooks.text.redaction import MASK

from ..arguments import STACK, argument, takes
from ..console import formats
from ..progress.outputs import as_fields, show_all
from ..session import Session

if TYPE_CHECKING:  # listing stacks must not pay for the engine
    from zonda.core.store.read.views import OutputView


@takes(STACK, formats.add_arguments)
def list_outputs(session: Session, arguments: argparse.Namespace) -> None:
    """List names and descriptions; values are computed when they are shown."""
    found = [(shown.name, shown.description) for shown in _load_outputs(session, arguments.stack)]
    session.show_rows(arguments, ("output_key", "description"), found)


def add_refresh(parser: argparse.ArgumentParser) -> None:
    """Add ``--refresh``."""
    parser.add_argument(
        "--refresh", action="store_true", help="ask the resources, not what was stored"
    )


@takes(
    STACK,
    argument("key", metavar="OUTPUT", nargs="?", help="name of the output"),
    argument("--all", action="store_true", help="show every output"),
    add_refresh,
    argument("--show-hidden", action="store_true", help="print hidden values, too: in clear"),
    argument(
        "--raw",
        action="store_true",
        help="print the value of OUTPUT alone, a text as it is and no line break behind it",
    ),
    formats.add_field_arguments,
)
def show(session: Session, arguments: argparse.Namespace) -> int:
    """Show one output as fields, or all of them as a list. A failed output gives exit code 1."""
    if arguments.all == bool(arguments.key):
        raise UsageError("Give the name of an output, or --all for every output.")
    if arguments.raw and (arguments.all or arguments.column or arguments.format != "table"):
        raise UsageError("--raw prints the value of one output, and takes no --all, -f or -c.")
    found = _load_outputs(
        session, arguments.stack, refresh=arguments.refresh, reveal=arguments.show_hidden
    )
    if arguments.key:
        found = [_find_output(found, arguments.key)]
    failed = [shown for shown in found if shown.error]
    screen = session.screen
    if arguments.raw:
        screen.out.write("" if failed else _format_raw(found[0]))
    elif arguments.key:
        session.show_fields(arguments, as_fields(found[0]))
    else:
        show_all(session, arguments, found)
    for shown in failed:
        screen.say(f"{screen.colour_message('error', 'red')}: output {shown.name}: {shown.error}")
    return 1 if failed else 0


def _format_raw(shown: OutputView) -> str:
    """Format the bare value; raises UsageError where a script would misread it."""
    if shown.value == MASK and shown.secrecy == "hidden":
        raise UsageError(
            f"The output {shown.name} is hidden.", hint="--show-hidden prints it in clear."
        )
    if isinstance(shown.value, (dict, list)):
        raise UsageError(
            f"The output {shown.name} is a {'map' if isinstance(shown.value, dict) else 'list'}, "
            "which --raw cannot print.",
            hint="-f json -c output_value prints it.",
        )
    return shown.value if isinstance(shown.value, str) else json.dumps(shown.value)


def _load_outputs(
    session: Session, name: str, *, refresh: bool = False, reveal: bool = False
) -> list[OutputView]:
    stack = session.app.stacks.find(name)
    values = session.app.stacks.make_values()
    return values.outputs(stack.id, refresh=refresh, reveal=reveal)


def _find_output(found: list[OutputView], name: str) -> OutputView:
    for shown in found:
        if shown.name == name:
            return shown
    names = ", ".join(shown.name for shown in found)
    raise NotFound("output", name, hint=f"The outputs are {names}." if names else "")
