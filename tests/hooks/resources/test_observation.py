"""How ``get_live_state`` is asked: again after NotReady, with what it keeps, and read-only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import pytest

from zonda.hooks import properties
from zonda.hooks.errors import NotReady, PluginError, ResourceFailure
from zonda.hooks.resources.resource import Resource
from zonda.hooks.testing import FakeContext, Lifecycle

Schema = properties.Schema


class Slow(Resource):
    """Is asked three times before it can tell."""

    properties_schema: ClassVar[Mapping[str, Schema]] = {"size": Schema(Schema.NUMBER)}

    def handle_create(self) -> None:
        self.resource_id_set("made")
        self.data_set("key", "value")

    def get_live_state(self) -> Mapping[str, Any]:
        kept = self.context.observation
        assert not hasattr(self, "asked")
        self.asked = True
        operation = self.context.operation
        assert operation is not None
        assert operation.action == "CHECK"
        kept.setdefault("ids", []).append(operation.id)
        if len(kept["ids"]) < 3:
            raise NotReady(20.0)
        assert len(set(kept["ids"])) == 1
        return {"size": operation.deadline - operation.started_at}


def test_it_is_asked_again_on_another_instance_within_one_check() -> None:
    life = Lifecycle(Slow, {"size": 1}, timeout=300.0)
    life.create()
    before = life.context.clock.now()
    assert life.live_state() == {"size": 300.0}
    assert life.context.clock.now() == before + 40.0
    assert life.context.operation is None
    assert life.live_state() == {"size": 300.0}, "what one check keeps is not there for the next"


def test_a_check_that_never_can_tell_comes_to_its_end() -> None:
    life = Lifecycle(Slow, {"size": 1}, timeout=30.0)
    with pytest.raises(ResourceFailure, match="CHECK timed out"):
        life.live_state()


class Odd(Slow):
    """Keeps what is no JSON."""

    def get_live_state(self) -> Mapping[str, Any]:
        self.context.observation["self"] = self
        raise NotReady(1.0)


def test_what_is_kept_is_json() -> None:
    with pytest.raises(PluginError, match="an observation that is not JSON"):
        Lifecycle(Odd).live_state()


@pytest.mark.parametrize(
    ("store", "what"),
    [
        pytest.param(lambda it: it.resource_id_set("other"), "resource_id_set", id="id"),
        pytest.param(lambda it: it.data_set("key", "other"), "data_set", id="data"),
        pytest.param(lambda it: it.data_delete("key"), "data_delete", id="no data"),
        pytest.param(lambda it: it.metadata_set({"a": 1}), "metadata_set", id="metadata"),
        pytest.param(lambda it: it.context.signal("x", {}), "signal", id="signal"),
    ],
)
def test_nothing_is_stored_meanwhile(store: Callable[[Resource], Any], what: str) -> None:
    class Storing(Slow):
        def get_live_state(self) -> Mapping[str, Any]:
            store(self)
            return {}

    life = Lifecycle(Storing, context=FakeContext())
    life.create()
    with pytest.raises(ResourceFailure, match=f"read-only: {what} is refused"):
        life.live_state()
    assert (life.resource_id, life.saved.metadata) == ("made", {})
    assert life.saved.data == {"key": "value"}
    assert life.context.signals == []
    life.instance().data_set("key", "after it")
    assert life.saved.data == {"key": "after it"}
