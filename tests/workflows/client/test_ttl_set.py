"""Names with a time to live, in bounded number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import responses

from zonda.workflows.client import ttl_set
from zonda.workflows.client.ttl_set import TtlSet
from zonda.workflows.http_runner.runner import HttpRunner
from zonda.workflows.mistral.runner import MistralRunner

ENDPOINT = "https://flows.example"


def test_a_name_is_remembered_for_a_while(clock: Any) -> None:
    names = TtlSet(clock, 30.0)
    names.add("a")
    assert "a" in names
    assert "b" not in names
    clock.seconds += 29
    assert "a" in names
    clock.seconds += 1
    assert "a" not in names
    names.add("a")
    names.drop("a")
    names.drop("b")
    assert "a" not in names


def test_what_is_over_is_dropped_before_there_are_too_many(
    clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ttl_set, "MOST", 3)
    names = TtlSet(clock, 30.0)
    for name in "ab":
        names.add(name)
    clock.seconds += 30
    for name in "cde":
        names.add(name)
    assert [name for name in "abcde" if name in names] == ["c", "d", "e"]
    names.add("f")
    assert [name for name in "abcdef" if name in names] == ["f"]


def made_http(clock: Any, chance: Any) -> HttpRunner:
    return HttpRunner({"clock": clock, "random": chance, "endpoint": ENDPOINT})


def made_mistral(clock: Any, chance: Any) -> MistralRunner:
    return MistralRunner({"clock": clock, "random": chance, "endpoint": ENDPOINT})


@pytest.mark.parametrize("make", [made_http, made_mistral])
@pytest.mark.parametrize("status", [200, 404])
def test_a_runner_that_lives_long_does_not_grow(
    clock: Any,
    most_random: Any,
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[..., HttpRunner | MistralRunner],
    status: int,
) -> None:
    monkeypatch.setattr(ttl_set, "MOST", 10)
    runner = make(clock, most_random)
    with responses.RequestsMock() as http:
        for number in range(50):
            http.get(f"{ENDPOINT}/workflows/w{number}", status=status, body="")
            runner.check(f"w{number}")
            clock.seconds += 1
    kept = [found for found in vars(runner).values() if isinstance(found, TtlSet)]
    assert 0 < sum(len(found._until) for found in kept) <= 20
    assert not [name for name, found in vars(runner).items() if len(str(found)) > 5000]
    runner.close()
