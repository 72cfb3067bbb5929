"""Actions on a stack: a page that says what will happen, and the action itself."""

from __future__ import annotations

from typing import Any

from zonda.core.engine.actions import Action
from zonda.core.store.read.views import StackView
from zonda.hooks.errors import NotFound, UsageError, ZondaError

from ...http.calls import Answer, Call
from ...http.errors import find_status
from ..access.forms import Form
from ..lookup import build_stack_path, find_stack
from ..rendering import Page, redirect
from ..verbs import BY_NAME, Verb

_FIELDS = ("rollback", "to", "resource", "details")


def show_action(call: Call) -> Answer:
    """The page of an action before it is carried out."""
    verb, stack = _find(call)
    resource = call.get_first("resource") or ""
    return Answer(200, _make_page(call, verb, stack, {"resource": resource}))


def act(call: Call) -> Answer:
    """The action; a fault of the form shows the form again."""
    verb, stack = _find(call)
    form: Form = call.body
    try:
        if verb.needs_name and form.get("name").strip() != stack.name:
            raise UsageError(f"Type {stack.name}, the name of the stack, to confirm that.")
        call.project.submit(verb.build(stack, form))
    except ZondaError as error:
        status = find_status(error)
        if status == 500:
            raise
        given = {key: values[0] for key, values in form.fields.items() if key != "csrf"}
        return Answer(status, _make_page(call, verb, stack, given, error))
    return redirect(build_stack_path(call, stack))


def _find(call: Call) -> tuple[Verb, StackView]:
    verb = BY_NAME.get(call.path["verb"])
    if verb is None:
        raise NotFound("Action", call.path["verb"])
    stack = find_stack(call)
    call.project.check_policy(verb.policy, verb.operation, stack.id)
    if stack.deleted_at is not None:
        raise NotFound("Stack", stack.name, hint="It is deleted: nothing can be done with it.")
    return verb, stack


def _make_page(
    call: Call,
    verb: Verb,
    stack: StackView,
    given: dict[str, str],
    error: ZondaError | None = None,
) -> Page:
    document, refusal = _preview(call, verb, stack)
    values: dict[str, Any] = {
        "verb": verb,
        "stack": stack,
        "path": build_stack_path(call, stack),
        "count": call.project.reader.tree_size(stack.root_id),
        "document": document,
        "failure": error or refusal,
        "given": {**dict.fromkeys(_FIELDS, ""), **given},
    }
    return Page("action.html", values)


def _preview(
    call: Call, verb: Verb, stack: StackView
) -> tuple[dict[str, Any] | None, ZondaError | None]:
    """The plan of an action that needs no input, or why it is refused."""
    if not verb.has_plan:
        return None, None
    try:
        action: Action = verb.build(stack, Form())
        return call.project.plan(action, keep=False).document, None
    except ZondaError as error:
        if find_status(error) == 500:
            raise
        return None, error
