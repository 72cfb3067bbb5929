"""The source line of an error with a caret below it, as wide as a terminal shows it.

Columns of places count characters; terminals count cells:
a tab takes several, a wide character two, a combining one none.
"""

from __future__ import annotations

import unicodedata

from zonda.hooks.errors import Place

#: The most cells of a line that are shown, and how many of them in front of the caret.
_WIDEST, _BEFORE = 100, 60
_TAB = 4
_CUT = "…"


def format_excerpt(text: str | None, place: Place) -> list[str]:
    """Format the line of ``place`` with a caret below it; empty without the text."""
    lines = (text or "").split("\n")
    if not 1 <= place.line <= len(lines) or not text:
        return []
    line = lines[place.line - 1].rstrip("\r")
    at = min(place.column - 1, len(line))
    cells = [_escape_letter(letter) for letter in line]
    first = _find_start(cells, at)
    shown = (_CUT if first else "") + "".join(cells[first:])
    indent = measure_width("".join(cells[first:at])) + (1 if first else 0)
    number = f"{place.line:>5} | "
    caret = " " * (len(number) + indent) + "^"
    return [(number + _truncate(shown)).rstrip(), caret]


def _find_start(cells: list[str], at: int) -> int:
    """Find the first cell to show, so that the caret is visible."""
    used, first = 0, at
    while first > 0 and used + measure_width(cells[first - 1]) <= _BEFORE:
        first -= 1
        used += measure_width(cells[first])
    return first


def _truncate(line: str) -> str:
    if measure_width(line) <= _WIDEST:
        return line
    used = 0
    for position, letter in enumerate(line):
        used += measure_width(letter)
        if used >= _WIDEST:
            return line[:position] + _CUT
    return line


def _escape_letter(letter: str) -> str:
    """Escape a character that would steer the terminal."""
    if letter == "\t":
        return " " * _TAB
    if letter.isprintable() or unicodedata.combining(letter):
        return letter
    return letter.encode("unicode_escape").decode()


def measure_width(text: str) -> int:
    """Measure the cells that ``text`` takes on a terminal."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
