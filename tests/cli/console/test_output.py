"""Tables, JSON, YAML and bare values."""

from __future__ import annotations

import argparse
import io
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from zonda.core.cli.console import formats
from zonda.hooks.errors import UsageError

COLUMNS = ("ID", "Stack Name", "Value")
ROWS: list[tuple[Any, ...]] = [("1", "web", {"a": [1, 2]}), ("2", "dätabase", None)]


def shown(form: str, *columns: str, width: int | None = None) -> str:
    out = io.StringIO()
    arguments = argparse.Namespace(format=form, column=list(columns))
    formats.write_rows(out, arguments, COLUMNS, ROWS, width)
    return out.getvalue()


def test_a_table_has_aligned_columns_and_structures_over_several_lines() -> None:
    assert shown("table") == (
        "+----+------------+----------+\n"
        "| ID | Stack Name | Value    |\n"
        "+----+------------+----------+\n"
        "| 1  | web        | {        |\n"
        '|    |            |   "a": [ |\n'
        "|    |            |     1,   |\n"
        "|    |            |     2    |\n"
        "|    |            |   ]      |\n"
        "|    |            | }        |\n"
        "| 2  | dätabase   |          |\n"
        "+----+------------+----------+\n"
    )


def test_json_and_yaml_are_lists_of_maps() -> None:
    wanted = [dict(zip(COLUMNS, row, strict=True)) for row in ROWS]

    assert json.loads(shown("json")) == wanted
    assert yaml.safe_load(shown("yaml")) == wanted


def test_numbers_that_no_json_has_are_texts_in_it() -> None:
    out = io.StringIO()
    formats.write_data(out, "json", {"a": [float("nan"), float("-inf"), 1.5]})
    assert json.loads(out.getvalue(), parse_constant=pytest.fail) == {"a": ["nan", "-inf", 1.5]}


def test_values_stand_bare() -> None:
    assert shown("value") == '1 web {"a": [1, 2]}\n2 dätabase \n'


@pytest.mark.parametrize("name", ["Stack Name", "stack_name", "STACK NAME"])
def test_a_column_is_chosen_by_either_spelling(name: str) -> None:
    assert shown("value", name) == "web\ndätabase\n"


def test_chosen_columns_stand_in_the_order_of_choosing() -> None:
    assert json.loads(shown("json", "stack_name", "id"))[0] == {"Stack Name": "web", "ID": "1"}


def test_an_unknown_column_is_a_wrong_call() -> None:
    with pytest.raises(UsageError) as caught:
        shown("table", "colour")

    assert "ID, Stack Name, Value" in caught.value.hint


def test_one_thing_is_a_table_of_fields() -> None:
    out = io.StringIO()
    arguments = argparse.Namespace(format="table", column=[])

    formats.write_fields(out, arguments, {"id": "1", "note": "two\nlines"})

    assert out.getvalue() == (
        "+-------+-------+\n"
        "| Field | Value |\n"
        "+-------+-------+\n"
        "| id    | 1     |\n"
        "| note  | two   |\n"
        "|       | lines |\n"
        "+-------+-------+\n"
    )


def test_wide_letters_take_two_columns() -> None:
    out = io.StringIO()

    formats.write_rows(
        out, argparse.Namespace(format="table", column=[]), ("n",), [("日本",), ("ab",)]
    )

    assert "| 日本 |\n| ab   |\n" in out.getvalue()


def test_what_would_steer_a_terminal_is_shown_as_text() -> None:
    out = io.StringIO()

    formats.write_rows(
        out, argparse.Namespace(format="table", column=[]), ("n",), [("\x1b[31mred",)]
    )

    assert "\x1b" not in out.getvalue()
    assert "\\x1b[31mred" in out.getvalue()


def listed(
    columns: tuple[str, ...], rows: list[tuple[Any, ...]], width: int | None, **given: Any
) -> list[str]:
    """The lines of a table on a terminal."""
    out = io.StringIO()
    arguments = argparse.Namespace(format="table", column=given.pop("column", []), **given)
    formats.write_rows(out, arguments, columns, rows, width, spare=("id", "time"))
    return out.getvalue().splitlines()


def test_a_table_is_made_to_fit_the_terminal() -> None:
    lines = listed(("k", "v"), [("a", "word " * 30)], 60)
    assert max(map(len, lines)) <= 60


WIDE = ("01a203fa-fe5b-7025-b5c7-1a79579303b6", "OS::Mistral::ExternalResource", "/a/path/to/it")


