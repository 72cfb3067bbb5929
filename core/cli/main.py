"""``zonda``: from ``argv`` to an exit code. Nothing heavy is imported before a command needs it.

Exit codes: 0 done, 1 failed, 2 usage or invalid input, 130 interrupted by Ctrl-C, 143 ended by
SIGTERM. A traceback is only shown with ``--debug``: this is the border where any exception becomes
a sentence.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import zonda
from zonda.hooks.borders import Terminated, interruptible

from . import commands, streams

DONE, FAILED, INVALID, INTERRUPTED, TERMINATED = 0, 1, 2, 130, 143

#: What has to be made until the cyclic collector looks through it. A command makes much that stays
#: and few circles: with Python's numbers an eighth of the work on a large tree is looking.
COLLECTION = (50_000, 20, 100)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code. ``argv`` is without the program's name."""
    words = list(sys.argv[1:] if argv is None else argv)
    streams.fill_gaps()
    try:
        with interruptible(signal.SIGINT, signal.SIGTERM), _collecting_less(ends=argv is None):
            code = _run_parsed(words)
            streams.finish()
            return code
    except BrokenPipeError:  # the reader (``| head``) has gone
        streams.discard(sys.stdout)
        return DONE
    except streams.OutputFailed as error:
        streams.discard(sys.stdout)
        _complain(f"standard output cannot be written: {error}")
        return FAILED
    except KeyboardInterrupt as stop:  # once more, while everything was being closed
        return _interrupted(stop)
    except ImportError as error:
        _complain(f"this installation is not complete: {error}")
        return FAILED


def _run_parsed(words: list[str]) -> int:
    try:
        return _run(words)
    except SystemExit as stop:  # argparse has said what is wrong
        return stop.code if isinstance(stop.code, int) else FAILED


def _complain(message: str) -> None:
    streams.Speech(sys.stderr).write(f"zonda: error: {message}\n")


def _interrupted(stop: KeyboardInterrupt) -> int:
    return TERMINATED if isinstance(stop, Terminated) else INTERRUPTED


@contextmanager
def _collecting_less(*, ends: bool) -> Iterator[None]:
    """Have the cyclic collector look less often; whoever called has it as it was afterwards.

    ``ends``: the process ends with the command. Then what is left is not looked through at all: the
    end frees it anyway, and looking was a tenth of a large command.
    """
    before = gc.get_threshold()
    gc.set_threshold(*COLLECTION)
    try:
        yield
    finally:
        if ends:
            gc.freeze()
        gc.set_threshold(*before)


def _run(words: list[str]) -> int:
    leading, rest = _split(words)
    name, length = commands.longest(rest)
    if not name:
        return _without_command(leading, rest)
    command = commands.COMMANDS[name]
    module = importlib.import_module(f".{command.module}", __package__)
    parser = Parser(prog=f"zonda {name}", description=command.help, parents=[_general()])
    getattr(module, f"{command.name}_arguments")(parser)
    arguments = parser.parse_intermixed_args([*leading, *rest[length:]])
    return _carry_out(getattr(module, command.name), arguments)


class Parser(argparse.ArgumentParser):
    """argparse without abbreviations, which would break when an option is added."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def print_help(self, file: Any = None) -> None:
        """Show the help; unlike argparse's own, say so where it cannot be written."""
        (file or streams.Results(sys.stdout)).write(self.format_help())

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where to read more, and exit with 2."""
        self.exit(INVALID, f"{self.prog}: error: {message}\nSee '{self.prog} --help'.\n")


def _general() -> argparse.ArgumentParser:
    """The options that every command takes, before or after its words."""
    general = argparse.ArgumentParser(add_help=False)
    group = general.add_argument_group("options of every command")
    group.add_argument("--home", metavar="FOLDER", help="folder of zonda's state ($ZONDA_HOME)")
    group.add_argument(
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="a setting for this command, e.g. workers=4",
    )
    group.add_argument("--debug", action="store_true", help="show tracebacks and log messages")
    return general


def _split(words: list[str]) -> tuple[list[str], list[str]]:
    """Options in front of the command's words, and the rest."""
    position = 0
    while position < len(words) and words[position].startswith("-"):
        position += 2 if words[position] in ("--home", "--set") else 1
    return words[:position], words[position:]


def _without_command(leading: list[str], rest: list[str]) -> int:
    """``zonda``, ``zonda --help``, ``zonda --version``, ``zonda stack``, or a misspelt command."""
    prefix = [word for word in rest if not word.startswith("-")]
    below = commands.group(prefix)
    if not below:
        return _unknown(prefix)
    parser = Parser(
        prog=" ".join(["zonda", *prefix]),
        usage="%(prog)s COMMAND [options]",
        description=zonda.__doc__ if not prefix else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=_listing(below),
        parents=[_general()],
    )
    if not prefix:
        version = f"zonda {zonda.__version__}"
        parser.add_argument("--version", action="version", version=version)
    options = [word for word in [*leading, *rest] if word not in prefix]
    parser.parse_args(options)
    wants_help = not leading and not rest
    parser.print_help(None if wants_help else streams.Speech(sys.stderr))
    return DONE if wants_help else INVALID


def _listing(shown: dict[str, commands.Command]) -> str:
    width = max(map(len, shown))
    lines = [f"  {name:{width}}  {command.help}" for name, command in shown.items()]
    return "\n".join(["commands:", *lines, "", "'zonda COMMAND --help' says more."])


def _unknown(words: list[str]) -> int:
    import difflib

    said = " ".join(words[:3])
    close = difflib.get_close_matches(said, commands.COMMANDS, 1)
    hint = f"Did you mean 'zonda {close[0]}'?" if close else "'zonda --help' lists the commands."
    _complain(f"there is no command {said!r}\n{hint}")
    return INVALID


@streams.prints_are_said()
def _carry_out(run: Any, arguments: argparse.Namespace) -> int:
    from zonda.core.settings import wants_colour

    from . import problems
    from .screen import Screen
    from .session import Session

    screen = Screen(getattr(arguments, "format", None) or "table", colour=wants_colour())
    session = Session(arguments, screen)
    try:
        code = int(run(session, arguments))
        session.finish()
        return code
    except (BrokenPipeError, streams.OutputFailed):
        raise
    except KeyboardInterrupt as stop:
        screen.say("Terminated." if isinstance(stop, Terminated) else "Interrupted.")
        return _interrupted(stop)
    except Exception as error:
        if arguments.debug:
            import traceback

            traceback.print_exc()
        return problems.report(screen, error)
    finally:
        session.close()
