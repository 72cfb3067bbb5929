"""Errors: places, codes, excerpts, hints, counts, and as data."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from zonda.core.cli.console import errors
from zonda.core.cli.console.console import Screen
from zonda.hooks.errors import (
    Conflict,
    NotFound,
    Place,
    PluginError,
    Related,
    ResourceFailure,
    StoreError,
    TemplateError,
    TemplateWarning,
    UsageError,
    ValidationErrors,
)

WRONG_SIZE = TemplateError(
    "7 is too large",
    path=("resources", "web", "properties", "size"),
    label="Property error",
    place=Place("t.yaml", 2, 9),
    code="ZON140",
    hint="At most 5.",
)


class Terminal(io.StringIO):
    """A stream that a person reads."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def screen() -> Screen:
    made = Screen()
    made.out, made.err = io.StringIO(), io.StringIO()
    return made


def said(screen: Screen) -> str:
    assert isinstance(screen.err, io.StringIO)
    return screen.err.getvalue()


def test_a_fault_of_a_template_has_place_path_code_and_hint(screen: Screen) -> None:
    errors.report_error(screen, ValidationErrors([WRONG_SIZE]))

    assert said(screen) == (
        "t.yaml:2:9: error: Property error: resources.web.properties.size: "
        "7 is too large [ZON140]\n"
        "  hint: At most 5.\n"
    )


def test_several_faults_are_counted(screen: Screen) -> None:
    other = TemplateError("x", place=Place("t.yaml", 1, 1))

    errors.report_error(screen, ValidationErrors([WRONG_SIZE, other]))

    assert said(screen).endswith("2 errors\n")


def test_a_terminal_gets_an_excerpt_with_a_caret(screen: Screen) -> None:
    screen.err = Terminal()
    screen.remember_source("t.yaml", "resources:\n  size: [7]\n")

    errors.report_error(screen, ValidationErrors([WRONG_SIZE]))

    lines = said(screen).splitlines()
    assert lines[1] == "    2 |   size: [7]"
    assert lines[2].index("^") == lines[1].index("[")


def test_data_is_wanted(screen: Screen) -> None:
    screen.form = "json"

    errors.report_error(screen, ValidationErrors([WRONG_SIZE]))

    assert isinstance(screen.out, io.StringIO)
    assert json.loads(screen.out.getvalue()) == {
        "errors": [
            {
                "file": "t.yaml",
                "line": 2,
                "column": 9,
                "way": [],
                "path": "resources.web.properties.size",
                "message": "Property error: resources.web.properties.size: 7 is too large",
                "code": "ZON140",
                "hint": "At most 5.",
                "related": [],
            }
        ]
    }
    assert said(screen) == ""


@pytest.mark.parametrize(
    ("error", "code"),
    [
        pytest.param(WRONG_SIZE, 2, id="template"),
        pytest.param(UsageError("no"), 2, id="usage"),
        pytest.param(NotFound("Stack", "x"), 1, id="not-found"),
        pytest.param(Conflict("busy"), 1, id="conflict"),
        pytest.param(ResourceFailure("down"), 1, id="outside"),
        pytest.param(PluginError("two of them"), 1, id="plug-in"),
        pytest.param(StoreError("full"), 1, id="store"),
        pytest.param(ZeroDivisionError("1/0"), 1, id="a-fault-of-ours"),
    ],
)
def test_exit_codes(screen: Screen, error: Exception, code: int) -> None:
    assert errors.report_error(screen, error) == code
    assert "Traceback" not in said(screen)


def test_what_is_related_is_told_as_notes(screen: Screen) -> None:
    error = TemplateError("x", place=Place("e.yaml", 1, 1))
    error.related = (Related("p is declared here", Place("t.yaml", 3, 4)),)

    errors.report_error(screen, ValidationErrors([error]))

    assert "  t.yaml:3:4: note: p is declared here\n" in said(screen)


def test_the_way_to_a_nested_template_is_told(screen: Screen) -> None:
    error = TemplateError("x", place=Place("c.yaml", 1, 1))
    error.way = (
        Related("a has the type g", Place("t.yaml", 3, 4)),
        Related("0 has the type c.yaml"),
    )

    errors.report_error(screen, ValidationErrors([error]))

    assert said(screen).splitlines()[1:] == [
        "  t.yaml:3:4: on the way: a has the type g",
        "  on the way: 0 has the type c.yaml",
    ]
    assert errors.as_data(error)["way"][0]["line"] == 3


def test_warnings_come_first_and_are_not_counted(screen: Screen) -> None:
    warning = TemplateWarning("ZON602", "p is used nowhere", place=Place("t.yaml", 3, 4))

    code = errors.report_error(screen, ValidationErrors([WRONG_SIZE], [warning]))

    assert code == 2
    assert said(screen).startswith("t.yaml:3:4: warning: p is used nowhere [ZON602]\n")
    assert "2 errors" not in said(screen)


def test_the_name_of_a_file_stays_on_its_line(screen: Screen) -> None:
    place = Place("a\nerror: b.yaml", 1, 2)
    way = (Related("x has the type a", place),)
    fault = TemplateError("no", place=place, code="ZON1")
    fault.way = fault.related = way
    errors.say_error(screen, fault)
    errors.say_error(screen, UsageError("a\nb.yaml cannot be read"))
    assert said(screen) == (
        "a\\nerror: b.yaml:1:2: error: no [ZON1]\n"
        "  a\\nerror: b.yaml:1:2: on the way: x has the type a\n"
        "  a\\nerror: b.yaml:1:2: note: x has the type a\n"
        "error: a\\nb.yaml cannot be read [ZON204]\n"
    )


def test_further_lines_of_a_text_look_like_no_other_error(screen: Screen) -> None:
    errors.say_error(screen, ResourceFailure("it said\nerror: all is lost\n  twice"))
    assert said(screen) == "error: it said\n    error: all is lost\n  twice [ZON300]\n"


def test_each_fault_of_the_settings_has_a_line(zonda: Any, write: Any) -> None:
    path = write("home/zonda.toml", "nope = 1\nnada = 2\n")
    assert zonda("stack", "list", code=2).err.splitlines()[:3] == [
        f"error: {path}:1: there is no setting nope [ZON207]",
        f"error: {path}:2: there is no setting nada [ZON207]",
        "2 errors",
    ]
