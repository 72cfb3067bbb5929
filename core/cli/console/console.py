"""The screen of a command: its streams, questions, colours, and the sources of errors.

Results go to ``out``; everything said to the user goes to ``err``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TextIO, cast

from zonda.hooks.errors import UsageError

from . import sanitize
from .streams import ResultStream, StatusStream, get_columns, get_standard_output
from .wrapping import wrap_line

#: Colours travel through a line as characters that no text has, since what comes from outside must
#: not bring codes of its own.
_MARKS = {"red": "\ue001", "green": "\ue002", "yellow": "\ue003", "bold": "\ue004"}
_END = "\ue000"
#: The extra indent of a continued line where a terminal is too narrow.
_HANG = 4
_CODES = {
    "\ue000": "\x1b[0m",
    "\ue001": "\x1b[31m",
    "\ue002": "\x1b[32m",
    "\ue003": "\x1b[33m",
    "\ue004": "\x1b[1m",
}


def mark_colour(text: str, colour: str) -> str:
    """Mark ``text`` with a colour that ``Screen.draw`` writes; outside text must be sanitized."""
    return f"{_MARKS[colour]}{text}{_END}"


class Screen:
    """The streams of one run.

    ``form`` is the output format that was asked for; ``colour``: whether terminals get colours.
    """

    def __init__(self, form: str = "table", *, colour: bool = True) -> None:
        self.out = cast("TextIO", ResultStream(get_standard_output()))
        self.err = cast("TextIO", StatusStream(sys.stderr))
        self.form = form
        self._colour = colour
        self._sources: dict[str, str] = {}

    @property
    def on_terminal(self) -> bool:
        """Whether messages go to a terminal."""
        return self.err.isatty()

    @property
    def can_ask(self) -> bool:
        """Whether the user can be asked a question."""
        return sys.stdin is not None and sys.stdin.isatty() and self.on_terminal

    @property
    def width(self) -> int | None:
        """The columns of the terminal that shows results; None if it is no terminal."""
        return get_columns() if self.out.isatty() else None

    def say(self, line: str) -> None:
        """Print a message that is not the result; control characters are escaped."""
        self.err.write(self._sanitize_message(line) + "\n")
        self.err.flush()

    def say_marked(self, line: str) -> None:
        """Print a message; text marked with a colour is coloured on a terminal, as by ``draw``."""
        self.err.write(sanitize.sanitize_lines(line, self._choose_codes(self.err)) + "\n")

    def ask(self, question: str) -> bool:
        """Ask a question; whether the user says yes."""
        self.err.write(self._sanitize_message(f"{question} [y/N] "))
        self.err.flush()
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    def confirm(self, question: str, doing: str, done: str) -> bool:
        """Ask before ``doing`` what cannot be undone; whether the user says yes."""
        if not self.can_ask:
            raise UsageError(f"{doing} needs a yes: give -y where nobody can be asked.")
        if self.ask(question):
            return True
        self.say(f"Nothing was {done}.")
        return False

    def colour_message(self, text: str, colour: str) -> str:
        """Colour a part of a message, on a terminal."""
        return mark_colour(text, colour) if self._has_colours(self.err) else text

    def show(self, text: str, *, fit: bool = True) -> None:
        """Print a line of the result; control characters are escaped.

        ``fit``: made to fit a terminal.
        """
        text = self._wrap_result(text) if fit else text
        codes = _CODES if self._has_colours(self.out) else None
        self.out.write(sanitize.sanitize_lines(text, codes) + "\n")

    def colour_result(self, text: str, colour: str) -> str:
        """Colour a part of the result, on a terminal."""
        return mark_colour(text, colour) if self._has_colours(self.out) else text

    def _has_colours(self, stream: TextIO) -> bool:
        return self._colour and stream.isatty()

    def _choose_codes(self, stream: TextIO) -> dict[str, str]:
        return _CODES if self._has_colours(stream) else dict.fromkeys(_CODES, "")

    def _sanitize_message(self, text: str) -> str:
        return sanitize.sanitize_lines(text, _CODES if self._has_colours(self.err) else None)

    def draw(self, line: str) -> None:
        """Print a line of the result; text marked with a colour is coloured on a terminal."""
        line = sanitize.sanitize_lines(self._wrap_result(line), self._choose_codes(self.out))
        self.out.write(line + "\n")

    def _wrap_result(self, text: str) -> str:
        """Wrap the lines to the terminal, where there is one."""
        width = self.width
        if width is None:
            return text
        return "\n".join(
            part for line in text.split("\n") for part in wrap_line(line, width, _HANG)
        )

    def remember_source(self, file: str, text: str) -> None:
        """Keep a text for the excerpts of errors."""
        self._sources[file] = text

    def source(self, file: str) -> str | None:
        """Return the text of a file for the excerpt of an error; None where it cannot be read."""
        from zonda.core.template.files.local_files import Refused, open_file
        from zonda.core.template.source.bundle import Limits  # needed where something is wrong only

        if file not in self._sources:
            try:
                with open_file(Path(file)) as stream:
                    self._sources[file] = stream.read(Limits().max_template_bytes).decode(
                        "utf-8", "replace"
                    )
            except (OSError, ValueError, Refused):
                return None
        return self._sources[file]
