"""The outcome of a command that has ended."""

from __future__ import annotations

import pytest

from zonda.workflows.service import outcome


@pytest.mark.parametrize(
    ("stderr", "reason"),
    [
        pytest.param("no space left\n", "exit code 3: no space left", id="short"),
        pytest.param(f"token {5000 * 's'}\nrefused", "exit code 3: refused", id="half a line"),
        pytest.param(5000 * "s", "exit code 3", id="no whole line"),
        pytest.param(f"noise\x1e{5000 * 's'}", 5000 * "s", id="a reason by itself"),
    ],
)
def test_a_long_reason_begins_with_a_whole_line(stderr: str, reason: str) -> None:
    result = {
        "error": "",
        "ended_by": "",
        "exit_code": 3,
        "stdout": "",
        "stdout_dropped": 0,
        "stderr": stderr,
    }
    assert outcome.interpret(result)["reason"] == reason
