"""The arguments of commands, declared beside the function that carries the command out.

``@takes(STACK, argument("--limit", type=int), formats.add_arguments)``: each declaration is called
with the parser when that is made, and no sooner.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, TypeVar

#: Adds arguments to a parser, or to a group of one.
Declaration = Callable[[Any], object]
_Run = TypeVar("_Run", bound=Callable[..., Any])

_DECLARED: dict[Callable[..., Any], tuple[Declaration, ...]] = {}


def takes(*declared: Declaration) -> Callable[[_Run], _Run]:
    """Declare the arguments of a command."""

    def declare(run: _Run) -> _Run:
        _DECLARED[run] = declared
        return run

    return declare


def add_arguments(run: Callable[..., Any], parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a command to its parser."""
    for declare in _DECLARED.get(run, ()):
        declare(parser)


def argument(*names: str, **options: Any) -> Declaration:
    """Declare one argument, as for ``ArgumentParser.add_argument``."""
    return lambda parser: parser.add_argument(*names, **options)


def exclusive(*declared: Declaration) -> Declaration:
    """Declare arguments of which one may be given."""

    def declare(parser: Any) -> None:
        group = parser.add_mutually_exclusive_group()
        for each in declared:
            each(group)

    return declare


def epilog(text: str) -> Declaration:
    """Declare the text at the end of the help."""
    return lambda parser: setattr(parser, "epilog", text)


def seconds(text: str) -> float:
    """Parse a number of seconds that is not negative."""
    found = float(text)
    if not 0 <= found < float("inf"):
        raise ValueError(text)
    return found


STACK = argument("stack", metavar="STACK", help="name or id")
STACKS = argument("stacks", metavar="STACK", nargs="+", help="name or id")
NESTED_STACK = argument("stack", metavar="STACK", help="name, id, or STACK/OWNER of a nested one")
ANY_STACK = argument("stack", metavar="STACK", help="name, or id (of a deleted stack, too)")
YES = argument("-y", "--yes", action="store_true", help="do not ask")
LIMIT = argument("--limit", metavar="N", type=int, help="only the last N")
