"""``zonda help`` and ``zonda version``. Neither needs a home."""

from __future__ import annotations

import argparse
import platform
import sys

import zonda

from .. import commands, parsers
from ..arguments import argument, takes
from ..console import streams


@takes(
    argument("words", metavar="COMMAND", nargs="*", help="a command, or the words it begins with"),
)
def help_of(arguments: argparse.Namespace) -> int:
    """Show the help of a command, as with ``zonda COMMAND --help``."""
    words = arguments.words
    name, length = commands.find_longest(words)
    if name and length == len(words):
        parsers.make_command_parser(name).print_help()
    elif commands.list_group(words):
        parsers.make_group_parser(words).print_help()
    else:
        return parsers.report_unknown(words)
    return 0


@takes(argument("-f", "--format", choices=("text", "json"), default="text"))
def version(arguments: argparse.Namespace) -> None:
    """Show the version of zonda, and of the Python that runs it."""
    out = streams.ResultStream(sys.stdout)
    if arguments.format == "text":
        out.write(f"zonda {zonda.__version__}\n")
        return
    import json

    python = {"python": platform.python_version(), "platform": sys.platform}
    out.write(json.dumps({"zonda": zonda.__version__, **python}, indent=2) + "\n")
