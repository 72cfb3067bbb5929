"""The lines of the engine log: one record each, whatever strangers have in their texts."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from zonda.core.system import engine_log

#: Line breaks, ESC, DEL, the CSI of eight bits, NEL, line separator, right-to-left override.
NASTY = "\r\n2026 INFO\x1b[31m\x7f\x9b31m\x85\u2028\u202e\U000e0001"
Lines = Callable[[], list[str]]


@pytest.fixture(params=["text", "json"])
def form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def lines(tmp_path: Path, form: str) -> Iterator[Lines]:
    engine_log.open_log("engine.log", form, tmp_path)
    yield lambda: (tmp_path / "engine.log").read_text().splitlines()
    engine_log.open_log("off", form, tmp_path)


def write(**fields: object) -> None:
    logging.getLogger(engine_log.LOGGER).info("x", extra={"fields": fields})


def test_no_character_of_a_field_steers_a_terminal_or_ends_a_line(lines: Lines, form: str) -> None:
    write(path=f"/v1/p/stacks/\u00e9{NASTY}", status=404)
    (line,) = lines()
    assert line.isprintable()
    assert "\u00e9" in line
    if form == "json":
        assert json.loads(line)["path"] == f"/v1/p/stacks/\u00e9{NASTY}"


def test_no_line_of_a_traceback_looks_like_another_record(lines: Lines, form: str) -> None:
    write(traceback=f"Traceback:\nValueError: {NASTY}")
    first, *others = lines()
    assert all(line.isprintable() for line in (first, *others))
    assert all(line.startswith("    ") for line in others)
    assert (form == "json") is (not others)


def test_a_long_value_is_cut_in_its_middle(lines: Lines) -> None:
    write(path="/" + "x" * 20_000, status=404)
    (line,) = lines()
    assert len(line) < 5000
    assert "characters left out" in line


@pytest.mark.parametrize("name", ["zonda.core.api.identity.tokens", "uvicorn.error"])
def test_warnings_of_the_service_are_in_it(lines: Lines, name: str) -> None:
    log = logging.getLogger(name)
    log.warning("The tokens stay what they were: %s", NASTY)
    log.info("nobody asks for that")
    (line,) = lines()
    assert "WARNING" in line
    assert f"{name}" in line
    assert "The tokens stay what they were" in line
    assert line.isprintable()


def test_the_text_of_an_exception_is_in_no_line(lines: Lines) -> None:
    secret = "swordfish"
    try:
        raise LookupError(secret)
    except LookupError:
        logging.getLogger("zonda.core.engine").exception("The engine stops")
    text = "\n".join(lines())
    assert "LookupError" in text
    assert "test_engine_log.py" in text
    assert "swordfish" not in text


def test_what_a_plug_in_logs_is_not_in_it(lines: Lines) -> None:
    logging.getLogger("zonda.hooks.resources.resource").warning("swordfish")
    logging.getLogger("my_plugin").error("swordfish")
    assert lines() == []
