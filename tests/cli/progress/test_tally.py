"""Counts of an action's results."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from tests.cli.progress.test_live import EVENT

from zonda.core.cli.progress.tally import Tally
from zonda.core.store.read.views import EventView


def make_event(seq: int, name: str, status: str, generation: int) -> EventView:
    """One event of a removal."""
    kind = "OS::Heat::None"
    about = (f"row-{name}", name, kind, name)
    state = ("DELETE", status, "state changed")
    return EventView(seq, str(seq), "s", "s", generation, *about, *state, 0.0)


def test_what_an_interrupted_removal_had_begun_is_not_left_behind() -> None:
    past = [make_event(1, "a", "IN_PROGRESS", 1)]
    now = [make_event(2, "a", "COMPLETE", 2), make_event(3, "kept", "COMPLETE", 2)]
    reader: Any = SimpleNamespace(tree_events=lambda root: past + now)
    stack: Any = SimpleNamespace(id="s", root_id="s", action="DELETE")

    tally = Tally()
    tally.add(("", event) for event in now)

    assert tally.summary(reader, stack).endswith(": 1 removed, 1 left behind")


def test_what_was_found_missing_is_not_left_behind() -> None:
    event = replace(make_event(1, "a", "COMPLETE", 1), reason="nothing to delete: it is gone")
    reader: Any = None  # it has nothing to ask
    stack: Any = SimpleNamespace(id="s", root_id="s", action="DELETE")

    tally = Tally()
    tally.add([("", event)])

    assert tally.summary(reader, stack).endswith(": 1 removed")


def test_what_waits_at_a_breakpoint_is_not_made_again() -> None:
    made = replace(make_event(1, "a", "COMPLETE", 1), action="CREATE")
    reasons = (
        "UPDATE paused until Hook pre-update is cleared",
        "Hook pre-update is left: UPDATE was overtaken by ROLLBACK",
        "Failure occurred while waiting.",
    )
    reader: Any = SimpleNamespace(tree_size=lambda root, wanted: 1)
    stack: Any = SimpleNamespace(id="s", root_id="s", action="UPDATE", status="COMPLETE")

    tally = Tally()
    tally.add(("", replace(made, reason=reason)) for reason in reasons)

    told = tally.summary(reader, stack)
    assert told.endswith(": 0 made, 0 changed, 0 replaced, 0 removed, 1 unchanged")


def test_a_signal_after_the_end_makes_no_action_longer() -> None:
    tally = Tally()
    for action, seconds in (("CHECK", 0.0), ("CHECK", 2.0), ("SIGNAL", 900.0)):
        tally.add([((), replace(EVENT, action=action, at=EVENT.at + seconds))])
    stack: Any = type("Stack", (), {"action": "CHECK"})
    reader: Any = None
    assert tally.summary(reader, stack) == " in 2.0 s"
