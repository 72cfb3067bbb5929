"""Counts of an action's results, taken from its events. Used by ``follow``.

Of an instance that was made and removed again by the same action (a rollback) nothing is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from zonda.core.engine.operations.transitions import CHANGED
from zonda.core.store.read.stack_reads import StackReads
from zonda.core.store.read.views import StackView

from ..console.formats import format_duration
from .event_line import is_of_breakpoint
from .event_stream import EventWithPath

_MAKING = ("CREATE", "ADOPT")
#: The actions whose end is told in numbers of all kinds.
_COUNTED = ("CREATE", "ADOPT", "UPDATE", "ROLLBACK", "RESTORE")
_KINDS = ("made", "changed", "replaced", "removed", "unchanged")
#: The kinds that are named only where there is any.
_RARE = ("left behind", "failed", "not reached")

#: A resource by its stack and its name.
_Key = tuple[str, str]


class Tally:
    """Counts the events of one action."""

    def __init__(self) -> None:
        self._made: dict[str, _Key] = {}
        self._removed: dict[str, _Key] = {}
        #: Those that the stack gave up and that stay outside: what is removed is begun first.
        self._left: dict[str, _Key] = {}
        #: Instances that this action has begun to make, and to remove.
        self._begun: set[str] = set()
        self._ending: set[str] = set()
        self._changed: set[_Key] = set()
        self._last: dict[_Key, str] = {}
        self._times: list[float] = []

    def add(self, told: Iterable[EventWithPath]) -> None:
        """Add events."""
        for _, event in told:
            if event.action != "SIGNAL":  # one may come long after the end
                self._times = [*self._times[:1], event.at]
            if not event.resource_name or event.resource_id is None or is_of_breakpoint(event):
                continue
            key = (event.stack_id, event.resource_name)
            self._last[key] = event.status
            if event.action in _MAKING:
                self._begun.add(event.resource_id)
            # Of what is left behind, nothing but the end is told, and no reason for that.
            if event.action == "DELETE" and (event.status != "COMPLETE" or event.reason != CHANGED):
                self._ending.add(event.resource_id)
            if event.status == "COMPLETE":
                self._count(event.action, event.resource_id, key)

    def _count(self, action: str, instance: str, key: _Key) -> None:
        if action in _MAKING:
            self._made[instance] = key
        elif action == "UPDATE":
            self._changed.add(key)
        elif action == "DELETE" and instance not in self._ending:
            self._made.pop(instance, None)
            self._left[instance] = key
        elif action == "DELETE" and instance in self._begun:
            self._made.pop(instance, None)
        elif action == "DELETE":
            self._removed[instance] = key

    def summary(self, reader: StackReads, stack: StackView) -> str:
        """Format `` in 2.1 s: 1 made, 0 changed, 1 replaced, 0 removed, 3 unchanged``."""
        span = format_duration(self._times[-1] - self._times[0] if self._times else 0)
        self._find_begun_before(reader, stack)
        if stack.action == "DELETE":
            left = set(self._left.values())
            shown = [f"{len(set(self._removed.values()) - left)} removed"]
            shown += [f"{len(left)} left behind"] if left else []
            return f" in {span}: {', '.join(shown)}"
        if stack.action not in _COUNTED or stack.id != stack.root_id:
            return f" in {span}"
        counts = self._compute_counts(reader, stack)
        shown = [f"{counts[kind]} {kind}" for kind in _KINDS]
        shown += [f"{counts[kind]} {kind}" for kind in _RARE if counts[kind]]
        return f" in {span}: {', '.join(shown)}"

    def _find_begun_before(self, reader: StackReads, stack: StackView) -> None:
        """Count as removed whose removal an earlier action, which was interrupted, has begun."""
        for event in reader.tree_events(stack.root_id) if self._left else ():
            if event.resource_id in self._left and event.state == "DELETE_IN_PROGRESS":
                self._removed[event.resource_id] = self._left.pop(event.resource_id)

    def _compute_counts(self, reader: StackReads, stack: StackView) -> Mapping[str, int]:
        there, left = set(self._made.values()), set(self._left.values())
        before = left | set(self._removed.values())
        failed = {key for key, status in self._last.items() if status == "FAILED"}
        changed = self._changed - there - before
        done = there | changed | failed
        waiting = 0
        if stack.status == "FAILED":
            waiting = sum(
                row.want == "PRESENT" and row.action == "INIT" and not row.op
                for row in reader.list_tree_resources(stack.root_id)
            )
        wanted = reader.tree_size(stack.root_id, wanted=True)
        return {
            "made": len(there - before - failed),
            "changed": len(changed - failed),
            "replaced": len(there & before - failed),
            "removed": len(before - there - failed - left),
            "unchanged": max(0, wanted - len(done) - waiting),
            "left behind": len(left - there - failed),
            "failed": len(failed),
            "not reached": waiting,
        }
