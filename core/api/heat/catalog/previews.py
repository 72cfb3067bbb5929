"""Previews of creations and updates, in the form of Heat's engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from zonda.core.engine.diff.sections import read_marks
from zonda.core.engine.plugins.reasons import OPEN
from zonda.core.engine.preview.entries import Entry
from zonda.core.engine.preview.preview import Nested, Preview, Resource
from zonda.core.graph.digraph import map_dependents
from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.core.template.definition.stack_definition import StackDefinition
from zonda.core.template.evaluation.unknown_values import has_unknown
from zonda.hooks.errors import Conflict

from ...http.calls import Answer, Call
from ..stacks import requests
from ..stacks.changes import build_creation, build_patch, build_update
from ..stacks.documents import HIDDEN, NO_DESCRIPTION, build_links, format_parameters
from ..stacks.lookup import find_live_stack
from ..values import format_time, get_bool, require_object

_NO_STACK = "None"
#: The list of a preview in which an entry stands, by what is done.
_LISTS = {
    "create": "added",
    "check": "added",
    "update": "updated",
    "replace": "replaced",
    "delete": "deleted",
    "leave": "deleted",
    "none": "unchanged",
    "keep": "unchanged",
    "outside": "unchanged",
}


def preview_stack(call: Call) -> Answer:
    """The stack that a creation would make."""
    body = require_object(call.body)
    name = requests.read_name(body)
    action = build_creation(call, body, name)
    found = call.project.preview(action)
    stack = found.stack
    # a preview without resources has no definition
    definition = found.definition or call.project.check_template(action.bundle)
    description = str(definition.description or NO_DESCRIPTION)
    shown = {
        "id": _NO_STACK,
        "links": build_links(call, name, _NO_STACK),
        "stack_name": name,
        "description": description,
        "template_description": description,
        "creation_time": None,
        "updated_time": None,
        "deletion_time": None,
        "parameters": format_parameters(
            definition,
            {
                "OS::stack_id": _NO_STACK,
                "OS::project_id": call.project.id,
                "OS::stack_name": name,
            },
        ),
        "capabilities": [],
        "notification_topics": [],
        "disable_rollback": bool(stack.disable_rollback),
        "timeout_mins": requests.read_timeout(body),
        "stack_owner": call.caller.user,
        "parent": None,
        "stack_user_project_id": None,
        "tags": list(action.tags),
        "resources": _Builder(call, name, _NO_STACK).list_all(found.resources, definition),
    }
    return Answer(200, {"stack": shown})


def preview_update(call: Call) -> Answer:
    """The changes that an update with a whole template would make."""
    return _answer_update(call, keeps=False)


def preview_patch(call: Call) -> Answer:
    """The changes that an update of parts would make."""
    return _answer_update(call, keeps=True)


def _answer_update(call: Call, *, keeps: bool) -> Answer:
    stack = find_live_stack(call)
    body = require_object(call.body)
    action = (
        build_patch(call, body, stack) if keeps else build_update(call, body, stack, keeps=False)
    )
    found = call.project.preview(action)
    _check_possible(found)
    names: tuple[str, ...] = ("unchanged", "updated", "replaced", "added", "deleted")
    changes: dict[str, list[Any]] = {name: [] for name in names}
    with_nested = get_bool(call, "show_nested")
    nested = {str(child.owner_resource_id): child for child in found.nested.values()}
    build = _Builder(call, stack.name, stack.id, nested=nested if with_nested else None)
    for place, shown in build.list_changes(found.resources, found.definition):
        changes[place].append(shown)
    return Answer(200, {"resource_changes": changes})


def _check_possible(found: Preview) -> None:
    if found.refusal:
        raise Conflict(found.refusal)


class _Builder:
    """Builds raw resources of one stack with one definition."""

    def __init__(
        self,
        call: Call,
        stack_name: str,
        stack_id: str,
        above: str = "",
        nested: Mapping[str, StackRow] | None = None,
    ) -> None:
        self._call = call
        self._name = stack_name
        self._id = stack_id
        self._above = above
        #: The nested stacks that there are, by their owners; None: they are not asked for.
        self._nested = nested
        #: The dependents of each resource of the definition, once they are asked for.
        self._dependents: Mapping[str, list[str]] | None = None

    def list_all(
        self, resources: Iterable[Resource], definition: StackDefinition | None
    ) -> list[Any]:
        """All resources of a stack; a nested stack is a list of its own."""
        return [
            self._list_nested(each.nested[0], each.entry.name)
            if each.nested
            else self.build(each, definition)
            for each in resources
        ]

    def _list_nested(self, nested: Nested, owner: str) -> list[Any]:
        return self._enter(owner).list_all(nested.resources, nested.inside.definition)

    def _enter(self, owner: str) -> _Builder:
        """The builder for what is nested in a resource."""
        return _Builder(self._call, f"{self._name}-{owner}", self._id, owner, self._nested)

    def list_changes(
        self, resources: Iterable[Resource], definition: StackDefinition | None
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Each resource with the name of its list; also those of nested stacks, if asked for.

        A nested stack is always updated, as Heat does it, whatever comes of that.
        """
        for each in resources:
            place = _LISTS.get(each.entry.action, "updated")
            below = [] if self._nested is None else self._list_below(each)
            yield (
                "updated" if below and place == "unchanged" else place,
                self.build(each, definition),
            )
            for inside, known in below:
                yield from self._enter(each.entry.name).list_changes(inside, known)

    def _list_below(self, each: Resource) -> list[tuple[Iterable[Resource], Any]]:
        """The resources nested in one, with their definition; as they are where none changes."""
        row, nested = each.entry.row, self._nested or {}
        if each.nested or row is None or row.id not in nested:
            return [(below.resources, below.inside.definition) for below in each.nested]
        child, project = nested[row.id], self._call.project
        rows = project.reader.resource_rows(child.id)
        known = [Resource(Entry(inner.name, inner.type, "none", inner)) for inner in rows]
        key = child.template_id
        return [(known, None if key is None else project.service.find_definition(key))]

    def build(self, each: Resource, definition: StackDefinition | None) -> dict[str, Any]:
        """One raw resource."""
        entry, row = each.entry, each.entry.row
        node = None if definition is None else definition.resources.get(entry.name)
        identity = {
            "tenant": self._call.project.id,
            "stack_name": self._name,
            "stack_id": self._id,
        }
        shown = {
            "resource_name": entry.name,
            "resource_type": entry.type,
            "resource_identity": {**identity, "path": f"/resources/{entry.name}"},
            "stack_identity": {**identity, "path": ""},
            "stack_name": self._name,
            "resource_action": "INIT" if row is None else row.op or row.action,
            "resource_status": "COMPLETE" if row is None else _read_status(row),
            "resource_status_reason": "" if row is None else row.status_reason,
            "physical_resource_id": (row.physical_id if row is not None else None) or "",
            "creation_time": None if row is None else format_time(row.created_at),
            "updated_time": None if row is None else format_time(row.updated_at),
            "description": "" if node is None else str(node.description or ""),
            "metadata": {},
            "required_by": self._list_dependents(definition, entry.name),
            "properties": _read_properties(each, definition),
            "attributes": {} if node is None else dict.fromkeys(node.cls.attributes_schema),
        }
        if self._above:
            shown["parent_resource"] = self._above
        return shown

    def _list_dependents(self, definition: StackDefinition | None, name: str) -> list[str]:
        if definition is None:
            return []
        if self._dependents is None:
            self._dependents = map_dependents(
                {other: node.requires for other, node in definition.resources.items()}
            )
        return sorted(self._dependents.get(name, ()))


def _read_status(row: ResourceRow) -> str:
    return "IN_PROGRESS" if row.op else row.status


def _read_properties(each: Resource, definition: StackDefinition | None) -> dict[str, Any]:
    """The properties as far as they are known, hidden ones masked."""
    entry = each.entry
    if definition is None or entry.verdict is None or entry.verdict.wanted is None:
        return {}
    if entry.name not in definition.resources:
        return {}
    schema = definition.resources[entry.name].cls.properties_schema
    marks, wanted, shown = read_marks(definition, entry.name), entry.verdict.wanted.properties, {}
    for name in {**schema, **wanted}:
        value = wanted.get(name)
        if value is None and name in schema:
            value = schema[name].default
        is_open = marks.of(name) == OPEN
        shown[name] = HIDDEN if not is_open else None if has_unknown(value) else value
    return shown
