"""Secrets that a type was lent are kept out of every output."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.drifting import Drifting

from zonda.hooks.errors import NotReady
from zonda.hooks.testing import FakeRunner


@pytest.fixture
def lending(bench: Any) -> Any:
    """A bench whose types may ask for a secret."""
    bench.lender.secret = lambda reference, project: "hush hush/1"
    return bench


def says(error: Any) -> Any:
    """A call that raises what repeats the secret, also as it stands in a URL."""

    def call(resource: Any) -> None:
        told = resource.context.secret("env:TOKEN")
        raise error(f"refused: {told} and hush%20hush%2F1")

    return call


def test_a_reason_does_not_repeat_what_was_lent(lending: Any) -> None:
    lending.journal.behave["a", "handle_create"] = says(ValueError)
    lending.create("a: {type: Test::Box}")
    assert "refused: (hidden) and (hidden)" in lending.resource("a").status_reason


@pytest.mark.parametrize("error", [ValueError, lambda text: NotReady(400.0, text)])
def test_a_drift_check_does_not_repeat_what_was_lent(lending: Any, error: Any) -> None:
    drift = Drifting(lending)
    drift.create("a: {type: Test::Thing, properties: {size: 1}}")
    drift.world.behave["a"] = says(error)
    found = drift.findings(drift.check())["a"]
    assert (found.verdict, "(hidden)" in found.reason) == ("UNKNOWN", True)
    assert "hush" not in found.reason


def test_a_reason_does_not_repeat_the_password_of_a_workflow(lending: Any) -> None:
    def call(resource: Any) -> None:
        resource.context.runner("http://usr:PWSECRET2@flows.example/mk")
        raise ValueError("refused: PWSECRET2, Basic dXNyOlBXU0VDUkVUMg==")

    lending.lender.runner = lambda workflow, project: (FakeRunner({}), workflow)
    lending.journal.behave["a", "handle_create"] = call
    lending.create("a: {type: Test::Box}")
    assert "refused: (hidden), Basic (hidden)" in lending.resource("a").status_reason
