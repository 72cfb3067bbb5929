"""Log lines about calls: the operation, the duration, the result. No hidden value.

Called in the pool by ``calls``. Nothing is worked out while nobody wants the log.
"""

from __future__ import annotations

import logging
from typing import Final

from ..model.outcomes import Answer, Failure, Postponed, Replace, Waiting
from ..model.outcomes import Final as Ended
from ..model.work_item import WorkItem

log = logging.getLogger("zonda.calls")

_OUTCOMES: Final = {Ended: "complete", Waiting: "waiting", Postponed: "not ready"}


def is_enabled() -> bool:
    """Whether anybody reads the log."""
    return log.isEnabledFor(logging.INFO)


def log_call(
    seen: WorkItem, during: str, seconds: float, answer: Answer, request: str = ""
) -> None:
    """Log a call of an operation that has returned. ``request``: the request behind it."""
    row, stack = seen.row, seen.stack
    outcome = _OUTCOMES.get(type(answer), "replace" if isinstance(answer, Replace) else "failed")
    fields = {
        **({"request": request} if request else {}),
        "project": stack.project,
        "stack": stack.name,
        "stack_id": stack.id,
        "generation": row.op_gen,
        "resource": row.name,
        "resource_id": row.id,
        "type": row.type,
        "action": row.op,
        "call": during,
        "attempt": row.attempt,
        "op_id": row.op_id,
        "seconds": round(seconds, 6),
        "outcome": outcome,
    }
    if isinstance(answer, Failure):
        fields["reason"] = answer.reason
        if answer.trace:
            fields["traceback"] = answer.trace
    said = f"{row.op} of {stack.name}/{row.name}: {during} {outcome} after {seconds:.3f} s"
    log.log(_choose_level(during, answer), "%s", said, extra={"fields": fields})


def _choose_level(during: str, answer: Answer) -> int:
    """DEBUG where nothing has changed: a long wait has a line at its begin and one at its end."""
    if isinstance(answer, Failure):
        return logging.WARNING
    is_still_waiting = isinstance(answer, Postponed) or (
        during == "poll" and isinstance(answer, Waiting)
    )
    return logging.DEBUG if is_still_waiting else logging.INFO
