"""Breakpoints: nobody passes one that was not cleared, and whose time is not over."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

from zonda.core.engine.model import row_annotations

from .clock import SetClock
from .world import Violation

PRE = {
    "CREATE": "pre-create",
    "ADOPT": "pre-create",
    "UPDATE": "pre-update",
    "DELETE": "pre-delete",
}
POST = {"CREATE": "post-create", "UPDATE": "post-update", "DELETE": "post-delete"}


class Breakpoints:
    """``asked``: the clearings that are under way: (patterns, hooks)."""

    def __init__(self, clock: SetClock) -> None:
        self._clock = clock
        self.asked: list[tuple[tuple[str, ...], tuple[str, ...]]] = []

    def changed(self, change: Any) -> None:
        """A row has changed."""
        before, now = change.before, change.now
        if change.began and change.is_current and now.op:
            self._check_passed(change, PRE.get(change.began, ""))
        if before is None:
            if now.replaces_id is not None:
                return
        elif before.hook and not before.hook.startswith("+"):
            self._left(change)
        elif before.op and (now is None or not now.op):
            self._ended(change)

    def _check_passed(self, change: Any, hook: str) -> None:
        """An operation has begun."""
        row, before = change.row, change.before
        if hook not in change.policies.hooks(row.name):
            return
        if before is not None and before.hook == "+" + hook:
            return
        replaced = row_annotations.has(row, row_annotations.REPLACING)
        if replaced and before is not None and before.op == "UPDATE":
            return  # its handler has passed it, and asked for a replacement
        if before is None or before.hook != hook or not self._may_go_on(before, change.jump):
            raise Violation(f"{row.op} of {row.name} passes {hook}")

    def _left(self, change: Any) -> None:
        """It waited before."""
        before, now = change.before, change.now
        if (now is not None and now.hook == before.hook) or change.is_replanned:
            return
        if not self._may_go_on(before, change.jump):
            raise Violation(f"{before.name} leaves {before.hook}")

    def _ended(self, change: Any) -> None:
        """An operation has ended."""
        before, now = change.before, change.now
        hook = POST.get(before.op, "")
        if hook not in change.policies.hooks(before.name) or change.is_replanned:
            return
        if before.op_gen != change.stack.generation or not before.open:
            return
        if now is not None and (now.status != "COMPLETE" or now.want != before.want):
            return
        if now is not None and now.action != before.op:
            return  # it was put back behind removals, and begins once more after them
        if (now is None or now.hook != hook) and not self._is_asked(before, hook):
            raise Violation(f"{before.name} does not wait at {hook}")

    def _may_go_on(self, row: Any, jump: float) -> bool:
        # its time may be over in the commit that has moved it with the clock
        over = row.hook_until is not None and row.hook_until + min(jump, 0.0) < self._clock.now()
        return over or self._is_asked(row, row.hook)

    def _is_asked(self, row: Any, hook: str) -> bool:
        return any(
            (not hooks or hook in hooks)
            and any(fnmatchcase(row.name, pattern) for pattern in patterns)
            for patterns, hooks in self.asked
        )