@pytest.mark.parametrize("width", [200, 100, 80, 60, 40, 20])
def test_no_word_of_a_table_is_broken(width: int) -> None:
    """Words that are longer than the whole line stand alone on one."""
    columns = ("name", "type", "path", "reason")
    rows: list[tuple[Any, ...]] = [
        ("web", *WIDE[1:], "all is well " * 9),
        ("db", "T", "/", {"k": 1}),
    ]

    lines = listed(columns, rows, width)

    shown = "\n".join(lines)
    assert all(word in shown for word in (*columns, *WIDE[1:], "well", '"k": 1'))
    longest = max(map(len, WIDE[1:])) + 2
    assert max(map(len, lines)) <= max(width, longest)


def test_a_narrow_terminal_does_without_the_columns_that_a_list_can_spare() -> None:
    columns, row = ("id", "name", "state", "time"), (WIDE[0], "web", "CREATE_COMPLETE", "12:00:00Z")

    assert "id" in listed(columns, [row], 80)[1]
    lines = listed(columns, [row], 60)
    assert lines[1] == "| name | state           | time      |"
    assert lines[-1] == "Not shown for want of room: id (-c COLUMN, --no-fit-width)."
    assert listed(columns, [row], 36)[1] == "| name | state           |"


def test_a_column_that_was_asked_for_is_not_left_out() -> None:
    lines = listed(("id", "name"), [(WIDE[0], "web"), (WIDE[0], "db")], 40, column=["id", "name"])
    assert lines == [
        "id",
        f"  {WIDE[0]}",
        "name  web",
        "",
        "id",
        f"  {WIDE[0]}",
        "name  db",
    ]


def test_the_width_can_be_said() -> None:
    columns, row = ("id", "name"), (WIDE[0], "a word " * 20)
    assert max(map(len, listed(columns, [row], 60, fit_width=False))) > 100
    assert max(map(len, listed(columns, [row], None, fit_width=True))) <= 80


def test_one_thing_fits_the_terminal_too() -> None:
    out = io.StringIO()
    arguments = argparse.Namespace(format="table", column=[])

    formats.write_fields(out, arguments, {"id": WIDE[0], "note": "all is well"}, 30)

    assert out.getvalue() == f"id\n  {WIDE[0]}\nnote  all is well\n"


def test_csv_is_as_cliff_writes_it() -> None:
    assert shown("csv") == (
        '"ID","Stack Name","Value"\n"1","web","{""a"": [1, 2]}"\n"2","dätabase",""\n'
    )
    out = io.StringIO()
    arguments = argparse.Namespace(format="csv", column=["name", "count"])
    formats.write_fields(out, arguments, {"count": 3, "name": 'a "b"', "is": True})
    assert out.getvalue() == '"name","count"\n"a ""b""",3\n'


EVIL = "a $(touch pwned) `touch pwned` \"; touch pwned; ' \\ $HOME\nend"


def test_what_a_shell_reads_is_the_value_whatever_is_in_it(tmp_path: Path) -> None:
    out = io.StringIO()
    arguments = argparse.Namespace(format="shell", column=[], prefix="my-")

    formats.write_fields(out, arguments, {"Stack Name": EVIL, "9": 1, "map": {"a": "$b"}})

    script = out.getvalue() + 'printf \'%s|%s|%s\' "$my_stack_name" "$my_9" "$my_map"'
    done = subprocess.run(["sh", "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (f'{EVIL}|1|{{"a": "$b"}}', "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        pytest.param(None, None, id="never"),
        pytest.param(0.0, "1970-01-01T00:00:00Z", id="epoch"),
        pytest.param(1_700_000_000.9, "2023-11-14T22:13:20Z", id="seconds-are-cut"),
        pytest.param(6e11, "9999-12-31T23:59:59Z", id="after-the-calendar"),
        pytest.param(1e300, "9999-12-31T23:59:59Z", id="no-time-of-the-machine"),
        pytest.param(-1e300, "0001-01-01T00:00:00Z", id="before-the-calendar"),
        pytest.param(float("inf"), "9999-12-31T23:59:59Z", id="infinite"),
    ],
)
def test_moments_are_written_as_heat_does(seconds: float | None, text: str | None) -> None:
    assert formats.format_time(seconds) == text


def test_a_very_long_line_makes_no_other_line_long() -> None:
    out = io.StringIO()
    arguments = argparse.Namespace(format="table", column=[])
    value = "\n".join(["x" * 100_000, *["y"] * 1000])

    formats.write_fields(out, arguments, {"Value": value})

    long, *others = sorted(out.getvalue().splitlines(), key=len, reverse=True)
    assert "x" * 100_000 in long
    assert len(others[0]) < 1100
