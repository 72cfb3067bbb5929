"""The networks of the settings hold for this kind, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from zonda.hooks import UsageError
from zonda.hooks.runners import StartAnswer

Make = Callable[..., Any]


def started(make: Make, request_of: Make, **section: Any) -> StartAnswer:
    """What becomes of a start at an endpoint that is down, by its number."""
    runner = make(endpoint="http://127.0.0.1:9", **section)
    answer: StartAnswer = runner.start(request_of(deadline=4e9))
    return answer


def test_what_is_denied_is_not_called(make: Make, request_of: Make) -> None:
    told = str(started(make, request_of, denied_networks=["127.0.0.0/8"]))
    assert "denied_networks" in told
    assert "denied_networks" not in str(started(make, request_of))


def test_what_is_allowed_may_be_called(make: Make, request_of: Make) -> None:
    told = str(started(make, request_of, allowed_networks="127.0.0.0/8"))
    assert "_networks" not in told


@pytest.mark.parametrize("name", ["allowed_networks", "denied_networks"])
def test_what_is_no_network_is_refused(make: Make, name: str) -> None:
    with pytest.raises(UsageError, match=f"{name} must hold networks"):
        make(**{name: ["10.0.0.0/33"]})
