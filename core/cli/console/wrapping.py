"""Wraps lines for a terminal: broken at blanks only, so that no word or id is split.

Marks of colours (``console.mark_colour``) take no room.
"""

from __future__ import annotations

import re

from .source_excerpt import measure_width as _width

_BLANKS = "( +)"
#: The marks of ``console``.
_MARKS = "[\ue000-\ue004]"


def measure_cells(text: str) -> int:
    """Measure the cells that ``text`` takes on a terminal."""
    return _width(text if text.isascii() else re.sub(_MARKS, "", text))


def measure_longest_word(line: str) -> int:
    """Measure the smallest width to which ``wrap_line`` can wrap ``line``."""
    indent = len(line) - len(line.lstrip(" "))
    return indent + max(map(measure_cells, line.split(" ")))


def wrap_line(line: str, width: int, hang: int = 0) -> list[str]:
    """Wrap ``line`` at ``width`` cells; a longer word stays whole.

    The following lines are indented as the first one, and by ``hang`` more.
    """
    if measure_cells(line) <= width:
        return [line]
    body = line.lstrip(" ")
    indent = " " * (len(line) - len(body))
    first, *rest = re.split(_BLANKS, body)
    found, at = [], indent + first
    for gap, word in zip(rest[::2], rest[1::2], strict=True):
        if measure_cells(at + gap + word) <= width:
            at += gap + word
        else:
            found.append(at)
            at = indent + " " * hang + word
    return [*found, at]
