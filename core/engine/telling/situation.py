"""What an instance is doing now, and why: at work, waiting for others, at a breakpoint, at rest."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from zonda.core.store.rows import ResourceRow, StackRow

from .. import causes
from ..states import DOWN, IDLE, OPEN, POLLING, PRESENT, STARTING

_AT_WORK = {
    STARTING: "its handler is at work",
    POLLING: "it was begun, and is asked again and again whether it is complete",
}


@dataclass(frozen=True, slots=True)
class Situation:
    """Where one instance is. ``told`` are sentences; ``waits_for`` names of resources.

    ``doing``: at work, waiting, paused, or at rest. ``cause``: why it was updated or replaced last.
    """

    row: ResourceRow
    doing: str
    told: tuple[str, ...]
    waits_for: tuple[str, ...] = ()
    cause: causes.Cause | None = None


def situations(
    stack: StackRow, rows: Sequence[ResourceRow], name: str | None = None
) -> list[Situation]:
    """The instances that are not at rest; with ``name`` all of that name."""
    found = [_situation(stack, rows, row) for row in rows if name in (None, row.name)]
    return [each for each in found if name is not None or each.doing != "at rest"]


def _situation(stack: StackRow, rows: Sequence[ResourceRow], row: ResourceRow) -> Situation:
    cause = causes.read(row.cause)
    if row.op:
        return Situation(row, "at work", tuple(_at_work(row)), (), cause)
    if row.hook and row.open:
        text = f"it is paused at the breakpoint {row.hook}, until that is cleared"
        return Situation(row, "paused", (text,), (), cause)
    if row.open == OPEN and stack.phase != IDLE:
        waits = tuple(_awaited(stack, rows, row))
        if waits:
            return Situation(row, "waiting", (f"it waits for {', '.join(waits)}",), waits, cause)
        return Situation(row, "waiting", ("its turn comes next",), (), cause)
    return Situation(row, "at rest", tuple(_at_rest(row)), (), cause)


def _at_work(row: ResourceRow) -> Iterator[str]:
    yield f"{row.op} is in progress: {_AT_WORK.get(row.op_state, 'the next attempt is due')}"
    if row.attempt > 1:
        yield f"this is attempt {row.attempt}"
    if row.status_reason and row.retry_at is not None:
        yield row.status_reason


def _awaited(stack: StackRow, rows: Sequence[ResourceRow], row: ResourceRow) -> Iterator[str]:
    """The names that come before ``row`` in the running phase and are not done."""
    open_rows = [other for other in rows if other.open and other.id != row.id]
    if stack.phase == DOWN:
        yield from (other.name for other in open_rows if row.name in json.loads(other.requires))
    else:
        required = set(json.loads(row.requires))
        yield from (other.name for other in open_rows if other.name in required)


def _at_rest(row: ResourceRow) -> Iterator[str]:
    if row.want != PRESENT:
        yield "nobody wants it any more: the next update deletes it"
    elif row.action == "INIT":
        yield "nothing was done to it yet"
    elif row.want_hash != row.have_hash:
        yield "its definition has changed since it was made: the next update works on it"
    elif row.dirty:
        yield "something that it requires has changed: the next update looks at it"


def of_cause(cause: causes.Cause) -> str:
    """Why something was updated or replaced, as a sentence."""
    done = "replaced" if cause.decision == "replace" else "updated"
    named = ", ".join(cause.about or cause.changed)
    texts = {
        "fixed": f"it was {done} last because {named} cannot change in place",
        "plugin": f"it was {done} last because its plug-in asked for that",
        "type": f"it was {done} last because its type had changed",
        "failed": f"it was {done} last because it had failed before",
        "always": f"it was {done} last because its type is updated each time",
    }
    told = texts.get(cause.why, f"it was {done} last because {named or 'its definition'} changed")
    if cause.why == "plugin" and named:
        told += f" when {named} changed"
    return told
