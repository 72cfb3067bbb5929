"""Writes ``completions.txt``: the completion data of each command, a line for each.

Completion has no time to import commands. Run ``python -m zonda.core.cli.shell.completion_table``
after a change to a command or an option; a test fails when that was forgotten. A line has,
separated by tabs: the command, its help, the kinds of its arguments, and its options as ``FLAGS
KIND HELP``. The first line has the options of every command. A kind is ``-`` (no value), ``value``
(anything), one of ``KINDS``, or the choices as ``{a,b}``; a star behind it: several.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from .. import commands, parsers

FILE = Path(__file__).with_name("completions.txt")
#: The meanings of the names of values in help texts.
KINDS = {
    "FILE": "file",
    "PATH": "file",
    "FOLDER": "folder",
    "STACK": "stack",
    "RESOURCE": "resource",
    "RESOURCE[.PROPERTY]": "resource",
    "COMMAND": "command",
}


def format_completions() -> str:
    """Format the text of ``completions.txt``."""
    everywhere = parsers.make_general_parser()._actions
    lines = ["\t".join(["", "", "", *map(_format_option, everywhere)])]
    known = {flag for action in everywhere for flag in action.option_strings}
    for name, command in commands.COMMANDS.items():
        actions = parsers.make_command_parser(name)._actions
        arguments = " ".join(_choose_kind(each) for each in actions if not each.option_strings)
        own = [each for each in actions if each.option_strings and _is_own(each, known)]
        lines.append("\t".join([name, command.help, arguments, *map(_format_option, own)]))
    return "\n".join(lines) + "\n"


def _is_own(action: argparse.Action, known: Iterable[str]) -> bool:
    return not set(action.option_strings) & set(known)


def _format_option(action: argparse.Action) -> str:
    shown = " ".join(((action.help or "") % {"default": action.default}).split())
    return f"{','.join(action.option_strings)} {_choose_kind(action)} {shown}"


def _choose_kind(action: argparse.Action) -> str:
    if action.nargs == 0:
        return "-"
    several = isinstance(action, argparse._AppendAction) or action.nargs in ("*", "+")
    if action.choices is not None:
        kind = "{" + ",".join(map(str, action.choices)) + "}"
    else:
        kind = KINDS.get(str(action.metavar), "value")
    return kind + "*" * several


if __name__ == "__main__":
    FILE.write_text(format_completions(), encoding="utf-8")
