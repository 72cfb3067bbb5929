"""Lines that fit a terminal: broken at blanks only, so that no word or id is torn.

Called by ``tables`` and ``screen``. Marks of colours (``screen.marked``) take no room.
"""

from __future__ import annotations

import re

from .source_excerpt import width as _width

_BLANKS = re.compile("( +)")
#: The marks of ``screen``.
_MARKS = re.compile("[\ue000-\ue004]")


def cells(text: str) -> int:
    """Cells that ``text`` takes on a terminal."""
    return _width(text if text.isascii() else _MARKS.sub("", text))


def longest_word(line: str) -> int:
    """The narrowest that ``wrapped`` can make ``line``."""
    indent = len(line) - len(line.lstrip(" "))
    return indent + max(map(cells, line.split(" ")))


def wrapped(line: str, width: int, hang: int = 0) -> list[str]:
    """``line`` in lines of at most ``width`` cells; a word that is longer stays whole.

    The following lines are indented as the first one, and by ``hang`` more.
    """
    if cells(line) <= width:
        return [line]
    body = line.lstrip(" ")
    indent = " " * (len(line) - len(body))
    first, *rest = _BLANKS.split(body)
    found, at = [], indent + first
    for gap, word in zip(rest[::2], rest[1::2], strict=True):
        if cells(at + gap + word) <= width:
            at += gap + word
        else:
            found.append(at)
            at = indent + " " * hang + word
    return [*found, at]
