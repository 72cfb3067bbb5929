"""A workflow that is a URL with a password: no answer of its endpoint shows that."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.hooks.errors import ResourceFailure
from zonda.hooks.runners import Failed, Finished, Retry, Running, Succeeded
from zonda.hooks.testing import FakeContext, FakeRunner, Lifecycle
from zonda.workflows.resources.zonda_external_resource import ZondaExternalResource

URL = "http://usr:pa%3ass1@flows.example/mk"
ECHO = "as usr:pa:ss1, Basic dXNyOnBhOnNzMQ==, for " + URL
MASKED = "as (hidden), Basic (hidden), for http://usr:(hidden)@flows.example/mk"


def a_life(answers: list[Any], **properties: Any) -> Lifecycle:
    """One that the endpoint at ``URL`` makes, directly or by the runner ``store``."""
    runner = FakeRunner({URL: answers})
    context = FakeContext(runners={"http": runner, "store": runner})
    given = {"actions": {"CREATE": {"workflow": URL}}, **properties}
    return Lifecycle(ZondaExternalResource, given, context=context)


@pytest.mark.parametrize("properties", [{}, {"runner": "store"}], ids=["url", "runner"])
def test_a_reason_repeats_no_password(properties: dict[str, Any]) -> None:
    with pytest.raises(ResourceFailure) as caught:
        a_life([Finished(Failed(ECHO))], **properties).create()
    assert str(caught.value) == MASKED


def test_outputs_and_progress_repeat_no_password() -> None:
    answers = [
        Retry(1.0, ECHO, answered=True),
        Running(1.0, ECHO),
        Succeeded({"resource_id": "x1", "a": [ECHO]}),
    ]
    life = a_life(answers)
    life.create()
    assert life.attribute("output") == {"resource_id": "x1", "a": [MASKED]}
    assert [text for text in life.context.messages if MASKED in text]
    shown = repr((life.saved, life.saved.data, life.context.messages))
    assert not [secret for secret in ("ss1", "dXNy") if secret in shown]


def test_a_password_is_no_resource_id() -> None:
    with pytest.raises(ResourceFailure, match="resource_id that CREATE answered holds a secret"):
        a_life([Finished(Succeeded({"resource_id": "pa:ss1"}))]).create()
