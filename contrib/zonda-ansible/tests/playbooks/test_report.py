"""The reasons that are taken out of what modules return."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from zonda_ansible import playbooks

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
