"""The reasons that are taken out of what modules return."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from zonda.hooks.runners import Failed

from zonda_ansible import playbooks
from zonda_ansible.lives.observations import get_message
from zonda_ansible.playbooks import outcome

CALLBACK = Path(playbooks.__file__).parent / "callbacks" / "zonda_report.py"
TRACEBACK = (
    'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\nOSError: disk is full'
)


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        pytest.param({"msg": "no such user"}, "no such user", id="message"),
        pytest.param({}, "", id="nothing"),
        pytest.param({"msg": TRACEBACK}, "OSError: disk is full", id="traceback"),
        pytest.param(
            {"msg": "MODULE FAILURE", "module_stderr": TRACEBACK, "module_stdout": ""},
            "MODULE FAILURE: OSError: disk is full",
            id="crash",
        ),
        pytest.param(
            {"msg": "non-zero return code", "stderr": "", "stdout": "a\nb"},
            "non-zero return code: b",
            id="output",
        ),
        pytest.param(
            {"msg": "disk is full", "stderr": "disk is full"}, "disk is full", id="said-twice"
        ),
        pytest.param(
            {"censored": "hidden", "msg": "s3cret"},
            "the task has `no_log`, which hides its reason",
            id="no-log",
        ),
        pytest.param(
            {"msg": "some failed", "results": [{"msg": "fine"}, {"failed": True, "msg": "bad"}]},
            "bad",
            id="items",
        ),
        pytest.param(
            {"msg": "modules failed", "failed_modules": {"setup": {"msg": "no python"}}},
            "no python",
            id="facts",
        ),
    ],
)
def test_a_reason(result: dict[str, Any], reason: str) -> None:
    assert runpy.run_path(str(CALLBACK))["find_reason"](result) == reason


LONG = f"begun {9000 * 's'} ended"
REPORT = {"number": 1, "task": "t", "failures": [], "hosts": {"h": {}}, "stats": {}, "ended": True}


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        pytest.param(LONG, LONG, id="long"),
        pytest.param(
            100_000 * "s", "the reason has 100,000 characters, and is left out", id="endless"
        ),
    ],
)
def test_no_part_of_a_reason_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, reason: str
) -> None:
    path = tmp_path / "report"
    monkeypatch.setenv("ZONDA_ANSIBLE_REPORT", str(path))
    callback = runpy.run_path(str(CALLBACK))["CallbackModule"]()
    named = SimpleNamespace(get_name=lambda: "x")
    callback.v2_runner_on_failed(SimpleNamespace(task=named, host=named, result={"msg": said}))
    callback.v2_playbook_on_stats(SimpleNamespace(processed={}, custom={}))
    answer = outcome.interpret_report(json.loads(path.read_bytes()), "", ended_well=False)
    assert isinstance(answer, Failed)
    assert answer.reason == f"x failed in the task x: {reason}"


def test_texts_of_modules_and_tasks_are_passed_on_whole() -> None:
    assert outcome.describe_progress({"number": 1, "task": LONG}).endswith("ended")
    assert get_message({"msg": LONG}) == LONG


@pytest.mark.parametrize("value", [float("nan"), [float("-inf")], "\ud800"], ids=repr)
def test_stats_that_are_no_json_fail_the_run(value: Any) -> None:
    answer = outcome.interpret_report({**REPORT, "stats": {"_run": {"a": value}}}, "", True)
    assert isinstance(answer, Failed)
    assert answer.reason.startswith("The stats of the playbook hold what JSON has not: NaN")
