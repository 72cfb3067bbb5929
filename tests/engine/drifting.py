"""Types whose outside world is a dict that a test changes, and an inline engine for drift."""

from __future__ import annotations

import dataclasses
import json
import random
from collections.abc import Callable, Mapping
from typing import Any

from tests.engine.conftest import Bench
from tests.engine.loading import make_loading
from tests.engine.stored import read_tables

from zonda.core.engine.actions import (
    CheckDrift,
    CreateStack,
    IgnoreDrift,
    RepairDrift,
)
from zonda.core.engine.drift.schedule import DueChecks
from zonda.core.engine.model.effects import Tx, make_step
from zonda.core.engine.runtime.inline import InlineEngine
from zonda.core.engine.services import EngineSettings
from zonda.core.schedule.timing import Timing
from zonda.core.store.read.drift_views import DriftCheckView, DriftFindingView
from zonda.core.store.read.views import StackView
from zonda.core.store.write.database import Store
from zonda.hooks import properties
from zonda.hooks.errors import NotFound
from zonda.hooks.resources.resource import Resource

Schema = properties.Schema


class World:
    """What there is outside, by physical id, and every call that was made."""

    def __init__(self) -> None:
        self.things: dict[str, dict[str, Any]] = {}
        self.calls: list[tuple[str, str]] = []
        self.behave: dict[str, Callable[[Resource], Any]] = {}
        self.diffs: dict[str, Mapping[str, Any]] = {}
        self.cancelled: list[tuple[str, dict[str, Any]]] = []

    def changed(self) -> list[tuple[str, str]]:
        """What was called that changes something."""
        return [call for call in self.calls if call[1] != "get_live_state"]


class Thing(Resource):
    """Is what the world has of it."""

    world: World
    properties_schema: Mapping[str, Schema] = {
        "size": Schema("Number", update_allowed=True),
        "tags": Schema("Map", update_allowed=True),
        "zone": Schema("String"),
        "secret": Schema("String", update_allowed=True, hidden=True),
        "link": Schema("String", update_allowed=True),
    }

    def handle_create(self) -> None:
        self.world.calls.append((self.name, "create"))
        self.resource_id_set(f"thing-{self.name}-{self.uuid[-4:]}")
        self.world.things[str(self.resource_id)] = dict(self.properties.get_stored_values())

    def handle_update(self, json_snippet: Any, tmpl_diff: Any, prop_diff: Any) -> None:
        self.world.calls.append((self.name, "update"))
        self.world.diffs[self.name] = dict(prop_diff)
        thing = self.world.things.setdefault(str(self.resource_id), {})
        wanted = self.make_properties(json_snippet).get_stored_values()
        thing.update({name: wanted[name] for name in prop_diff if name in wanted})

    def handle_delete(self) -> None:
        self.world.calls.append((self.name, "delete"))
        self.world.things.pop(str(self.resource_id), None)

    def handle_check(self) -> None:
        self.world.calls.append((self.name, "check"))

    def get_live_state(self) -> Mapping[str, Any] | None:
        self.world.calls.append((self.name, "get_live_state"))
        behaviour = self.world.behave.get(self.name)
        if behaviour is not None:
            return behaviour(self)  # type: ignore[no-any-return]
        if self.resource_id not in self.world.things:
            raise NotFound("thing", str(self.resource_id))
        return self.world.things[str(self.resource_id)]

    def cancel_observation(self) -> None:
        self.world.cancelled.append((self.name, dict(self.context.observation)))


class Loose(Thing):
    """Has a property that may be anything."""

    properties_schema: Mapping[str, Schema] = {"any": Schema("Any", update_allowed=True)}


class Mended(Thing):
    """Is put right in place even where it is gone."""

    repairs_in_place = True

    def needs_replace_failed(self) -> bool:
        return False

    def handle_update(self, json_snippet: Any, tmpl_diff: Any, prop_diff: Any) -> None:
        super().handle_update(json_snippet, tmpl_diff, prop_diff)
        wanted = self.make_properties(json_snippet).get_stored_values()
        self.world.things[str(self.resource_id)].update(wanted)


