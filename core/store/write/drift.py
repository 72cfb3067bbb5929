"""Drift checks in a transaction: findings, the newest verdicts, exceptions.

Called by the engine through ``Transaction.drift``. None of it stands in the rows of stacks and
resources, because a check changes nothing of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..database.protocols import Connection
from ..schema.rows import (
    DriftCheckRow,
    DriftFindingRow,
    DriftIgnoreRow,
    DriftRow,
    drift_check_values,
    drift_finding_values,
    drift_ignore_values,
)
from .duties import Duties


class DriftTables:
    """The tables of drift between begin and commit."""

    def __init__(self, connection: Connection, duties: Duties | None) -> None:
        self._execute, self._sql = connection.execute, connection.dialect.sql
        self._duties = duties
        self._many = connection.executemany

    # -- checks -----------------------------------------------------------------------------------

    def add_check(self, row: DriftCheckRow) -> None:
        """Begin a check."""
        self._execute(self._sql["insert_drift_check"], drift_check_values(row))

    def end_check(self, row: DriftCheckRow) -> bool:
        """Write how a check has ended; False if it has not been running any more."""
        given = (row.ended_at, row.status, row.reason, row.verdict, row.counts, row.id)
        return self._execute(self._sql["end_drift_check"], given).rowcount == 1

    def check(self, check_id: str) -> DriftCheckRow | None:
        """A check by its id."""
        return self._one("drift_check_by_id", check_id)

    def running(self, stack_id: str) -> DriftCheckRow | None:
        """The check of a stack that is running."""
        return self._one("drift_check_running", stack_id)

    def all_running(self) -> list[DriftCheckRow]:
        """Every check that is running."""
        return [DriftCheckRow(*found) for found in self._execute(self._sql["drift_checks_running"])]

    def list_running(self, roots: Sequence[str]) -> list[DriftCheckRow]:
        """The running checks of trees."""
        running = self._sql["drift_checks_running_of_tree"]
        asked = [self._execute(running, (root_id,)) for root_id in roots]
        return [DriftCheckRow(*values) for found in asked for values in found.fetchall()]

    def list_newest(self, stack_id: str, most: int) -> list[DriftCheckRow]:
        """The newest checks of a stack, whatever has become of them."""
        found = self._execute(self._sql["drift_checks_of_stack"], (stack_id, most, 0))
        return [DriftCheckRow(*values) for values in found]

    def find_previous_check(self, row: DriftCheckRow) -> DriftCheckRow | None:
        """The last check of the whole stack that was complete, other than ``row``."""
        return self._one("drift_check_before", row.stack_id, row.id)

    def last(self, stack_id: str) -> DriftCheckRow | None:
        """The last check of the whole stack that was complete."""
        return self._one("drift_check_before", stack_id, "")

    def _one(self, statement: str, *values: str) -> DriftCheckRow | None:
        found = self._execute(self._sql[statement], values).fetchone()
        return None if found is None else DriftCheckRow(*found)

    # -- what was found ---------------------------------------------------------------------------

    def add_findings(self, rows: Iterable[DriftFindingRow]) -> None:
        """Store the findings of a check."""
        self._many(self._sql["insert_drift_finding"], [drift_finding_values(row) for row in rows])

    def put_states(self, states: Sequence[tuple[str, str, int, str, str]]) -> None:
        """Keep the newest verdicts: (resource, check, fence of the resource, verdict, unseen)."""
        self._many(self._sql["put_drift_state"], states)

    def rows(self, root_id: str) -> list[DriftRow]:
        """The desired instances of a tree, with the newest verdicts on them."""
        return [DriftRow(*found) for found in self._execute(self._sql["drift_rows"], (root_id,))]

    # -- exceptions -------------------------------------------------------------------------------

    def add_ignore(self, row: DriftIgnoreRow) -> None:
        """Keep an exception."""
        self._execute(self._sql["insert_drift_ignore"], drift_ignore_values(row))

    def drop_ignore(self, ignore_id: str, stack_id: str) -> bool:
        """Remove an exception; whether it was there."""
        return self._execute(self._sql["delete_drift_ignore"], (ignore_id, stack_id)).rowcount == 1

    def ignores(self, stack_id: str) -> list[DriftIgnoreRow]:
        """The exceptions of a stack, the oldest first."""
        found = self._execute(self._sql["drift_ignores_of_stack"], (stack_id,))
        return [DriftIgnoreRow(*each) for each in found]

    # -- schedules --------------------------------------------------------------------------------

    def due(self, now: float) -> list[tuple[str, float]]:
        """(stack, time) of the stacks with a due check."""
        return [(found[0], found[2]) for found in self._list_owned("stacks_drift_due", now)]

    def list_due_elsewhere(self, now: float) -> list[str]:
        """The stacks at the top of trees with a due check that this member does not own."""
        found = self._execute(self._sql["stacks_drift_due"], (now,)).fetchall()
        return sorted(
            {each[1] for each in found if self._duties and not self._duties.owns(each[1])}
        )

    def advance(self, stack_id: str, known: float, at: float) -> bool:
        """Store when a stack is due next; False if that does not stand at ``known`` any more."""
        return self._execute(self._sql["advance_drift"], (at, stack_id, known)).rowcount == 1

    def list_repaired(self) -> list[str]:
        """Stacks that a schedule also repairs."""
        return [found[0] for found in self._list_owned("stacks_repaired_by_schedule")]

    def list_scheduled(self) -> list[str]:
        """Stacks with a schedule."""
        return [found[0] for found in self._list_owned("stacks_with_drift")]

    def _list_owned(self, statement: str, *values: float) -> list[tuple[Any, ...]]:
        """The rows (stack, the stack at its top, ...) of trees that are owned here."""
        found, duties = self._execute(self._sql[statement], values).fetchall(), self._duties
        return found if duties is None else [each for each in found if duties.owns(each[1])]
