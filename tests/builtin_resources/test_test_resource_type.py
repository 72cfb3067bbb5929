"""``OS::Heat::TestResource``: fails, waits and replaces itself as it is told."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.builtin_resources.basic.test_resource import TestResource
from zonda.builtin_resources.basic.timer import is_over, make_wait_token
from zonda.hooks.errors import NotReady, ResourceFailure
from zonda.hooks.testing import FakeClock, Lifecycle


def resource(**given: Any) -> Lifecycle:
    return Lifecycle(TestResource, given, name="a", type_name="OS::Heat::TestResource")


def test_it_stores_its_text() -> None:
    it = resource(value="one")
    it.validate()
    it.create()
    assert it.attribute("output") == "one"
    assert it.reference.startswith("teststack-a-")
    assert it.polls == 1
    it.suspend()
    it.resume()
    it.delete()


@pytest.mark.parametrize(
    ("before", "after", "outcome", "output"),
    [
        pytest.param({"value": "one"}, {"value": "two"}, "updated", "two", id="another-text"),
        pytest.param({"value": "one"}, {}, "updated", "test_string", id="back-to-the-default"),
        pytest.param({"value": "one"}, {"value": ""}, "updated", "one", id="empty-is-not-stored"),
        pytest.param({"value": "5"}, {"value": 5}, "updated", "5", id="same-after-conversion"),
        pytest.param(
            {"update_replace_value": "x"},
            {"update_replace_value": "y"},
            "replaced",
            "test_string",
            id="not-updatable",
        ),
        pytest.param(
            {"value": "one"},
            {"value": "two", "update_replace": True},
            "replaced",
            "two",
            id="update-replace-with-another-text",
        ),
        pytest.param(
            {"value": "one"},
            {"value": "one", "update_replace": True},
            "updated",
            "one",
            id="update-replace-with-the-same-text",
        ),
    ],
)
def test_updates(before: dict[str, Any], after: dict[str, Any], outcome: str, output: str) -> None:
    it = resource(**before)
    it.create()
    reference = it.reference
    assert it.update(after) == outcome
    assert it.attribute("output") == output
    assert (it.reference == reference) is (outcome == "updated")


def test_creation_fails_on_demand_and_stores_nothing() -> None:
    it = resource(fail=True)
    with pytest.raises(ValueError, match=r"^Test Resource failed a$"):
        it.create()
    assert it.state == ("CREATE", "FAILED")
    assert it.attribute("output") is None
    assert it.resource_id is None
    it.delete()


@pytest.mark.parametrize(
    "after",
    [
        pytest.param({"value": "two", "fail": True}, id="with-another-text"),
        pytest.param({"value": "one", "fail": True}, id="alone"),
    ],
)
def test_an_update_fails_on_demand_and_keeps_the_old_text(after: dict[str, Any]) -> None:
    it = resource(value="one")
    it.create()
    with pytest.raises(ValueError, match=r"^Test Resource failed a$"):
        it.update(after)
    assert it.attribute("output") == "one"
    assert it.update({"value": "three"}) == "replaced"
    assert it.attribute("output") == "three"


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        pytest.param({}, [0, 0, 0], id="nothing"),
        pytest.param({"wait_secs": 5}, [5, 5, 5], id="every-action"),
        pytest.param(
            {"wait_secs": 5, "action_wait_secs": {"create": 2, "delete": 0}}, [2, 5, 0], id="named"
        ),
        pytest.param({"action_wait_secs": {"update": 7}}, [0, 7, 0], id="one-action"),
        pytest.param({"action_wait_secs": None, "wait_secs": 1}, [1, 1, 1], id="null"),
        pytest.param({"attr_wait_secs": 3}, [3, 3, 0], id="until-attributes-are-there"),
        pytest.param({"attr_wait_secs": 3, "wait_secs": 1}, [4, 4, 1], id="both"),
        pytest.param({"constraint_prop_secs": 9}, [0, 0, 0], id="without-effect"),
    ],
)
def test_waiting(given: dict[str, Any], seconds: list[int]) -> None:
    it = resource(**given, value="one")
    taken = []
    for action in (it.create, lambda: it.update({**given, "value": "two"}), it.delete):
        before = it.context.clock.monotonic()
        action()
        taken.append(it.context.clock.monotonic() - before)
    assert taken == seconds


def test_an_update_without_another_text_does_not_wait() -> None:
    it = resource(value="one", wait_secs=5)
    it.create()
    before = it.context.clock.monotonic()
    it.update({"value": "one", "wait_secs": 9})
    assert it.context.clock.monotonic() == before


def test_waiting_for_ever_ends_at_the_deadline() -> None:
    it = Lifecycle(TestResource, {"wait_secs": -1, "attr_wait_secs": 5}, timeout=30.0)
    with pytest.raises(ResourceFailure, match="CREATE timed out"):
        it.create()


def test_a_failure_comes_after_the_wait() -> None:
    it = resource(fail=True, wait_secs=5)
    with pytest.raises(ValueError, match="Test Resource failed a"):
        it.create()
    assert it.context.clock.monotonic() == 5


@pytest.mark.parametrize("jump", [-5 * 86400.0, -2.0])
def test_a_wait_ends_although_the_clock_was_set_back(jump: float) -> None:
    clock = FakeClock()
    token = make_wait_token(clock, 10.0)
    clock.jump(jump)
    with pytest.raises(NotReady) as waits:
        is_over(clock, token)
    clock.advance(waits.value.delay)
    assert is_over(clock, token)
    assert clock.monotonic() <= 20.0
