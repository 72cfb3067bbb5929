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
from contextlib import contextmanager, redirect_stdout, suppress
from io import BufferedWriter, FileIO, TextIOWrapper
from typing import Any, TextIO, cast

_ENDED = "it is closed"


def get_columns() -> int:
    """The columns that ``COLUMNS`` says, else those of the terminal; 80 where there is none.

    As ``shutil`` has it, which imports what archives need, too: a fortieth of ``stack list``.
    """
    with suppress(ValueError):
        if (said := int(os.environ.get("COLUMNS", ""))) > 0:
            return said
    with suppress(OSError, ValueError, AttributeError):  # no terminal
        return os.get_terminal_size(cast("TextIO", get_standard_output()).fileno()).columns or 80
    return 80


class OutputFailed(Exception):
    """Standard output cannot be written; the message gives the reason."""


class ResultStream:
    """A stream that raises a clear error when it cannot be written. ``inner`` None: closed."""

    def __init__(self, inner: TextIO | None) -> None:
        self._inner = inner

    def write(self, text: str) -> int:
        """Write ``text``; characters that the stream's encoding lacks become ``\\uXXXX``."""
        with self._report_failures():
            if self._inner is None:
                raise ValueError(_ENDED)
            try:
                return self._inner.write(text)
            except UnicodeEncodeError:
                return self._inner.write(escape_unencodable(text, self._inner.encoding or "utf-8"))
        return 0

    def flush(self) -> None:
        """Flush the stream."""
        if self._inner is not None:
            with self._report_failures():
                self._inner.flush()

    @contextmanager
    def _report_failures(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputFailed(error.strerror or str(error)) from error
        except ValueError as error:
            raise OutputFailed(_ENDED) from error

    def isatty(self) -> bool:
        """Whether the stream is a terminal."""
        return self._inner is not None and not self._inner.closed and self._inner.isatty()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class StatusStream(ResultStream):
    """A stream that ignores its failures.

    In place of standard output during a command it takes the prints of plug-ins: ``results`` is
    what it stands for.
    """

    def __init__(self, inner: TextIO | None, results: TextIO | None = None) -> None:
        super().__init__(inner)
        self.results = results

    @contextmanager
    def _report_failures(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            discard_output(self._inner)
        except (OSError, ValueError):
            return


def print_error(message: str) -> None:
    """Print an error before there is a screen."""
    StatusStream(sys.stderr).write(f"zonda: error: {message}\n")


@contextmanager
def redirect_prints_to_stderr() -> Iterator[None]:
    """Redirect prints of plug-ins to standard error: standard output is for results only."""
    with (
        _keep_results_apart(sys.stdout) as results,
        redirect_stdout(cast("TextIO", StatusStream(sys.stderr, results))),
    ):
        yield


@contextmanager
def _keep_results_apart(stream: TextIO | None) -> Iterator[TextIO | None]:
    """The stream on another descriptor, as libraries and children of plug-ins write to number 1."""
    if stream is None or sys.stderr is None or not _is_standard_output(stream):
        yield stream
        return
    stream.flush()
    apart = os.dup(1)
    results = TextIOWrapper(
        BufferedWriter(FileIO(apart, "w")),
        stream.encoding,
        stream.errors,
        line_buffering=stream.isatty(),
    )
    os.dup2(2, 1)
    try:
        yield results
        ResultStream(results).flush()
    finally:
        os.dup2(apart, 1)
        with suppress(OSError):  # it was told already
            results.close()


def _is_standard_output(stream: TextIO) -> bool:
    """Whether ``stream`` writes to the descriptor 1: not in tests, and not if it was closed."""
    try:
        return stream.fileno() == 1
    except (AttributeError, OSError, ValueError):
        return False


def get_standard_output() -> TextIO | None:
    """Return the stream for results; None: it is closed."""
    return sys.stdout.results if isinstance(sys.stdout, StatusStream) else sys.stdout


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
