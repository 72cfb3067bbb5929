"""The physical id of an ExternalResource, taken from the answer of a workflow."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.hooks.errors import ResourceFailure
from zonda.hooks.runners import Succeeded
from zonda.hooks.testing import FakeContext, FakeRunner, Lifecycle
from zonda.workflows.resources.external_resource import ExternalResource


def answered(output: dict[str, Any]) -> Lifecycle:
    """A resource whose workflow CREATE gives ``output``."""
    context = FakeContext(runners={"default": FakeRunner({"mk": [Succeeded(output)]})})
    properties = {"actions": {"CREATE": {"workflow": "mk"}}}
    return Lifecycle(ExternalResource, properties, name="x", context=context)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (7, "7"),
        (True, "True"),
        (["rid", 1], "['rid', 1]"),
        ({"id": None}, "{'id': None}"),
        ("x" * 300, "x" * 255),
    ],
)
def test_a_resource_id_of_any_kind_is_taken_as_text_and_the_outputs_are_kept(
    given: Any, shown: str
) -> None:
    thing = answered({"resource_id": given, "a": 1})
    thing.create()
    assert thing.resource_id == shown
    assert thing.attribute("output") == {"resource_id": given, "a": 1}


def test_a_resource_id_that_is_no_text_is_a_wrong_answer() -> None:
    thing = answered({"resource_id": "\ud800"})
    with pytest.raises(ResourceFailure, match="half of a surrogate pair, which is no text"):
        thing.create()
    assert thing.resource_id is None