class Blind(Resource):
    """Cannot tell; a check of it must not call ``handle_check`` either."""

    world: World

    def handle_create(self) -> None:
        self.resource_id_set("blind")

    def handle_check(self) -> None:
        self.world.calls.append((self.name, "check"))


class Drifting:
    """A bench for drift. ``tables``: what stands in the database without the tables of drift."""

    def __init__(self, bench: Bench, **settings: Any) -> None:
        self.bench = bench
        self.world = World()
        given = {"world": self.world}
        bench.types["Test::Any"] = type("Loose", (Loose,), given)
        for cls in (Thing, Mended, Blind):
            bench.types[f"Test::{cls.__name__}"] = type(cls.__name__, (cls,), given)
        self.settings = EngineSettings(timing=Timing(), **settings)
        self.engine = self.restart()

    def restart(self, store: Store | None = None) -> InlineEngine:
        """Another engine on the same database."""
        bench = self.bench
        self.engine = bench.engine = InlineEngine(
            store or bench.store,
            bench.plugins,
            clock=bench.clock,
            ids=bench._ids,
            random=random.Random(0),
            lender=bench.lender,
            load=make_loading(bench.plugins, bench.clock, bench.lender),
            settings=self.settings,
        )
        self.firing = DueChecks(self.engine.services)
        return self.engine

    # -- the stack --------------------------------------------------------------------------------

    def create(self, resources: str, **given: Any) -> StackView:
        self.bench.create(resources, **given)
        self.world.calls.clear()
        return self.bench.stack

    def create_with(self, resources: str, **options: Any) -> StackView:
        return self.engine.run(CreateStack("s", self.bench.bundle(resources), **options))

    def thing(self, name: str) -> dict[str, Any]:
        """What the world has of a resource."""
        return self.world.things[str(self.bench.resource(name).physical_id)]

    def goes(self, name: str) -> None:
        """Somebody removes it."""
        del self.world.things[str(self.bench.resource(name).physical_id)]

    # -- drift ------------------------------------------------------------------------------------

    @property
    def reader(self) -> Any:
        return self.engine.reader

    def check(self, *resources: str) -> DriftCheckView:
        """Check, to the end."""
        accepted = self.engine.begin(CheckDrift("s", resources))
        self.engine.settle()
        found: DriftCheckView = self.reader.drift_check(accepted.check_id)
        return found

    def repair(self, *resources: str) -> StackView:
        self.world.calls.clear()
        return self.engine.run(RepairDrift("s", resources))

    def ignore(self, resource: str, property_: str = "", **given: Any) -> None:
        self.engine.run(IgnoreDrift("s", resource, property_, **given))

    def findings(self, check: DriftCheckView) -> dict[str, DriftFindingView]:
        return {each.path: each for each in self.reader.drift_findings(check.id)}

    def now(self) -> dict[str, str]:
        return {each.path: each.verdict for each in self.reader.drift_now(self.bench.stack.id)}

    def sweep(self) -> None:
        """What the clock does every five seconds, with all that follows."""
        self.engine.driver.start(make_step(Tx(self.firing)))
        self.engine.settle()

    def checks(self) -> list[DriftCheckView]:
        found: list[DriftCheckView] = self.reader.drift_checks(self.bench.stack.id)
        return found

    def told(self) -> list[tuple[str, str]]:
        """The events of drift: resource ('' for the stack), verdict."""
        events = self.reader.events(self.bench.stack.id)
        return [(each.resource_name, each.status) for each in events if each.action == "DRIFT"]

    def tables(self, *but: str) -> dict[str, list[tuple[Any, ...]]]:
        """Every byte that is stored, but for drift."""
        found = read_tables(self.bench.store).items()
        return {name: rows for name, rows in found if not name.startswith(("drift_", *but))}

    def everything(self) -> str:
        """All that is stored, as text."""
        return json.dumps([*read_tables(self.bench.store).values()], default=str)


def with_settings(known: Drifting, **settings: Any) -> None:
    """The engine once more, with other settings."""
    known.settings = dataclasses.replace(known.settings, **settings)
    known.restart()
