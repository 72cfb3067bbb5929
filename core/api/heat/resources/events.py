"""Events of stacks and resources."""

from __future__ import annotations

import re
from typing import Any

from zonda.core.store.read.pages import EventQuery
from zonda.core.store.read.trees import read_tree
from zonda.core.store.read.views import EventView, StackView
from zonda.hooks.errors import NotFound

from ...http.calls import Answer, Call
from ...http.errors import Missing
from ..stacks.lookup import find_stack
from ..values import format_time, get_all, get_descending, get_int

#: The user behind an event, whom Heat's events do not name.
_USER = re.compile(r" \(by [^()]*\)$")


def list_events(call: Call) -> Answer:
    """One page of the events of a stack, and of what is nested in it if that was asked for."""
    return _answer_page(call, call.query.get("resource_name", ()))


def list_resource_events(call: Call) -> Answer:
    """One page of the events of one resource."""
    return _answer_page(call, (call.path["resource"],))


def _answer_page(call: Call, resources: tuple[str, ...]) -> Answer:
    stack, depth = find_stack(call).stack, get_int(call, "nested_depth")
    stacks = {stack.id: stack}
    if depth:
        reader = call.project.reader
        for stack_id in read_tree(reader, stack).list_within(depth):
            stacks[stack_id] = stack if stack_id == stack.id else reader.stack_by_id(stack_id)
    keys = get_all(call, "sort_keys")
    query = EventQuery(
        stacks=tuple(stacks),
        statuses=get_all(call, "resource_status"),
        actions=get_all(call, "resource_action"),
        resources=resources,
        types=get_all(call, "resource_type"),
        sort_keys=keys,
        descending=get_descending(call, default=not keys),
        limit=get_int(call, "limit"),
        marker=call.get_first("marker") or "",
    )
    found = call.project.reader.list_events(query)
    if resources and not found and not query.marker:
        raise Missing(f"No events found for resource {resources[0]}", "HTTPNotFound")
    root = stack if depth else None
    shown = [build_event(call, stacks[each.stack_id], each, root) for each in found]
    return Answer(200, {"events": shown})


def show_event(call: Call) -> Answer:
    """One event with the properties of its resource."""
    stack, key = find_stack(call).stack, call.path["event_id"]
    event = call.project.reader.find_event(stack.id, key)
    if event is None or (event.resource_name or stack.name) != call.path["resource"]:
        raise Missing(f"No event {key} found", "HTTPNotFound")
    shown = build_event(call, stack, event, None)
    shown["resource_type"] = event.resource_type or "OS::Heat::Stack"
    shown["resource_properties"] = _read_properties(call, event)
    return Answer(200, {"event": shown})


def _read_properties(call: Call, event: EventView) -> dict[str, Any]:
    """The properties that the resource of an event had by then, hidden ones masked.

    Where nothing is kept of them, they have not changed since.
    """
    if event.resource_id is None:
        return {}
    known = call.project.reader.read_event_properties(event)
    if known is not None:
        return known
    try:
        return call.project.reader.resource(event.stack_id, event.resource_id).properties
    except NotFound:
        return {}


def build_event(
    call: Call, stack: StackView, event: EventView, root: StackView | None
) -> dict[str, Any]:
    """One event; ``root``: the stack whose tree was asked for."""
    name = event.resource_name or event.stack_name
    base = ("stacks", stack.name, stack.id)
    resource = (*base, "resources", name)
    links = [
        {"href": call.build_url(*resource, "events", event.id), "rel": "self"},
        {"href": call.build_url(*resource), "rel": "resource"},
        {"href": call.build_url(*base), "rel": "stack"},
    ]
    if root is not None:
        links.append({"href": call.build_url("stacks", root.name, root.id), "rel": "root_stack"})
    return {
        "id": event.id,
        "links": links,
        "event_time": format_time(event.at),
        "resource_name": name,
        "logical_resource_id": name,
        "physical_resource_id": event.physical_id or ("" if event.resource_name else stack.id),
        "resource_status": event.state,
        "resource_status_reason": _USER.sub("", event.reason),
    }
