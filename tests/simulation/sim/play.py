"""Plays one seed to its end and checks what must hold there."""

from __future__ import annotations

import json
from typing import Any

from zonda.core.engine import actions
from zonda.core.store.rows import ResourceRow
from zonda.core.store.views import StackView
from zonda.hooks.errors import NotFound

from .history import check_history
from .simulator import Simulator
from .template import random_template
from .world import INWARD, Violation

MOVES = 6000


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
    if chance < 0.65 and known:
        entry = known[source.choice(sorted(known))]
        entry[source.choice(["value", "fixed"])] = source.choice("abcxy")
    return known


def settle(sim: Simulator) -> None:
    """Go on until nothing moves; only what a zombie or a crash took may need the sweep."""
    _run_dry(sim)
    stack = _stack(sim)
    if stack is not None and not stack.idle and not sim.stolen:
        raise Violation(f"a wake-up was lost: {stack}")
    sim.sweep()
    _run_dry(sim)
    stack = _stack(sim)
    if stack is not None and not stack.idle:
        raise Violation(f"the sweep does not heal: {stack}")


def _run_dry(sim: Simulator) -> None:
    for _ in range(MOVES):
        if not sim.move():
            return
    raise Violation("it does not come to rest")


def _stack(sim: Simulator) -> StackView | None:
    try:
        return sim.reader.stack("s")
    except NotFound:
        return None


def check_end(sim: Simulator) -> None:
    """What must hold whenever everything is at rest."""
    stack = _stack(sim)
    if stack is None:
        if _live(sim):
            raise Violation(f"orphans of a deleted stack: {sim.world.live}")
        return
    check_history(sim.reader, stack)
    rows = sim.reader.resource_rows(stack.id)
    if any(row.op or row.open for row in rows):
        raise Violation("an idle stack has open instances")
    _check_stored(sim, rows)
    known = {row.physical_id for row in rows}
    orphans = _live(sim) - known
    if orphans:
        raise Violation(f"orphans: {orphans}")
    if stack.status == "COMPLETE" and stack.action in ("CREATE", "UPDATE", "ROLLBACK"):
        _check_converged(sim, stack, rows)


def _check_stored(sim: Simulator, rows: list[ResourceRow]) -> None:
    """What a handler that does nothing outside has stored is there with its answer."""
    for row in rows:
        made = row.status == "COMPLETE" and row.action in ("CREATE", "UPDATE")
        if made and str(row.physical_id).startswith(INWARD):
            data = dict(entry[:2] for entry in sim.reader.sealed_data(row.id))
            if "said" not in data or sim.reader.sealer.open(data["said"]) != _said(sim, row):
                raise Violation(f"{row.name} has not stored what it says")


def _live(sim: Simulator) -> set[str]:
    return set(sim.world.live) - sim.world.excused


def _check_converged(sim: Simulator, stack: StackView, rows: list[ResourceRow]) -> None:
    wanted: dict[str, Any] = {}
    if stack.template_id is not None:
        wanted = json.loads(json.loads(sim.reader.template(stack.template_id).body)["template"])
    by_name = {row.name: row for row in rows}
    if len(by_name) != len(rows) or set(by_name) != set(wanted):
        raise Violation(f"instances {sorted(row.name for row in rows)}, wanted {sorted(wanted)}")
    outside = [row for row in rows if not str(row.physical_id).startswith(INWARD)]
    if _live(sim) != {str(row.physical_id) for row in outside}:
        raise Violation("the world is not what the rows say")
    for name, entry in wanted.items():
        row = by_name[name]
        if row.status != "COMPLETE" or row.have_hash != row.want_hash or row.dirty:
            raise Violation(f"{name} is not as wanted: {row.action}_{row.status}")
        said = [_said(sim, by_name[other]) for other in sorted(entry["requires"])]
        if _said(sim, row) != "|".join([entry["value"], *said]):
            raise Violation(f"{name} says {_said(sim, row)}, built from {said}")


def _said(sim: Simulator, row: ResourceRow) -> str:
    outputs = sim.reader.sealer.load(row.outputs) or {}
    return str(outputs.get("output"))


def _calm_end(sim: Simulator, size: int) -> None:
    """Without trouble an update converges, whatever happened before, and a deletion deletes."""
    sim.world.trouble = sim.doubles = 0.0
    stack = _stack(sim)
    suspended = stack is not None and bool(sim.reader.stack_row(stack.id).suspended)
    if stack is not None and not suspended and stack.action not in ("SUSPEND", "DELETE"):
        sim.act(actions.UpdateStack("s", sim.bundle(json.dumps(random_template(sim.source, size)))))
        settle(sim)
        stack = _stack(sim)
        if stack is None or (stack.action, stack.status) != ("UPDATE", "COMPLETE"):
            raise Violation(f"a calm update ends as {stack}")
        check_end(sim)
    if stack is not None:
        sim.act(actions.DeleteStack("s"))
        settle(sim)
        if _stack(sim) is not None or _live(sim):
            raise Violation(f"a calm deletion leaves {_stack(sim)} {sim.world.live}")
