"""Lives of stacks whose things let go of something when they are replaced, and get it back.

The types are the same for all other lives, so that the meaning of their seeds stays what it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest import mock

from zonda.core.engine.model.states import PRESENT
from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.hooks.errors import NotReady

from . import rest
from .life import live
from .simulator import Simulator
from .types import Thing
from .world import Violation

_update = Thing.handle_update
_check_idle = rest._check_idle


def _prepare(self: Thing) -> None:
    if self.world.source.random() < 0.1:
        raise NotReady(1.0)
    self.world.let_go.add(self.uuid)
    self.world.maybe_fail()


def _restore(self: Thing, successor: Any) -> None:
    if successor is not None and successor.uuid == self.uuid:
        self.world.violated(f"{self.name} is its own successor")
    self.world.maybe_fail()
    self.world.let_go.discard(self.uuid)
    self.world.got_back += 1


def _check_and_update(
    self: Thing, json_snippet: Any, tmpl_diff: Mapping[str, Any], prop_diff: Mapping[str, Any]
) -> Any:
    if self.uuid in self.world.let_go:
        self.world.violated(f"{self.name} is updated, and has not got back what it let go of")
    return _update(self, json_snippet, tmpl_diff, prop_diff)


def _check_held(sim: Simulator, stack: StackRow, rows: list[ResourceRow]) -> None:
    _check_idle(sim, stack, rows)
    for row in rows:
        made = row.want == PRESENT and row.status == "COMPLETE" and not row.dirty
        if made and row.have_hash == row.want_hash and row.id in sim.world.let_go:
            raise Violation(f"{row.name} has not got back what it let go of: {row}")


@contextmanager
def letting_go() -> Iterator[None]:
    """Within, all things let go of something."""
    with (
        mock.patch.object(Thing, "prepare_for_replace", _prepare, create=True),
        mock.patch.object(Thing, "restore_replaced", _restore, create=True),
        mock.patch.object(Thing, "handle_update", _check_and_update),
        mock.patch.object(rest, "_check_idle", _check_held),
    ):
        yield


def live_letting_go(seed: int) -> Simulator:
    """A whole life of such a stack."""
    with letting_go():
        sim = live(seed)
    sim.counted["got back"] = sim.world.got_back
    return sim
