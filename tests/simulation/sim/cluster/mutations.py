"""Faults that the simulation of a cluster must find: each takes away one thing that holds it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any
from unittest import mock

from zonda.core.engine.drift.interrupting import interrupt_all
from zonda.core.engine.model.unit_of_work import UnitOfWork
from zonda.core.engine.runtime import trees
from zonda.core.store.write.duties import Duties
from zonda.core.store.write.transaction import Transaction


def _skip_fence(self: Duties) -> None:
    """A member that was removed writes on."""


_release = Duties.release


def _release_at_once(self: Duties, *roots: str) -> set[str]:
    """The duties end although somebody has asked for something."""
    asked = "SELECT 1 FROM request WHERE root_id = ? AND answered_at IS NULL"
    wanted = {root_id for root_id in roots if self._execute(asked, (root_id,)).fetchone()}
    for root_id in wanted:
        self._execute("DELETE FROM duty WHERE key = ?", ("tree:" + root_id,))
        self._lose(root_id)
    return wanted | _release(self, *sorted(set(roots) - wanted))


def _keep_caches(self: Transaction, roots: Sequence[str]) -> None:
    """What was known before another member had the tree is believed still."""


def _interrupt_all(work: UnitOfWork, roots: Sequence[str]) -> None:
    interrupt_all(work)


#: name -> what puts it in place
MUTATIONS: Mapping[str, Callable[[], Any]] = {
    "no-fence": partial(mock.patch.object, Duties, "check_fence", _skip_fence),
    "release-without-look": partial(mock.patch.object, Duties, "release", _release_at_once),
    "kept-caches": partial(mock.patch.object, Transaction, "forget_trees", _keep_caches),
    "interrupt-all": partial(mock.patch.object, trees, "interrupt_trees", _interrupt_all),
}


@contextmanager
def mutated(name: str) -> Iterator[None]:
    """The code with one of them; '' for none."""
    if not name:
        yield
        return
    with MUTATIONS[name]():
        yield
