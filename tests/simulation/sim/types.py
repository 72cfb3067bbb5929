"""The resource types that live in the world of a simulation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zonda.hooks import attributes, properties
from zonda.hooks.errors import NotReady, UpdateReplace
from zonda.hooks.resources.resource import Resource

from .world import INWARD, World


class Thing(Resource):
    """Made in the world; its runner honours keys."""

    world: World
    start_policy = "idempotent"
    properties_schema: Mapping[str, Any] = {
        "value": properties.Schema("String", update_allowed=True),
        "fixed": properties.Schema("String"),
        "moody": properties.Schema("Boolean", default=False, update_allowed=True),
    }
    attributes_schema: Mapping[str, Any] = {"output": attributes.Schema("what it says")}

    @property
    def key(self) -> str:
        assert self.context.operation is not None
        return self.context.operation.id

    def handle_create(self) -> Any:
        if self.world.source.random() < 0.1:
            raise NotReady(1.0)
        keyed = self.start_policy != "fail"
        physical = self.world.create(self.key, self.uuid, type(self).__name__, keyed=keyed)
        self.world.unknown(physical)
        self.resource_id_set(physical)
        if self.world.is_held(self.uuid, self.key):
            self.world.known(physical)
        self.world.maybe_fail()
        self.data_set("said", self.properties["value"])
        return {"key": self.key}

    def handle_update(
        self, json_snippet: Any, tmpl_diff: Mapping[str, Any], prop_diff: Mapping[str, Any]
    ) -> Any:
        if self.resource_id in self.world.external:
            self.world.violated(f"{self.name} is updated, which is managed elsewhere")
        if self.properties["moody"] and self.world.source.random() < 0.5:
            raise UpdateReplace(self.name)
        self.world.maybe_fail()
        after = self.make_properties(json_snippet)
        self.data_set("said", after["value"])
        return {"key": self.key}

    def handle_delete(self) -> Any:
        users = self.world.users(self.uuid)
        if users:
            self.world.violated(f"{self.name} is deleted while {users} live on it")
        self.world.maybe_fail()
        self.world.delete(self.resource_id, self.uuid, self.key)
        return {"key": self.key}

    def check_create_complete(self, token: dict[str, Any]) -> bool:
        if token.get("key") != self.key:
            self.world.violated(f"{self.name} is polled with {token}")
        self.world.maybe_fail()
        token["polls"] = token.get("polls", 0) + self.world.source.randrange(2)
        return self.world.over(token["key"])

    check_update_complete = check_create_complete

    def check_delete_complete(self, token: dict[str, Any]) -> bool:
        return self.world.over(token["key"])

    def handle_check(self) -> None:
        self.world.maybe_fail()

    def _resolve_attribute(self, name: str) -> Any:
        said = self.data().get("said")
        return said if said is None else said + self.data().get("signalled", "")


class Fragile(Thing):
    """Must not be started twice: an interrupted handler has failed."""

    start_policy = "fail"


class Odd(Thing):
    """Its tokens are no JSON."""

    def check_create_complete(self, token: Any) -> bool:
        if token is None:
            self.world.violated(f"{self.name} is polled with a token that was lost")
        return self.world.over(token["key"])

    def handle_create(self) -> Any:
        return {**super().handle_create(), "odd": object()}


class Inward(Thing):
    """Does nothing outside: what it stores comes with its answer, or not at all."""

    has_side_effects = False

    def handle_create(self) -> Any:
        self.resource_id_set(INWARD + self.uuid)
        if self.world.source.random() < 0.1:
            raise NotReady(1.0)
        self.data_set("said", self.properties["value"])
        self.world.maybe_fail()
        return {"key": self.key}


class Quick(Thing):
    """Is complete when its handlers come back."""

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("check_"):
            raise AttributeError(name)
        return super().__getattribute__(name)


PLAIN = (Thing, Fragile, Odd, Quick)
