"""Tables, JSON, YAML and bare values."""

from __future__ import annotations

import argparse
import io
import json
from typing import Any

import pytest
import yaml

from zonda.core.cli import output
from zonda.hooks.errors import UsageError

COLUMNS = ("ID", "Stack Name", "Value")
ROWS: list[tuple[Any, ...]] = [("1", "web", {"a": [1, 2]}), ("2", "dätabase", None)]


def shown(form: str, *columns: str, width: int | None = None) -> str:
    out = io.StringIO()
    arguments = argparse.Namespace(format=form, column=list(columns))
    output.rows(out, arguments, COLUMNS, ROWS, width)
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

    output.fields(out, arguments, {"id": "1", "note": "two\nlines"})

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

    output.rows(out, argparse.Namespace(format="table", column=[]), ("n",), [("日本",), ("ab",)])

    assert "| 日本 |\n| ab   |\n" in out.getvalue()


def test_what_would_steer_a_terminal_is_shown_as_text() -> None:
    out = io.StringIO()

    output.rows(out, argparse.Namespace(format="table", column=[]), ("n",), [("\x1b[31mred",)])

    assert "\x1b" not in out.getvalue()
    assert "\\x1b[31mred" in out.getvalue()


def test_a_table_is_made_to_fit_the_terminal() -> None:
    out = io.StringIO()
    rows = [("a", "word " * 30)]

    output.rows(out, argparse.Namespace(format="table", column=[]), ("k", "v"), rows, 60)

    assert max(map(len, out.getvalue().splitlines())) <= 60


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
    assert output.moment(seconds) == text
