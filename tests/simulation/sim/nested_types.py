"""Types whose physical side is a nested stack: of a file, and a group of members in batches."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from zonda.hooks import attributes, properties
from zonda.hooks.resources.nested_stack import CONVERGE, Child, ChildTemplate, NestedStack

#: The value of an entry that stands for what the owner gives.
PARAMETER = "$"
_VALUES: Mapping[str, Any] = {
    "value": properties.Schema("String", update_allowed=True),
    "fixed": properties.Schema("String", update_allowed=True),
    "moody": properties.Schema("Boolean", default=False, update_allowed=True),
}
_OUTPUT: Mapping[str, Any] = {"output": attributes.Schema("what all of it says")}


class Nesting(NestedStack):
    """What both have in common."""

    properties_schema: Mapping[str, Any] = _VALUES
    attributes_schema: Mapping[str, Any] = _OUTPUT

    def physical_resource_name(self) -> str:
        return f"{self.stack.name}-{self.name}-{self.uuid}"


class Tree(Nesting):
    """A nested stack of a file."""

    source: ClassVar[str] = ""

    def next_template(self, child: Child | None, applied: int) -> ChildTemplate | None:
        if applied:
            return None
        return ChildTemplate(file=self.source, parameters={"value": self.properties["value"]})


class GroupBase(Nesting):
    """So many members that are alike, a batch of them at a time."""

    properties_schema: Mapping[str, Any] = {
        **_VALUES,
        "count": properties.Schema("Integer", update_allowed=True),
        "batch": properties.Schema("Integer", update_allowed=True),
        "pause": properties.Schema("Integer", default=0, update_allowed=True),
        "member": properties.Schema("String", update_allowed=True),
    }

    @property
    def size(self) -> int:
        """How many there are to be: what a signal has said last, else the template."""
        told = self.data().get("size")
        return int(self.properties["count"] if told is None else told)

    def member_types(self) -> Collection[str]:
        return [self.properties["member"]]

    def member_entry(self) -> dict[str, Any]:
        """What each member shall be."""
        return {
            "type": self.properties["member"],
            "value": self.properties["value"],
            "fixed": self.properties["fixed"],
            "moody": self.properties["moody"],
            "requires": [],
        }

    def child_template(self) -> dict[str, Any]:
        return {"resources": {f"g{each}": self.member_entry() for each in range(self.size)}}

    def next_template(self, child: Child | None, applied: int) -> ChildTemplate | None:
        """At most ``batch`` members are made or changed at once; what is too much goes last."""
        wanted = self.child_template()["resources"]
        known = {} if child is None else {each.name: each.definition for each in child.members()}
        if applied and known == wanted:
            return None
        differing = [name for name in wanted if known.get(name) != wanted[name]]
        now = set(differing[: self.properties["batch"]])
        resources = {name: wanted[name] if name in now else known.get(name) for name in wanted}
        if len(now) < len(differing):
            resources = {**known, **resources}
        made = {name: dict(entry) for name, entry in resources.items() if entry is not None}
        pause = float(self.properties["pause"]) if applied else 0.0
        return ChildTemplate({"resources": made}, pause=pause)

    def handle_signal(self, details: Any = None) -> Any:
        """One more, or as few as can be."""
        size = self.size + 1 if self.size < 4 else 1
        self.data_set("size", str(size))
        return CONVERGE
