"""The outside world of a simulation, and the resource types that live in it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from zonda.hooks import attributes, properties
from zonda.hooks.errors import NotReady, ResourceFailure, UpdateReplace
from zonda.hooks.resource import Resource

#: How the physical ids begin of what exists in zonda alone.
INWARD = "in-"


class Violation(AssertionError):
    """An invariant does not hold."""


class World:
    """What was made outside: physical id -> the instance (row) that it belongs to."""

    def __init__(self, source: random.Random) -> None:
        self.source = source
        self.live: dict[str, str] = {}
        self.by_key: dict[str, str] = {}
        self.polls: dict[str, int] = {}
        self.trouble = 0.15
        self.made = 0
        self.excused: set[str] = set()
        self.violations: list[Violation] = []
        self.users: Callable[[str], list[str]] = lambda row: []
        self.is_held: Callable[[str, str], bool] = lambda row, key: True

    def create(self, key: str, row: str, *, keyed: bool) -> str:
        """Make something; the same key gives the same thing again.

        What a process makes that was thought dead stays behind where no key tells of it.
        """
        if key in self.by_key:
            if not keyed:
                self.violated(f"{row} is started twice, which its policy forbids")
            return self.by_key[key]
        if row in self.live.values():
            self.violated(f"{row} is made twice")
        self.made += 1
        physical = f"p{self.made}"
        self.live[physical] = row
        self.by_key[key] = physical
        if not keyed and not self.is_held(row, key):
            self.excused.add(physical)
        return physical

    def violated(self, what: str) -> None:
        """Note it for the simulator: the engine catches all that a plug-in raises."""
        self.violations.append(Violation(what))

    def delete(self, physical: str | None) -> None:
        """Remove something; once more does no harm."""
        if physical is not None:
            self.live.pop(physical, None)

    def maybe_fail(self) -> None:
        """Raise now and then."""
        if self.source.random() < self.trouble:
            raise ResourceFailure("the world said no")

    def over(self, key: str) -> bool:
        """Whether an operation is over: after up to three polls."""
        left = self.polls.setdefault(key, self.source.randrange(4))
        self.polls[key] = left - 1
        return left <= 0


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

    def handle_create(self) -> Any:
        operation = self.context.operation
        assert operation is not None
        if self.world.source.random() < 0.1:
            raise NotReady(1.0)
        keyed = self.start_policy == "idempotent"
        self.resource_id_set(self.world.create(operation.id, self.uuid, keyed=keyed))
        self.world.maybe_fail()
        self.data_set("said", self.properties["value"])
        return {"key": operation.id}

    def handle_update(
        self, json_snippet: Any, tmpl_diff: Mapping[str, Any], prop_diff: Mapping[str, Any]
    ) -> Any:
        if self.properties["moody"] and self.world.source.random() < 0.5:
            raise UpdateReplace(self.name)
        self.world.maybe_fail()
        after = self.make_properties(json_snippet)
        self.data_set("said", after["value"])
        operation = self.context.operation
        assert operation is not None
        return {"key": operation.id}

    def handle_delete(self) -> Any:
        users = self.world.users(self.uuid)
        if users:
            self.world.violated(f"{self.name} is deleted while {users} live on it")
        self.world.maybe_fail()
        self.world.delete(self.resource_id)
        operation = self.context.operation
        assert operation is not None
        return {"key": operation.id}

    def check_create_complete(self, token: dict[str, Any]) -> bool:
        operation = self.context.operation
        assert operation is not None
        if token.get("key") != operation.id:
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
        return self.data().get("said")


class Fragile(Thing):
    """Must not be started twice: an interrupted handler has failed."""

    start_policy = "fail"


class Odd(Thing):
    """Its tokens are no JSON."""

    def check_create_complete(self, token: Any) -> bool:
        return self.world.over(token["key"])

    def handle_create(self) -> Any:
        return {**super().handle_create(), "odd": object()}


class Inward(Thing):
    """Does nothing outside: what it stores comes with its answer, or not at all."""

    acts_outside = False

    def handle_create(self) -> Any:
        operation = self.context.operation
        assert operation is not None
        self.resource_id_set(INWARD + self.uuid)
        if self.world.source.random() < 0.1:
            raise NotReady(1.0)
        self.data_set("said", self.properties["value"])
        self.world.maybe_fail()
        return {"key": operation.id}


class Quick(Thing):
    """Is complete when its handlers come back."""

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("check_"):
            raise AttributeError(name)
        return super().__getattribute__(name)
