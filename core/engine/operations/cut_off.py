"""Calls that the end of an engine has cut off, and that are not made again.

A call may end the process: the memory runs out, a library in C crashes. Whatever was in a call then
is counted when the next engine takes it up. What has been taken up twice and never came back is
called alone from then on, since others were in a call at the same moments; if that ends ten more
engines in a row, it fails. Fewer would not do: who kills engines one after another hits the call
that each begins with, most of all on a slow machine.
"""

from __future__ import annotations

from zonda.core.store.schema.rows import ResourceRow

from ..model.outcomes import INTERRUPTED, Failure
from ..model.states import CLEANING, PRESENT, STARTING
from ..model.unit_of_work import UnitOfWork

#: The most take-ups in a row, beside other calls, of a call that does not come back.
MOST_BESIDE_OTHERS = 2
#: The most take-ups in a row of a call that does not come back.
MOST_TAKE_OVERS = MOST_BESIDE_OTHERS + 10


def count_unfinished(work: UnitOfWork, tree: str = "") -> None:
    """Count the unfinished instances when an engine begins; suspects are to be called alone.

    ``tree``: the stack at the top of those that are meant, '' for all.
    """
    for key, root_id in list(work.after.look.items()):
        row = work.tx.resource(key)
        if row is None or tree not in ("", root_id):
            continue
        if row.take_overs >= MOST_BESIDE_OTHERS:
            del work.after.look[key]
            work.after.alone[key] = root_id
        elif not row.op:  # an operation is counted when it is taken over
            row.take_overs += 1


def has_ended_engines(row: ResourceRow) -> bool:
    """Whether engine after engine has ended before any call of the instance came back."""
    return row.take_overs > MOST_TAKE_OVERS


def build_failure(row: ResourceRow) -> Failure:
    """The failure of such an operation: its next call would end the next engine."""
    call = f"check_{row.op.lower()}_complete"
    if row.op_state == CLEANING:
        call = "handle_delete, which removes a failed attempt"
    elif row.op_state == STARTING:
        call = f"handle_{row.op.lower()}"
    return _build_failure(row, row.op, call)


def build_early_failure(row: ResourceRow) -> tuple[str, Failure]:
    """The operation that cannot be begun, since it ends every engine; and its failure.

    What a type does that acts on nothing outside runs before its operation is stored.
    """
    op = "UPDATE" if row.action != "INIT" else "CREATE"
    op = op if row.want == PRESENT else "DELETE"
    return op, _build_failure(row, op, f"the reading of its properties or handle_{op.lower()}")


def _build_failure(row: ResourceRow, op: str, call: str) -> Failure:
    text = f"{op} was cut off {row.take_overs} times in a row in {call}: it is not called again"
    return Failure(f"ResourceFailure: resources.{row.name}: {text}", INTERRUPTED)


def build_interruption(row: ResourceRow) -> Failure:
    """The failure of an operation that was cut off with an unknown result."""
    handler = f"handle_{row.op.lower()}"
    text = f"interrupted in {handler}, outcome unknown"
    return Failure(f"ResourceFailure: resources.{row.name}: {text}", INTERRUPTED)
