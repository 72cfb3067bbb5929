"""Operations that an engine's end has cut off inside a call, and that are not called again.

Called by steps when they take an operation over.
"""

from __future__ import annotations

from zonda.core.store.rows import ResourceRow

from .outcome import INTERRUPTED, Failure
from .states import STARTING

#: How often in a row an operation is taken over that does not come back.
MOST_TAKE_OVERS = 3


def has_ended_engines(row: ResourceRow) -> bool:
    """Whether engine after engine has ended before any call of the operation came back."""
    return row.take_overs > MOST_TAKE_OVERS


def ends_engines(row: ResourceRow) -> Failure:
    """The failure of such an operation: its next call would end the next engine."""
    call = (
        f"handle_{row.op.lower()}"
        if row.op_state == STARTING
        else f"check_{row.op.lower()}_complete"
    )
    text = f"{row.op} was cut off {row.take_overs} times in a row in {call}: it is not called again"
    return Failure(f"ResourceFailure: resources.{row.name}: {text}", INTERRUPTED)


def interrupted(row: ResourceRow) -> Failure:
    """The failure of an operation whose handler was cut off with an unknown outcome."""
    handler = f"handle_{row.op.lower()}"
    text = f"interrupted in {handler}, outcome unknown"
    return Failure(f"ResourceFailure: resources.{row.name}: {text}", INTERRUPTED)
