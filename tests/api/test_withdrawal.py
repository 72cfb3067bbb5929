"""Requests that the engine has not planned in time: they are withdrawn, and never carried out."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from zonda.core.api.service import project
from zonda.core.engine.handlers import runners

TEMPLATE = {"heat_template_version": "2018-08-31"}
LONG = 60.0


@pytest.fixture
def go_on(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Plans are held until this is set; requests wait for no time at all."""
    event = threading.Event()
    propose = runners.propose

    def hold(*args: Any) -> Any:
        assert event.wait(LONG)
        return propose(*args)

    monkeypatch.setattr(runners, "propose", hold)
    monkeypatch.setattr(project, "PATIENCE", 0.0)
    return event


def test_a_request_that_was_not_planned_in_time_is_never_carried_out(
    api: Any, go_on: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    reply = api("POST", "/stacks", {"stack_name": "withdrawn", "template": TEMPLATE})
    assert (reply.status, reply.headers["Retry-After"]) == (503, "1")
    assert "withdrawn" in reply.message
    go_on.set()
    monkeypatch.setattr(project, "PATIENCE", LONG)
    path = api.create("after-it", TEMPLATE)
    assert api.wait(path) == "CREATE_COMPLETE"
    assert api("GET", "/stacks", name="withdrawn").body["stacks"] == []


def test_what_is_being_committed_is_answered(api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = api.app.engine
    submit = engine.submit

    def submit_and_wait(*args: Any) -> Any:
        future = submit(*args)
        future.result(LONG)
        return SlowFuture(future)

    monkeypatch.setattr(type(engine), "submit", lambda self, *args: submit_and_wait(*args))
    reply = api("POST", "/stacks", {"stack_name": "in-time", "template": TEMPLATE})
    assert reply.status == 201


class SlowFuture:
    """A future whose result is there only after the patience is over."""

    def __init__(self, future: Any) -> None:
        self._future = future

    def result(self, seconds: float | None = None) -> Any:
        if seconds is not None:
            raise TimeoutError
        return self._future.result(LONG)

    def cancel(self) -> bool:
        return bool(self._future.cancel())
