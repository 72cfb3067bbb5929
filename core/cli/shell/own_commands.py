"""``zonda help`` and ``zonda version``: what zonda tells of itself. Neither needs a home."""

from __future__ import annotations

import argparse
import platform
import sys

import zonda

from .. import commands, parsers
from ..console import streams


def help_of_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``help``."""
    parser.add_argument(
        "words", metavar="COMMAND", nargs="*", help="a command, or the words it begins with"
    )


def help_of(arguments: argparse.Namespace) -> int:
    """The help of a command, as ``zonda COMMAND --help`` shows it."""
    words = arguments.words
    name, length = commands.longest(words)
    if name and length == len(words):
        parsers.of_command(name).print_help()
    elif commands.group(words):
        parsers.of_group(words).print_help()
    else:
        return parsers.unknown(words)
    return 0


def version_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``version``."""
    parser.add_argument("-f", "--format", choices=("text", "json"), default="text")


def version(arguments: argparse.Namespace) -> int:
    """The version of zonda, and of the Python that runs it."""
    out = streams.ResultStream(sys.stdout)
    if arguments.format == "text":
        out.write(f"zonda {zonda.__version__}\n")
        return 0
    import json

    python = {"python": platform.python_version(), "platform": sys.platform}
    out.write(json.dumps({"zonda": zonda.__version__, **python}, indent=2) + "\n")
    return 0
