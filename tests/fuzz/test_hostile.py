"""A few inputs of the hostile documents; the whole run is ``python -m tests.fuzz.hostile``.

Nothing here looks at a clock or at memory: how an input ends is the same on every machine.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def hostile() -> Iterator[ModuleType]:
    """The module as ``python -m`` finds it: from the root of the repository."""
    sys.path.insert(0, str(ROOT))
    yield importlib.import_module("tests.fuzz.hostile")
    sys.path.remove(str(ROOT))


@pytest.fixture(autouse=True)
def folder() -> Iterator[None]:
    """Commands run in the folder of their input."""
    before = Path.cwd()
    yield
    os.chdir(before)


def problems(hostile: ModuleType, given: Any) -> list[str]:
    """What must not happen on any machine."""
    found = [done.problem() for done in hostile.run_input(given)]
    return [each for each in found if each and not each.startswith(("slow", "large"))]


@pytest.mark.parametrize("number", range(24))
def test_hostile_documents_end_in_a_result_or_an_error_of_ours(
    hostile: ModuleType, number: int
) -> None:
    given = hostile.make_input(1, number)
    assert given.commands
    assert problems(hostile, given) == []


def test_every_kind_of_input_is_made(hostile: ModuleType) -> None:
    kinds = {hostile.make_input(1, number).kind for number in range(24)}
    assert kinds == {"life", "plan", "look", "adopt"}


def test_an_input_can_be_made_again(hostile: ModuleType) -> None:
    assert hostile.make_input(5, 17) == hostile.make_input(5, 17)


@pytest.mark.parametrize(
    ("done", "problem"),
    [
        ({"code": 0}, ""),
        ({"code": -9}, "code -9"),
        ({"code": None}, "code None"),
        ({"code": 1, "said": "error: x\n  hint: this is a fault in zonda"}, "fault in zonda"),
        ({"code": 1, "said": "Traceback (most recent call last):"}, "Traceback"),
        ({"code": 0, "seconds": 5.5}, "slow: 5.5 s"),
        ({"code": 0, "megabytes": 301.0}, "large: 301 MB"),
    ],
)
def test_what_must_not_happen_is_told(
    hostile: ModuleType, done: dict[str, Any], problem: str
) -> None:
    figures = {"seconds": 0.0, "megabytes": 0.0, "said": ""}
    assert hostile.Done(words=["x"], **{**figures, **done}).problem().startswith(problem)
