"""Counts of an action's results."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from zonda.core.cli.progress.tally import Tally
from zonda.core.store.read.views import EventView


def make_event(seq: int, name: str, status: str, generation: int) -> EventView:
    """One event of a removal."""
    kind = "OS::Heat::None"
    about = (f"row-{name}", name, kind, name)
    return EventView(seq, str(seq), "s", "s", generation, *about, "DELETE", status, "", 0.0)


def test_what_an_interrupted_removal_had_begun_is_not_left_behind() -> None:
    past = [make_event(1, "a", "IN_PROGRESS", 1)]
    now = [make_event(2, "a", "COMPLETE", 2), make_event(3, "kept", "COMPLETE", 2)]
    reader: Any = SimpleNamespace(tree_events=lambda root: past + now)
    stack: Any = SimpleNamespace(id="s", root_id="s", action="DELETE")

    tally = Tally()
    tally.add(("", event) for event in now)

    assert tally.summary(reader, stack).endswith(": 1 removed, 1 left behind")
