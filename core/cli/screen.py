"""Where a command speaks: its streams, whether a person reads them, and the texts errors point at.

Results go to ``out``; everything said to the user goes to ``err``.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

_COLOURS = {"red": "31", "green": "32", "yellow": "33", "bold": "1"}


class Screen:
    """The streams of one run. ``form`` is the output format that was asked for."""

    def __init__(self, form: str = "table") -> None:
        self.out = sys.stdout
        self.err = sys.stderr
        self.form = form
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
        """Tell the user something that is not the result."""
        self.err.write(line + "\n")
        self.err.flush()

    def ask(self, question: str) -> bool:
        """Whether the user says yes."""
        self.err.write(f"{question} [y/N] ")
        self.err.flush()
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    def coloured(self, text: str, colour: str) -> str:
        """``text`` in a colour, on a terminal."""
        return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if self.on_terminal else text

    def remember_source(self, file: str, text: str) -> None:
        """Keep a text that errors may point into."""
        self._sources[file] = text

    def source(self, file: str) -> str | None:
        """The text of a file that an error points into, if it is at hand."""
        if file not in self._sources:
            try:
                self._sources[file] = Path(file).read_text(encoding="utf-8", errors="replace")
            except (OSError, ValueError):
                return None
        return self._sources[file]
