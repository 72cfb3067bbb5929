"""Output formats as in cliff: table, JSON, YAML, CSV, bare values or shell variables.

Called by every command that shows something. ``rows`` shows a list of things, ``fields`` one
thing. Columns are chosen with ``-c``; ``stack_name`` and ``Stack Name`` are the same column.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

from zonda.core.reports.texts.times import format_duration as format_duration
from zonda.core.reports.texts.times import format_time as format_time
from zonda.hooks.errors import UsageError
from zonda.hooks.text.json_encoder import spell_out_numbers

from ..arguments import argument
from . import sanitize, streams, tables

#: Of a list; one thing can also be shown as SHELL.
FORMATS = ("table", "json", "yaml", "value", "csv")
SHELL = "shell"
TEXT = ("table", "json", "yaml")
#: Characters that JSON allows and terminals may obey: written as escapes.
_STEERING = "[\x7f-\x9f\u2028-\u202e\u2066-\u2069]"


def add_arguments(parser: argparse.ArgumentParser, *more: str) -> None:
    """Add ``-f``, ``-c`` and the width of tables; ``more``: additional formats."""
    add_formats(parser, (*FORMATS, *more), "table", "how to show it (default: table)")


def add_field_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a command that shows one thing."""
    add_arguments(parser, SHELL)


def add_formats(
    parser: argparse.ArgumentParser, formats: Sequence[str], default: str | None, meaning: str
) -> None:
    """Add ``-f`` and ``-c`` of a command that has other formats or another default."""
    group = parser.add_argument_group("output")
    group.add_argument("-f", "--format", choices=formats, default=default, help=meaning)
    group.add_argument(
        "-c",
        "--column",
        metavar="COLUMN",
        action="append",
        default=[],
        help="show only this column; may be given several times",
    )
    group.add_argument(
        "--fit-width",
        action=argparse.BooleanOptionalAction,
        help="make a table fit the terminal (default: where it is shown on one)",
    )
    if SHELL in formats:
        group.add_argument(
            "--prefix", metavar="TEXT", default="", help="of -f shell: what names begin with"
        )


#: ``-f`` of a command whose result is a text, or data.
add_text_format = argument(
    "-f", "--format", choices=TEXT, default=TEXT[0], help="how to show it (default: table)"
)


def write_rows(
    out: TextIO,
    arguments: argparse.Namespace,
    columns: Sequence[str],
    found: Iterable[Sequence[Any]],
    width: int | None = None,
    *,
    spare: Sequence[str] = (),
) -> None:
    """Write a list. ``width``: of the terminal, to which a table is made to fit.

    ``spare``: columns that a narrow terminal does without, unless somebody asks for them.
    """
    chosen = choose_columns(columns, arguments.column)
    cells = [[row[index] for index in chosen] for row in found]
    names = [columns[index] for index in chosen]
    if arguments.format == "table":
        texts = [[format_single_line(value, 2) for value in row] for row in cells]
        spared = () if arguments.column else spare
        for line in tables.format_table(names, texts, _choose_width(arguments, width), spared):
            out.write(line)
    elif arguments.format == "value":
        for row in cells:
            out.write(" ".join(_format_value(out, value) for value in row) + "\n")
    elif arguments.format == "csv":
        _write_csv(out, [names, *cells])
    else:
        write_data(out, arguments.format, [dict(zip(names, row, strict=True)) for row in cells])


def write_fields(
    out: TextIO,
    arguments: argparse.Namespace,
    thing: Mapping[str, Any],
    width: int | None = None,
) -> None:
    """Write one thing as pairs of field and value; as CSV it is a list of one."""
    names = list(thing)
    chosen = [names[index] for index in choose_columns(names, arguments.column)]
    if arguments.format == "table":
        values = [format_single_line(thing[name], 2) for name in chosen]
        for line in tables.format_fields(chosen, values, _choose_width(arguments, width)):
            out.write(line)
    elif arguments.format == "value":
        for name in chosen:
            out.write(_format_value(out, thing[name]) + "\n")
    elif arguments.format == "csv":
        _write_csv(out, [chosen, [thing[name] for name in chosen]])
    elif arguments.format == SHELL:
        write_variables(out, arguments, {name.lower(): thing[name] for name in chosen})
    else:
        write_data(out, arguments.format, {name: thing[name] for name in chosen})


