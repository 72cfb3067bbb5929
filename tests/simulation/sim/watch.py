"""Looks at the rows after every commit: what has changed, and whether it was allowed to.

Each rule of its own stands in a module of its own; this one tells them what has happened.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from typing import Any

from zonda.core.engine.model import row_annotations
from zonda.core.engine.model.states import CLEANING, DOWN, IDLE, PRESENT
from zonda.core.engine.operations.replacement import is_removed_first
from zonda.core.engine.runtime.lateness import PATIENCE
from zonda.core.store.read.reader import ALL, Reader
from zonda.core.store.schema.prepared import SQL
from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.core.template.environment import policies
from zonda.core.template.environment.policies import Policies

from .clock import SetClock
from .touched import Touched
from .watch_attempts import Attempts
from .watch_breakpoints import Breakpoints
from .watch_ends import Ends
from .watch_nested import Nested
from .watch_ownership import Ownership
from .watch_parts import Parts
from .world import Violation, World

#: The name of the stack that all is about.
STACK = "s"


@dataclass(frozen=True, slots=True)
class Change:
    """One row before and after a commit, with its stack."""

    before: ResourceRow | None
    now: ResourceRow | None
    stack_before: StackRow | None
    stack: StackRow
    #: Seconds by which the wall clock was set since the commit before.
    jump: float = 0.0

    @property
    def row(self) -> ResourceRow:
        """The row, or what it was last."""
        row = self.now or self.before
        assert row is not None
        return row

    @property
    def policies(self) -> Policies:
        """What the user has said about the plan that runs."""
        return policies.parse_policies(self.stack.policies)

    @property
    def began(self) -> str:
        """The operation that has begun, or ''."""
        before, now = self.before, self.now
        if now is None or now.op_id is None or now.attempt != 1 or now.op_state == CLEANING:
            return ""
        if before is not None and before.op_id == now.op_id:
            return ""
        return now.op or now.action

    @property
    def is_current(self) -> bool:
        """Whether the operation is of the running plan."""
        return self.row.op_gen == self.stack.generation

    @property
    def is_replanned(self) -> bool:
        """Whether the plan is another one now, or nothing more is to be begun for it."""
        before = self.stack_before
        return (
            before is None
            or before.generation != self.stack.generation
            or bool(self.stack.halted)
            or self.stack.phase == IDLE
        )


class Watcher:
    """All that is known of the rows after the last commit."""

    def __init__(
        self, connection: sqlite3.Connection, reader: Reader, world: World, clock: SetClock
    ) -> None:
        self._connection = connection
        self._changes = 0
        self._touched = Touched(connection)
        self._tuples: dict[str, tuple[tuple[Any, ...], Any]] = {}
        self._of_stack: dict[str, dict[str, ResourceRow]] = {}
        self._reader = reader
        self._clock = clock
        self.rows: dict[str, ResourceRow] = {}
        self.stacks: dict[str, StackRow] = {}
        self._suspended: set[str] = set()
        #: Set by a sweep of deadlines: what time it was, by the wall and by the monotonic clock.
        self.sweeps_at: tuple[float, float] | None = None
        #: Since when somebody is seen to be late, by the monotonic clock.
        self._late: dict[str, float] = {}
        self._swept_at = 0.0
        self._offset = self._clock_offset
        #: Names of what a user has marked, whatever was done to it.
        self.disturbed: set[str] = set()
        self.breakpoints = Breakpoints(clock)
        self.ownership = Ownership(reader, world)
        self.ends = Ends(reader, world)
        self.parts = Parts(reader, world)
        self.nested = Nested(reader)
        self._rules = (Attempts(clock), self.breakpoints, self.ownership, self.nested)

    @property
    def root(self) -> StackRow | None:
        """The stack that lives and was never nested in another one."""
        return next((each for each in self._at_top if each.name == STACK), None)

    @property
    def freed(self) -> list[StackRow]:
        """The stacks that were nested in it once, and were left alone when their owners went."""
        return [each for each in self._at_top if each.name != STACK]

    @property
    def _at_top(self) -> list[StackRow]:
        live = [each for each in self.stacks.values() if each.deleted_at is None]
        return [each for each in live if each.owner_resource_id is None]

    def committed(self, *, alone: bool, zombie: str | None) -> int:
        """Look; gives how many operations a ``zombie`` (an owner) has begun or taken."""
        before, self._offset = self._offset, self._clock_offset
        if not self._has_written():
            return 0
        jump = self._offset - before
        rows, stacks = self._read()
        before_rows, before_stacks = self.rows, self.stacks
        self.rows, self.stacks = rows, stacks
        self.nested.looked(rows, stacks, before_stacks, alone)
        for key, stack in stacks.items():
            self._stack(before_stacks.get(key), stack, before_rows)
        for key in {**before_rows, **rows}:
            was, now = before_rows.get(key), rows.get(key)
            stack_id = (now or before_rows[key]).stack_id
            change = Change(was, now, before_stacks.get(stack_id), stacks[stack_id], jump)
            if was is not now:
                self._row(change, alone)
        self._swept(rows, stacks)
        return sum(1 for row in rows.values() if zombie and row.op and row.owner == zombie)

    @property
    def _clock_offset(self) -> float:
        """The wall clock less the monotonic one."""
        return self._clock.now() - self._clock.monotonic()

    def _has_written(self) -> bool:
        """Whether the last commit has changed anything."""
        before, self._changes = self._changes, self._connection.total_changes
        return before != self._changes or self.sweeps_at is not None

    def _read(self) -> tuple[dict[str, ResourceRow], dict[str, StackRow]]:
        """What lives; what does not any more once more."""
        stacks = dict(self.stacks)
        touched, below = self._touched.take()
        self._changes = self._connection.total_changes
        for key in touched:
            (found,) = self._connection.execute(SQL["stack_by_id"], (key,))
            stacks[key] = self._known(found, StackRow)
        for key in below:
            self._read_resource(key)
        live = sorted(key for key, stack in stacks.items() if stack.deleted_at is None)
        gone = [key for key, stack in self.stacks.items() if stack.deleted_at is None]
        rows: dict[str, ResourceRow] = {}
        for key in dict.fromkeys((*live, *gone)):
            rows.update(self._of_stack.get(key, {}))
        return rows, stacks

    def _read_resource(self, key: str) -> None:
        found = self._connection.execute(SQL["resource_by_id"], (key,)).fetchone()
        if found is None:
            for rows in self._of_stack.values():
                rows.pop(key, None)
            return
        row = self._known(found, ResourceRow)
        rows = self._of_stack.setdefault(row.stack_id, {})
        is_last = not rows or key in rows or key > next(reversed(rows))
        rows[key] = row
        if not is_last:
            self._of_stack[row.stack_id] = dict(sorted(rows.items()))

    def _known(self, found: tuple[Any, ...], kind: type[Any]) -> Any:
        """The row of a tuple; the same object as long as it does not change."""
        known = self._tuples.get(found[0])
        if known is None or known[0] != found:
            known = self._tuples[found[0]] = (found, kind(*found))
        return known[1]

    # -- rules ------------------------------------------------------------------------------------

    def _stack(
        self, before: StackRow | None, stack: StackRow, rows: dict[str, ResourceRow]
    ) -> None:
        generation = 0 if before is None else before.generation
        if generation != stack.generation:
            self.parts.planned(stack, rows, self.rows)
            self.nested.planned(before, stack)
            if before is not None:
                _check_plan(before, stack)
            self._check_suspended(stack)
        if before != stack and stack.phase == IDLE:
            was_busy = before is None or before.phase != IDLE or generation != stack.generation
            if was_busy:
                self.ends.ended(stack, self.rows)
                self.parts.ended(stack, self.rows)

    def _check_suspended(self, stack: StackRow) -> None:
        """What was suspended is not updated before the whole tree was asked to be resumed."""
        if stack.action == "SUSPEND":
            self._suspended.add(stack.id)
        elif stack.action == "RESUME":
            self._suspended.discard(stack.id)
        elif stack.action in ("UPDATE", "RESTORE") and {stack.id, stack.root} <= self._suspended:
            raise Violation(f"{stack.action} of a suspended stack")

    def _row(self, change: Change, alone: bool) -> None:
        row = change.row
        if row.waiting < 0:
            raise Violation(f"{row.name} waits for {row.waiting}")
        if change.before is not None and row.fence < change.before.fence:
            raise Violation(f"the fence of {row.name} goes back")
        for rule in self._rules:
            rule.changed(change)
        if change.began:
            self._began(change, change.began, alone)
        if change.before is None and row.replaces_id is not None:
            self._replaced(change, self.rows.get(row.replaces_id))

    def _began(self, change: Change, op: str, alone: bool) -> None:
        row, stack = change.row, change.stack
        if row.open and row.waiting and change.is_current and row.op:
            raise Violation(f"{row.name} begins and waits")
        # one transaction may begin this and then find what halts the stack in another one
        was_halted = change.stack_before is not None and change.stack_before.halted
        if stack.halted and was_halted and alone and row.op:
            raise Violation(f"{row.name} begins in a halted stack")
        if op in ("SUSPEND", "RESUME"):
            self._check_order(row, op, up=op == "RESUME")
        if op in ("CREATE", "UPDATE") and change.is_current:
            self._check_requirements(row)
        if op == "CREATE":
            self._check_attempts(row, change.is_current)
        if op == "DELETE":
            _check_deletion(change, self._has_successor(row))
        if op in ("CREATE", "UPDATE", "DELETE") and row.external_id is not None:
            raise Violation(f"{op} of {row.name}, which is managed elsewhere")
        is_updated = op == "UPDATE" and not row_annotations.has(row, row_annotations.REPLACING)
        if is_updated and "update" in self.ends.restricted(row.op_template_id, row.name):
            raise Violation(f"{row.name} is updated, which is restricted")
        _check_deadline(change, op, self._clock.now())

    def _check_attempts(self, row: ResourceRow, is_current: bool) -> None:
        """Nothing is left of what was never completed: under its name, or wanted by nobody."""
        for other in self.rows.values():
            if other.stack_id != row.stack_id or other.id == row.id or not is_removed_first(other):
                continue
            if other.name == row.name or (is_current and other.want != PRESENT):
                raise Violation(f"{row.name} is made before {other.id} is removed")

    def _check_requirements(self, row: ResourceRow) -> None:
        left_alone: set[str] | None = None
        for other in self._required(row):
            if other.op or other.status != "COMPLETE" or other.have_hash != other.want_hash:
                if self._is_left_as_it_is(other):
                    continue
                left_alone = left_alone or {*self.parts.left_alone(row.stack_id), *self.disturbed}
                if other.name not in left_alone:
                    raise Violation(f"{row.name} begins before {other.name} is there")

    def _required(self, row: ResourceRow) -> list[ResourceRow]:
        keys = [dst for src, dst in self._reader.edges(row.stack_id) if src == row.id]
        return [self.rows[key] for key in keys if self.rows[key].want == PRESENT]

    def _check_order(self, row: ResourceRow, op: str, *, up: bool) -> None:
        """Whom a suspension or a resumption must follow, it follows."""
        for src, dst in self._reader.edges(row.stack_id):
            key = dst if up and src == row.id else src if not up and dst == row.id else None
            other = None if key is None else self.rows[key]
            if other is None or other.want != PRESENT or other.action == "INIT":
                continue
            done = (other.action, other.status) == (op, "COMPLETE")
            done = done or (up and not other.suspended) or self._was_done(other, op)
            # a signal is nothing that a plan would wait for that is not for its resource
            if other.op not in ("", "SIGNAL") or not done:
                raise Violation(f"{op} of {row.name} before {other.name}")

    def _was_done(self, row: ResourceRow, op: str) -> bool:
        """Whether the running plan has done it, whatever a user has said of ``row`` since."""
        if row.name not in self.disturbed:
            return False
        ended = (row.id, self.stacks[row.stack_id].generation, f"{op}_COMPLETE")
        events = self._reader.events(row.stack_id, limit=ALL)
        return any((each.resource_id, each.generation, each.state) == ended for each in events)

    def _is_left_as_it_is(self, row: ResourceRow) -> bool:
        """Whether the plan is not for it, and an older one failed to make it otherwise."""
        is_there = not row.op and (row.action, row.status) == ("UPDATE", "FAILED")
        return is_there and row.name in json.loads(self.stacks[row.stack_id].outside)

    def _has_successor(self, row: ResourceRow) -> bool:
        return any(
            other.name == row.name and other.want == PRESENT and other.id != row.id
            for other in self.rows.values()
            if other.stack_id == row.stack_id
        )

    def _replaced(self, change: Change, old: ResourceRow | None) -> None:
        row = change.row
        if old is None or old.generation != row.generation:  # by an earlier plan, in vain
            return
        # one transaction may replace it for one plan and then make the next, which forbids it
        plans = [each for each in (change.stack_before, change.stack) if each is not None]
        named = all(
            policies.parse_policies(each.policies).protects(old.name, old.type) for each in plans
        )
        if old.protect or (old.outputs_hash and named):
            raise Violation(f"{old.name} is replaced, and protected")
        if len({each.generation for each in plans}) > 1:
            return
        if "replace" in self.ends.restricted(row.want_template_id, row.name):
            raise Violation(f"{old.name} is replaced, which is restricted")
        ceiling = self.parts.ceiling(change.stack, row.name)
        if ceiling in ("update", "unchanged"):
            raise Violation(f"{old.name} is replaced, and the plan has {ceiling}")

    def _swept(self, rows: dict[str, ResourceRow], stacks: dict[str, StackRow]) -> None:
        """Nothing goes on beyond its deadline after a sweep, but for what is asked once more."""
        swept, self.sweeps_at = self.sweeps_at, None
        if swept is None:
            return
        now, passed = swept
        # time in which there was no sweep counts as little as a pause between two
        asleep = max(0.0, passed - self._swept_at - PATIENCE)
        late = {key: since + asleep for key, since in self._late.items()}
        self._late, self._swept_at = {}, passed
        for row in rows.values():
            if row.op and (row.deadline or now) < now and row.op_id is not None:
                self._see_late(late, row.op_id, f"{row.op} of {row.name}", passed)
            if row.hook and row.hook_until is not None and row.hook_until < now:
                raise Violation(f"{row.name} waits at {row.hook} beyond its time")
        for stack in stacks.values():
            if stack.phase != IDLE and not stack.next_action and (stack.deadline or now) < now:
                self._see_late(late, f"{stack.id}/{stack.generation}", stack.action, passed)

    def crashed(self) -> None:
        """Another process asks anew who is late."""
        self._late.clear()

    def _see_late(self, late: dict[str, float], key: str, what: str, passed: float) -> None:
        since = self._late[key] = late.get(key, passed)
        if passed - since > 2 * PATIENCE:
            raise Violation(f"{what} goes on beyond its deadline")


def _check_plan(before: StackRow, stack: StackRow) -> None:
    if stack.action == "DELETE" and before.protect and stack.phase == DOWN:
        raise Violation("a protected stack is deleted")
    if before.deleted_at is not None:
        raise Violation(f"{stack.action} of a stack that is gone")


def _check_deletion(change: Change, has_successor: bool) -> None:
    row, known = change.row, change.policies
    named = bool(row.outputs_hash) and known.protects(row.name, row.type) and not has_successor
    # what a failed plan has made is removed again, unless a command protects it
    if row.protect or (named and change.is_current and not known.undoing):
        raise Violation(f"{row.name} is deleted, and protected")
    if row.deletion_policy == "Retain":
        raise Violation(f"{row.name} is deleted, and to be retained")
    if row.want == PRESENT and not is_removed_first(row):
        raise Violation(f"{row.name} is deleted, and wanted")


def _check_deadline(change: Change, op: str, now: float) -> None:
    row, stack = change.row, change.stack
    if not row.op or not change.is_current:
        return
    seconds = change.policies.timeout(row.name, row.type, op.lower())
    earlier = change.stack_before
    ends = stack.deadline
    if earlier is not None and earlier.generation == stack.generation:
        # the same commit may have moved it with the clock and cancelled it
        moved = None if earlier.deadline is None else earlier.deadline + max(change.jump, 0.0)
        known = [each for each in (moved, stack.deadline) if each is not None]
        ends = max(known, default=None)
    for limit in (ends, None if seconds is None else now + seconds):
        if limit is not None and (row.deadline is None or row.deadline > limit + 0.001):
            raise Violation(f"{op} of {row.name} may take until {row.deadline}, not {limit}")


__all__ = ["Change", "Watcher"]
