"""Plays one seed to its end and checks what must hold there: the plain life of a stack."""

from __future__ import annotations

import json
from typing import Any

from zonda.core.engine import actions

from .rest import MOVES, check_end, settle, stack_of
from .simulator import Simulator
from .template import random_template
from .world import Violation


def play(seed: int, *, size: int = 8, inward: bool = False, again: bool = True) -> Simulator:
    """One seed: troubled actions, then a calm update, then a calm deletion.

    ``again``: newer actions want also what was wanted before, or that with one change.
    """
    sim = Simulator(seed, inward=inward)
    source = sim.source
    template = random_template(source, size)
    text = json.dumps(template)
    sim.texts.append(text)
    sim.act(actions.CreateStack("s", sim.bundle(text), rollback=source.random() < 0.4))
    budget = source.randrange(6 if again else 4)
    crashes = source.randrange(5)
    for _ in range(MOVES):
        chance = source.random()
        if budget and chance < 0.02:
            budget -= 1
            _another(sim, size, again)
        elif crashes and chance < 0.04:
            crashes -= 1
            sim.crash(zombie=source.random() < 0.5)
        elif sim.zombies and chance < 0.3:
            sim.zombie_move()
        elif not sim.move() and not budget and not crashes:
            break
    sim.zombies.clear()
    settle(sim)
    check_end(sim)
    _calm_end(sim, size)
    return sim


def _another(sim: Simulator, size: int, again: bool) -> None:
    source = sim.source
    text = json.dumps((_next_template if again else _new_template)(sim, size))
    sim.texts.append(text)
    kind = source.random()
    action: actions.Action
    if kind < 0.6:
        rollback = None if source.random() < 0.5 else source.random() < 0.5
        action = actions.UpdateStack("s", sim.bundle(text), rollback=rollback)
    elif kind < 0.75:
        action = actions.CancelStack("s", rollback=source.random() < 0.5)
    elif kind < 0.85:
        action = actions.CheckStack("s")
    elif kind < 0.9:
        action = actions.SuspendStack("s")
    elif kind < 0.95:
        action = actions.ResumeStack("s")
    else:
        action = actions.DeleteStack("s")
    sim.act(action)


def _new_template(sim: Simulator, size: int) -> dict[str, Any]:
    return random_template(sim.source, size)


def _next_template(sim: Simulator, size: int) -> dict[str, Any]:
    """Something new, something that was wanted before, or that with one change."""
    source = sim.source
    chance = source.random()
    if chance < 0.3:
        return random_template(source, size)
    known: dict[str, Any] = json.loads(source.choice(sim.texts))
    resources = known["resources"]
    if chance < 0.65 and resources:
        entry = resources[source.choice(sorted(resources))]
        entry[source.choice(["value", "fixed"])] = source.choice("abcxy")
    return known


def _calm_end(sim: Simulator, size: int) -> None:
    """Without trouble an update converges, whatever happened before, and a deletion deletes."""
    sim.world.trouble = sim.doubles = 0.0
    stack = stack_of(sim)
    suspended = stack is not None and bool(sim.reader.stack_row(stack.id).suspended)
    if stack is not None and not suspended and stack.action not in ("SUSPEND", "DELETE"):
        sim.act(actions.UpdateStack("s", sim.bundle(json.dumps(random_template(sim.source, size)))))
        settle(sim)
        stack = stack_of(sim)
        if stack is None or (stack.action, stack.status) != ("UPDATE", "COMPLETE"):
            raise Violation(f"a calm update ends as {stack}")
        check_end(sim)
    if stack is not None:
        sim.act(actions.DeleteStack("s"))
        settle(sim)
        check_end(sim)
        if stack_of(sim) is not None:
            raise Violation(f"a calm deletion leaves {stack_of(sim)}")
