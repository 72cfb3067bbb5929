"""Actions on a whole stack: suspend, resume, check, cancel."""

from __future__ import annotations

from collections.abc import Callable

from zonda.core.engine.actions import (
    Action,
    CancelStack,
    CheckStack,
    ResumeStack,
    SuspendStack,
)
from zonda.core.store.read.views import StackView
from zonda.hooks.errors import NotSupported

from ...http.calls import Answer, Call
from ...http.errors import BadRequest
from .lookup import find_live_stack
from .requests import read_body

_CANCELLABLE = ("CREATE_IN_PROGRESS", "UPDATE_IN_PROGRESS")

ACTIONS: dict[str, tuple[str, Callable[[str], Action]]] = {
    "suspend": ("write", SuspendStack),
    "resume": ("write", ResumeStack),
    "check": ("read", CheckStack),
    "cancel_update": ("write", lambda stack: CancelStack(stack, rollback=True)),
    "cancel_without_rollback": ("write", CancelStack),
}


def act_on_stack(call: Call) -> Answer:
    """The one action that the body names."""
    stack, body = find_live_stack(call), read_body(call)
    if not body:
        raise BadRequest("No action specified")
    if len(body) > 1:
        raise BadRequest("Multiple actions specified")
    name = next(iter(body))
    if name not in ACTIONS:
        raise BadRequest(f"Invalid action {name} specified")
    policy, build = ACTIONS[name]
    call.project.check_policy(policy, f"actions:{name}", stack.id)
    if name.startswith("cancel"):
        _check_cancellable(stack)
    call.project.submit(build(stack.id))
    return Answer(200, None)


def _check_cancellable(stack: StackView) -> None:
    if stack.state not in _CANCELLABLE:
        raise NotSupported(f"Cancelling update when stack is {stack.state} is not supported.")
