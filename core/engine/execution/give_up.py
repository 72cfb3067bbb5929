"""The end of a run that was given up: the plug-in is asked for a while, an event reports it.

A step ends with this after it has told the plug-in that its operation is given up. A type that can
ask on has ``check_cancel_complete(token)``; what it finds changes nothing any more. What is next
for the instance waits meanwhile, so that it does not meet a run that is still ending.
"""

from __future__ import annotations

from zonda.hooks.errors import NotReady
from zonda.hooks.text.sanitize import get_retry_delay, safe_str

from ..model.effects import Call, Step, Tx, Wait
from ..model.outcomes import Answer, Failure, Postponed
from ..model.states import COMPLETE
from ..model.unit_of_work import UnitOfWork
from ..plugins.operation import PluginOperation
from ..plugins.redaction import scrub
from ..services import EngineServices

#: Seconds for which a run is asked about, and the least between two questions.
GRACE, LEAST = 60.0, 0.25
#: The action of the event that tells of the end, and the kind of answer that it is made of.
ACTION, _LATE = "CANCEL", "Late"


def watch_given_up(services: EngineServices, operation: PluginOperation) -> Step:
    """Ask the plug-in until the run that was given up has ended, or its grace is over."""
    if operation.token is None:
        return
    until = services.clock.monotonic() + GRACE
    key, name = operation.row.id, operation.action
    while True:
        answer: Answer = yield Call(operation.guard(lambda: _ask_cancelled(operation)))
        if not isinstance(answer, Postponed):
            break
        due = services.clock.monotonic() + max(answer.delay, LEAST)
        if due > until:
            return
        while (left := due - services.clock.monotonic()) > 0:  # somebody may wake it before
            yield Wait(left, key)
    if isinstance(answer, Failure) and answer.kind == _LATE and answer.reason:
        text = f"{name}, which was given up, has ended: {answer.reason}"
        yield Tx(lambda work: _note(work, key, text))


def _ask_cancelled(operation: PluginOperation) -> Answer:
    check = getattr(operation.instance, "check_cancel_complete", None)
    try:
        found = None if check is None else check(operation.token)
    except NotReady as error:
        return Postponed(get_retry_delay(error))
    text = "" if found is None else scrub(safe_str(found), operation.secrets.values)
    return Failure(text, _LATE)


def _note(work: UnitOfWork, key: str, text: str) -> None:
    row = work.tx.resource(key)
    if row is not None:
        work.resource_event(row, ACTION, COMPLETE, text)
