"""Conformance suites as tests of pytest: in an author's module, and as a session of a command."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from zonda.hooks import conformance
from zonda.hooks.conformance import Kind, Row, Rule, Suite
from zonda.hooks.conformance.pytest_runner import run_with_pytest
from zonda.hooks.errors import UsageError
from zonda.hooks.text.borders import Interruption

MODULE = '''
import logging

import pytest
from zonda.hooks import Resource, conformance, properties

Schema = properties.Schema


class Lamp(Resource):
    """A lamp."""

    has_side_effects = False
    properties_schema = {
        "colour": Schema(Schema.STRING, "Colour.", update_allowed=True),
        "code": Schema(Schema.STRING, "Opens it.", hidden=True),
    }

    def handle_update(self, json_snippet, tmpl_diff, prop_diff):
        pass


class Loud(Lamp):
    """A lamp that tells its code."""

    def handle_create(self):
        logging.getLogger("loud").info(self.properties["code"])


class Quick(conformance.Backend):
    examples = 0


TYPES = {"Acme::Lamp": Lamp, "Acme::Loud": Loud}


@pytest.mark.parametrize("rule", conformance.rules(TYPES, Quick), ids=str)
def test_a_type_keeps(rule):
    rule()
'''


@pytest.fixture
def run_module(tmp_path: Path) -> Callable[..., str]:
    """Run the author's module with options of pytest; gives what pytest shows."""
    (tmp_path / "test_lamps.py").write_text(MODULE)

    def run(*options: str) -> str:
        words = [sys.executable, "-m", "pytest", "-rfs", "-p", "no:cacheprovider", *options]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    return run


def test_each_rule_of_each_type_is_a_test_of_the_author(run_module: Callable[..., str]) -> None:
    shown = run_module("-v")
    assert "test_a_type_keeps[Acme::Lamp: create] PASSED" in shown
    assert "test_a_type_keeps[Acme::Lamp: update (colour)] PASSED" in shown
    assert "test_a_type_keeps[Acme::Loud: secrets stay secret] FAILED" in shown
    assert "seen in the log loud" in shown
    assert "it has no SUSPEND" in shown  # why a rule is skipped
    assert "Traceback" not in shown
    assert " 1 failed, " in shown


@pytest.mark.parametrize("options", [("-k", "secrets and Loud"), ("-n", "2")])
def test_a_summary_sees_all_rules_however_tests_are_chosen(
    run_module: Callable[..., str], options: tuple[str, ...]
) -> None:
    assert "seen in the log loud" in run_module(*options)


# -- a session of a command ----------------------------------------------------------------------


class Steps(Suite):
    """Rules that note that they were tried."""

    def __init__(self, *kinds: tuple[str, Kind], fails: str = "") -> None:
        self.rows: list[Row] = []
        super().__init__("steps", self.rows.append)
        self.fails = fails
        self.tried: list[str] = []
        self.rules = [Rule(self, name, partial(self._try, name), kind=kind) for name, kind in kinds]

    def _try(self, name: str) -> None:
        self.tried.append(name)
        if name == self.fails:
            raise conformance.Violated("broken", "mend it")

    def verdicts(self) -> dict[str, str]:
        return {row.check: row.verdict for row in self.rows}


def make_steps(fails: str = "") -> Steps:
    return Steps(
        ("first", "basic"),
        ("second", "plain"),
        ("sum", "summary"),
        ("tidy", "cleanup"),
        fails=fails,
    )


def test_a_session_tries_all_rules_once_in_order() -> None:
    steps = make_steps()
    run_with_pytest([steps])
    assert steps.tried == ["first", "second", "sum", "tidy"]


def test_after_a_basic_fault_the_rest_is_left_out() -> None:
    steps = make_steps(fails="first")
    run_with_pytest([steps])
    assert steps.tried == ["first", "sum", "tidy"]
    assert steps.verdicts()["second"] == conformance.NOT_APPLICABLE
    assert str(steps.report.failed[0]) == "fail            steps  first: broken: mend it"


@pytest.mark.parametrize(
    ("chosen", "tried"),
    [
        pytest.param("second", ["first", "second", "tidy"], id="what-it-needs-and-the-end"),
        pytest.param("sum", ["first", "second", "sum", "tidy"], id="all-for-a-summary"),
        pytest.param("none", ["tidy"], id="nothing"),
    ],
)
def test_options_of_pytest_choose_rules(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, chosen: str, tried: list[str]
) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", f"-k {chosen} --junit-xml={tmp_path}/done.xml")
    steps = make_steps()
    run_with_pytest([steps])
    assert steps.tried == tried
    assert ('name="rule[steps: second]"' in (tmp_path / "done.xml").read_text()) == (
        chosen == "second"
    )


def test_options_that_pytest_refuses_are_a_wrong_usage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "--no-such-option")
    with pytest.raises(UsageError, match="pytest cannot run"):
        run_with_pytest([make_steps()])


def test_without_pytest_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "zonda.hooks.conformance.pytest_runner")
    monkeypatch.setitem(sys.modules, "pytest", None)
    with pytest.raises(UsageError, match="not installed") as caught:
        importlib.import_module("zonda.hooks.conformance.pytest_runner")
    assert caught.value.hint == "pip install 'zonda[check]'"


def test_an_interruption_ends_the_session_and_nothing_is_tidied() -> None:
    steps = make_steps()
    steps.rules[1] = Rule(steps, "second", interrupt)
    with pytest.raises(Pressed):
        run_with_pytest([steps])
    assert steps.tried == ["first"]


class Pressed(KeyboardInterrupt, Interruption):
    """Ctrl-C."""


def interrupt() -> None:
    raise Pressed
