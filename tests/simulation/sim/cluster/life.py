"""The whole life of a stack in a cluster, with other stacks beside it; then calm, and all must be
as wanted, and nobody has anything to look after.
"""

from __future__ import annotations

import json
from typing import Any

from zonda.core.engine import actions

from ..drifting import Drifting
from ..life import end_calmly
from ..nested_asking import NestedAsking
from ..rest import MOVES, at_breakpoints, check_end, settle
from ..template import random_template
from ..world import Violation
from .simulator import ClusterSimulator

#: Names of the stacks beside the one that all is about, and how many resources they have.
BESIDE, SIZE = ("t0", "t1"), 3


def live_cluster(seed: int) -> ClusterSimulator:
    """One seed."""
    sim = ClusterSimulator(seed)
    try:
        _live(sim, seed)
    finally:
        sim.connection.close()  # it holds what it may call, and thereby everything
    return sim


def _live(sim: ClusterSimulator, seed: int) -> None:
    face: Any = sim
    asking = Beside(sim, Drifting(face, NestedAsking(face), seed))
    source = sim.source
    sim.world.trouble = source.choice([0.0, 0.03, 0.15])
    asking()
    budget, disruptions = source.randrange(3, 10), source.randrange(7)
    for _ in range(MOVES):
        chance = source.random()
        if budget and chance < 0.01:
            budget -= 1
            asking()
        elif disruptions and chance < 0.02:
            disruptions -= 1
            sim.disrupt()
        elif not sim.move():
            if not budget:
                break
            budget -= 1
            asking()
    sim.calm()
    settle(face)
    check_rest(sim)
    check_end(face)
    end_calmly(face)
    check_rest(sim)


def check_rest(sim: ClusterSimulator) -> None:
    """Nobody has anything to look after, unless something waits for a user."""
    if not sim.ownerships.is_free and not at_breakpoints(sim):  # type: ignore[arg-type]
        raise Violation(f"all rests, and there are left: {sim.ownerships}")


class Beside:
    """Asks for something of other stacks, too, at any process each."""

    def __init__(self, sim: ClusterSimulator, asking: Any) -> None:
        self._sim, self._asking = sim, asking

    def __call__(self) -> None:
        if self._sim.source.random() < 0.6:
            self._asking()
        for name in BESIDE:
            if self._sim.source.random() < 0.4:
                self._ask(name)

    def _ask(self, name: str) -> None:
        source, sim = self._sim.source, self._sim
        bundle = sim.bundle(json.dumps(random_template(source, SIZE)))
        choices: list[actions.Action] = [
            actions.UpdateStack(name, bundle),
            actions.CheckDrift(name),
            actions.SetDrift(name, "15m"),
            actions.DeleteStack(name),
            actions.CheckStack(name),
        ]
        is_there = any(view.name == name for view in sim.reader.stacks())
        weights = [3, 5, 1, 1, 1]
        sim.act(
            source.choices(choices, weights)[0] if is_there else actions.CreateStack(name, bundle)
        )