def write_variables(out: TextIO, arguments: argparse.Namespace, things: Mapping[str, Any]) -> None:
    """Write assignments that a shell can ``eval`` safely."""
    for name, value in things.items():
        variable = re.sub(r"\W", "_", f"{arguments.prefix}{name}", flags=re.ASCII)
        if variable[:1].isdigit():
            variable = f"_{variable}"
        text = re.sub(r'([\\"$`])', r"\\\1", _format_value(out, value))
        out.write(f'{variable}="{text}"\n')


def _choose_width(arguments: argparse.Namespace, width: int | None) -> int | None:
    """Choose the width of a table in columns; None: any width."""
    fit = getattr(arguments, "fit_width", None)
    if fit is None:
        return width
    return (width or streams.get_columns()) if fit else None


def _write_csv(out: TextIO, lines: Iterable[Sequence[Any]]) -> None:
    import csv

    writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    for line in lines:
        writer.writerow([_format_csv_value(out, value) for value in line])


def _format_csv_value(out: TextIO, value: Any) -> Any:
    """Return numbers as they are; everything else as text, which is quoted."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if is_number else _format_value(out, value)


def write_head(out: TextIO, arguments: argparse.Namespace, columns: Sequence[str]) -> None:
    """Write the head of a growing list; raises UsageError for a column that does not exist."""
    chosen = choose_columns(columns, arguments.column)
    if arguments.format == "csv":
        _write_csv(out, [[columns[index] for index in chosen]])


def write_row(
    out: TextIO, arguments: argparse.Namespace, columns: Sequence[str], row: Sequence[Any]
) -> None:
    """Write one more row of a growing list: an object a line in JSON, no frame in a table."""
    chosen = choose_columns(columns, arguments.column)
    thing = {columns[index]: row[index] for index in chosen}
    if arguments.format == "json":
        out.write(_format_json(thing, None) + "\n")
    elif arguments.format == "yaml":
        write_data(out, "yaml", [thing])
    elif arguments.format == "value":
        out.write(" ".join(_format_value(out, value) for value in thing.values()) + "\n")
    elif arguments.format == "csv":
        _write_csv(out, [list(thing.values())])
    else:
        out.write(
            "  ".join(sanitize.sanitize_line(format_single_line(value)) for value in thing.values())
            + "\n"
        )


def write_data(out: TextIO, form: str, value: Any) -> None:
    """Write a value as JSON or YAML."""
    if form == "yaml":
        import yaml

        yaml.safe_dump(value, out, sort_keys=False, allow_unicode=True, default_flow_style=False)
    else:
        out.write(_format_json(value, 2) + "\n")


def _format_json(value: Any, indent: int | None) -> str:
    style: dict[str, Any] = {"indent": indent, "ensure_ascii": False, "default": str}
    try:
        text = json.dumps(value, allow_nan=False, **style)
    except ValueError:
        text = json.dumps(spell_out_numbers(value), **style)
    return re.sub(_STEERING, lambda found: f"\\u{ord(found[0]):04x}", text)


def choose_columns(columns: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Choose columns by number, all unless ``wanted``; raises UsageError for an unknown one."""
    if not wanted:
        return list(range(len(columns)))
    known = [_normalize_name(name) for name in columns]
    for name in wanted:
        if _normalize_name(name) not in known:
            raise UsageError(
                f"There is no column {name}.", hint=f"The columns are {', '.join(columns)}."
            )
    return [known.index(_normalize_name(name)) for name in wanted]


def _normalize_name(name: str) -> str:
    return name.lower().replace("_", " ")


def _format_value(out: TextIO, value: Any) -> str:
    """Format a bare value: sanitized on a terminal, as it is for programs."""
    text = format_single_line(value)
    return sanitize.sanitize_lines(text) if out.isatty() else text


def format_single_line(value: Any, indent: int | None = None) -> str:
    """Format a value on one line; structures as JSON, with ``indent`` on several."""
    if isinstance(value, (dict, list)):
        return json.dumps(value, indent=indent, ensure_ascii=False, default=str)
    return "" if value is None else str(value)
