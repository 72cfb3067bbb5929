"""Drift of a stack: the newest verdicts, checks, exceptions, and repairs that are planned first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from zonda.core.engine.actions import CheckDrift, IgnoreDrift, RepairDrift, UnignoreDrift
from zonda.core.reports.drift import find_last_verdict, find_worst
from zonda.core.store.read.drift_views import DriftFindingView, DriftNowView
from zonda.core.store.read.views import StackView
from zonda.core.template.environment.drift_section import parse_end
from zonda.hooks.errors import NotFound, UsageError, ZondaError

from ...http.calls import Answer, Call
from ..access.forms import Form
from ..lookup import build_path, build_stack_path, find_stack
from ..rendering import Page, redirect
from .confirmation import check_fault

#: Checks that are listed.
_CHECKS = 20


def show_drift(call: Call) -> Answer:
    """The newest verdict on each resource, or what one check has found."""
    stack = find_stack(call)
    if stack.root_id != stack.id:
        return redirect(build_path(call, "stacks", stack.root_id, "drift"))
    return Answer(200, _make_page(call, stack))


def _make_page(call: Call, stack: StackView, error: ZondaError | None = None) -> Page:
    reader = call.project.reader
    newest, now = reader.last_event(), reader.drift_now(stack.id)
    check_id = call.get_first("check") or ""
    values: dict[str, Any] = {
        "stack": stack,
        "path": build_stack_path(call, stack),
        "verdict": find_worst(now),
        "last_verdict": find_last_verdict(reader, stack)[0],
        "counts": Counter(each.verdict for each in now),
        "findings": _find_findings(call, stack, check_id, now),
        "unseen": [each for each in now if each.unseen],
        "resources": sorted(each.path for each in now),
        "checks": reader.drift_checks(stack.id, _CHECKS),
        "ignores": reader.drift_ignores(stack.id),
        "check_id": check_id,
        "failure": error,
        "given": call.body if isinstance(call.body, Form) else Form(),
    }
    return Page("drift.html", values, live=stack.id, after=newest)


def _find_findings(
    call: Call, stack: StackView, check_id: str, now: Sequence[DriftNowView]
) -> list[DriftFindingView]:
    """The findings to show: of one check, or the newest ones."""
    reader = call.project.reader
    if not check_id:
        return [each.finding for each in now if each.finding is not None]
    found = reader.drift_checks_from(stack.id, check_id)
    if len(found) != 1:
        raise NotFound("drift check", check_id)
    return reader.drift_findings(found[0].id)


def check(call: Call) -> Answer:
    """A check of everything, or of one resource with what is nested in it."""
    stack, form = _find_live(call), call.body
    resource = form.get("resource").strip()
    try:
        call.project.submit(CheckDrift(stack.id, (resource,) if resource else ()))
    except ZondaError as error:
        return _refuse(call, stack, error)
    return redirect(build_stack_path(call, stack, "drift"))


def show_repair(call: Call) -> Answer:
    """The plan of a repair: what has drifted is looked at once more for it."""
    stack = _find_live(call)
    try:
        found = call.project.plan(RepairDrift(stack.id), keep=False)
    except ZondaError as error:
        return _refuse(call, stack, error)
    assert found.seen is not None
    values = {
        "stack": stack,
        "path": build_stack_path(call, stack),
        "document": found.document,
        "findings": found.seen[1],
        "verdict": found.seen[0].verdict,
        "can_apply": found.does_something and not found.fails,
    }
    return Answer(200, Page("repair.html", values))


def repair(call: Call) -> Answer:
    """The repair."""
    stack = _find_live(call)
    try:
        call.project.submit(RepairDrift(stack.id))
    except ZondaError as error:
        return _refuse(call, stack, error)
    return redirect(build_stack_path(call, stack))


def ignore(call: Call) -> Answer:
    """An exception: differences that count as in sync from now on."""
    stack, form = _find_live(call), call.body
    try:
        call.project.submit(_build_ignore(call, stack, form))
    except ZondaError as error:
        return _refuse(call, stack, error)
    return redirect(build_stack_path(call, stack, "drift"))


def _build_ignore(call: Call, stack: StackView, form: Form) -> IgnoreDrift:
    resource, reason = form.get("resource").strip(), form.get("reason").strip()
    if not resource or not reason:
        raise UsageError("An exception needs a resource and a reason.")
    text, now = form.get("until").strip(), call.project.service.app.clock.now()
    until = parse_end(text, now) if text else None
    if text and (until is None or until <= now):
        raise UsageError(f"{text} is no time to come.", hint="Give 2027-01-31, 30d or 12h.")
    return IgnoreDrift(stack.id, resource, form.get("property").strip(), reason, until)


def unignore(call: Call) -> Answer:
    """The end of an exception."""
    stack = _find_live(call)
    try:
        call.project.submit(UnignoreDrift(stack.id, call.body.get("ignore")))
    except ZondaError as error:
        return _refuse(call, stack, error)
    return redirect(build_stack_path(call, stack, "drift"))


def _find_live(call: Call) -> StackView:
    stack = find_stack(call)
    if stack.deleted_at is not None:
        raise NotFound("Stack", stack.name, hint="It is deleted: nothing can be done with it.")
    return stack


def _refuse(call: Call, stack: StackView, error: ZondaError) -> Answer:
    """The page with an error; raises it if it is a fault of the server."""
    return Answer(check_fault(error), _make_page(call, stack, error))
