"""The outcome of a command that has ended."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from zonda.hooks.processes.wrapper import Wrapper
from zonda.workflows.service import outcome

LONG = 100_000
GAP = "[... 34464 bytes left out ...]"


def interpret(folder: Path, *, stderr: str = "", stdout: str = "") -> str:
    """The reason of a command that ended with 3, as its wrapper writes the result down."""
    made = Wrapper(folder, 0, {"limits": outcome.LIMITS, "timeout": None})
    (folder / "stderr").write_text(stderr)
    (folder / "stdout").write_text(stdout)
    made._write_result(3, "")
    return str(outcome.interpret(json.loads((folder / "result.json").read_bytes()))["reason"])


@pytest.mark.parametrize(
    ("stderr", "reason"),
    [
        pytest.param("no space left\n", "exit code 3: no space left", id="short"),
        pytest.param(5000 * "s", f"exit code 3: {5000 * 's'}", id="one long line"),
        pytest.param(
            f"begun\ntoken {LONG * 's'}\nrefused",
            "exit code 3: begun\n[... 34484 bytes left out ...]\nrefused",
            id="half lines",
        ),
        pytest.param(
            f"begun\ntoken {LONG // 2 * 'ß'}\nrefused",
            "exit code 3: begun\n[... 34484 bytes left out ...]\nrefused",
            id="half lines of long letters",
        ),
        pytest.param(LONG * "s", f"exit code 3: {GAP}", id="no whole line"),
        pytest.param(f"noise\x1e{5000 * 's'}", 5000 * "s", id="a reason by itself"),
    ],
)
def test_the_reason_is_what_the_command_said_without_half_lines(
    stderr: str, reason: str, tmp_path: Path
) -> None:
    assert interpret(tmp_path, stderr=stderr) == reason


def test_what_was_printed_is_the_reason_where_nothing_else_was_said(tmp_path: Path) -> None:
    assert interpret(tmp_path, stdout=5000 * "s") == f"exit code 3: {5000 * 's'}"
    assert interpret(tmp_path, stdout=f"a\n{(LONG - 4) * 's'}\nb") == f"exit code 3: a\n{GAP}\nb"
