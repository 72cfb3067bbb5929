"""Lists of resources, also of nested stacks, with filters; and what one resource is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from zonda.core.store.read.pages import ListedStack
from zonda.core.store.read.views import ResourceView, StackView
from zonda.hooks.errors import NotFound
from zonda.hooks.text.redaction import MASK

from ...http.calls import Answer, Call
from ...http.errors import BadRequest
from ..software.server_configs import list_server_configs
from ..stacks.documents import HIDDEN
from ..stacks.lookup import find_stack
from ..values import format_time, get_bool, get_int

#: Keys of the query that are no filters.
_OPTIONS = frozenset({"nested_depth", "with_detail", "with_attr"})
#: Filters, and the value of a resource that each looks at.
_FILTERS = {
    "type": "type",
    "status": "status",
    "name": "name",
    "action": "action",
    "id": "id",
    "physical_resource_id": "physical_id",
}


def list_resources(call: Call) -> Answer:
    """The resources of a stack, and of what is nested in it as deep as was asked for."""
    stack = find_stack(call).stack
    unknown = sorted({*call.query} - _FILTERS.keys() - _OPTIONS)
    if unknown:
        raise BadRequest(f"Invalid filter parameters {unknown}")
    depth = get_int(call, "nested_depth") or 0
    with_detail = get_bool(call, "with_detail")
    shown = [
        build_resource(call, owner, view, above, with_detail=with_detail)
        for owner, view, above in _walk(call, stack, depth)
        if _fits(call, view)
    ]
    return Answer(200, {"resources": shown})


def _walk(
    call: Call, stack: StackView, depth: int
) -> Iterator[tuple[StackView, ResourceView, str | None]]:
    """Each resource with its stack, and the owner of that in a nested one."""
    pending: list[tuple[StackView, int, str | None]] = [(stack, depth, None)]
    while pending:
        at, left, above = pending.pop(0)
        for view in list_shown(call, at):
            yield at, view, above
            if left > 0:
                child = call.project.reader.child_row(view.id)
                if child is not None:
                    found = call.project.find_stack(child.id).stack
                    pending.append((found, left - 1, view.name))


def list_shown(call: Call, stack: StackView) -> list[ResourceView]:
    """One instance of each name: the one that is wanted, else the newest that is to go."""
    found: dict[str, ResourceView] = {}
    for view in call.project.reader.resources(stack.id, absent=True):
        known = found.get(view.name)
        if known is None or (view.present, view.id) > (known.present, known.id):
            found[view.name] = view
    return list(found.values())


def _fits(call: Call, view: ResourceView) -> bool:
    return all(
        getattr(view, field) in call.query[key]
        for key, field in _FILTERS.items()
        if key in call.query
    )


def find_resource(call: Call, stack: StackView) -> ResourceView:
    """The present resource of the URL; raises NotFound."""
    name = call.path["resource"]
    for view in list_shown(call, stack):
        if view.name == name:
            return view
    raise NotFound("Resource", name, stack=stack.name)


def show_resource(call: Call) -> Answer:
    """One resource with its attributes."""
    listed = find_stack(call)
    view = find_resource(call, listed.stack)
    above = _find_owner(call, listed)
    return Answer(
        200, {"resource": build_resource(call, listed.stack, view, above, with_detail=True)}
    )


def _find_owner(call: Call, listed: ListedStack) -> str | None:
    if listed.stack.owner_resource_id is None:
        return None
    row = call.project.reader.resource_row(listed.stack.owner_resource_id)
    return None if row is None else row.name


def show_metadata(call: Call) -> Answer:
    """The metadata of a resource; of a server with what it has to apply, for agents."""
    view = find_resource(call, find_stack(call).stack)
    shown = _mask(view.metadata)
    configs = list_server_configs(call, view.physical_id) if view.physical_id else []
    return Answer(200, {"metadata": {**shown, "deployments": configs} if configs else shown})


def build_resource(
    call: Call,
    stack: StackView,
    view: ResourceView,
    above: str | None,
    *,
    with_detail: bool = False,
) -> dict[str, Any]:
    """One resource; ``above``: the resource that its stack is nested in."""
    shown: dict[str, Any] = {
        "resource_name": view.name,
        "logical_resource_id": view.name,
        "physical_resource_id": view.physical_id or "",
        "resource_status": view.state,
        "resource_status_reason": view.status_reason,
        "resource_type": view.type,
        "creation_time": format_time(view.created_at),
        "updated_time": format_time(view.updated_at),
        "required_by": list(view.required_by),
        "links": build_resource_links(call, stack, view),
    }
    if above is not None:
        shown["parent_resource"] = above
    if with_detail:
        details = call.project.read_details(stack, view, get_extra_attributes(call))
        shown["description"] = details.description
        shown["attributes"] = {name: _mask(value) for name, value in details.attributes.items()}
    return shown


def get_extra_attributes(call: Call) -> tuple[str, ...]:
    """The attributes that were asked for besides those of the schema."""
    return tuple(call.query.get("with_attr", ()))


def build_resource_links(call: Call, stack: StackView, view: ResourceView) -> list[dict[str, str]]:
    """The links of a resource: to itself, its stack, and the stack that is nested in it."""
    base = ("stacks", stack.name, stack.id)
    links = [
        {"href": call.build_url(*base, "resources", view.name), "rel": "self"},
        {"href": call.build_url(*base), "rel": "stack"},
    ]
    child = call.project.reader.child_row(view.id)
    if child is not None:
        links.append({"href": call.build_url("stacks", child.name, child.id), "rel": "nested"})
    return links


def _mask(value: Any) -> Any:
    if value == MASK:
        return HIDDEN
    if isinstance(value, Mapping):
        return {key: _mask(item) for key, item in value.items()}
    return value
