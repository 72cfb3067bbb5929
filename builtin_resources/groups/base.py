"""The base class of groups: members that are one resource each, and their attributes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, Final

from zonda.hooks import (
    InvalidTemplateAttribute,
    Member,
    NestedStack,
    TooManyResources,
    attributes,
    select,
)

from . import member_template
from .member_template import Entry, ReadPath

REFS: Final = "refs"
REFS_MAP: Final = "refs_map"
ATTRIBUTES: Final = "attributes"

LIST_OF_REFS: Final = attributes.Schema(
    "The references of the members, in their order.", type=attributes.Schema.LIST
)
MAP_OF_REFS: Final = attributes.Schema(
    "The references of the members, by name.", type=attributes.Schema.MAP
)
MAP_OF_ATTRIBUTES: Final = attributes.Schema(
    "With the name of an attribute behind it: that attribute of each member, by name.",
    type=attributes.Schema.MAP,
)


class Group(NestedStack):
    """Members by name. Any other attribute than its own is the list of that of each member."""

    has_side_effects = False
    start_policy = "idempotent"
    #: These give a map of that attribute of each member.
    attributes_with_key: ClassVar[Collection[str]] = (ATTRIBUTES,)
    #: Of these the whole is given, whatever keys stand below, as in Heat.
    whole_attributes: ClassVar[Collection[str]] = ()
    #: The property that says how many members there are, if it is one.
    sized_by: ClassVar[Sequence[str]] = ()

    def list_member_names(self) -> Sequence[str]:
        """The names of the members that there shall be, in their order."""
        raise NotImplementedError

    def entry(self, name: str) -> Entry:
        """The definition of one member."""
        raise NotImplementedError

    def check_size(self, size: float) -> None:
        """Refuse more members than a stack may have; raises TooManyResources."""
        most = self.context.max_resources
        if size > most:
            at = ("resources", self.name, "properties", *self.sized_by)
            raise TooManyResources(int(size), most, at=at)

    def child_template(self) -> Mapping[str, Any]:
        """The template with all members, as after the last batch."""
        return self.build_template({name: self.entry(name) for name in self.list_member_names()})

    def build_template(self, entries: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
        """A template with these members and an output for everything that is read of them."""
        return member_template.build_template(entries, self.outputs(list(entries)))

    def outputs(self, names: Collection[str]) -> dict[str, Any]:
        """The outputs that the template above reads of the members, by name."""
        made = {}
        for path in member_template.sort_paths(self.context.referenced_paths()):
            value = self.build_output(names, path)
            if value is not None:
                made[member_template.format_output_name(path)] = value
        return made

    def build_output(self, names: Collection[str], path: ReadPath) -> Any:
        """The value of an output that reads the members at one path; None for own attributes."""
        key, below = path[0], path[1:]
        if key is None or key == attributes.SHOW:
            return None
        if str(key).startswith("resource."):
            return member_template.build_member_call(names, path)
        if key in self.attributes_with_key:
            return member_template.build_attribute_map(names, below) if below else None
        if key in self.attributes_schema:
            return None
        return member_template.build_attribute_list(names, path)

    # -- attributes ---------------------------------------------------------------------------

    def present(self) -> Sequence[Member]:
        """The existing members, in their order."""
        child = self.child
        return () if child is None else child.members()

    def FnGetAtt(self, key: str, *path: Any) -> Any:
        """An attribute of the group, or that of each member."""
        if key.startswith("resource."):
            return self.member_attribute(key, path)
        if key in self.attributes_with_key:
            if not path:
                raise InvalidTemplateAttribute(self.name, key)
            return self.map_of(*path)
        if key in self.attributes:
            return select(self.attributes[key], () if key in self.whole_attributes else path)
        return self.get_other_attribute(key, *path)

    def get_other_attribute(self, key: str, *path: Any) -> Any:
        """An attribute that only the members have."""
        return [member.attribute(key, *path) for member in self.present()]

    def map_of(self, key: str, *path: Any) -> dict[str, Any]:
        """An attribute of each member, by name."""
        return {member.name: member.attribute(key, *path) for member in self.present()}

    def _resolve_attribute(self, name: str) -> Any:
        if name == REFS:
            return [member.reference for member in self.present()]
        if name == REFS_MAP:
            return {member.name: member.reference for member in self.present()}
        return None
