"""Standard output and standard error, whatever has become of them: full, closed, or not Unicode.

``ResultStream`` is for what a command shows: it must arrive, so a failure ends the command with one
sentence (``main``). ``StatusStream`` is for what is said to the user: where nobody listens, the
work goes on. A reader of results that has gone (``BrokenPipeError``) is left to ``main``, unless
the command has acted and only shows the outcome (``outcome``).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, TextIO, cast

_ENDED = "it is closed"


class OutputFailed(Exception):
    """Standard output cannot be written; the message says why."""


class ResultStream:
    """A stream that says plainly when it cannot be written. ``inner`` None: it is closed."""

    def __init__(self, inner: TextIO | None) -> None:
        self._inner = inner

    def write(self, text: str) -> int:
        """Write ``text``; what the stream's encoding lacks is written as ``\\uXXXX``."""
        if self._inner is None:
            return self._failed(_ENDED)
        try:
            return _put(self._inner, text)
        except BrokenPipeError as error:
            return self._gone(error)
        except (OSError, ValueError) as error:
            return self._failed(_reason(error))

    def flush(self) -> None:
        """Hand on what was written."""
        if self._inner is None:
            return
        try:
            self._inner.flush()
        except BrokenPipeError as error:
            self._gone(error)
        except (OSError, ValueError) as error:
            self._failed(_reason(error))

    def isatty(self) -> bool:
        """Whether a person reads it."""
        return self._inner is not None and not self._inner.closed and self._inner.isatty()

    def _failed(self, reason: str) -> int:
        raise OutputFailed(reason)

    def _gone(self, error: BrokenPipeError) -> int:
        raise error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class StatusStream(ResultStream):
    """A stream that may fall silent."""

    def _failed(self, reason: str) -> int:
        return 0

    def _gone(self, error: BrokenPipeError) -> int:
        discard(self._inner)
        return 0


class RedirectedPrint(StatusStream):
    """Stands for standard output while a command runs: what plug-ins print is said, not shown.

    ``results`` is what it stands for.
    """

    def __init__(self, inner: TextIO | None, results: TextIO | None) -> None:
        super().__init__(inner)
        self.results = results


def complain(message: str) -> None:
    """Say what is wrong where there is no screen yet."""
    StatusStream(sys.stderr).write(f"zonda: error: {message}\n")


@contextmanager
def prints_are_said() -> Iterator[None]:
    """Have what anybody prints go to standard error: results are for whoever reads them."""
    with redirect_stdout(cast("TextIO", RedirectedPrint(sys.stderr, sys.stdout))):
        yield


def standard_output() -> TextIO | None:
    """Where results go; None: it is closed."""
    return sys.stdout.results if isinstance(sys.stdout, RedirectedPrint) else sys.stdout


def _put(inner: TextIO, text: str) -> int:
    try:
        return inner.write(text)
    except UnicodeEncodeError:
        return inner.write(encodable(text, inner.encoding or "utf-8"))


def _reason(error: Exception) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else _ENDED


def encodable(text: str, encoding: str) -> str:
    """``text`` with what ``encoding`` lacks as ``\\uXXXX``, which JSON reads back as it was."""
    return "".join(letter if _fits(letter, encoding) else _escaped(letter) for letter in text)


def _fits(letter: str, encoding: str) -> bool:
    try:
        letter.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _escaped(letter: str) -> str:
    units = letter.encode("utf-16-be", "surrogatepass")
    pairs = (units[at : at + 2].hex() for at in range(0, len(units), 2))
    return "".join(f"\\u{pair}" for pair in pairs)


def fill_gaps() -> None:
    """See to it that no file of ours takes the number of a standard stream that is closed.

    Whatever writes to that stream would write into our file.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free


def finish() -> None:
    """Flush standard output; raises OutputFailed or BrokenPipeError."""
    ResultStream(standard_output()).flush()


@contextmanager
def outcome() -> Iterator[None]:
    """What is written inside may stay unread: what was done has been done, and so says the code."""
    try:
        yield
        finish()
    except BrokenPipeError:
        discard(standard_output())


def discard(stream: TextIO | None) -> None:
    """Forget what a standard stream did not take: Python would complain again at its exit."""
    try:
        number = -1 if stream is None else stream.fileno()
    except (AttributeError, OSError, ValueError):
        return
    if number >= 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), number)
