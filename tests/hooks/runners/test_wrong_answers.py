"""Runners of plug-ins that answer with a wrong type fail the action and are named."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.hooks.errors import ResourceFailure
from zonda.hooks.runners import (
    Failed,
    Finished,
    Lost,
    Retry,
    Running,
    Started,
    StartRequest,
    Succeeded,
    WorkflowRunner,
)
from zonda.hooks.testing import FakeContext, Lifecycle
from zonda.workflows.resources.external_resource import ExternalResource

START = "Started or Finished or Retry"
POLL = "Running or Succeeded or Failed or Lost"


class Answering(WorkflowRunner):
    label = "builds"

    def __init__(self, start: Any, poll: Any) -> None:
        self._start, self._poll = start, poll

    def start(self, request: StartRequest) -> Any:
        return self._start

    def poll(self, token: Any) -> Any:
        return self._poll


def created(start: Any, poll: Any = None) -> Lifecycle:
    context = FakeContext(runners={"default": Answering(start, poll)})
    properties = {"actions": {"CREATE": {"workflow": "mk"}}}
    life = Lifecycle(ExternalResource, properties, name="x", context=context)
    life.create()
    return life


@pytest.mark.parametrize(
    ("answer", "expected", "came"),
    [
        ([], START, "list"),
        ("started", START, "str"),
        (None, START, "None"),
        ({"state": "running"}, START, "dict"),
        (Succeeded({}), START, "Succeeded"),
        (Started([]), "a map as its token", "Started(token=list)"),  # type: ignore[arg-type]
        (Started(None), "a map as its token", "Started(token=None)"),  # type: ignore[arg-type]
        (Finished({"a": 1}), "Succeeded or Failed", "Finished(dict)"),  # type: ignore[arg-type]
        (Finished(Lost("?")), "Succeeded or Failed", "Finished(Lost)"),  # type: ignore[arg-type]
        (
            Finished(Succeeded([], [])),  # type: ignore[arg-type]
            "a map as its output",
            "Finished(Succeeded(output=list))",
        ),
        (
            Finished(Succeeded("x")),  # type: ignore[arg-type]
            "a map as its output",
            "Finished(Succeeded(output=str))",
        ),
        (
            Retry(1.0, None, answered=True),  # type: ignore[arg-type]
            "a text as its message",
            "Retry(message=None)",
        ),
    ],
)
def test_a_wrong_answer_to_start_names_runner_call_and_answer(
    answer: Any, expected: str, came: str
) -> None:
    with pytest.raises(ResourceFailure) as caught:
        created(answer)
    assert caught.value.message == (
        f"Runner builds has answered start with {came}; expected: {expected}"
    )
    assert caught.value.code == "ZON305"


@pytest.mark.parametrize(
    ("answer", "expected", "came"),
    [
        (None, POLL, "None"),
        (True, POLL, "bool"),
        (Finished(Succeeded({})), POLL, "Finished"),
        (Succeeded([], []), "a map as its output", "Succeeded(output=list)"),  # type: ignore[arg-type]
        (Succeeded("x"), "a map as its output", "Succeeded(output=str)"),  # type: ignore[arg-type]
        (Succeeded(0), "a map as its output", "Succeeded(output=int)"),  # type: ignore[arg-type]
        (Failed("no", ["x"]), "a map as its output", "Failed(output=list)"),  # type: ignore[arg-type]
        (Failed(None), "a text as its reason", "Failed(reason=None)"),  # type: ignore[arg-type]
        (Running(token="t"), "a map as its token", "Running(token=str)"),  # type: ignore[arg-type]
    ],
)
def test_a_wrong_answer_to_poll_is_no_success(answer: Any, expected: str, came: str) -> None:
    with pytest.raises(ResourceFailure) as caught:
        created(Started({}), answer)
    assert caught.value.message == (
        f"Runner builds has answered poll with {came}; expected: {expected}"
    )


@pytest.mark.parametrize(
    "value", [object(), float("nan"), [float("-inf")]], ids=["object", "nan", "inf"]
)
def test_outputs_that_are_no_json_are_no_success(value: Any) -> None:
    with pytest.raises(ResourceFailure, match=r"cannot be stored as JSON.*: JSON as its output"):
        created(Started({}), Succeeded({"a": value}))


def test_a_run_without_outputs_has_ended_well() -> None:
    assert created(Started({}), Succeeded()).attribute("output") == {}
