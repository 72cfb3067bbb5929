"""Signals to resources, and their health."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from zonda.core.engine.actions import MarkResource, SignalResource
from zonda.core.engine.handlers.breakpoints import UNSET
from zonda.hooks.errors import ResourceFailure

from ...http.calls import Answer, Call
from ...http.errors import BadRequest
from ...identity.callers import Caller, Forbidden
from ..stacks.lookup import find_live_stack
from ..values import parse_bool, require_object
from .listing import find_resource

_HEALTH = "mark_unhealthy"
_REASON = "resource_status_reason"


def signal_resource(call: Call) -> Answer:
    """A signal to one resource; its body may be any JSON object, or none."""
    stack = find_live_stack(call)
    details = {} if call.body is None else require_object(call.body)
    check_details(call.caller, details)
    resource = call.caller.resource_id or call.path["resource"]
    with suppress(ResourceFailure):  # it is an event; the sender was heard
        call.project.submit(SignalResource(stack.id, resource, details))
    return Answer(200, None)


def check_details(caller: Caller, details: Mapping[str, Any]) -> None:
    """Raise Forbidden where the token of one resource would clear a breakpoint."""
    if caller.resource_id and UNSET in details:
        raise Forbidden("A token for signals does not clear breakpoints.")


def mark_resource(call: Call) -> Answer:
    """The health of one resource, as somebody outside has seen it."""
    stack, body = find_live_stack(call), require_object(call.body)
    unknown = {*body} - {_HEALTH, _REASON}
    if unknown:
        raise BadRequest(f"Invalid keys in resource mark unhealthy {unknown}")
    if _HEALTH not in body:
        raise BadRequest(f"Missing mandatory ({_HEALTH}) key from mark unhealthy request")
    is_unhealthy = parse_bool(_HEALTH, body[_HEALTH])
    view = find_resource(call, stack)
    reason = str(body.get(_REASON) or "")
    if not is_unhealthy and view.state != "CHECK_FAILED":
        return Answer(200, None)
    if not is_unhealthy:
        reason = "state changed by resource_mark_unhealthy api"
    call.project.submit(MarkResource(stack.id, view.name, reason, healthy=not is_unhealthy))
    return Answer(200, None)
