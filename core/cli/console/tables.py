"""Tables with frames, made to fit a terminal without breaking a word.

Called by ``output``. What does not fit is wrapped at blanks; then columns are left out that a list
can spare; what is still too wide is shown as records, one value a line.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence

from . import sanitize
from .wrapping import cells, longest_word, wrapped

#: A cell as lines, without characters that would steer a terminal.
_Cell = list[str]
#: A longer line sticks out of the frame: each line of a table is padded to the width of its column.
_WIDEST = 1000


def table(
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    width: int | None = None,
    spare: Sequence[str] = (),
) -> Iterator[str]:
    """Rows in a frame, line by line. ``width``: what it has to fit, if anything.

    ``spare``: columns that can be left out, the first ones first.
    """
    columns = [_lines(column) for column in zip(names, *rows, strict=True)]
    widths = [
        min(_WIDEST, max(cells(line) for cell in column for line in cell)) for column in columns
    ]
    if width is None or sum(widths) + _frame(columns) <= width:
        yield from _framed(columns, widths)
        return
    left_out = _left_out(names, columns, width, [name for name in spare if name in names])
    columns = [column for name, column in zip(names, columns, strict=True) if name not in left_out]
    note = _note(left_out, width) if left_out and rows else ""
    shares = _shares(columns, width - _frame(columns))
    if shares is None:
        yield _records(columns, width) + note
        return
    fitting = [
        [[part for line in cell for part in wrapped(line, share)] for cell in column]
        for column, share in zip(columns, shares, strict=True)
    ]
    yield from _framed(fitting, shares)
    yield note


def fields(names: Sequence[str], values: Sequence[str], width: int | None = None) -> Iterator[str]:
    """One thing as a table of its fields, or as a record where a terminal is too narrow for it."""
    rows = list(zip(names, values, strict=True))
    columns = [_lines(column) for column in zip(("Field", "Value"), *rows, strict=True)]
    if width is not None and _shares(columns, width - _frame(columns)) is None:
        yield _records([_lines(pair) for pair in rows], width)
        return
    yield from table(("Field", "Value"), rows, width)


def _lines(column: Sequence[str]) -> list[_Cell]:
    return [sanitize.lines(cell).split("\n") for cell in column]


def _frame(columns: Sequence[object]) -> int:
    """The cells that a frame takes."""
    return 3 * len(columns) + 1


def _left_out(
    names: Sequence[str], columns: Sequence[list[_Cell]], width: int, spare: Sequence[str]
) -> Collection[str]:
    """The fewest of the first spare columns without which the rest fits."""
    for number in range(len(spare) + 1):
        kept = [c for name, c in zip(names, columns, strict=True) if name not in spare[:number]]
        if _shares(kept, width - _frame(kept)) is not None:
            return spare[:number]
    return ()


def _note(names: Collection[str], width: int) -> str:
    shown = f"Not shown for want of room: {', '.join(names)} (-c COLUMN, --no-fit-width)."
    return "\n".join(wrapped(shown, width)) + "\n"


def _shares(columns: Sequence[list[_Cell]], space: int) -> list[int] | None:
    """The width of each column, wide ones giving way first; None if the words need more room."""
    widths = [max(cells(line) for cell in column for line in cell) for column in columns]
    least = [max(longest_word(line) for cell in column for line in cell) for column in columns]
    if sum(least) > space:
        return None

    def shares(most: int) -> list[int]:
        return [min(wide, max(need, most)) for wide, need in zip(widths, least, strict=True)]

    return shares(bisect_right(range(max(widths) + 1), space, key=lambda n: sum(shares(n))) - 1)


def _framed(columns: Sequence[list[_Cell]], widths: Sequence[int]) -> Iterator[str]:
    rule = "+" + "+".join("-" * (each + 2) for each in widths) + "+\n"
    head, *rows = zip(*columns, strict=True)
    yield rule
    yield from _row(head, widths)
    yield rule
    for row in rows:
        yield from _row(row, widths)
    if rows:
        yield rule


def _row(row: Sequence[_Cell], widths: Sequence[int]) -> Iterator[str]:
    for number in range(max(map(len, row))):
        parts = [lines[number] if number < len(lines) else "" for lines in row]
        padded = (part + " " * (w - cells(part)) for part, w in zip(parts, widths, strict=True))
        yield "| " + " | ".join(padded) + " |\n"


def _records(columns: Sequence[list[_Cell]], width: int) -> str:
    """Each row as lines of name and value; a blank line between two rows."""
    names, *rows = zip(*columns, strict=True)
    label = max(cells(" ".join(name)) for name in names) + 2
    shown = ("\n".join(_record(names, row, label, width)) + "\n" for row in rows)
    return "\n".join(shown)


def _record(names: Sequence[_Cell], row: Sequence[_Cell], label: int, width: int) -> Iterator[str]:
    for name, cell in zip(names, row, strict=True):
        head = " ".join(name)
        space = width - label
        if max(map(longest_word, cell)) <= space:
            parts = [part for line in cell for part in wrapped(line, space)]
            head += " " * (label - cells(head))
            yield (head + parts[0]).rstrip()
            yield from (" " * label + part for part in parts[1:])
        else:  # on lines of its own: what is longer than these is left to the terminal
            yield head
            yield from ("  " + part for line in cell for part in wrapped(line, width - 2))
