"""Answers on their way between two processes: class, status, sentence and places stay."""

from __future__ import annotations

import json

import pytest

from zonda.core.api.http.errors import answer_error
from zonda.core.api.identity.callers import Forbidden
from zonda.core.api.service.rates import OverRate
from zonda.core.engine.actions.base import Accepted
from zonda.core.engine.actions.wire import (
    error_to_dict,
    format_accepted,
    format_error,
    parse_answer,
    parse_error,
)
from zonda.core.engine.model.effects import TookTooLong
from zonda.core.engine.plan.quotas import QuotaExceeded
from zonda.hooks import errors
from zonda.hooks.errors import Place, Related, ZondaError


class Unreachable(errors.Permanent):
    """An error of a plug-in, which is made in its own way."""

    heat_type = "CloudGone"

    def __init__(self, cloud: str, port: int) -> None:
        super().__init__(f"The cloud {cloud}:{port} is gone.", hint="Look at it.")


def locate(error: errors.TemplateError) -> errors.TemplateError:
    error.place = Place("a.yaml", 3, 5)
    error.related = (Related("here", Place("b.yaml", 1, 1), ("x", 0)),)
    error.way = (Related("nest", None, ()),)
    return error


ERRORS = [
    errors.NotFound("Resource", "r", stack="s", hint="None is near."),
    errors.NotFound("Stack", "s"),
    errors.Conflict("Busy.", code="ZON206"),
    errors.ActionInProgress("It goes on."),
    errors.ActionNotSupported("SNAPSHOT", hint="Use another."),
    errors.StoreError("The disk is full.", hint="Make room."),
    errors.ResourceFailure("It failed."),
    errors.Permanent("It failed for good."),
    errors.PluginError("It is broken."),
    errors.NotReady(3.0),
    QuotaExceeded("Too much.", hint="Less."),
    Forbidden("You are not authorized to use resource_types:X."),
    OverRate("Too often.", 4.0),
    TookTooLong(3.0),
    Unreachable("c", 1),
    locate(errors.TemplateError("Bad.", path=("resources", 0), label="Property error")),
    locate(errors.UnknownReference("None.", at=("a",), heat_type="Other")),
    locate(errors.CircularDependency("Round.", ring=("a", "b", "a"))),
    errors.TooManyResources(5, 4),
    errors.ValidationErrors([locate(errors.SchemaError("One.")), errors.TemplateError("Two.")]),
    errors.UsageErrors([errors.UsageError("One."), errors.UsageError("Two.", hint="h")]),
]


def show(error: ZondaError) -> dict[str, object]:
    """All that a client may see of an error."""
    return {"answer": _list(answer_error(error)), **error_to_dict(error), "str": str(error)}


def _list(answer: object) -> object:
    return (answer.status, answer.body, answer.headers)  # type: ignore[attr-defined]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_arrives_as_it_was(error: ZondaError) -> None:
    with pytest.raises(type(error)) as caught:
        parse_answer(format_error(error))
    assert type(caught.value) is type(error)
    assert show(caught.value) == show(error)


def test_an_error_of_a_class_that_is_not_known_is_the_nearest_one_that_is() -> None:
    said = json.loads(format_error(Unreachable("c", 1)))["error"]
    said["classes"] = ["elsewhere:Unreachable", *said["classes"][1:]]
    found = parse_error(said)
    assert type(found) is errors.Permanent
    assert (str(found), found.hint, found.heat_type) == (
        "The cloud c:1 is gone.",
        "Look at it.",
        "CloudGone",
    )
    del said["classes"]  # as an older release sends it
    assert type(parse_error(said)) is errors.Permanent


def test_a_fault_of_ours_says_no_more_than_its_class() -> None:
    with pytest.raises(ZondaError) as caught:
        parse_answer(format_error(ValueError("hush")))
    answer = answer_error(caught.value)
    assert (answer.status, answer.body["error"]["type"]) == (500, "ValueError")
    assert "hush" not in str(caught.value)


def test_warnings_arrive_as_they_were_and_older_processes_need_not_know_them() -> None:
    place = errors.Place("t.yaml", 3, 5)
    related = (errors.Related("It is declared here", place, ("parameters", "p")),)
    warning = errors.TemplateWarning("ZON602", "Odd", ("parameters", "p"), place, "Look.", related)
    accepted = Accepted("id", 2, "s", warnings=(warning,))
    text = format_accepted(accepted)
    assert parse_answer(text) == accepted
    said = json.loads(text)
    assert said["accepted"] == {"stack_id": "id", "generation": 2, "name": "s", "check_id": ""}
    del said["warnings"]  # as an older release answers
    assert parse_answer(json.dumps(said)) == Accepted("id", 2, "s", warnings=None)
