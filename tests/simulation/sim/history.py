"""What must hold of the history of a stack that is at rest, whatever happened to the engine."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from zonda.core.engine.model.states import PASSING, SUPERSEDED
from zonda.core.engine.progress.breakpoints import ENDED
from zonda.core.reports.failures import BAD, failures
from zonda.core.store.read.reader import ALL, Reader
from zonda.core.store.read.views import StackView

from .world import Violation

#: What is said of resources that have failed: by a user, at breakpoints, of signals, by a repair.
SAID = ("marked as unhealthy", "Hook ", ENDED, "found missing")


def check_history(
    reader: Reader, stack: StackView, *, in_time: bool = True, nested: bool = False
) -> None:
    """One row per plan, all of them ended, the last one as the stack; no failure without reason.

    ``in_time``: no clock was set back meanwhile.
    """
    actions = reader.actions(stack.id)
    numbers = [each.generation for each in actions]
    if numbers != list(range(1, stack.generation + 1)):
        raise Violation(f"the history has {numbers}, the stack is at {stack.generation}")
    for each in actions:
        if each.ended_at is None or (in_time and each.ended_at < each.started_at):
            raise Violation(f"an idle stack has an action that has not ended: {each}")
    for earlier, later in pairwise(actions):
        assert earlier.ended_at is not None
        if in_time and later.started_at < earlier.ended_at:
            raise Violation(f"{later} began before {earlier} had ended")
    # what a stack is not shown as afterwards tells nothing of what it is shown as
    last = [each for each in actions if each.action not in PASSING][-1]
    if (last.status == "COMPLETE") != (stack.status == "COMPLETE"):
        raise Violation(f"the stack is {stack.state}, its history says {last}")
    bad = {*BAD, SUPERSEDED} if nested else BAD  # the stack above has another plan then
    if stack.status == "FAILED" and last.status not in bad:
        raise Violation(f"the stack is {stack.state}, its history says {last}")
    if not nested:  # why that has failed may stand above it
        _check_reasons(reader, stack, last)


def _check_reasons(reader: Reader, stack: StackView, last: Any) -> None:
    noted = {(one.resource_id, one.at) for one in reader.list_failed(stack.id)}
    for event in reader.events(stack.id, limit=ALL):
        failed = event.status == "FAILED" and event.resource_name
        told = any(words in event.reason for words in SAID)
        if failed and not told and (event.resource_id, event.at) not in noted:
            raise Violation(f"nothing is kept of {event}")
    if last.status == "FAILED" and not failures(reader, stack, last).found:
        raise Violation(f"nobody can tell why {last} failed")
