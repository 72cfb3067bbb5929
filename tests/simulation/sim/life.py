"""The whole life of a stack: every action, every trouble; then calm, and all must be as wanted."""

from __future__ import annotations

import json
from collections.abc import Callable

from zonda.core.engine import actions
from zonda.core.store.schema.rows import StackRow

from .again import Before
from .asking import Asking
from .drifting import Drifting
from .nested_asking import NestedAsking
from .nested_template import is_owner
from .rest import MOVES, check_end, settle, stack_of
from .simulator import Simulator
from .world import Violation


def live(seed: int) -> Simulator:
    """One seed."""
    sim = Simulator(seed, whole=True)
    return lived(sim, Asking(sim))


def live_drifting(seed: int) -> Simulator:
    """One seed, in which somebody changes things by hand, and drift is looked for."""
    sim = Simulator(seed, whole=True, drifting=True)
    return lived(sim, Drifting(sim, Asking(sim), seed))


def live_nested(seed: int) -> Simulator:
    """One seed, with nested stacks."""
    sim = Simulator(seed, whole=True, nested=True)
    return lived(sim, NestedAsking(sim))


def lived(sim: Simulator, asking: Callable[[], None]) -> Simulator:
    """A whole life."""
    source = sim.source
    sim.world.trouble = source.choice([0.0, 0.03, 0.15])
    asking()
    budget, crashes = source.randrange(3, 14), source.randrange(5)
    for _ in range(MOVES):
        chance = source.random()
        if budget and chance < 0.012:
            budget -= 1
            asking()
        elif crashes and chance < 0.04:
            crashes -= 1
            sim.crash(zombie=source.random() < 0.5)
        elif chance < 0.043:
            _pass_time(sim)
        elif sim.zombies and chance < 0.3:
            sim.zombie_move()
        elif not sim.move():
            if not budget:
                break
            if source.random() < 0.5:
                _look(sim)
            budget -= 1
            asking()
    sim.zombies.clear()
    sim.faults = sim.meanwhile = 0.0
    settle(sim)
    check_end(sim)
    end_calmly(sim)
    return sim


def _look(sim: Simulator) -> None:
    """In the midst of life everything is at rest: it is looked at."""
    if not sim.zombies:
        settle(sim)
        check_end(sim)


def _pass_time(sim: Simulator) -> None:
    """Time passes, or a clock is set; then comes a sweep."""
    source = sim.source
    chance = source.random()
    if chance < 0.6:
        sim.clock.advance(source.choice([1.0, 10.0, 100.0, 1000.0]))
    elif chance < 0.8:
        sim.clock.jump(source.choice([60.0, 3600.0]))
    else:
        sim.clock.jump(-source.choice([60.0, 3600.0]))
    sim.counted["clock"] += 1
    sim.sweep_deadlines()


def end_calmly(sim: Simulator) -> None:
    """Without trouble an update converges, whatever happened before, and a deletion deletes."""
    sim.world.trouble = sim.doubles = 0.0
    if _stack(sim) is not None and _is_resumed(sim):
        _make_ready(sim)
        _update(sim)
        _must_be(sim, "UPDATE")
        sim.disturbed.clear()
        check_end(sim)
        _check_unchanged(sim)
        _check_repaired(sim)
    if _stack(sim) is not None:
        _unprotect(sim)
        _delete(sim)
        if stack_of(sim) is not None:
            raise Violation(f"a calm deletion leaves {stack_of(sim)}")
    check_end(sim)
    if sim.watcher.freed:
        for stack in sim.watcher.freed:
            sim.act(actions.DeleteStack(stack.id))
        settle(sim)
        # the limits of its environment are its own still, a second for a deletion among them
        left = [each for each in sim.watcher.freed if "timed out" not in each.status_reason]
        if left:
            raise Violation(f"a calm deletion leaves {left}")
        check_end(sim)


def _delete(sim: Simulator) -> None:
    """Delete; once more where the time was over, which a breakpoint may have taken up."""
    sim.act(actions.DeleteStack("s"))
    settle(sim)
    left = stack_of(sim)
    if left is not None and left.status_reason == "Delete timed out":
        sim.act(actions.DeleteStack("s"))
        settle(sim)


def _stack(sim: Simulator) -> StackRow | None:
    stack = stack_of(sim)
    return None if stack is None else sim.reader.stack_row(stack.id)


def _is_resumed(sim: Simulator) -> bool:
    """Nothing is suspended any more; False for what was to be deleted: it can only be that."""
    stack = _stack(sim)
    assert stack is not None
    if not stack.suspended:
        return True
    if stack.action == "DELETE":
        return False
    sim.act(actions.ResumeStack("s"))
    settle(sim)
    stack = _stack(sim)
    assert stack is not None
    if "RESUME timed out" not in stack.status_reason:  # the limits of the last life still hold
        _must_be(sim, "RESUME")
    return True


def _make_ready(sim: Simulator) -> None:
    """Nothing is protected any more."""
    _update(sim, lifting=True)  # what the environment before says, it still does
    _unprotect(sim)
    _is_resumed(sim)  # an update is taken after a resumption that failed; it may fail, too


def _unprotect(sim: Simulator) -> None:
    """No command protects anything any more."""
    stack = _stack(sim)
    assert stack is not None
    sim.act(actions.ProtectStack("s", (), False))
    for row in sim.reader.resource_rows(stack.id):
        if row.protect:
            sim.act(actions.ProtectStack("s", (row.name,), False))
    settle(sim)


def _update(sim: Simulator, *, lifting: bool = False) -> None:
    stack = _stack(sim)
    assert stack is not None
    external = {
        row.name: row.external_id
        for row in sim.reader.resource_rows(stack.id)
        if row.want == "PRESENT" and row.external_id is not None
    }
    made = sim.writing.calm(sim.source, external)
    if lifting:
        made["own"] = {"protect": dict.fromkeys(["stack", *made["resources"]], False)}
    text = json.dumps(made)
    sim.texts.append(text)
    sim.act(actions.UpdateStack("s", sim.bundle(text), timeout_mins=600, rollback=False))
    settle(sim)


def _must_be(sim: Simulator, action: str) -> None:
    stack = _stack(sim)
    if stack is None or (stack.action, stack.status) != (action, "COMPLETE"):
        raise Violation(f"a calm {action} ends as {stack}")


def _check_repaired(sim: Simulator) -> None:
    """The same update once more replaces what is not well in a nested stack."""
    stacks, root = sim.watcher.stacks, sim.watcher.root
    assert root is not None
    inside = [
        row
        for row in sim.watcher.rows.values()
        if row.stack_id != root.id and stacks[row.stack_id].root == root.id and not is_owner(row)
    ]
    if not inside:
        return
    chosen = sim.source.choice(inside)
    sim.act(actions.MarkResource(chosen.stack_id, chosen.name))
    settle(sim)
    sim.act(actions.UpdateStack("s", sim.bundle(sim.texts[-1])))
    settle(sim)
    _must_be(sim, "UPDATE")
    check_end(sim)
    if chosen.id in sim.watcher.rows:
        raise Violation(f"{chosen.name} is not well, and is not replaced by an update")


def _check_unchanged(sim: Simulator) -> None:
    """The same update once more does nothing."""
    before = Before(sim)
    sim.act(actions.UpdateStack("s", sim.bundle(sim.texts[-1])))
    settle(sim)
    _must_be(sim, "UPDATE")
    if moved := before.moved():
        raise Violation(f"the same update once more has done something: {moved}")
