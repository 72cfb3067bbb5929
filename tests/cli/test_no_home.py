"""A home that does not exist: readers report it, creators make it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TEMPLATE = """
heat_template_version: 2018-08-31
resources: {a: {type: OS::Heat::RandomString}}
"""


@pytest.mark.parametrize(
    "words",
    [
        "stack list",
        "stack show s",
        "stack event list s",
        "stack delete s --yes",
        "stack wait s",
        "stack resource list s",
        "stack history s",
        "stack why s",
        "stack drift show s",
        "stack export s",
    ],
)
def test_who_reads_is_told_which_home_there_is_not(zonda: Any, tmp_path: Path, words: str) -> None:
    done = zonda(*words.split(), code=1)
    assert f"There is no home {tmp_path / 'home'}." in done.err
    assert "zonda stack create" in done.err
    assert not (tmp_path / "home").exists()


def test_an_empty_home_has_no_stacks(zonda: Any, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir(mode=0o700)
    assert zonda("stack", "list", "-f", "json").data == []
    assert list((tmp_path / "home").iterdir()) == []


def test_a_plan_needs_no_home_and_a_creation_makes_one(
    zonda: Any, write: Callable[[str, str], Path], tmp_path: Path
) -> None:
    template = write("t.yaml", TEMPLATE)
    zonda("template", "validate", "-t", template)
    zonda("stack", "create", "s", "-t", template, "--dry-run")
    assert not (tmp_path / "home").exists()
    zonda("stack", "create", "s", "-t", template)
    assert len(zonda("stack", "list", "-f", "json").data) == 1
