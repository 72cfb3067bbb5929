"""The history rows of a transaction: plans, failed operations, snapshots, and what sinks have."""

from __future__ import annotations

from ..database.protocols import Connection
from ..schema.rows import (
    ActionRow,
    FailedRow,
    SinkRow,
    SnapshotRow,
    action_values,
    failed_values,
    sink_values,
    snapshot_values,
)


class History:
    """The part of a transaction that has to do with the history of stacks."""

    def __init__(self, connection: Connection) -> None:
        self._execute, self._sql = connection.execute, connection.dialect.sql

    def add_action(self, row: ActionRow) -> None:
        """Record a plan."""
        self._execute(self._sql["insert_action"], action_values(row))

    def end_action(self, stack_id: str, status: str, reason: str, at: float) -> None:
        """Note how the running action of a stack has ended; nothing if none runs."""
        self._execute(self._sql["end_action"], (at, status, reason, stack_id))

    def note_on_action(self, stack_id: str, detail: str) -> None:
        """Replace the detail (JSON) of the running action of a stack."""
        self._execute(self._sql["note_on_action"], (detail, stack_id))

    def last_action(self, stack_id: str) -> ActionRow | None:
        """The last plan of a stack."""
        found = self._execute(self._sql["last_action"], (stack_id,)).fetchone()
        return None if found is None else ActionRow(*found)

    def last_change(self, stack_id: str) -> ActionRow | None:
        """The last plan of a template, or of nothing, for a stack."""
        found = self._execute(self._sql["last_change"], (stack_id,)).fetchone()
        return None if found is None else ActionRow(*found)

    def template_hashes(self, stack_id: str, template_id: str) -> tuple[str, str]:
        """The keyed hashes of a template and its environment, as its first plan has noted them."""
        found = self._execute(self._sql["template_hashes"], (stack_id, template_id)).fetchone()
        return ("", "") if found is None else (found[0], found[1])

    def add_failed(self, row: FailedRow) -> None:
        """Note an operation that failed, with what it was begun with."""
        self._execute(self._sql["insert_failed"], failed_values(row))

    def snapshots(self, stack_id: str) -> list[SnapshotRow]:
        """The snapshots of a stack, the oldest first."""
        found = self._execute(self._sql["snapshots_of_stack"], (stack_id,)).fetchall()
        return [SnapshotRow(*values) for values in found]

    def put_snapshot(self, row: SnapshotRow) -> None:
        """Insert or rewrite a snapshot."""
        self._execute(self._sql["put_snapshot"], snapshot_values(row))

    def drop_snapshot(self, snapshot_id: str) -> None:
        """Delete a snapshot."""
        self._execute(self._sql["delete_snapshot"], (snapshot_id,))

    def drop_snapshots(self, stack_id: str) -> None:
        """Delete every snapshot of a stack."""
        self._execute(self._sql["delete_snapshots_of_stack"], (stack_id,))

    def add_sink(self, row: SinkRow) -> None:
        """Begin to remember how far an event sink is; nothing if that is known."""
        self._execute(self._sql["insert_sink"], sink_values(row))

    def move_sink(self, row: SinkRow, known: int) -> bool:
        """Rewrite how far a sink is; False if it stands elsewhere than at ``known``."""
        given = (*sink_values(row)[1:], row.name, known)
        return self._execute(self._sql["move_sink"], given).rowcount == 1
