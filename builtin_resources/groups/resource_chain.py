"""``OS::Heat::ResourceChain``: resources of several types, one after the other."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final

from zonda.hooks import SupportStatus, TemplateError, ValidationErrors, attributes, properties

from . import member_template
from .base import ATTRIBUTES, LIST_OF_REFS, MAP_OF_ATTRIBUTES, REFS, Group
from .member_template import Entry

RESOURCES: Final = "resources"
CONCURRENT: Final = "concurrent"
RESOURCE_PROPERTIES: Final = "resource_properties"

_Schema = properties.Schema


class ResourceChain(Group):
    """One resource for each type in a list; all get the same properties.

    The names are 0, 1, 2 and so on, by position. Each waits for the one before it, unless
    ``concurrent`` says that none does. Changes are made in place, position by position.
    """

    support_status = SupportStatus(version="6.0.0")
    checks_member_types = True
    type_properties = (RESOURCES,)
    example: ClassVar[Mapping[str, Any]] = {
        RESOURCES: ["OS::Heat::Value", "OS::Heat::TestResource"],
        RESOURCE_PROPERTIES: {"value": "the same"},
    }
    properties_schema: ClassVar[Mapping[str, properties.Schema]] = {
        RESOURCES: _Schema(
            _Schema.LIST,
            "The types of the resources: names of types, aliases of the resource registry, or "
            "template files.",
            required=True,
            update_allowed=True,
        ),
        CONCURRENT: _Schema(
            _Schema.BOOLEAN,
            "Whether the resources wait for nobody. Otherwise each waits for the one before it.",
            default=False,
            update_allowed=True,
        ),
        RESOURCE_PROPERTIES: _Schema(
            _Schema.MAP, "The properties that each resource gets.", update_allowed=True
        ),
    }
    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = {
        REFS: LIST_OF_REFS,
        ATTRIBUTES: MAP_OF_ATTRIBUTES,
    }

    def validate(self) -> None:
        """Check that every type is a text."""
        faults = list(self._list_faults())
        if faults:
            raise ValidationErrors(faults)

    def _list_faults(self) -> Iterator[TemplateError]:
        for index, kind in enumerate(self.properties[RESOURCES]):
            if isinstance(kind, str) and kind:
                continue
            text = 'Resource "None" type is not a string'
            if not kind:
                text = 'Non-empty resource type is required for resource "None"'
            at = (RESOURCES, self.name, "properties", RESOURCES, index)
            yield TemplateError(text, at=at, hint=f"It is {RESOURCES}[{index}] of {self.name}.")

    def member_types(self) -> Collection[str]:
        """The types in the list, each once."""
        return list(dict.fromkeys(map(str, self.properties[RESOURCES])))

    def list_member_names(self) -> Sequence[str]:
        """One name for each type."""
        return [str(index) for index in range(len(self.properties[RESOURCES]))]

    def entry(self, name: str) -> Entry:
        """The resource at one position."""
        position, alone = int(name), self.properties[CONCURRENT] or name == "0"
        return member_template.build_entry(
            self.properties[RESOURCES][position],
            self.properties[RESOURCE_PROPERTIES],
            depends_on=None if alone else str(position - 1),
        )
