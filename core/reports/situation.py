"""The present situation of an instance, and its reason: at work, waiting, paused or at rest."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from zonda.core.engine.model import causes, row_annotations
from zonda.core.engine.model.states import DOWN, FAILED, IDLE, OPEN, POLLING, PRESENT, STARTING
from zonda.core.graph.digraph import group_targets
from zonda.core.store.read.to_view import to_resource_summary
from zonda.core.store.read.views import ResourceSummary
from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.hooks.records import dataclass

#: The situation of a resource whose last operation has failed: idle until the next update.
UNWELL = "unwell"
_AT_WORK = {
    STARTING: "its handler is at work",
    POLLING: "it was begun, and is asked again and again whether it is complete",
}


@dataclass(frozen=True, slots=True)
class Situation:
    """The situation of one instance. ``told``: sentences; ``waits_for``: names of resources.

    ``doing``: at work, waiting, paused, unwell, or at rest. ``cause``: why it was updated or
    replaced last. ``way``: the owners down to its stack.
    """

    row: ResourceSummary
    doing: str
    told: tuple[str, ...]
    waits_for: tuple[str, ...] = ()
    cause: causes.Cause | None = None
    way: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """The resource with the way down to it."""
        return "/".join((*self.way, self.row.name))


def situations(
    stack: StackRow,
    rows: Sequence[ResourceRow],
    name: str | None = None,
    *,
    everything: bool = False,
) -> list[Situation]:
    """List the instances that are not at rest; with ``name`` all of that name."""
    awaited = _WaitGraph(stack, rows)
    found = [_build_situation(stack, awaited, row) for row in rows if name in (None, row.name)]
    if everything or name is not None:
        return found
    return [each for each in found if each.doing != "at rest"]


class _WaitGraph:
    """The open neighbours that each instance waits for in the running phase."""

    def __init__(self, stack: StackRow, rows: Sequence[ResourceRow]) -> None:
        self._down = stack.phase == DOWN
        opened = [row for row in rows if row.open]
        self._open = {row.name for row in opened}
        self._users = group_targets(
            (key, row.name) for row in opened for key in json.loads(row.requires)
        )

    def of(self, row: ResourceRow) -> tuple[str, ...]:
        """Return the names that ``row`` waits for."""
        if self._down:
            return tuple(self._users.get(row.name, ()))
        return tuple(name for name in json.loads(row.requires) if name in self._open)


def _build_situation(stack: StackRow, awaited: _WaitGraph, row: ResourceRow) -> Situation:
    cause, shown = causes.parse_cause(row.cause), to_resource_summary(row)
    if row.op:
        return Situation(shown, "at work", tuple(_describe_running(row)), (), cause)
    if row.hook and row.open:
        text = f"it is paused at the breakpoint {row.hook}, until that is cleared"
        return Situation(shown, "paused", (text,), (), cause)
    if row.open == OPEN and stack.phase != IDLE:
        waits = awaited.of(row)
        if waits:
            return Situation(shown, "waiting", (f"it waits for {', '.join(waits)}",), waits, cause)
        return Situation(shown, "waiting", ("its turn comes next",), (), cause)
    if row.want == PRESENT and row.status == FAILED:
        return Situation(shown, UNWELL, tuple(_describe_failed(row)), (), cause)
    return Situation(shown, "at rest", tuple(_describe_resting(row)), (), cause)


def _describe_running(row: ResourceRow) -> Iterator[str]:
    yield f"{row.op} is in progress: {_AT_WORK.get(row.op_state, 'the next attempt is due')}"
    if row_annotations.has(row, row_annotations.REPLACING):
        yield "it lets go of what only one can have, before its successor is made"
    if row.is_volatile:
        yield (
            "what its plug-in has returned is no JSON and cannot be stored, so that this operation"
            " is lost if the engine ends"
        )
    if row.attempt > 1:
        yield f"this is attempt {row.attempt}"
    if row.status_reason and row.retry_at is not None:
        yield row.status_reason


def _describe_failed(row: ResourceRow) -> Iterator[str]:
    reason = f" ({row.status_reason})" if row.status_reason else ""
    yield f"it is {row.action}_FAILED{reason}"
    yield "the next update replaces it, or works on it again where its type does that"
    if row.action == "CHECK":
        yield "'zonda stack resource mark unhealthy --reset' says that it is well"


def _describe_resting(row: ResourceRow) -> Iterator[str]:
    if row.want != PRESENT:
        yield "nobody wants it any more: the next update deletes it"
    elif row.action == "INIT":
        yield "nothing was done to it yet"
    elif row.want_hash != row.have_hash:
        yield "its definition has changed since it was made: the next update works on it"
    elif row.dirty:
        yield "something that it requires has changed: the next update looks at it"


def describe_cause(cause: causes.Cause) -> str:
    """Describe in one sentence why something was updated or replaced."""
    done = "replaced" if cause.decision == "replace" else "updated"
    named = ", ".join(cause.about or cause.changed)
    texts = {
        "fixed": f"it was {done} last because {named} cannot change in place",
        "plugin": f"it was {done} last because its plug-in asked for that",
        "type": f"it was {done} last because its type had changed",
        "failed": f"it was {done} last because it had failed before",
        "missing": f"it was {done} last because it was not there any more",
        "prepared": f"it was {done} last because it had been made ready for a replacement",
        "always": f"it was {done} last because its type is updated each time",
    }
    told = texts.get(cause.why, f"it was {done} last because {named or 'its definition'} changed")
    if cause.why == "plugin" and named:
        told += f" when {named} changed"
    return told
