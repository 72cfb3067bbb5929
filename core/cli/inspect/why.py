"""``zonda stack why``: the first failure, its place, its attempts, and advice.

Exit codes: 0 told, 4 something failed and nothing is kept that says why.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from zonda.core.store.read.drift_views import DriftNowView
from zonda.core.store.read.views import StackView
from zonda.core.store.schema.words import DRIFTED, MISSING

from ..arguments import ANY_STACK, argument, takes
from ..console import drift, formats
from ..console.console import Screen
from ..console.source_excerpt import format_excerpt
from ..options import nested
from ..session import Session
from . import engine_hint

if TYPE_CHECKING:  # imported by the application once it is needed
    from zonda.core.reports.situation import Situation
    from zonda.core.reports.why import Explanation, LocatedFailure

CANNOT_TELL = 4
_WELL = "Nothing has failed."
#: The most failures and other resources that are shown to people.
_MOST = 10


@takes(
    ANY_STACK,
    argument("resource", metavar="RESOURCE", nargs="?", help="only this one, or OWNER/NAME"),
    argument("--at", metavar="N", type=int, help="explain generation N"),
    formats.add_text_format,
)
def why(session: Session, arguments: argparse.Namespace) -> int:
    """Explain the state of a stack or resource, the deepest failure first."""
    where = arguments.stack
    if arguments.resource is not None:
        where, arguments.resource = nested.split_address(where, arguments.resource)
    stack = session.app.stacks.find(where)
    found = session.app.inspector.why(stack, arguments.resource, arguments.at)
    screen, now = session.screen, session.app.clock.now()
    engine_hint.warn_without_engine(session, stack)
    drifted = [] if arguments.at is not None else _list_drifted(session, stack, arguments.resource)
    if arguments.format in ("json", "yaml"):
        shown = as_data(found, arguments.resource)
        shown["drift"] = [drift.verdict_as_data(each) for each in drifted]
        formats.write_data(screen.out, arguments.format, shown)
    else:
        for line in _format_explanation(screen, found, arguments.resource, now):
            screen.show(line)
        for line in drift.format_verdicts(drifted[:_MOST]):
            screen.draw(line)
    return 0 if found.certain else CANNOT_TELL


def _list_drifted(session: Session, stack: StackView, resource: str | None) -> list[DriftNowView]:
    """List the drifted or missing resources, of a stack with its nested ones, or of one."""
    reader = session.app.reader
    if stack.deleted_at is not None or not reader.drift_checks(stack.root_id, 1):
        return []
    top, paths = nested.resolve_scope(session, stack.id, [] if resource is None else [resource])
    found = [each for each in reader.drift_now(top.id) if each.verdict in (DRIFTED, MISSING)]
    return [each for each in found if not paths or _is_within(each.path, paths[0])]


def _is_within(path: str, above: str) -> bool:
    return path == above or path.startswith(f"{above}/")


def as_data(found: Explanation, resource: str | None) -> dict[str, Any]:
    """Return an explanation as data for programs."""
    action = found.action
    return {
        "stack_name": found.stack.name,
        "stack_status": found.stack.state,
        "stack_status_reason": found.stack.status_reason,
        "resource_name": resource,
        "generation": None if action is None else action.generation,
        "action": None if action is None else action.action,
        "status": None if action is None else action.status,
        "failures": [_failure_as_data(each) for each in found.failures],
        "followed": list(found.followed),
        "now": [_situation_as_data(each) for each in found.situations],
        "gone": formats.format_time(found.gone.at) if found.gone else None,
        "earlier": None if found.earlier is None else found.earlier.generation,
        "untold": found.untold or None,
        "advice": list(found.advice),
        "certain": found.certain,
    }


def _failure_as_data(spot: LocatedFailure) -> dict[str, Any]:
    failure, view = spot.failure, spot.failure.view
    return {
        "resource_name": view.resource_name,
        "path": failure.path,
        "resource_type": view.resource_type,
        "physical_resource_id": view.physical_id,
        "action": view.op,
        "during": view.during,
        "kind": view.kind,
        "code": view.code or None,
        "reason": view.reason,
        "traceback": view.trace or None,
        "file": spot.place.file if spot.place else None,
        "line": spot.place.line if spot.place else None,
        "column": spot.place.column if spot.place else None,
        "properties": view.properties,
        "attempts": view.attempt,
        "started": formats.format_time(view.started_at),
        "failed": formats.format_time(view.at),
        "tried": [
            {"failed": formats.format_time(each.at), "reason": each.reason}
            for each in failure.tried
        ],
        "events": [
            {"time": formats.format_time(each.at), "status": each.state, "reason": each.reason}
            for each in failure.events
        ],
        "advice": list(failure.advice),
    }


def _situation_as_data(each: Situation) -> dict[str, Any]:
    row, cause = each.row, each.cause
    return {
        "resource_name": row.name,
        "path": each.path,
        "doing": each.doing,
        "action": row.op or row.verb or None,
        "since": formats.format_time(row.started_at) if row.op else None,
        "until": formats.format_time(row.deadline) if row.op else None,
        "attempt": row.attempt if row.op else None,
        "waits_for": list(each.waits_for),
        "told": list(each.told),
        "changed_last": None
        if cause is None
        else {
            "decision": cause.decision,
            "why": cause.why or None,
            "properties": list(cause.about or cause.changed),
        },
    }


def _format_explanation(
    screen: Screen, found: Explanation, resource: str | None, now: float
) -> Iterator[str]:
    yield from _format_head(screen, found, resource)
    for spot in found.failures[:_MOST]:
        yield ""
        yield from _format_failure(screen, spot)
    if len(found.failures) > _MOST:
        yield f"... and {len(found.failures) - _MOST} more failures; -f json tells them all."
    if found.followed:
        yield f"Only followed from that: {', '.join(found.followed[:_MOST])}."
    for text in found.advice:
        yield f"  -> {text}"
    if found.untold:
        yield f"The template cannot be shown: {found.untold}"
    yield from _format_situations(screen, found, resource, now)


def _format_head(screen: Screen, found: Explanation, resource: str | None) -> Iterator[str]:
    stack, action = found.stack, found.action
    colour = {"COMPLETE": "green", "FAILED": "red"}.get(stack.status, "yellow")
    yield f"Stack {stack.name} is {screen.colour_result(stack.state, colour)}."
    if action is None and resource is not None:
        yield from _format_earlier(found, resource)
        return
    if action is None and not found.certain:
        yield f"Nothing is kept that tells why. {stack.status_reason}"
        return
    if action is None:
        unwell = any(each.doing == "unwell" for each in found.situations)
        yield "No action has failed, and not every resource is well." if unwell else _WELL
        yield from _format_earlier(found, None)
        return
    who = f" (asked for by {action.by})" if action.by else ""
    yield f"Generation {action.generation}, {action.action}{who}: {action.status}"
    if not found.failures and action.status_reason:
        yield f"  {action.status_reason}"
    if not found.certain:
        yield "Nothing is kept that tells why."


def _format_earlier(found: Explanation, resource: str | None) -> Iterator[str]:
    if found.earlier is not None:
        number = found.earlier.generation
        words = " ".join(filter(None, (_format_stack(found.stack), resource)))
        yield f"Generation {number} had failed: 'zonda stack why {words} --at {number}'."


def _format_stack(stack: StackView) -> str:
    """Return the name that finds the stack: its id once it is deleted."""
    return stack.name if stack.deleted_at is None else stack.id


def _format_failure(screen: Screen, spot: LocatedFailure) -> Iterator[str]:
    failure, view = spot.failure, spot.failure.view
    where = f"{spot.place}: " if spot.place else ""
    code = f" [{view.code}]" if view.code else ""
    named = f"{failure.path} ({view.resource_type})"
    yield f"{where}{screen.colour_result(f'{view.op} of {named} failed', 'red')}{code}"
    if spot.place is not None:
        yield from format_excerpt(spot.text, spot.place)
    yield f"  {view.reason}"
    if view.physical_id:
        yield f"  physical id: {view.physical_id}"
    yield from (f"  {line}" for line in view.trace.splitlines())
    yield from _format_properties(view.properties)
    yield from _format_attempts(spot)
    for text in failure.advice:
        yield f"  -> {text}"


def _format_properties(properties: dict[str, Any]) -> Iterator[str]:
    given = {name: value for name, value in properties.items() if value is not None}
    if given:
        yield "  properties:"
        for name, value in given.items():
            yield f"    {name}: {formats.format_single_line(value)}"


def _format_attempts(spot: LocatedFailure) -> Iterator[str]:
    failure, view = spot.failure, spot.failure.view
    if view.started_at is None:
        yield "  tried: nothing, it could not be begun"
        return
    times = f", {view.attempt} times" if view.attempt > 1 else ""
    yield f"  tried{times}, for {formats.format_duration(view.at - view.started_at)}:"
    for event in failure.events:
        reason = "" if event.reason == view.reason else event.reason  # told above
        yield f"    {formats.format_time(event.at)}  {event.state}  {reason}".rstrip()


def _format_situations(
    screen: Screen, found: Explanation, resource: str | None, now: float
) -> Iterator[str]:
    from zonda.core.reports.situation import describe_cause

    # of one resource all, but for what is nested in it
    own = [each for each in found.situations if resource and each.row.stack_id == found.stack.id]
    shown = [*own, *found.situations[len(own) : len(own) + _MOST]]
    for each in shown:
        row = each.row
        since = formats.format_duration(now - row.started_at) if row.op and row.started_at else ""
        told = "; ".join(each.told) or f"it is {row.action}_{row.status}"
        yield ""
        yield screen.colour_result(each.path, "bold") + f" ({row.type}): {told}"
        if since:
            until = formats.format_time(row.deadline)
            yield f"  for {since}; given up at {until}" if until else f"  for {since}"
        if resource and each.cause is not None:
            yield f"  {describe_cause(each.cause)}"
        if resource and not row.op and each.doing != "unwell" and row.status_reason:
            yield f"  {row.status_reason}"
    if len(found.situations) > len(shown):
        yield f"... and {len(found.situations) - len(shown)} more that are at work, wait or failed."
    if found.gone is not None:
        last = found.gone
        yield ""
        yield (
            screen.colour_result(last.resource_name or "", "bold")
            + f" ({last.resource_type}): gone"
        )
        yield f"  {formats.format_time(last.at)}  {last.state}  {last.reason}"
