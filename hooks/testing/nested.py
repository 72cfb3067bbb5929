"""A nested stack that only exists in memory, and a resource that drives it through its life.

For the unit tests of types that are nested stacks. Plug-in authors import it from ``testing``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..errors import InvalidTemplateAttribute, ResourceFailure
from ..records import dataclass, field
from ..resources.definition import ResourceDefinition
from ..resources.nested_stack import CONVERGE, ChildTemplate, NestedStack
from ..resources.resource import Resource
from ..schema.attributes import select
from .fakes import FakeClock, FakeOperation
from .lifecycle import Lifecycle

#: The attributes of a member that is made of this entry of a template.
AttributesOf = Callable[[Mapping[str, Any]], Mapping[str, Any]]


def _get_properties(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = entry.get("properties") or {}
    return found


@dataclass(slots=True)
class FakeMember:
    """One resource of a nested stack."""

    name: str
    definition: Mapping[str, Any]
    created_at: float
    physical_id: str
    attributes: Mapping[str, Any] = field(default_factory=dict)
    action: str = "CREATE"
    status: str = "COMPLETE"

    @property
    def type(self) -> str:
        """Its type."""
        return str(self.definition["type"])

    @property
    def is_current(self) -> bool:
        """Whether it has not failed."""
        return self.status == "COMPLETE"

    @property
    def reference(self) -> str:
        """Its physical id."""
        return self.physical_id

    def attribute(self, name: str, *path: Any) -> Any:
        """One of ``attributes``, below ``path``."""
        if name not in self.attributes:
            raise InvalidTemplateAttribute(self.name, name)
        return select(self.attributes[name], path)


class FakeChild:
    """A nested stack in memory. ``become`` makes it what a resource has asked for.

    ``attributes_of`` gives the attributes of a member by its entry in the template; by default
    they are its properties. ``failing`` are names of members whose next operation fails.
    ``templates`` are the templates that it has become so far.
    """

    def __init__(
        self, *, clock: FakeClock | None = None, attributes_of: AttributesOf = _get_properties
    ) -> None:
        self.id = "0c1d3c37-0000-4000-8000-000000000001"
        self.name = "teststack-group-0123456789ab"
        self.action = "CREATE"
        self.status = "COMPLETE"
        self.failing: set[str] = set()
        self.templates: list[ChildTemplate] = []
        self._clock = clock or FakeClock()
        self._attributes_of = attributes_of
        self._members: dict[str, FakeMember] = {}
        self._made = 0

    @property
    def is_healthy(self) -> bool:
        """Whether it and all of its members are complete."""
        states = {self.status, *(member.status for member in self._members.values())}
        return states == {"COMPLETE"}

    def members(self) -> Sequence[FakeMember]:
        """Its resources, in the order of its template."""
        return list(self._members.values())

    def member(self, name: str) -> FakeMember | None:
        """The resource of that name."""
        return self._members.get(name)

    def output_names(self) -> Sequence[str]:
        """The outputs of the last template."""
        return list(self._list_outputs())

    def has_output(self, name: str) -> bool:
        """Whether the last template has that output."""
        return name in self._list_outputs()

    def output(self, name: str) -> Any:
        """An output: plain values with ``get_attr`` and ``get_resource`` calls."""
        return self._resolve(self._list_outputs()[name].get("value"))

    def _list_outputs(self) -> Mapping[str, Any]:
        template = self.templates[-1].template if self.templates else None
        found: Mapping[str, Any] = (template or {}).get("outputs") or {}
        return found

    def _resolve(self, tree: Any) -> Any:
        if isinstance(tree, Mapping):
            if tree.keys() == {"get_attr"}:
                name, attribute, *path = tree["get_attr"]
                return self._members[name].attribute(attribute, *path)
            if tree.keys() == {"get_resource"}:
                return self._members[tree["get_resource"]].reference
            return {key: self._resolve(value) for key, value in tree.items()}
        if isinstance(tree, list):
            return [self._resolve(value) for value in tree]
        return tree

    def become(self, wanted: ChildTemplate, action: str = "UPDATE") -> None:
        """Make and remove members, and give changed ones their new definition.

        Of a template that is a file or a text nothing is known: it has no members. Raises
        ResourceFailure where one is to fail.
        """
        self.action, self.status = action, "COMPLETE"
        self.templates.append(wanted)
        template = wanted.template or {}
        entries = json.loads(json.dumps(template.get("resources") or {}))
        self._members = {name: self._update_member(name, entry) for name, entry in entries.items()}
        failed = [one.name for one in self._members.values() if one.status == "FAILED"]
        if failed:
            self.status = "FAILED"
            raise ResourceFailure(f"resources.{failed[0]}: failed as the test wants it")

    def _update_member(self, name: str, entry: Mapping[str, Any]) -> FakeMember:
        member = self._members.get(name)
        if member is not None and member.definition == entry and member.status == "COMPLETE":
            return member
        if member is None:
            self._made += 1
            physical = f"{name}-physical-{self._made}"
            member = FakeMember(name, entry, self._clock.now(), physical)
        else:
            member.action, member.definition = "UPDATE", entry
        member.attributes = self._attributes_of(entry)
        member.status = "FAILED" if name in self.failing else "COMPLETE"
        self.failing.discard(name)
        return member


class NestedLifecycle(Lifecycle):
    """A ``Lifecycle`` of a nested stack: ``child`` becomes what the resource asks for.

    Everything else is as with other resources; so nothing that the resource keeps on ``self``
    outlives one call. ``child`` is None until creation. ``steps`` are the templates of the last
    operation, and the clock is advanced by their pauses and by ``poll_every`` for each.
    """

    def __init__(
        self,
        cls: type[NestedStack],
        properties: Mapping[str, Any] | None = None,
        *,
        update_policy: Mapping[str, Any] | None = None,
        attributes_of: AttributesOf = _get_properties,
        **others: Any,
    ) -> None:
        super().__init__(cls, properties, **others)
        self.definition = self.definition.freeze(update_policy=dict(update_policy or {}))
        self.steps: list[ChildTemplate] = []
        self._attributes_of = attributes_of

    @property
    def child(self) -> FakeChild:
        """The nested stack; fails before creation."""
        child = self.context.nested
        assert isinstance(child, FakeChild)
        return child

    def signal(self, details: Any = None) -> Any:
        """Send a signal; the nested stack converges where the resource says so."""
        answer = super().signal(details)
        if answer is CONVERGE:
            self.context.operation = self._new_operation("SIGNAL")
            try:
                self._drive("UPDATE", self.definition)
            finally:
                self.context.operation = None
        return answer

    def _start(self, handle: Callable[[Resource], Any], operation: FakeOperation) -> Any:
        asked = _HandlerRecorder(self.instance())
        handle(asked)  # type: ignore[arg-type]
        if operation.action == "CREATE":
            self.context.nested = None
            child = FakeChild(clock=self.context.clock, attributes_of=self._attributes_of)
            child.id = self._new_id()
            self._drive("CREATE", self.definition, child)
        elif operation.action == "UPDATE":
            self._drive("UPDATE", asked.after or self.definition)
        elif operation.action == "DELETE" and self._owns_child:
            self.context.nested = None

    @property
    def _owns_child(self) -> bool:
        """Whether the nested stack is that of this instance, not of one that took its place."""
        return self.context.nested is not None and self.child.id == self.resource_id

    def _drive(
        self, action: str, definition: ResourceDefinition, new: FakeChild | None = None
    ) -> None:
        self.steps = []
        while (wanted := self._ask_next_template(definition)) is not None:
            self._wait(wanted.pause)
            self.steps.append(wanted)
            if self.context.nested is None:
                self.context.nested = new
                self.context.save_resource_id(self.child.id)
            self.child.become(wanted, action)
            self._wait(self.poll_every)

    def _ask_next_template(self, definition: ResourceDefinition) -> ChildTemplate | None:
        """The next template of the resource; asked for twice, as the engine may do."""
        answers = []
        for _ in range(2):
            instance = self.instance(definition)
            assert isinstance(instance, NestedStack)
            answers.append(instance.next_template(self.context.nested, len(self.steps)))
        assert answers[0] == answers[1], "next_template gives something else when asked again"
        return answers[0]


class _HandlerRecorder:
    """A stand-in for an instance that records the definition a handler gets."""

    def __init__(self, instance: Resource) -> None:
        self.name, self.properties = instance.name, instance.properties
        self.after: ResourceDefinition | None = None

    def handle_create(self) -> None:
        """Do nothing: the nested stack is made."""

    def handle_delete(self) -> None:
        """Do nothing: the nested stack is deleted."""

    def handle_update(
        self,
        json_snippet: ResourceDefinition,
        tmpl_diff: Mapping[str, Any],
        prop_diff: Mapping[str, Any],
    ) -> None:
        """Keep the definition that it is to have."""
        self.after = json_snippet
