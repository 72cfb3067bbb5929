"""The table of the actions on a stack that the pages offer: when, what they do, and their fields.

A page offers what may be possible; whether it is, the engine decides. Called by the pages of
stacks, and by those of actions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from zonda.core.engine.actions import (
    Action,
    CancelStack,
    CheckStack,
    ClearHooks,
    DeleteStack,
    ProtectStack,
    ResumeStack,
    RetryStack,
    RollbackStack,
    SignalResource,
    SuspendStack,
)
from zonda.core.store.read.views import StackView
from zonda.core.template.source.json_text import read_json
from zonda.hooks.errors import UsageError
from zonda.hooks.records import dataclass

from .access.forms import Form

#: Actions whose running operations can be cancelled.
_CANCELLABLE = ("CREATE", "UPDATE", "ROLLBACK", "RESTORE", "ADOPT")

Build = Callable[[StackView, Form], Action]
Fits = Callable[[StackView], bool]


@dataclass(frozen=True, slots=True)
class Verb:
    """One action. ``explanation``: what will happen.

    ``operation`` and ``policy``: as in the route table. ``fields``: names of the inputs that its
    form has. ``has_plan``: it can be planned, so that its page shows what happens to each
    resource. ``needs_name``: the stack's name has to be typed. ``is_of_resource``: the page of a
    resource offers it.
    """

    name: str
    title: str
    explanation: str
    operation: str
    build: Build
    fits: Fits
    policy: str = "write"
    fields: tuple[str, ...] = ()
    has_plan: bool = False
    needs_name: bool = False
    is_of_resource: bool = False

    @property
    def is_dangerous(self) -> bool:
        """Whether it deletes."""
        return self.needs_name


def _is_idle(stack: StackView) -> bool:
    return stack.idle and stack.action != "DELETE"


def _build_rollback(stack: StackView, form: Form) -> Action:
    to = form.get("to").strip()
    if not to:
        return RollbackStack(stack.id)
    if not to.isdecimal() or len(to) > 9:
        raise UsageError(f"{to} is no number of a generation.", hint="The history lists them.")
    return RollbackStack(stack.id, int(to))


def _build_signal(stack: StackView, form: Form) -> Action:
    text, details = form.get("details").strip(), {}
    if text:
        try:
            details = read_json(text)
        except ValueError as error:
            raise UsageError(f"The data is no JSON: {error}.") from error
    if not isinstance(details, dict):
        raise UsageError("The data must be a JSON object.", hint='For example {"word": "go"}.')
    where, name = _split(stack, _read_resource(form))
    return SignalResource(where, name, details)


def _build_clearance(stack: StackView, form: Form) -> Action:
    where, name = _split(stack, _read_resource(form))
    return ClearHooks(where, (name,))


def _split(stack: StackView, path: str) -> tuple[str, str]:
    """The address of a resource: ``ID/OWNER`` and its name."""
    above, slash, name = path.rpartition("/")
    return (f"{stack.id}/{above}", name) if slash else (stack.id, path)


def _read_resource(form: Form) -> str:
    name = form.get("resource").strip()
    if not name:
        raise UsageError("Name a resource.", hint="The page of the stack lists them.")
    return name


def _build_protection(*, on: bool) -> Build:
    def build(stack: StackView, form: Form) -> Action:
        name = form.get("resource").strip()
        where, name = _split(stack, name)
        return ProtectStack(where, (name,) if name else (), on)

    return build


VERBS = (
    Verb(
        "cancel",
        "Cancel",
        "No further operation is begun. With a rollback the stack then goes back to its last good "
        "template; without one it stays as it is, and counts as failed.",
        "actions:cancel_update",
        lambda stack, form: CancelStack(stack.id, form.get("rollback") != "no"),
        lambda stack: not stack.idle and stack.action in _CANCELLABLE,
        fields=("rollback",),
    ),
    Verb(
        "retry",
        "Retry",
        "The failed action is carried out once more, with the same template and parameters.",
        "stacks:update",
        lambda stack, form: RetryStack(stack.id),
        lambda stack: stack.idle and stack.status == "FAILED",
        has_plan=True,
    ),
    Verb(
        "rollback",
        "Roll back",
        "The stack goes back to the last template that worked, or to the one of a generation.",
        "stacks:update",
        _build_rollback,
        lambda stack: stack.action != "DELETE" and stack.generation > 1,
        fields=("to",),
        has_plan=True,
    ),
    Verb(
        "check",
        "Check",
        "Every resource is asked whether it is as it should be. Nothing is changed.",
        "actions:check",
        lambda stack, form: CheckStack(stack.id),
        _is_idle,
        policy="read",
    ),
    Verb(
        "suspend",
        "Suspend",
        "Every resource is suspended, dependants first.",
        "actions:suspend",
        lambda stack, form: SuspendStack(stack.id),
        lambda stack: _is_idle(stack) and not stack.suspended,
    ),
    Verb(
        "resume",
        "Resume",
        "Every resource is resumed, requirements first.",
        "actions:resume",
        lambda stack, form: ResumeStack(stack.id),
        lambda stack: _is_idle(stack) and stack.suspended,
    ),
    Verb(
        "signal",
        "Signal",
        "A resource gets a signal with this data.",
        "resource:signal",
        _build_signal,
        lambda stack: stack.action != "DELETE",
        fields=("resource", "details"),
        is_of_resource=True,
    ),
    Verb(
        "clear-hook",
        "Clear breakpoint",
        "A resource that waits at a breakpoint goes on.",
        "resource:signal",
        _build_clearance,
        lambda stack: not stack.idle,
        fields=("resource",),
        is_of_resource=True,
    ),
    Verb(
        "protect",
        "Protect",
        "Neither the stack nor, if you name one, the resource can be deleted until that is ended.",
        "stacks:update",
        _build_protection(on=True),
        lambda stack: not stack.protected,
        fields=("optional_resource",),
        is_of_resource=True,
    ),
    Verb(
        "unprotect",
        "End protection",
        "The stack, or the resource that you name, can be deleted again.",
        "stacks:update",
        _build_protection(on=False),
        lambda stack: True,
        fields=("optional_resource",),
        is_of_resource=True,
    ),
    Verb(
        "delete",
        "Delete",
        "Every resource is deleted, dependants first, and then the stack.",
        "stacks:delete",
        lambda stack, form: DeleteStack(stack.id),
        lambda stack: True,
        has_plan=True,
        needs_name=True,
    ),
)
BY_NAME = {verb.name: verb for verb in VERBS}


def list_verbs(stack: StackView) -> list[Verb]:
    """The actions that a stack may take now; of a nested one none: its root takes them."""
    if stack.deleted_at is not None or stack.owner_resource_id is not None:
        return []
    return [verb for verb in VERBS if verb.fits(stack) and verb.name != _choose_other(stack)]


def _choose_other(stack: StackView) -> str:
    """The one of protection and its end that makes no sense for the stack itself."""
    return "protect" if stack.protected else "unprotect"


def list_resource_verbs(stack: StackView, *, hook: str, is_protected: bool) -> list[Verb]:
    """The actions on one resource of a root stack's tree."""
    unfit: set[Any] = {"unprotect" if not is_protected else "protect"}
    if not hook:
        unfit.add("clear-hook")
    if stack.deleted_at is not None:
        return []
    return [verb for verb in VERBS if verb.is_of_resource and verb.name not in unfit]
