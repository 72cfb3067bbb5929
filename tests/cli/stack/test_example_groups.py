"""``examples/groups``: the commands of its README, and seed templates of chains as printed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
README = ROOT / "examples" / "groups" / "README.md"


def commands(title: str) -> list[list[str]]:
    """The commands under one heading, without the name of the program."""
    section = README.read_text().split(f"## {title}\n")[1].split("\n## ")[0]
    return [shlex.split(line)[1:] for line in re.findall(r"^\$ (.*)$", section, re.M)]


@pytest.fixture
def outputs(zonda: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs the commands of a section; what the outputs are when they are asked for."""
    monkeypatch.chdir(ROOT)

    def run(title: str) -> list[dict[str, Any]]:
        found = []
        for words in commands(title):
            if words[:3] != ["stack", "output", "show"]:
                zonda(*words)
                continue
            shown = zonda(*words, "-f", "json").data
            found.append({name: each["output_value"] for name, each in shown.items()})
        return found

    return run


def test_the_steps_of_a_deployment(outputs: Any) -> None:
    where = "on controller-0, controller-1"
    assert outputs("Steps") == [
        {
            "step1": [f"loadbalancer {where}"],
            "step2": [f"db {where}", f"rabbit {where}"],
            "step3": {"0": f"keystone {where}", "1": f"glance-api {where}"},
            "rabbit": f"rabbit {where}",
        }
    ]


def test_one_for_each_key(outputs: Any) -> None:
    expected = {"web": "web.example.org:80", "db": "db.example.org:5432"}
    (found,) = outputs("One for each key")
    assert found["endpoints"] == expected


def test_as_many_as_are_needed(outputs: Any) -> None:
    # 2 at first, one more twice, and half of them away again
    (found,) = outputs("As many as are needed")
    assert found == {"size": 2, "greetings": ["hello", "hello"]}


#: A group that a signal makes larger, of resources with PROPERTIES.
SCALING = """
heat_template_version: 2018-08-31
resources:
  g:
    type: OS::Heat::AutoScalingGroup
    properties:
      min_size: 0
      max_size: 2
      resource: {type: OS::Heat::TestResource, properties: PROPERTIES}
  more:
    type: OS::Heat::ScalingPolicy
    properties:
      auto_scaling_group_id: {get_resource: g}
      adjustment_type: change_in_capacity
      scaling_adjustment: 1
outputs: {size: {value: {get_attr: [g, current_size]}}}
"""


def test_a_signal_has_ended_what_it_began(zonda: Any, write: Any) -> None:
    slow = SCALING.replace("PROPERTIES", "{action_wait_secs: {create: 0.3}}")
    zonda("stack", "create", "s", "-t", write("slow.yaml", slow))

    for _ in range(2):  # the second one would be refused
        zonda("stack", "resource", "signal", "s", "more")

    assert zonda("stack", "output", "show", "s", "size", "-f", "json").data["output_value"] == 2


def test_a_signal_whose_change_fails_ends_with_1_and_leaves_nothing_running(
    zonda: Any, write: Any
) -> None:
    failing = SCALING.replace("PROPERTIES", "{fail: true}")
    zonda("stack", "create", "s", "-t", write("failing.yaml", failing))

    for _ in range(2):
        done = zonda("stack", "resource", "signal", "s", "more", code=1)
        assert "Test Resource failed" in done.out + done.err

    assert "CREATE_COMPLETE" in zonda("stack", "list").out
    zonda("stack", "delete", "s", "--yes")
