"""Types that have a handler for everything: for whole lives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zonda.hooks.errors import NotReady, ResourceFailure
from zonda.hooks.resources.resource import Resource

from .types import Fragile, Inward, Odd, Quick, Thing
from .world import FREE, INWARD, World


class Whole(Thing):
    """All that a resource may be asked for."""

    def handle_suspend(self) -> Any:
        self.world.maybe_fail()
        return {"key": self.key}

    handle_resume = handle_suspend

    def check_suspend_complete(self, token: dict[str, Any]) -> bool:
        return self.world.over(token["key"])

    check_resume_complete = check_snapshot_complete = check_suspend_complete
    check_delete_snapshot_complete = check_adopt_complete = check_suspend_complete

    def handle_snapshot(self) -> Any:
        copy = f"copy-{self.key}"
        self.world.saved[copy] = str(self._resolve_attribute("output"))
        if self.resource_id is not None:
            self.world.kept_for.add(self.resource_id)
        self.world.maybe_fail()
        self.data_set("copy", copy)
        return {"key": self.key}

    def handle_delete_snapshot(self, snapshot: Mapping[str, Any]) -> Any:
        self.world.maybe_fail()
        self.world.saved.pop(snapshot["resource_data"].get("copy"), None)
        return {"key": self.key}

    def handle_delete(self) -> Any:
        if self.world.is_held(self.uuid, self.key) and self.resource_id in self.world.live:
            made = self.state not in (("INIT", "COMPLETE"), ("CREATE", "FAILED"))
            if made and self.world.policy(self.uuid) == "Snapshot":
                self._check_saved()
        return super().handle_delete()

    def _check_saved(self) -> None:
        if self.resource_id not in self.world.kept_for:
            self.world.violated(f"{self.name} is deleted and was not saved before")

    def handle_adopt(self, resource_data: Mapping[str, Any]) -> Any:
        physical = resource_data.get("resource_id")
        owner = self.world.live.get(str(physical))
        if owner is None:
            raise ResourceFailure("there is no such thing")
        if self.world.kinds[str(physical)] != type(self).__name__:
            raise ResourceFailure("it is of another type")
        if owner not in (FREE, self.uuid):
            self.world.violated(f"{physical} is adopted by {self.name}, and is {owner}'s")
        super().handle_adopt({"resource_id": physical})
        self.world.maybe_fail()
        self.data_set("said", self.properties["value"])
        return {"key": self.key}

    def handle_signal(self, details: Any = None) -> None:
        self.data_set("signalled", self.data().get("signalled", "") + "!")

    def handle_create_cancel(self, token: Any) -> None:
        self.world.maybe_fail()

    handle_update_cancel = handle_create_cancel


class Found(Whole):
    """Tells whether an interrupted operation was begun."""

    start_policy = "find"

    def handle_find(self, key: str) -> Any:
        if self.world.source.random() < 0.1:
            raise NotReady(0.5)
        if key not in self.world.by_key:
            return None
        self.resource_id_set(self.world.by_key[key])
        if self.world.is_held(self.uuid, self.key):
            self.world.known(self.world.by_key[key])
        self.data_set("said", self.properties["value"])
        return {"key": key}


class Patient(Whole):
    """Is not replaced because something has failed."""

    def needs_replace_failed(self) -> bool:
        return self.resource_id is None


class Always(Whole):
    """Is updated by every update."""

    def always_update(self) -> bool:
        return True


class Keeper(Whole):
    """Leaves alone what is changed but its value; goes back to what a snapshot holds."""

    def needs_update(self, after: Resource, changed: bool) -> bool:
        mine, others = self.properties, after.properties
        return (mine["value"], mine["fixed"]) != (others["value"], others["fixed"])

    def handle_restore(self, definition: Any, restore_data: Mapping[str, Any]) -> Any:
        said = restore_data["resource_data"].get("said", "nothing")
        return definition.freeze(properties={**definition.properties, "value": said})


class WholeInward(Inward):
    """Nothing of it is outside, whatever it is asked for."""

    def handle_adopt(self, resource_data: Mapping[str, Any]) -> Any:
        self.resource_id_set(INWARD + self.uuid)
        self.data_set("said", self.properties["value"])
        self.world.maybe_fail()
        return None

    def handle_suspend(self) -> Any:
        self.world.maybe_fail()
        return {"key": self.key}

    handle_resume = handle_snapshot = handle_suspend
    handle_signal = Whole.handle_signal


def whole_types(world: World) -> dict[str, type[Resource]]:
    """Every type by its name."""
    classes: list[tuple[str, tuple[type[Resource], ...]]] = [
        ("Thing", (Whole,)),
        ("Fragile", (Fragile, Whole)),
        ("Odd", (Odd, Whole)),
        ("Quick", (Quick, Whole)),
        ("Inward", (WholeInward,)),
    ]
    classes += [(base.__name__, (base,)) for base in (Found, Patient, Always, Keeper)]
    return {name: type(name, bases, {"world": world}) for name, bases in classes}
