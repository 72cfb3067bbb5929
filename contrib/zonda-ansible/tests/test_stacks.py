"""Whole stacks: what plans, events, errors and drift checks say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from zonda.hooks import ValidationErrors

HEAD = "heat_template_version: 2018-08-31\n"


def make_template(**resources: tuple[str, dict[str, Any]]) -> str:
    """A template of modules, each with its properties."""
    found = {
        name: {"type": module if "::" in module else f"Ansible::{module}", "properties": given}
        for name, (module, given) in resources.items()
    }
    return HEAD + yaml.safe_dump({"resources": found})


def test_values_that_others_give_later_count_as_given(zonda_stack: Any, tmp_path: Path) -> None:
    text = make_template(
        one=("OS::Heat::Value", {"value": "content\n"}),
        two=(
            "ansible.builtin.apt_key",
            {"data": {"get_attr": ["one", "value"]}, "url": "http://x", "state": "absent"},
        ),
    )
    with pytest.raises(ValidationErrors, match="give one of"):
        zonda_stack.create(text)


def test_drift_is_found_and_repaired(zonda_stack: Any, tmp_path: Path) -> None:
    one, two, three = (tmp_path / name for name in ("one", "two", "three"))
    text = make_template(
        one=("ansible.builtin.copy", {"dest": str(one), "content": "one\n", "mode": "0600"}),
        two=("ansible.builtin.copy", {"dest": str(two), "content": "two\n"}),
        three=("ansible.builtin.lineinfile", {"path": str(three), "line": "x", "create": True}),
    )
    assert zonda_stack.create(text).state == "CREATE_COMPLETE"
    assert zonda_stack.drift() == {}
    one.chmod(0o644)
    two.unlink()
    three.write_text("y\n")
    found = zonda_stack.drift()
    assert {name: each.verdict for name, each in found.items()} == {
        "one": "DRIFTED",
        "two": "MISSING",
        "three": "DRIFTED",
    }
    assert found["one"].reason == "differs in mode"
    assert zonda_stack.repair().state == "UPDATE_COMPLETE"
    assert zonda_stack.drift() == {}
    assert (two.read_text(), three.read_text()) == ("two\n", "y\nx\n")
    zonda_stack.delete()
    assert not one.exists()


def test_a_wrong_option_is_told_with_its_line(zonda_stack: Any) -> None:
    text = make_template(one=("ansible.builtin.user", {"name": "x", "state": "gone"}))
    with pytest.raises(ValidationErrors) as raised:
        zonda_stack.create(text)
    [error] = raised.value.errors
    assert error.place is not None
    assert text.splitlines()[error.place.line - 1].strip() == "state: gone"
    assert "present" in str(error)
