"""The engine log: calls, durations, results; no hidden value."""

from __future__ import annotations

import json
import logging
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from zonda.core.system import engine_log

PLUGIN = """
from zonda.hooks import properties, resource

class Thing(resource.Resource):
    properties_schema = {"secret": properties.Schema("String", hidden=True)}

    def handle_create(self):
        if self.name == "bad":
            raise LookupError(f"no {self.properties['secret']}")

def resource_mapping():
    return {"My::Thing": Thing}
"""
TEMPLATE = """
heat_template_version: 2018-08-31
resources:
  good: {type: My::Thing}
  bad: {type: My::Thing, properties: {secret: hush-hush}}
"""


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    engine_log.open_log("off", "text", Path())


@pytest.fixture
def template(write: Any) -> Path:
    write("home/plugins/thing.py", PLUGIN)
    path: Path = write("t.yaml", TEMPLATE)
    return path


def lines(path: Path, key: str) -> list[dict[str, Any]]:
    """The lines of a log that have ``key``: those of calls have ``call``."""
    return [each for each in map(json.loads, path.read_text().splitlines()) if key in each]


def test_every_call_is_an_object_a_line_in_a_file_of_its_owner(
    zonda: Any, template: Path, tmp_path: Path
) -> None:
    log = tmp_path / "home" / "engine.log"
    options = ("--set", "log=engine.log", "--set", "log_format=json")
    zonda("stack", "create", "s", "-t", template, *options, code=1)
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert "hush-hush" not in log.read_text()
    found = {each["resource"]: each for each in lines(log, "call")}
    good, bad = found["good"], found["bad"]
    named = {key: good[key] for key in ("stack", "project", "type", "action", "attempt", "outcome")}
    assert named == {
        "stack": "s",
        "project": "default",
        "type": "My::Thing",
        "action": "CREATE",
        "attempt": 1,
        "outcome": "complete",
    }
    assert good["seconds"] >= 0
    assert good["op_id"].startswith(good["resource_id"])
    assert (bad["level"], bad["outcome"]) == ("WARNING", "failed")
    assert "LookupError: resources.bad: no (hidden)" in bad["reason"]
    assert "thing.py" in bad["traceback"]


def test_a_file_that_was_renamed_is_opened_anew(zonda: Any, template: Path, tmp_path: Path) -> None:
    log = tmp_path / "home" / "engine.log"
    engine_log.open_log("engine.log", "json", log.parent)
    calls = logging.getLogger(engine_log.LOGGER)
    calls.warning("x", extra={"fields": {"n": 1}})
    log.rename(log.with_suffix(".1"))
    calls.warning("x", extra={"fields": {"n": 2}})
    assert [each["n"] for each in lines(log, "n")] == [2]
    assert [each["n"] for each in lines(log.with_suffix(".1"), "n")] == [1]


def test_text_goes_to_standard_error_and_nothing_where_it_is_off(
    zonda: Any, template: Path
) -> None:
    template.write_text(TEMPLATE.partition("  bad")[0])
    assert "outcome=" not in zonda("stack", "create", "s", "-t", template).err
    done = zonda("stack", "create", "t", "-t", template, "--set", "log=stderr")
    assert "resource=good" in done.err
    assert "outcome=complete" in done.err


def test_a_log_that_cannot_be_written_is_a_clear_error(zonda: Any, template: Path) -> None:
    done = zonda("stack", "list", "--set", "log=nowhere/engine.log", code=2)
    assert "engine log" in done.err


WAITING = """
from zonda.hooks import errors, resource

class Slow(resource.Resource):
    def handle_create(self):
        return 0

    def check_create_complete(self, token):
        polls = int(self.data().get("polls", 0)) + 1
        self.data_set("polls", str(polls))
        if polls == 2:
            raise errors.NotReady(0)
        return polls > 3

def resource_mapping():
    return {"My::Slow": Slow}
"""


def test_a_long_wait_has_a_line_at_its_begin_and_at_its_end(
    zonda: Any, write: Any, tmp_path: Path
) -> None:
    write("home/plugins/slow.py", WAITING)
    text = "heat_template_version: 2018-08-31\nresources: {r: {type: My::Slow}}\n"
    options = ("--set", "log=engine.log", "--set", "log_format=json")
    zonda("stack", "create", "s", "-t", write("slow.yaml", text), *options)
    calls = [
        (each["call"], each["outcome"]) for each in lines(tmp_path / "home" / "engine.log", "call")
    ]
    assert calls == [("handle", "waiting"), ("poll", "complete")]


def test_debug_messages_steer_no_terminal(zonda: Any, write: Any) -> None:
    resources = {"a\x1b[31m\nzonda: forged\x9b": {"type": "OS::Heat::TestResource"}}
    template = {"heat_template_version": "2018-08-31", "resources": resources}
    done = zonda("--debug", "stack", "create", "s", "-t", write("t.json", json.dumps(template)))
    assert "a\\x1b[31m" in done.err
    assert all(line.isprintable() for line in done.err.split("\n"))
    assert not any(line.startswith("zonda: forged") for line in done.err.split("\n"))
