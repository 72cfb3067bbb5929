"""Tables with frames, made to fit a terminal without breaking a word.

What does not fit is wrapped at blanks; then columns are left out that a list
can spare; what is still too wide is shown as records, one value a line.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence

from . import sanitize
from .wrapping import measure_cells, measure_longest_word, wrap_line

#: A cell as lines, without characters that would steer a terminal.
_Cell = list[str]
#: A longer line sticks out of the frame: each line of a table is padded to the width of its column.
_WIDEST = 1000


def format_table(
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    width: int | None = None,
    spare: Sequence[str] = (),
) -> Iterator[str]:
    """Format rows in a frame, line by line. ``width``: the maximum width, if any.

    ``spare``: columns that can be left out, the first ones first.
    """
    columns = [_split_cells(column) for column in zip(names, *rows, strict=True)]
    widths = [
        min(_WIDEST, max(measure_cells(line) for cell in column for line in cell))
        for column in columns
    ]
    if width is None or sum(widths) + _count_frame_cells(columns) <= width:
        yield from _format_framed(columns, widths)
        return
    left_out = _choose_omitted(names, columns, width, [name for name in spare if name in names])
    columns = [column for name, column in zip(names, columns, strict=True) if name not in left_out]
    note = _format_note(left_out, width) if left_out and rows else ""
    shares = _distribute_width(columns, width - _count_frame_cells(columns))
    if shares is None:
        yield _format_records(columns, width) + note
        return
    fitting = [
        [[part for line in cell for part in wrap_line(line, share)] for cell in column]
        for column, share in zip(columns, shares, strict=True)
    ]
    yield from _format_framed(fitting, shares)
    yield note


def format_fields(
    names: Sequence[str], values: Sequence[str], width: int | None = None
) -> Iterator[str]:
    """Format one thing as a table of its fields, or as a record on a narrow terminal."""
    rows = list(zip(names, values, strict=True))
    columns = [_split_cells(column) for column in zip(("Field", "Value"), *rows, strict=True)]
    if (
        width is not None
        and _distribute_width(columns, width - _count_frame_cells(columns)) is None
    ):
        yield _format_records([_split_cells(pair) for pair in rows], width)
        return
    yield from format_table(("Field", "Value"), rows, width)


def _split_cells(column: Sequence[str]) -> list[_Cell]:
    return [sanitize.sanitize_lines(cell).split("\n") for cell in column]


def _count_frame_cells(columns: Sequence[object]) -> int:
    """Count the cells that a frame takes."""
    return 3 * len(columns) + 1


def _choose_omitted(
    names: Sequence[str], columns: Sequence[list[_Cell]], width: int, spare: Sequence[str]
) -> Collection[str]:
    """Choose the fewest spare columns to omit so that the rest fits, from the first on."""
    for number in range(len(spare) + 1):
        kept = [c for name, c in zip(names, columns, strict=True) if name not in spare[:number]]
        if _distribute_width(kept, width - _count_frame_cells(kept)) is not None:
            return spare[:number]
    return ()


def _format_note(names: Collection[str], width: int) -> str:
    shown = f"Not shown for want of room: {', '.join(names)} (-c COLUMN, --no-fit-width)."
    return "\n".join(wrap_line(shown, width)) + "\n"


def _distribute_width(columns: Sequence[list[_Cell]], space: int) -> list[int] | None:
    """Compute the width of each column, wide ones shrink first; None if words do not fit."""
    widths = [max(measure_cells(line) for cell in column for line in cell) for column in columns]
    least = [
        max(measure_longest_word(line) for cell in column for line in cell) for column in columns
    ]
    if sum(least) > space:
        return None

    def shares(most: int) -> list[int]:
        return [min(wide, max(need, most)) for wide, need in zip(widths, least, strict=True)]

    return shares(bisect_right(range(max(widths) + 1), space, key=lambda n: sum(shares(n))) - 1)


def _format_framed(columns: Sequence[list[_Cell]], widths: Sequence[int]) -> Iterator[str]:
    rule = "+" + "+".join("-" * (each + 2) for each in widths) + "+\n"
    head, *rows = zip(*columns, strict=True)
    yield rule
    yield from _format_row(head, widths)
    yield rule
    for row in rows:
        yield from _format_row(row, widths)
    if rows:
        yield rule


def _format_row(row: Sequence[_Cell], widths: Sequence[int]) -> Iterator[str]:
    for number in range(max(map(len, row))):
        parts = [lines[number] if number < len(lines) else "" for lines in row]
        padded = (
            part + " " * (w - measure_cells(part)) for part, w in zip(parts, widths, strict=True)
        )
        yield "| " + " | ".join(padded) + " |\n"


def _format_records(columns: Sequence[list[_Cell]], width: int) -> str:
    """Format each row as lines of name and value; a blank line between two rows."""
    names, *rows = zip(*columns, strict=True)
    label = max(measure_cells(" ".join(name)) for name in names) + 2
    shown = ("\n".join(_format_record(names, row, label, width)) + "\n" for row in rows)
    return "\n".join(shown)


def _format_record(
    names: Sequence[_Cell], row: Sequence[_Cell], label: int, width: int
) -> Iterator[str]:
    for name, cell in zip(names, row, strict=True):
        head = " ".join(name)
        space = width - label
        if max(map(measure_longest_word, cell)) <= space:
            parts = [part for line in cell for part in wrap_line(line, space)]
            head += " " * (label - measure_cells(head))
            yield (head + parts[0]).rstrip()
            yield from (" " * label + part for part in parts[1:])
        else:  # on lines of its own: what is longer than these is left to the terminal
            yield head
            yield from ("  " + part for line in cell for part in wrap_line(line, width - 2))
