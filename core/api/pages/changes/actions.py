"""Actions on a stack: a page that says what will happen, and the action itself."""

from __future__ import annotations

from typing import Any

from zonda.core.engine.actions import Action
from zonda.core.store.read.views import StackView
from zonda.hooks.errors import NotFound, ZondaError

from ...http.calls import Answer, Call
from ..access.forms import Form
from ..lookup import build_stack_path, find_stack
from ..rendering import Page, redirect
from ..verbs import BY_NAME, Verb
from .confirmation import check_fault, check_name, has_deletions

#: Actions whose rollback deletes all that they have made.
_CREATIONS = ("CREATE", "ADOPT")
_FIELDS = ("rollback", "to", "resource", "details")


def show_action(call: Call) -> Answer:
    """The page of an action before it is carried out."""
    verb, stack = _find(call)
    given = {"resource": call.get_first("resource") or ""}
    try:
        document = _preview(call, verb, verb.build(stack, Form())) if verb.has_plan else None
    except ZondaError as error:
        check_fault(error)
        return Answer(200, _make_page(call, verb, stack, given, None, error))
    return Answer(200, _make_page(call, verb, stack, given, document))


def act(call: Call) -> Answer:
    """The action; a fault of the form shows the form again."""
    verb, stack = _find(call)
    form: Form = call.body
    document = None
    try:
        action = verb.build(stack, form)
        document = _preview(call, verb, action)
        if _has_deletions(verb, stack, document) and form.get("rollback") != "no":
            check_name(form, stack.name)
        call.project.submit(action)
    except ZondaError as error:
        status = check_fault(error)
        given = {key: values[0] for key, values in form.fields.items() if key != "csrf"}
        return Answer(status, _make_page(call, verb, stack, given, document, error))
    return redirect(build_stack_path(call, stack))


def _preview(call: Call, verb: Verb, action: Action) -> dict[str, Any] | None:
    """The plan of an action as a document; None of one that cannot be planned."""
    return call.project.plan(action, keep=False).document if verb.has_plan else None


def _has_deletions(verb: Verb, stack: StackView, document: dict[str, Any] | None) -> bool:
    """Whether an action deletes, as far as anybody knows: a creation that is rolled back does."""
    if verb.name == "cancel":
        return stack.action in _CREATIONS
    return verb.needs_name or (document is not None and has_deletions(document))


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
    document: dict[str, Any] | None,
    error: ZondaError | None = None,
) -> Page:
    values: dict[str, Any] = {
        "verb": verb,
        "stack": stack,
        "path": build_stack_path(call, stack),
        "count": call.project.reader.tree_size(stack.root_id),
        "document": document,
        "needs_name": _has_deletions(verb, stack, document),
        "failure": error,
        "given": {**dict.fromkeys(_FIELDS, ""), **given},
    }
    return Page("action.html", values)
