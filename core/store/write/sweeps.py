"""The lists of the sweeps of an engine: the unfinished, the late and the owed of all trees.

A member of a cluster is told of the trees that it owns.
"""

from __future__ import annotations

from typing import Any

from .duties import Duties
from .history import History


class SweepLists(History):
    """The part of a transaction that looks at all trees."""

    #: The duties of this member; None where this process is the engine of all trees.
    duties: Duties | None = None

    def flush(self, stack_id: str | None = None) -> None:
        """See ``Transaction.flush``."""
        raise NotImplementedError

    def pending_stacks(self) -> list[str]:
        """Stacks for which the engine owes a plan of its own."""
        return self._list_owned_ids("stacks_pending")

    def overdue_stacks(self, now: float) -> list[str]:
        """Stacks whose action is past its deadline."""
        return self._list_owned_ids("stacks_overdue", now)

    def list_runnable(self, *roots: str) -> list[tuple[str, str]]:
        """(id, the stack at the top) of instances that a step could move; of some trees, or all."""
        if not roots:
            return sorted(self._list_owned("runnable"))
        self.flush()
        runnable = self._sql["runnable_of_tree"]
        asked = [self._execute(runnable, (root_id,)) for root_id in roots]
        return [found for each in asked for found in each.fetchall()]

    def list_behind(self) -> list[tuple[str, str]]:
        """(id, the stack at the top) of owners that do not show all that has changed below them."""
        return sorted(self._list_owned("behind"))

    def list_begun_after(self, now: float) -> list[str]:
        """Instances whose operation began later than ``now``: the clock was set back."""
        return sorted(self._list_owned_ids("begun_after", now))

    def overdue(self, now: float) -> list[str]:
        """Instances whose operation is past its deadline."""
        return sorted(self._list_owned_ids("overdue", now))

    def list_overdue_breakpoints(self, now: float) -> list[str]:
        """Instances that wait at a breakpoint that is to be cleared by now."""
        return sorted(self._list_owned_ids("paused_too_long", now))

    def _list_owned_ids(self, statement: str, *values: Any) -> list[str]:
        return [found[0] for found in self._list_owned(statement, *values)]

    def _list_owned(self, statement: str, *values: Any) -> list[tuple[str, str]]:
        """The rows (id, the stack at the top, ...) of trees that are owned here."""
        self.flush()
        found: list[tuple[str, str]] = self._execute(self._sql[statement], values).fetchall()
        duties = self.duties
        return found if duties is None else [each for each in found if duties.owns(each[1])]
