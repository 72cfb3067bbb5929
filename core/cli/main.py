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

#: What the scripts of ``zonda completion`` call; see ``completion``.
COMPLETE = "__complete"

#: Commands on stacks that may be the first ones of all: they make a home, or need none.
WITHOUT_HOME = frozenset({"stack create", "stack adopt", "stack plan", "stack apply"})
#: What has to be made until the cyclic collector looks through it. A command makes much that stays
#: and few circles: with Python's numbers an eighth of the work on a large tree is looking.
COLLECTION = (50_000, 20, 100)
#: What runs until it is stopped collects as Python does: its old circles would add up for days.
UNTIL_STOPPED = frozenset({"engine run", "serve", "runner serve"})
AS_PYTHON_DOES = gc.get_threshold()


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code. ``argv`` is without the program's name."""
    code = _to_the_end(argv)
    return leaving.leave(code) if argv is None else code


def _to_the_end(argv: Sequence[str] | None) -> int:
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
        streams.complain(f"standard output cannot be written: {error}")
        return FAILED
    except KeyboardInterrupt as stop:  # once more, while everything was being closed
        return _interrupted(stop)
    except ImportError as error:
        streams.complain(f"this installation is not complete: {error}")
        return FAILED


def _run_parsed(words: list[str]) -> int:
    try:
        return _run(words)
    except SystemExit as stop:  # argparse has said what is wrong
        return stop.code if isinstance(stop.code, int) else FAILED


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
    if words[:1] == [COMPLETE]:
        from .shell import completion

        return completion.complete(words[1:])
    from . import parsers

    leading, rest = _split(words)
    name, length = commands.longest(rest)
    if not name:
        return _without_command(leading, rest)
    command = commands.COMMANDS[name]
    arguments = parsers.of_command(name).parse_intermixed_args([*leading, *rest[length:]])
    run = getattr(parsers.module_of(name), command.name)
    return int(run(arguments)) if command.alone else _carry_out(name, run, arguments)


def _split(words: list[str]) -> tuple[list[str], list[str]]:
    """Options in front of the command's words, and the rest."""
    position = 0
    while position < len(words) and words[position].startswith("-"):
        position += 2 if words[position] in ("--home", "--set") else 1
    return words[:position], words[position:]


def _without_command(leading: list[str], rest: list[str]) -> int:
    """``zonda``, ``zonda --help``, ``zonda --version``, ``zonda stack``, or a misspelt command."""
    from . import parsers

    prefix = [word for word in rest if not word.startswith("-")]
    if not commands.group(prefix):
        return parsers.unknown(prefix)
    parser = parsers.of_group(prefix)
    parser.parse_args([word for word in [*leading, *rest] if word not in prefix])
    wants_help = not leading and not rest
    parser.print_help(None if wants_help else streams.StatusStream(sys.stderr))
    return DONE if wants_help else INVALID


@streams.prints_are_said()
@leaving.refusing_exits()
def _carry_out(name: str, run: Any, arguments: argparse.Namespace) -> int:
    from zonda.core.settings.settings import wants_colour

    from .console import errors
    from .console.console import Screen
    from .session import Session

    screen = Screen(getattr(arguments, "format", None) or "table", colour=wants_colour())
    session = Session(arguments, screen)
    if name in UNTIL_STOPPED:
        gc.set_threshold(*AS_PYTHON_DOES)
    try:
        if name.startswith("stack ") and name not in WITHOUT_HOME:
            session.app.check_home()
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
        return errors.report(screen, error)
    finally:
        session.close()
