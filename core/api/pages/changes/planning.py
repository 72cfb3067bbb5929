"""Plans: made from a template, shown, kept for a while, and applied exactly as they were shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from zonda.core.app.planning import PlanResult
from zonda.core.engine.actions import Action, ApplyPlan
from zonda.core.store.read.views import StackView
from zonda.hooks.errors import Conflict, NotFound, ValidationErrors, ZondaError
from zonda.hooks.records import dataclass

from ...http.calls import Answer, Call
from ...service.kept_plans import find_plan, keep_plan
from ..lookup import build_path, build_stack_path, find_stack
from ..rendering import Page, redirect
from .confirmation import check_fault, check_name, has_deletions
from .inputs import Inputs, read_inputs


@dataclass(frozen=True, slots=True)
class KeptPlan:
    """A plan that can be applied. ``operation``: as in the route table.

    ``stack_id``: the stack that it changes, '' for a new one.
    """

    result: PlanResult
    operation: str
    stack_id: str = ""


def show_new(call: Call) -> Answer:
    """The form of a new stack."""
    return Answer(200, _make_form(call, None, Inputs()))


def plan_new(call: Call) -> Answer:
    """The plan of a new stack."""
    minutes = call.project.service.settings.stack_timeout_mins
    return _plan(call, None, lambda given: given.build_creation(minutes))


def show_update(call: Call) -> Answer:
    """The form of an update, with the tags and the template that the stack has."""
    stack = _find_live(call)
    given = Inputs(
        tags=", ".join(stack.tags),
        rollback="" if stack.disable_rollback else "yes",
        existing="yes",
    )
    return Answer(200, _make_form(call, stack, given))


def plan_update(call: Call) -> Answer:
    """The plan of an update."""
    stack = _find_live(call)
    return _plan(call, stack, lambda given: given.build_update(stack))


def _find_live(call: Call) -> StackView:
    stack = find_stack(call)
    if stack.deleted_at is not None:
        raise NotFound("Stack", stack.name, hint="It is deleted; make a new one.")
    return stack


def _plan(call: Call, stack: StackView | None, build: Callable[[Inputs], Action]) -> Answer:
    inputs = Inputs()
    try:
        inputs = read_inputs(call.body)
        result = call.project.plan(build(inputs), keep=True)
    except ZondaError as error:
        status = check_fault(error)
        return Answer(status, _make_form(call, stack, inputs, error))
    operation = "stacks:create" if stack is None else "stacks:update"
    kept = {
        "document": result.document,
        "file": result.file,
        "operation": operation,
        "stack_id": "" if stack is None else stack.id,
    }
    return redirect(build_path(call, "plans", keep_plan(call.project, kept)))


def _make_form(
    call: Call, stack: StackView | None, inputs: Inputs, error: ZondaError | None = None
) -> Page:
    values: dict[str, Any] = {
        "stack": stack,
        "path": "" if stack is None else build_stack_path(call, stack),
        "given": inputs,
        "faults": _list_faults(error),
        "most": call.project.service.settings.max_json_body_size,
    }
    return Page("template-form.html", values)


def _list_faults(error: ZondaError | None) -> list[ZondaError]:
    """The faults to show; all of those of a template."""
    if error is None:
        return []
    return [*error.errors] if isinstance(error, ValidationErrors) else [error]


def show_plan(call: Call) -> Answer:
    """A plan, with what applies it."""
    return Answer(200, _make_page(call, _find_plan(call)))


def download_plan(call: Call) -> Answer:
    """The plan as a file for ``zonda stack apply``."""
    document = _find_plan(call).result
    name = "".join(c for c in document.document["stack"]["name"] if c.isalnum() or c in "-_.")
    headers = {"Content-Disposition": f'attachment; filename="{name}.plan.json"'}
    return Answer(200, (document.file or "").encode(), headers, "application/octet-stream")


def apply_plan(call: Call) -> Answer:
    """The plan is carried out as it was shown; a changed world refuses it."""
    kept = _find_plan(call)
    call.project.check_policy("write", kept.operation, kept.stack_id)
    document = kept.result.document
    try:
        if has_deletions(document):
            check_name(call.body, document["stack"]["name"])
        accepted = call.project.submit(ApplyPlan(kept.result.file or ""))
    except ZondaError as error:
        status = check_fault(error)
        return Answer(status, _make_page(call, kept, error))
    return redirect(build_path(call, "stacks", accepted.stack_id))


def _make_page(call: Call, kept: KeptPlan, error: ZondaError | None = None) -> Page:
    document = kept.result.document
    again = build_path(call, *(("stacks", kept.stack_id, "update") if kept.stack_id else ("new",)))
    values = {
        "document": document,
        "can_apply": kept.result.does_something
        and not kept.result.fails
        and not isinstance(error, Conflict),
        "needs_name": has_deletions(document),
        "path": build_path(call, "plans", call.path["plan_id"]),
        "again": again,
        "failure": error,
    }
    return Page("plan.html", values)


def _find_plan(call: Call) -> KeptPlan:
    """The plan of a page; only in its own project."""
    kept = find_plan(call.project, call.path["plan_id"])
    if kept is None:
        hint = "Plans are kept for a day at most: make it anew."
        raise NotFound("Plan", call.path["plan_id"], hint=hint)
    result = PlanResult(kept["document"], kept["file"])
    return KeptPlan(result, kept["operation"], kept["stack_id"])
