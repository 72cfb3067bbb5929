"""``OS::Heat::AutoScalingGroup``: resources of one definition, as many as are needed just now."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Final

from zonda.hooks import SupportStatus, TemplateError, attributes, constraints, properties

from ..groups import member_template
from ..groups.base import LIST_OF_REFS, MAP_OF_REFS, REFS, REFS_MAP
from ..groups.member_template import Entry
from ..groups.rolling_update import UpdatePolicy, make_policy_schema, read_update_policy
from .base import ScaledGroup
from .size_properties import Sized

RESOURCE: Final = "resource"
MIN_SIZE: Final = "min_size"
MAX_SIZE: Final = "max_size"
COOLDOWN: Final = "cooldown"
DESIRED: Final = "desired_capacity"
ROLLING_UPDATES: Final = "rolling_updates"
OUTPUTS: Final = "outputs"
OUTPUTS_LIST: Final = "outputs_list"
CURRENT_SIZE: Final = "current_size"

_Schema = properties.Schema


class AutoScalingGroup(Sized, ScaledGroup):
    """So many resources of one definition; scaling policies change the number.

    New members get names that mean nothing; the oldest go first. An update without
    ``desired_capacity`` keeps the size that policies have brought about.
    """

    support_status = SupportStatus(version="2014.1")
    attributes_with_key = (OUTPUTS, OUTPUTS_LIST)
    type_properties = (RESOURCE,)
    example: ClassVar[Mapping[str, Any]] = {
        MIN_SIZE: 1,
        MAX_SIZE: 3,
        RESOURCE: {"type": "OS::Heat::Value", "properties": {"value": "member"}},
    }
    sized_names = (MIN_SIZE, MAX_SIZE, DESIRED)
    cooled_by = COOLDOWN
    properties_schema: ClassVar[Mapping[str, properties.Schema]] = {
        RESOURCE: _Schema(
            _Schema.MAP,
            "The definition of each member, as it would stand in a template.",
            required=True,
            update_allowed=True,
            known_keys=member_template.KEYS,
        ),
        MAX_SIZE: _Schema(
            _Schema.INTEGER,
            "The largest number of members.",
            required=True,
            update_allowed=True,
            constraints=[constraints.Range(min=0)],
        ),
        MIN_SIZE: _Schema(
            _Schema.INTEGER,
            "The smallest number of members.",
            required=True,
            update_allowed=True,
            constraints=[constraints.Range(min=0)],
        ),
        COOLDOWN: _Schema(
            _Schema.INTEGER,
            "The seconds after a change of size in which no signal counts.",
            update_allowed=True,
        ),
        DESIRED: _Schema(
            _Schema.INTEGER,
            "The number of members at first, and after an update; the smallest number without it.",
            update_allowed=True,
        ),
        ROLLING_UPDATES: _Schema(
            _Schema.MAP,
            "How members are given a new definition.",
            update_allowed=True,
            schema=make_policy_schema(with_service=True, what="replace"),
            default={"min_in_service": 0, "max_batch_size": 1, "pause_time": 0},
        ),
    }
    whole_attributes = (REFS, REFS_MAP, CURRENT_SIZE)
    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = {
        OUTPUTS: attributes.Schema(
            "With the name of an attribute behind it: that attribute of each member, by name.",
            support_status=SupportStatus(version="2014.2"),
            type=attributes.Schema.MAP,
        ),
        OUTPUTS_LIST: attributes.Schema(
            "With the name of an attribute behind it: that attribute of each member, as a list.",
            support_status=SupportStatus(version="2014.2"),
            type=attributes.Schema.LIST,
        ),
        CURRENT_SIZE: attributes.Schema(
            "How many members there are.",
            support_status=SupportStatus(version="2015.1"),
            type=attributes.Schema.NUMBER,
        ),
        REFS: LIST_OF_REFS,
        REFS_MAP: MAP_OF_REFS,
    }

    def validate(self) -> None:
        """Check the member's type, the number of members, and the length of pauses."""
        if "type" not in self.properties[RESOURCE]:
            text = "'Resource member is missing \"type\"'"
            raise TemplateError(
                f"KeyError: resources.{self.name}<nested_stack>: {text}",
                at=("resources", self.name, "properties", RESOURCE),
            )
        self.check_size(self.first_size())
        pace = self.get_update_policy()
        if pace is not None:
            pace.check()

    def member_types(self) -> Collection[str]:
        """The type of the members."""
        return [str(self.properties[RESOURCE]["type"])]

    def member(self) -> Entry:
        """The entry of a member, from the property ``resource``."""
        given = self.properties[RESOURCE]
        return {key: given[key] for key in given if key in member_template.KEYS}

    def get_update_policy(self) -> UpdatePolicy | None:
        """The property ``rolling_updates``."""
        return read_update_policy(self.properties[ROLLING_UPDATES])

    def FnGetAtt(self, key: str, *path: Any) -> Any:
        """An attribute; also the lists of ``outputs_list``."""
        found = super().FnGetAtt(key, *path)
        return list(found.values()) if key == OUTPUTS_LIST else found

    def build_output(self, names: Collection[str], path: tuple[Any, ...]) -> Any:
        """A list for ``outputs_list``."""
        if path[0] == OUTPUTS_LIST and path[1:]:
            return member_template.build_attribute_list(names, path[1:])
        return super().build_output(names, path)

    def _resolve_attribute(self, name: str) -> Any:
        if name == CURRENT_SIZE:
            return self.capacity(self.child)
        return super()._resolve_attribute(name)
