"""Objects that may hold secrets show none in ``repr``."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.hooks.resources.definition import ResourceDefinition
from zonda.hooks.resources.resource import ResourceState
from zonda.hooks.runners import (
    Failed,
    Finished,
    ResourceRef,
    Running,
    StackRef,
    Started,
    StartRequest,
    Succeeded,
)
from zonda.hooks.schema.properties import Properties, Schema
from zonda.hooks.testing import Saved

SECRET = "hunter2"
HOLDS = {"k": SECRET}


@pytest.mark.parametrize(
    "thing",
    [
        pytest.param(ResourceDefinition("a", "T", HOLDS, HOLDS, raw=HOLDS), id="definition"),
        pytest.param(ResourceState(data=HOLDS, metadata=HOLDS), id="state"),
        pytest.param(Saved(data=HOLDS), id="saved"),
        pytest.param(Properties({"k": Schema(Schema.STRING)}, HOLDS), id="properties"),
        pytest.param(Succeeded(HOLDS), id="succeeded"),
        pytest.param(Failed("no", HOLDS), id="failed"),
        pytest.param(Finished(Succeeded(HOLDS)), id="finished"),
        pytest.param(Running(token=HOLDS), id="running"),
        pytest.param(Started(HOLDS), id="started"),
        pytest.param(
            StartRequest(
                workflow="w",
                action="CREATE",
                key="k",
                deadline=1.0,
                stack=StackRef("s", "s", "p"),
                resource=ResourceRef("r", "r", "T", None),
                inputs=HOLDS,
                old_inputs=HOLDS,
                params=HOLDS,
                data=HOLDS,
            ),
            id="request",
        ),
    ],
)
def test_a_repr_keeps_secrets(thing: Any) -> None:
    assert SECRET not in repr(thing)
