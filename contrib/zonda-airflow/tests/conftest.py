"""A runner on a clock of its own, and requests for it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from zonda.hooks.runners import ResourceRef, StackRef, StartRequest
from zonda.hooks.testing import FakeClock

from zonda_airflow.runner import AirflowRunner

ENDPOINT = "http://airflow.example:8080"


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def make(clock: FakeClock) -> Iterator[Callable[..., AirflowRunner]]:
    made: list[AirflowRunner] = []

    def runner(**section: Any) -> AirflowRunner:
        given = {"endpoint": ENDPOINT, "clock": clock, "random": random.Random(0), **section}
        made.append(AirflowRunner(given))
        return made[-1]

    yield runner
    for each in made:
        each.close()


@pytest.fixture
def request_of(clock: FakeClock) -> Callable[..., StartRequest]:
    def make_request(workflow: str = "make_disk", **changes: Any) -> StartRequest:
        known: dict[str, Any] = {
            "action": "CREATE",
            "key": "6b0c6e0e-6f5d-5a5b-9f5c-0d6a5b4c3d2e",
            "deadline": clock.now() + 600,
            "stack": StackRef("s-1", "app", "default"),
            "resource": ResourceRef("r-1", "disk", "OS::Mistral::ExternalResource", None),
            "inputs": {"size": 3},
        }
        return StartRequest(workflow, **{**known, **changes})

    return make_request
