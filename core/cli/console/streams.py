"""Standard output and standard error, even if they are full, closed, or not Unicode.

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
    """Standard output cannot be written; the message gives the reason."""


class ResultStream:
    """A stream that raises a clear error when it cannot be written. ``inner`` None: closed."""

    def __init__(self, inner: TextIO | None) -> None:
        self._inner = inner

    def write(self, text: str) -> int:
        """Write ``text``; characters that the stream's encoding lacks become ``\\uXXXX``."""
        if self._inner is None:
            return self._on_failure(_ENDED)
        try:
            return _write_escaped(self._inner, text)
        except BrokenPipeError as error:
            return self._on_reader_gone(error)
        except (OSError, ValueError) as error:
            return self._on_failure(_format_reason(error))

    def flush(self) -> None:
        """Flush the stream."""
        if self._inner is None:
            return
        try:
            self._inner.flush()
        except BrokenPipeError as error:
            self._on_reader_gone(error)
        except (OSError, ValueError) as error:
            self._on_failure(_format_reason(error))

    def isatty(self) -> bool:
        """Whether the stream is a terminal."""
        return self._inner is not None and not self._inner.closed and self._inner.isatty()

    def _on_failure(self, reason: str) -> int:
        raise OutputFailed(reason)

    def _on_reader_gone(self, error: BrokenPipeError) -> int:
        raise error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class StatusStream(ResultStream):
    """A stream that ignores its failures."""

    def _on_failure(self, reason: str) -> int:
        return 0

    def _on_reader_gone(self, error: BrokenPipeError) -> int:
        discard_output(self._inner)
        return 0


class RedirectedPrint(StatusStream):
    """Replaces standard output during a command: prints of plug-ins go to standard error.

    ``results`` is what it stands for.
    """

    def __init__(self, inner: TextIO | None, results: TextIO | None) -> None:
        super().__init__(inner)
        self.results = results


def print_error(message: str) -> None:
    """Print an error before there is a screen."""
    StatusStream(sys.stderr).write(f"zonda: error: {message}\n")


@contextmanager
def redirect_prints_to_stderr() -> Iterator[None]:
    """Redirect prints of plug-ins to standard error: standard output is for results only."""
    with redirect_stdout(cast("TextIO", RedirectedPrint(sys.stderr, sys.stdout))):
        yield


def get_standard_output() -> TextIO | None:
    """Return the stream for results; None: it is closed."""
    return sys.stdout.results if isinstance(sys.stdout, RedirectedPrint) else sys.stdout


def _write_escaped(inner: TextIO, text: str) -> int:
    try:
        return inner.write(text)
    except UnicodeEncodeError:
        return inner.write(escape_unencodable(text, inner.encoding or "utf-8"))


def _format_reason(error: Exception) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else _ENDED


def escape_unencodable(text: str, encoding: str) -> str:
    """Escape what ``encoding`` lacks as ``\\uXXXX``, which JSON reads back unchanged."""
    return "".join(
        letter if _is_encodable(letter, encoding) else _escape_letter(letter) for letter in text
    )


def _is_encodable(letter: str, encoding: str) -> bool:
    try:
        letter.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _escape_letter(letter: str) -> str:
    units = letter.encode("utf-16-be", "surrogatepass")
    pairs = (units[at : at + 2].hex() for at in range(0, len(units), 2))
    return "".join(f"\\u{pair}" for pair in pairs)


def fill_closed_streams() -> None:
    """Open the null device for closed standard streams, so that no file gets their numbers.

    Whatever writes to that stream would write into our file.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free


def flush_output() -> None:
    """Flush standard output; raises OutputFailed or BrokenPipeError."""
    ResultStream(get_standard_output()).flush()


@contextmanager
def ignore_closed_output() -> Iterator[None]:
    """Write a result that may stay unread: the action is done, and the exit code says so."""
    try:
        yield
        flush_output()
    except BrokenPipeError:
        discard_output(get_standard_output())


def discard_output(stream: TextIO | None) -> None:
    """Discard the unwritten text of a standard stream: Python would fail again at its exit."""
    try:
        number = -1 if stream is None else stream.fileno()
    except (AttributeError, OSError, ValueError):
        return
    if number >= 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), number)
