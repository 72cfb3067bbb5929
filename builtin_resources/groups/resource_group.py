"""``OS::Heat::ResourceGroup``: so many resources that are alike."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import count, islice
from typing import Any, ClassVar, Final

from zonda.hooks import Child, SupportStatus, attributes, constraints, properties

from . import member_template
from .base import ATTRIBUTES, LIST_OF_REFS, MAP_OF_ATTRIBUTES, MAP_OF_REFS, REFS, REFS_MAP
from .batched import BatchedGroup
from .member_template import Entry
from .substitution import remove_nulls, replace_texts

COUNT: Final = "count"
INDEX_VAR: Final = "index_var"
RESOURCE_DEF: Final = "resource_def"
TYPE: Final = "type"
PROPERTIES: Final = "properties"
METADATA: Final = "metadata"
REMOVAL: Final = "removal_policies"
RESOURCE_LIST: Final = "resource_list"
REMOVAL_MODE: Final = "removal_policies_mode"
APPEND: Final = "append"
UPDATE: Final = "update"
REMOVED: Final = "removed_rsrc_list"

#: The keys of the data: the names that are not used, and the operation that has collected them.
_REMOVED_NAMES: Final = "removed"
_REMOVED_BY: Final = "removed_by"

_Schema = properties.Schema


def make_definition_schema(what: str) -> properties.Schema:
    """The property that defines a member."""
    return _Schema(
        _Schema.MAP,
        f"The definition of {what}, as it would stand in a template.",
        schema={
            TYPE: _Schema(_Schema.STRING, "The type of the members.", required=True),
            PROPERTIES: _Schema(_Schema.MAP, "The properties of the members."),
            METADATA: _Schema(
                _Schema.MAP,
                "The metadata of the members.",
                support_status=SupportStatus(version="5.0.0"),
            ),
        },
        required=True,
        update_allowed=True,
    )


class ResourceGroup(BatchedGroup):
    """So many resources of one definition; their names are 0, 1, 2 and so on.

    In texts among the values of their properties ``index_var`` stands for the number of the member.
    Fewer members: those with the highest numbers go; ``removal_policies`` names others, whose
    numbers are not used again.
    """

    support_status = SupportStatus(version="2014.1")
    type_properties = (RESOURCE_DEF,)
    sized_by = (COUNT,)
    whole_attributes = (REFS_MAP, REMOVED)
    example: ClassVar[Mapping[str, Any]] = {
        COUNT: 2,
        RESOURCE_DEF: {TYPE: "OS::Heat::Value", PROPERTIES: {"value": "member %index%"}},
    }
    properties_schema: ClassVar[Mapping[str, properties.Schema]] = {
        COUNT: _Schema(
            _Schema.INTEGER,
            "How many members there are.",
            default=1,
            constraints=[constraints.Range(min=0)],
            update_allowed=True,
        ),
        INDEX_VAR: _Schema(
            _Schema.STRING,
            "What stands for the number of the member in the texts of its properties.",
            default="%index%",
            constraints=[constraints.Length(min=3)],
            support_status=SupportStatus(version="2014.2"),
        ),
        RESOURCE_DEF: make_definition_schema("each member"),
        REMOVAL: _Schema(
            _Schema.LIST,
            "Which members go first, whatever their number.",
            schema=_Schema(
                _Schema.MAP,
                "One policy.",
                schema={
                    RESOURCE_LIST: _Schema(
                        _Schema.LIST,
                        "Names or references of members. They go with the next update, also where "
                        "the number of members stays, and others are made in their place.",
                        default=[],
                    )
                },
            ),
            update_allowed=True,
            default=[],
            support_status=SupportStatus(version="2015.1"),
        ),
        REMOVAL_MODE: _Schema(
            _Schema.STRING,
            "Whether names that were removed once are never used again (append), or only as long "
            "as they are listed (update).",
            constraints=[constraints.AllowedValues([APPEND, UPDATE])],
            default=APPEND,
            update_allowed=True,
            support_status=SupportStatus(version="10.0.0"),
        ),
    }
    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = {
        REFS: LIST_OF_REFS,
        REFS_MAP: MAP_OF_REFS,
        ATTRIBUTES: MAP_OF_ATTRIBUTES,
        REMOVED: attributes.Schema(
            "The names that were removed and are not used.", type=attributes.Schema.LIST
        ),
    }

    exposes_properties: ClassVar[Mapping[str | None, Sequence[str]]] = {REMOVED: (REMOVAL,)}

    def size(self) -> int:
        """The property ``count``."""
        return int(self.properties[COUNT])

    def member_types(self) -> Collection[str]:
        """The type of the members, if there are any."""
        return [self.properties[RESOURCE_DEF][TYPE]] if self.size() else ()

    def names(self, size: int) -> Sequence[str]:
        """The first numbers that were not removed."""
        removed = self._compute_removed_names()
        return list(islice((name for name in map(str, count()) if name not in removed), size))

    def entry(self, name: str) -> Entry:
        """The definition, with the number of the member in it."""
        given, variable = self.properties[RESOURCE_DEF], self.properties[INDEX_VAR]
        values = remove_nulls(given[PROPERTIES])
        numbered = replace_texts(values, lambda text: text.replace(variable, name))
        return member_template.build_entry(given[TYPE], numbered, given[METADATA])

    def _resolve_attribute(self, name: str) -> Any:
        if name == REMOVED:
            return sorted(self._read_removed_names(), key=_get_sort_key)
        return super()._resolve_attribute(name)

    # -- removed names ------------------------------------------------------------------------

    def _read_removed_names(self) -> set[str]:
        kept = self.data().get(_REMOVED_NAMES, "")
        return set(kept.split(",")) if kept else set()

    def _compute_removed_names(self) -> set[str]:
        """The names that are not used now; settled once per operation."""
        operation, known = self.context.operation, self._read_removed_names()
        if operation is None:
            return self._collect_removed_names(known)
        if self.data().get(_REMOVED_BY) == operation.id:
            return known
        found = self._collect_removed_names(known)
        # Kept even where nothing is new: a later batch finds members that an earlier one made.
        if self.properties[REMOVAL] or self._forgets:
            self.data_set(_REMOVED_NAMES, ",".join(sorted(found, key=_get_sort_key)))
            self.data_set(_REMOVED_BY, operation.id)
        return found

    @property
    def _forgets(self) -> bool:
        return bool(self.properties[REMOVAL_MODE] == UPDATE)

    def _collect_removed_names(self, known: set[str]) -> set[str]:
        listed = set(_list_named_members(self.properties[REMOVAL], known, self.child))
        return listed if self._forgets else known | listed


def _list_named_members(
    policies: Sequence[Any], known: set[str], child: Child | None
) -> Iterator[str]:
    """The members that the policies name; unknown ones are skipped."""
    wanted = [str(item) for policy in policies or () for item in policy[RESOURCE_LIST] or ()]
    if child is None:
        yield from wanted
        return
    members = {member.name for member in child.members()} if wanted else set()
    references: dict[str, str] | None = None
    for item in wanted:
        if item in known or item in members:
            yield item
            continue
        if references is None:
            references = {str(member.reference): member.name for member in child.members()}
        if item in references:
            yield references[item]


def _get_sort_key(name: str) -> tuple[int, str]:
    return (int(name), "") if name.isdecimal() else (-1, name)
