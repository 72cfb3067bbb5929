"""Where a command speaks: its streams, whether a person reads them, and the texts errors point at.

Results go to ``out``; everything said to the user goes to ``err``.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TextIO, cast

from . import sanitize
from .streams import ResultStream, StatusStream, standard_output
from .wrapping import wrapped

#: Colours travel through a line as characters that no text has, since what comes from outside must
#: not bring codes of its own.
_MARKS = {"red": "\ue001", "green": "\ue002", "yellow": "\ue003", "bold": "\ue004"}
_END = "\ue000"
#: How much deeper a line goes on that a terminal is too narrow for.
_HANG = 4
_CODES = {
    "\ue000": "\x1b[0m",
    "\ue001": "\x1b[31m",
    "\ue002": "\x1b[32m",
    "\ue003": "\x1b[33m",
    "\ue004": "\x1b[1m",
}


def marked(text: str, colour: str) -> str:
    """``text`` in a colour once ``Screen.draw`` writes it; from outside only what is ``plain``."""
    return f"{_MARKS[colour]}{text}{_END}"


class Screen:
    """The streams of one run.

    ``form`` is the output format that was asked for; ``colour``: whether terminals get colours.
    """

    def __init__(self, form: str = "table", *, colour: bool = True) -> None:
        self.out = cast("TextIO", ResultStream(standard_output()))
        self.err = cast("TextIO", StatusStream(sys.stderr))
        self.form = form
        self._colour = colour
        self._sources: dict[str, str] = {}

    @property
    def on_terminal(self) -> bool:
        """Whether a person reads what is said."""
        return self.err.isatty()

    @property
    def can_ask(self) -> bool:
        """Whether a person can be asked a question."""
        return sys.stdin is not None and sys.stdin.isatty() and self.on_terminal

    @property
    def width(self) -> int | None:
        """Columns of the terminal that results are shown on; None if it is none."""
        return shutil.get_terminal_size().columns if self.out.isatty() else None

    def say(self, line: str) -> None:
        """Tell the user something that is not the result; control characters are spelt out."""
        self.err.write(self._shown(line) + "\n")
        self.err.flush()

    def say_marked(self, line: str) -> None:
        """Like ``say``; what is ``marked`` is coloured on a terminal, as by ``draw``."""
        codes = _CODES if self._colours else dict.fromkeys(_CODES, "")
        self.err.write(sanitize.lines(line, codes) + "\n")

    def ask(self, question: str) -> bool:
        """Whether the user says yes."""
        self.err.write(self._shown(f"{question} [y/N] "))
        self.err.flush()
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    def coloured(self, text: str, colour: str) -> str:
        """``text`` in a colour once it is said, on a terminal."""
        return f"{_MARKS[colour]}{text}{_END}" if self._colours else text

    def show(self, text: str, *, fit: bool = True) -> None:
        """A line of the result for people; control characters are spelt out.

        ``fit``: made to fit a terminal.
        """
        coloured = self._colour and self.out.isatty()
        text = self._fitted(text) if fit else text
        self.out.write(sanitize.lines(text, _CODES if coloured else None) + "\n")

    def painted(self, text: str, colour: str) -> str:
        """``text`` in a colour once it is shown, on a terminal."""
        coloured = self._colour and self.out.isatty()
        return f"{_MARKS[colour]}{text}{_END}" if coloured else text

    @property
    def _colours(self) -> bool:
        return self._colour and self.on_terminal

    def _shown(self, text: str) -> str:
        return sanitize.lines(text, _CODES if self._colours else None)

    def draw(self, line: str) -> None:
        """Write a line of the result; what is ``marked`` is coloured on a terminal."""
        coloured = self._colour and self.out.isatty()
        codes = _CODES if coloured else dict.fromkeys(_CODES, "")
        self.out.write(sanitize.lines(self._fitted(line), codes) + "\n")

    def _fitted(self, text: str) -> str:
        """Lines that the terminal has not to break, where there is one."""
        width = self.width
        if width is None:
            return text
        return "\n".join(part for line in text.split("\n") for part in wrapped(line, width, _HANG))

    def remember_source(self, file: str, text: str) -> None:
        """Keep a text that errors may point into."""
        self._sources[file] = text

    def source(self, file: str) -> str | None:
        """The text of a file that an error points into, if it is at hand."""
        from zonda.core.template.files.local_files import Refused, opened
        from zonda.core.template.source.bundle import Limits  # needed where something is wrong only

        if file not in self._sources:
            try:
                with opened(Path(file)) as stream:
                    self._sources[file] = stream.read(Limits().max_template_bytes).decode(
                        "utf-8", "replace"
                    )
            except (OSError, ValueError, Refused):
                return None
        return self._sources[file]
