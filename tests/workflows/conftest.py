"""A clock that stands still, a runner that uses it, and requests to start."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from zonda.hooks.runners import ResourceRef, StackRef, StartRequest
from zonda.workflows.http_runner.runner import HttpRunner

NOW = 1_790_000_000.0
KEY = "6f0cb1aa-0000-5000-8000-000000000001"


class StillClock:
    """Time passes when a test says so."""

    def __init__(self) -> None:
        self.seconds = NOW

    def now(self) -> float:
        return self.seconds

    def monotonic(self) -> float:
        return self.seconds


class MostRandom(random.Random):
    """Chance that always gives the upper end, so that delays can be told."""

    def uniform(self, a: float, b: float) -> float:
        return b


@pytest.fixture
def clock() -> StillClock:
    return StillClock()


@pytest.fixture
def most_random() -> MostRandom:
    return MostRandom()


@pytest.fixture
def make_runner(clock: StillClock) -> Iterator[Callable[..., HttpRunner]]:
    made: list[HttpRunner] = []

    def make(**settings: Any) -> HttpRunner:
        runner = HttpRunner({"clock": clock, "random": MostRandom(), **settings})
        made.append(runner)
        return runner

    yield make
    for runner in made:
        runner.close()


@pytest.fixture
def request_for() -> Callable[..., StartRequest]:
    def make(workflow: str = "https://flows.example/hook", **fields: Any) -> StartRequest:
        given: dict[str, Any] = {
            "workflow": workflow,
            "action": "CREATE",
            "key": KEY,
            "deadline": NOW + 3600,
            "stack": StackRef("s-1", "prod", "demo"),
            "resource": ResourceRef("r-1", "disk", "OS::Mistral::ExternalResource", None),
            "inputs": {"size": 1},
            "started_at": NOW,
            **fields,
        }
        return StartRequest(**given)

    return make
