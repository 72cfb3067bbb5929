"""The parsers of all commands, also read by the manual page and by completion.

A command's module is imported when its parser is made, and no sooner.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import zonda

from . import arguments, commands
from .console import streams

INVALID = 2


class _Formatter(argparse.HelpFormatter):
    """argparse's, of the width that ``streams`` finds."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=streams.get_columns() - 2)


class _RawFormatter(_Formatter, argparse.RawDescriptionHelpFormatter):
    """Like ``_Formatter``, of texts that have lines of their own."""


class Parser(argparse.ArgumentParser):
    """argparse without abbreviations, which would break when an option is added.

    ``raw``: the texts around the options have lines of their own.
    """

    def __init__(self, *, raw: bool = False, **options: Any) -> None:
        kind = _RawFormatter if raw else _Formatter
        super().__init__(allow_abbrev=False, formatter_class=kind, **options)

    def print_help(self, file: Any = None) -> None:
        """Print the help; unlike argparse's own, report where it cannot be written."""
        (file or streams.ResultStream(sys.stdout)).write(self.format_help())

    def parse_words(self, words: Sequence[str]) -> argparse.Namespace:
        """Parse ``words``; options may stand between arguments, and behind those after ``--``."""
        if "--" in words or any(action.nargs for action in self._get_positional_actions()):
            return self.parse_intermixed_args(words)
        return self.parse_args(words)  # the same here, and formats no usage

    def error(self, message: str) -> NoReturn:
        """Report a usage error and where to read more, and exit with 2."""
        self.exit(INVALID, f"{self.prog}: error: {message}\nSee '{self.prog} --help'.\n")


def make_general_parser() -> argparse.ArgumentParser:
    """Make the parser of the options that every command takes, before or after its words."""
    parser = argparse.ArgumentParser(add_help=False)
    group = parser.add_argument_group("options of every command")
    group.add_argument("--home", metavar="FOLDER", help="folder of zonda's state ($ZONDA_HOME)")
    group.add_argument(
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="a setting for this command, e.g. workers=4",
    )
    group.add_argument("--debug", action="store_true", help="show tracebacks and log messages")
    return parser


def load_module(name: str) -> Any:
    """Import the module of a command."""
    return importlib.import_module(f".{commands.COMMANDS[name].module}", __package__)


def make_command_parser(name: str) -> Parser:
    """Make the parser of one command of the table."""
    command = commands.COMMANDS[name]
    parser = Parser(
        raw=command.alone,
        prog=f"zonda {name}",
        description=command.help,
        parents=[make_general_parser()],
    )
    arguments.add_arguments(getattr(load_module(name), command.name), parser)
    return parser


def make_group_parser(words: Sequence[str]) -> Parser:
    """Make the parser of ``zonda`` itself, or of the commands that begin with ``words``."""
    parser = Parser(
        prog=" ".join(["zonda", *words]),
        usage="%(prog)s COMMAND [options]",
        description=None if words else zonda.__doc__,
        raw=True,
        epilog=_format_listing(commands.list_group(list(words))),
        parents=[make_general_parser()],
    )
    if not words:
        version = f"zonda {zonda.__version__}"
        parser.add_argument("--version", action="version", version=version)
    return parser


def _format_listing(shown: Mapping[str, commands.Command]) -> str:
    width = max(map(len, shown))
    lines = [f"  {name:{width}}  {command.help}" for name, command in shown.items()]
    return "\n".join(["commands:", *lines, "", "'zonda COMMAND --help' says more."])


def report_unknown(words: Sequence[str]) -> int:
    """Report that there is no such command; return the exit code."""
    from zonda.hooks.text.suggestions import closest  # needed for a fault only

    said = " ".join(words[:3])
    close = closest(said, commands.COMMANDS)
    hint = f"Did you mean 'zonda {close}'?" if close else "'zonda --help' lists the commands."
    streams.print_error(f"there is no command {said!r}\n{hint}")
    return INVALID
