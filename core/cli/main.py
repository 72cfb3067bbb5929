"""``zonda``: from ``argv`` to an exit code. Nothing heavy is imported before a command needs it.

Exit codes: 0 done, 1 failed, 2 usage or invalid input, 130 interrupted by Ctrl-C, 143 ended by
SIGTERM. A traceback is only shown with ``--debug``: this is the border where any exception becomes
a sentence.
"""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from zonda.hooks.text.borders import Terminated, interruptible

from . import commands, leaving
from .console import streams

if TYPE_CHECKING:  # what completion has no time for
    import argparse

DONE, FAILED, INVALID, INTERRUPTED, TERMINATED = 0, 1, 2, 130, 143

#: The command that the scripts of ``zonda completion`` call; see ``completion``.
COMPLETE = "__complete"

#: Commands on stacks that may be the first ones of all: they make a home, or need none.
WITHOUT_HOME = frozenset({"stack create", "stack adopt", "stack plan", "stack apply"})
#: The thresholds of the cyclic collector. A command makes many objects that stay, and operations
#: leave no cycles: the collections of a large tree were a tenth of its time, and freed nothing.
COLLECTION = (300_000, 20, 100)
#: Commands that run until they are stopped. They collect as Python does, or cycles would add up.
UNTIL_STOPPED = frozenset({"engine run", "serve", "runner serve"})
AS_PYTHON_DOES = gc.get_threshold()


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return the exit code. ``argv`` is without the program's name."""
    if argv is None:  # no thresholds are restored: that would look through all that is there
        gc.set_threshold(*COLLECTION)
        return leaving.leave(_run_to_end(sys.argv[1:]))
    with _collect_less_often():
        return _run_to_end(argv)


def _run_to_end(argv: Sequence[str]) -> int:
    words = list(argv)
    streams.fill_closed_streams()
    try:
        with interruptible(signal.SIGINT, signal.SIGTERM):
            try:
                code = _run(words)
            except SystemExit as stop:  # argparse has said what is wrong
                code = stop.code if isinstance(stop.code, int) else FAILED
            streams.flush_output()
            return code
    except BrokenPipeError:  # the reader (``| head``) has gone
        streams.discard_output(sys.stdout)
        return DONE
    except streams.OutputFailed as error:
        streams.discard_output(sys.stdout)
        streams.print_error(f"standard output cannot be written: {error}")
        return FAILED
    except KeyboardInterrupt as stop:  # once more, while everything was being closed
        return _choose_exit_code(stop)
    except ImportError as error:
        streams.print_error(f"this installation is not complete: {error}")
        return FAILED


def _choose_exit_code(stop: KeyboardInterrupt) -> int:
    return TERMINATED if isinstance(stop, Terminated) else INTERRUPTED


@contextmanager
def _collect_less_often() -> Iterator[None]:
    """Make the cyclic collector run less often; restore its thresholds at the end."""
    before = gc.get_threshold()
    gc.set_threshold(*COLLECTION)
    try:
        yield
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)


def _run(words: list[str]) -> int:
    if words[:1] == [COMPLETE]:
        from .shell import completion

        return completion.complete(words[1:])
    from . import parsers

    leading, rest = _split_options(words)
    name, length = commands.find_longest(rest)
    if not name:
        return _run_without_command(leading, rest)
    command = commands.COMMANDS[name]
    arguments = parsers.make_command_parser(name).parse_words([*leading, *rest[length:]])
    run = getattr(parsers.load_module(name), command.name)
    return int(run(arguments) or 0) if command.alone else _run_command(name, run, arguments)


def _split_options(words: list[str]) -> tuple[list[str], list[str]]:
    """Split off the options in front of the command's words."""
    position = 0
    while position < len(words) and words[position].startswith("-"):
        position += 2 if words[position] in ("--home", "--set") else 1
    return words[:position], words[position:]


def _run_without_command(leading: list[str], rest: list[str]) -> int:
    """Run ``zonda``, ``zonda --help``, ``--version``, ``zonda stack``, or a misspelt command."""
    from . import parsers

    prefix = [word for word in rest if not word.startswith("-")]
    if not commands.list_group(prefix):
        return parsers.report_unknown(prefix)
    parser = parsers.make_group_parser(prefix)
    parser.parse_args([word for word in [*leading, *rest] if word not in prefix])
    wants_help = not leading and not rest
    parser.print_help(None if wants_help else streams.StatusStream(sys.stderr))
    return DONE if wants_help else INVALID


@streams.redirect_prints_to_stderr()
@leaving.refuse_exits()
def _run_command(name: str, run: Any, arguments: argparse.Namespace) -> int:
    from zonda.core.settings.settings import wants_colour

    from .console.console import Screen
    from .session import Session

    screen = Screen(getattr(arguments, "format", None) or "table", colour=wants_colour())
    session = Session(arguments, screen)
    if name in UNTIL_STOPPED:
        gc.set_threshold(*AS_PYTHON_DOES)
    try:
        if name.startswith("stack ") and name not in WITHOUT_HOME:
            session.app.check_home()
        code = int(run(session, arguments) or 0)
        session.finish()
        return code
    except (BrokenPipeError, streams.OutputFailed):
        raise
    except KeyboardInterrupt as stop:
        screen.say("Terminated." if isinstance(stop, Terminated) else "Interrupted.")
        return _choose_exit_code(stop)
    except Exception as error:
        if arguments.debug:
            import traceback

            traceback.print_exc()
        from .console import errors  # for a fault only

        return errors.report_error(screen, error)
    finally:
        session.close()
