"""Results as a table, JSON, YAML or bare values: the formats of the openstack client.

Called by every command that shows something. ``rows`` shows a list of things, ``fields`` one
thing. Columns are chosen with ``-c``; ``stack_name`` and ``Stack Name`` are the same column.
"""

from __future__ import annotations

import argparse
import json
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TextIO

from zonda.hooks.errors import UsageError

from . import plain
from .excerpts import width as width_of

FORMATS = ("table", "json", "yaml", "value")
#: What JSON may hold as it is, and terminals may take as orders: written as escapes.
_STEERING = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def add_arguments(parser: argparse.ArgumentParser, *more: str) -> None:
    """``-f`` and ``-c``; ``more`` are formats that only this command has."""
    group = parser.add_argument_group("output")
    group.add_argument(
        "-f",
        "--format",
        choices=(*FORMATS, *more),
        default="table",
        help="how to show it (default: table)",
    )
    group.add_argument(
        "-c",
        "--column",
        metavar="COLUMN",
        action="append",
        default=[],
        help="show only this column; may be given several times",
    )


def rows(
    out: TextIO,
    arguments: argparse.Namespace,
    columns: Sequence[str],
    found: Iterable[Sequence[Any]],
    width: int | None = None,
) -> None:
    """A list of things. ``width``: of the terminal, to which a table is made to fit."""
    chosen = _chosen(columns, arguments.column)
    cells = [[row[index] for index in chosen] for row in found]
    names = [columns[index] for index in chosen]
    if arguments.format == "table":
        out.write(_table(names, [[_cell(value) for value in row] for row in cells], width))
    elif arguments.format == "value":
        for row in cells:
            out.write(" ".join(_value(out, value) for value in row) + "\n")
    else:
        data(out, arguments.format, [dict(zip(names, row, strict=True)) for row in cells])


def fields(
    out: TextIO,
    arguments: argparse.Namespace,
    thing: Mapping[str, Any],
    width: int | None = None,
) -> None:
    """One thing, as pairs of field and value."""
    names = list(thing)
    chosen = [names[index] for index in _chosen(names, arguments.column)]
    if arguments.format == "table":
        cells = [[name, _cell(thing[name])] for name in chosen]
        out.write(_table(["Field", "Value"], cells, width))
    elif arguments.format == "value":
        for name in chosen:
            out.write(_value(out, thing[name]) + "\n")
    else:
        data(out, arguments.format, {name: thing[name] for name in chosen})


def news(
    out: TextIO, arguments: argparse.Namespace, columns: Sequence[str], row: Sequence[Any]
) -> None:
    """One more row of a list that goes on: JSON has an object a line, a table no frame."""
    chosen = _chosen(columns, arguments.column)
    thing = {columns[index]: row[index] for index in chosen}
    if arguments.format == "json":
        out.write(_json(thing, None) + "\n")
    elif arguments.format == "yaml":
        data(out, "yaml", [thing])
    elif arguments.format == "value":
        out.write(" ".join(_value(out, value) for value in thing.values()) + "\n")
    else:
        out.write("  ".join(plain.line(bare(value)) for value in thing.values()) + "\n")


def check_columns(arguments: argparse.Namespace, columns: Sequence[str]) -> None:
    """Raise UsageError if a column is asked for that is not there."""
    _chosen(columns, arguments.column)


def data(out: TextIO, form: str, value: Any) -> None:
    """A value as JSON or YAML."""
    if form == "yaml":
        import yaml

        yaml.safe_dump(value, out, sort_keys=False, allow_unicode=True, default_flow_style=False)
    else:
        out.write(_json(value, 2) + "\n")


def _json(value: Any, indent: int | None) -> str:
    text = json.dumps(value, indent=indent, ensure_ascii=False, default=str)
    return _STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def moment(seconds: float | None) -> str | None:
    """A point in time as Heat writes it, e.g. ``2026-11-21T10:00:00Z``; None for None.

    What no calendar has is told as the nearest time that it has: one bad row hides no list.
    """
    if seconds is None:
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, OSError, ValueError):
        return "0001-01-01T00:00:00Z" if seconds < 0 else "9999-12-31T23:59:59Z"


def _chosen(columns: Sequence[str], wanted: Sequence[str]) -> list[int]:
    if not wanted:
        return list(range(len(columns)))
    known = [_folded(name) for name in columns]
    for name in wanted:
        if _folded(name) not in known:
            raise UsageError(
                f"There is no column {name}.", hint=f"The columns are {', '.join(columns)}."
            )
    return [known.index(_folded(name)) for name in wanted]


def _folded(name: str) -> str:
    return name.lower().replace("_", " ")


def _cell(value: Any) -> str:
    """A value inside a table: structures as indented JSON."""
    if isinstance(value, (dict, list)):
        return json.dumps(value, indent=2, ensure_ascii=False, default=str)
    return "" if value is None else str(value)


def _value(out: TextIO, value: Any) -> str:
    """A bare value: as it is for programs, without orders for terminals."""
    text = bare(value)
    return plain.lines(text) if out.isatty() else text


def bare(value: Any) -> str:
    """A value on one line; structures as JSON."""
    if isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return "" if value is None else str(value)


def _table(names: Sequence[str], cells: Sequence[Sequence[str]], width: int | None) -> str:
    columns = [_lines(column) for column in zip(names, *cells, strict=True)]
    widths = [max(width_of(line) for lines in column for line in lines) for column in columns]
    if width is not None:
        columns, widths = _fitted(columns, widths, width)
    rule = "+" + "+".join("-" * (each + 2) for each in widths) + "+\n"
    shown = [_row(lines, widths) for lines in zip(*columns, strict=True)]
    return rule + shown[0] + rule + "".join(shown[1:]) + (rule if len(shown) > 1 else "")


def _lines(column: Sequence[str]) -> list[list[str]]:
    """Each cell of a column as lines, without characters that would steer a terminal."""
    return [plain.lines(cell).split("\n") for cell in column]


def _fitted(
    columns: list[list[list[str]]], widths: list[int], width: int
) -> tuple[list[list[list[str]]], list[int]]:
    """The widest column wrapped so that the table fits, unless it would become unreadable."""
    over = sum(widths) + 3 * len(widths) + 1 - width
    widest = widths.index(max(widths))
    if over <= 0 or widths[widest] - over < 16:
        return columns, widths
    widths[widest] -= over
    columns[widest] = [_wrapped(lines, widths[widest]) for lines in columns[widest]]
    return columns, widths


def _wrapped(lines: list[str], width: int) -> list[str]:
    wrapped: list[str] = []
    for line in lines:
        indent = " " * min(len(line) - len(line.lstrip()), width // 2)
        wrapped += textwrap.wrap(line, width, subsequent_indent=indent) or [""]
    return wrapped


def _row(cells: Sequence[list[str]], widths: Sequence[int]) -> str:
    height = max(map(len, cells))
    shown = ""
    for number in range(height):
        parts = [lines[number] if number < len(lines) else "" for lines in cells]
        padded = (part + " " * (w - width_of(part)) for part, w in zip(parts, widths, strict=True))
        shown += "| " + " | ".join(padded) + " |\n"
    return shown
