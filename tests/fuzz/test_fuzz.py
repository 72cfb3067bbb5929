"""A few hundred inputs of the fuzzer; the whole run is ``python tests/fuzz/fuzz.py``."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def fuzz() -> ModuleType:
    spec = importlib.util.spec_from_file_location("zonda_fuzz", HERE / "fuzz.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


def test_random_inputs_give_a_stack_or_an_error_of_ours(fuzz: ModuleType) -> None:
    corpus = fuzz.own_templates()
    results = list(fuzz.run(range(400), seed=1, corpus=corpus))
    found = [
        (number, kind, what)
        for number, kind, what, _ in results[-1].failures
        if not what.startswith(("slow", "large"))  # figures of the whole run, not of a test
    ]
    assert found == []


@pytest.mark.parametrize("path", sorted(HERE.glob("found/*.txt")), ids=lambda path: path.stem)
def test_what_took_too_long_once_is_refused(fuzz: ModuleType, path: Path) -> None:
    """Each of these took from five seconds to for ever."""
    assert fuzz.exercise(path.read_text()) == "refused"


def test_an_input_can_be_made_again(fuzz: ModuleType) -> None:
    corpus = fuzz.own_templates()
    assert fuzz.make_input(5, 17, corpus) == fuzz.make_input(5, 17, corpus)


def test_what_fails_is_told(fuzz: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(text: str, *, unchecked: bool) -> str:
        raise ZeroDivisionError(text)

    monkeypatch.setattr(fuzz, "exercise", broken)
    (result,) = fuzz.run([3], seed=1, corpus=["a: b"])
    ((number, _, what, text),) = result.failures
    assert (number, text) == (3, fuzz.make_input(1, 3, ["a: b"])[1])
    assert what.startswith("ZeroDivisionError")
    assert '"failures": 1' in result.line(1, 1, 0.0)
