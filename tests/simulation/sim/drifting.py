"""Types that tell what they are, a world that somebody changes by hand, and what is asked then."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from zonda.core.engine import actions
from zonda.hooks.errors import NotFound, NotReady
from zonda.hooks.resources.resource import Resource


class Tells:
    """Tells its value, which is another one where somebody has changed it."""

    def get_live_state(self: Any) -> Mapping[str, Any]:
        source = self.world.drift_source
        if self.resource_id not in self.world.live:
            raise NotFound("thing", str(self.resource_id))
        if source.random() < 0.1:
            raise NotReady(1.0)
        if source.random() < 0.05:
            raise OSError("no route")
        value = self.properties["value"]
        return {"value": "drifted" if self.resource_id in self.world.drifted else value}

    def handle_update(self: Any, *given: Any) -> Any:
        self.world.drifted.discard(self.resource_id)
        return super().handle_update(*given)  # type: ignore[misc]


def drifting_types(types: Mapping[str, type[Resource]]) -> dict[str, type[Resource]]:
    """The same types, which tell what they are where they act outside."""
    return {
        name: type(name, (Tells, cls), {}) if cls.has_side_effects else cls
        for name, cls in types.items()
    }


class Drifting:
    """Asks for something of drift every now and then, by a source of chance of its own."""

    def __init__(self, sim: Any, asking: Any, seed: int) -> None:
        self.sim = sim
        self._asking = asking
        self._source = sim.world.drift_source = random.Random(seed + 2)
        sim.world.drifted = set()

    def __call__(self) -> None:
        """Ask for something."""
        if self._source.random() < 0.5 and self._asking.stack is not None:
            self._source.choice(
                [self._check, self._repair, self._set, self._ignore, self._forget]
            )()
        else:
            self._asking()

    def _change(self) -> None:
        live = sorted(self.sim.world.live)
        self.sim.world.drifted.update(self._source.sample(live, min(2, len(live))))

    def _check(self) -> None:
        self._change()
        self.sim.act(actions.CheckDrift("s"))

    def _repair(self) -> None:
        self._change()
        self.sim.disturbed.update(row.name for row in self._asking.rows)
        self.sim.act(actions.RepairDrift("s"))

    def _set(self) -> None:
        self.sim.act(actions.SetDrift("s", self._source.choice(["15m", "off"])))

    def _ignore(self) -> None:
        self.sim.act(actions.IgnoreDrift("s", "r1", "value", "by hand"))

    def _forget(self) -> None:
        stack = self._asking.stack
        rules = [] if stack is None else self.sim.reader.drift_ignores(stack.id)
        self.sim.act(actions.UnignoreDrift("s", rules[0].id if rules else "none"))
