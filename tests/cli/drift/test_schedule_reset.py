"""A drift schedule set by command and reset to the environment's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

TEMPLATE = """
heat_template_version: 2018-08-31
resources:
  quiet: {type: "OS::Heat::Value", properties: {value: 1}}
"""


def test_a_command_wins_until_it_gives_back(zonda: Callable[..., Any], tmp_path: Path) -> None:
    template, environment = tmp_path / "t.yaml", tmp_path / "e.yaml"
    template.write_text(TEMPLATE)
    update = ("stack", "update", "s", "-t", template, "-e", environment)

    def says(schedule: str) -> None:
        environment.write_text(f"zonda: {{drift: {{schedule: {schedule}, policy: repair}}}}\n")

    def what_counts(*command: Any) -> tuple[str, str]:
        fields = zonda("stack", "drift", "schedule", "s", *command, "-f", "json").data
        return fields["drift_schedule"], fields["drift_policy"]

    says("15m")
    zonda("stack", "create", "s", "-t", template, "-e", environment)
    assert what_counts() == ("15m", "repair")
    assert what_counts("off") == ("", "OFF")
    says("20m")
    shown = zonda(*update, "--dry-run", "-f", "table").out
    assert "drift schedule s environment" in shown.replace("\n", " ")
    zonda(*update)
    assert what_counts() == ("", "OFF")
    assert what_counts("environment") == ("20m", "repair")
    zonda(*update, "--drift-schedule", "1h")
    assert what_counts() == ("1h", "repair")
    shown = zonda(*update, "--drift-schedule", "environment", "--dry-run", "-f", "table").out
    assert 'drift_schedule: "1h" -> "20m"' in shown
    zonda(*update, "--drift-schedule", "environment")
    assert what_counts() == ("20m", "repair")
