"""``Zonda::ForEach``: one resource for each key of a list or a map."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Final

from zonda.hooks import (
    SupportStatus,
    TemplateError,
    ValidationErrors,
    attributes,
    constraints,
    properties,
)

from . import member_template
from .base import ATTRIBUTES, LIST_OF_REFS, MAP_OF_ATTRIBUTES, MAP_OF_REFS, REFS, REFS_MAP
from .batched import BatchedGroup
from .member_template import Entry, ReadPath
from .resource_group import METADATA, PROPERTIES, RESOURCE_DEF, TYPE, make_definition_schema
from .substitution import Variable, remove_nulls, replace_texts

FOR_EACH: Final = "for_each"
KEY_VAR: Final = "key_var"
VALUE_VAR: Final = "value_var"
KEYS: Final = "keys"
LONGEST_KEY: Final = 255

_Schema = properties.Schema


def _make_variable_schema(description: str, default: str) -> properties.Schema:
    return _Schema(
        _Schema.STRING,
        description,
        default=default,
        constraints=[constraints.Length(min=3)],
        update_allowed=True,
    )


class ForEach(BatchedGroup):
    """One resource for each key; the key is its name, so that nothing shifts when another goes.

    In the values of the members' properties ``key_var`` stands for the key and ``value_var`` for
    what the key has: any structure where it stands alone, its text within a text; ``%value.size%``
    is the entry ``size`` of it.
    """

    support_status = SupportStatus(version="0.1.0")
    type_properties = (RESOURCE_DEF,)
    sized_by = (FOR_EACH,)
    renamed_properties = (FOR_EACH,)
    member_names_from = (FOR_EACH,)
    example: ClassVar[Mapping[str, Any]] = {
        FOR_EACH: {"web": {"port": 80}, "db": {"port": 5432}},
        RESOURCE_DEF: {
            TYPE: "OS::Heat::Value",
            PROPERTIES: {"value": "%key% listens on %value.port%"},
        },
    }
    properties_schema: ClassVar[Mapping[str, properties.Schema]] = {
        FOR_EACH: _Schema(
            _Schema.ANY,
            "A map: its keys name the members, its values are theirs. Or a list of texts, numbers "
            "and booleans, each the key and the value of a member; none may occur twice.",
            required=True,
            update_allowed=True,
        ),
        KEY_VAR: _make_variable_schema(
            "What stands for the key in texts of the properties.", "%key%"
        ),
        VALUE_VAR: _make_variable_schema("What stands for the value of the key.", "%value%"),
        RESOURCE_DEF: make_definition_schema("each member"),
    }
    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = {
        KEYS: attributes.Schema(
            "The keys of the members, in their order.", type=attributes.Schema.LIST
        ),
        REFS: LIST_OF_REFS,
        REFS_MAP: MAP_OF_REFS,
        ATTRIBUTES: MAP_OF_ATTRIBUTES,
    }

    exposes_properties: ClassVar[Mapping[str | None, Sequence[str]]] = {KEYS: (FOR_EACH,)}

    @cached_property
    def values_by_key(self) -> Mapping[str, Any]:
        """The values by key; empty as long as nobody knows them."""
        given = self.properties[FOR_EACH]
        if isinstance(given, Mapping):
            return {_to_key(key): value for key, value in given.items()}
        return {_to_key(item): item for item in given} if isinstance(given, list | tuple) else {}

    def validate(self) -> None:
        """Check that the keys are usable as names, and all different."""
        super().validate()
        faults = list(self._list_faults(self.properties[FOR_EACH]))
        if faults:
            raise ValidationErrors(faults)

    def _list_faults(self, given: Any) -> Iterator[TemplateError]:
        if given is not None and not isinstance(given, Mapping | list | tuple):
            yield self._build_fault("for_each takes a map or a list")
            return
        seen: set[str] = set()
        for item in given or ():
            if not isinstance(item, str | int | float):
                yield self._build_fault(f"A key must be text, a number or a boolean, not {item!r}")
                continue
            key = _to_key(item)
            if key in seen:
                yield self._build_fault(f"The key {key} occurs twice")
            elif not key or "/" in key or len(key) > LONGEST_KEY:
                yield self._build_fault(
                    f"The key {key!r} cannot be a name: it takes 1 to {LONGEST_KEY} characters, "
                    "none of them a /"
                )
            seen.add(key)

    def _build_fault(self, text: str) -> TemplateError:
        at = ("resources", self.name, "properties", FOR_EACH)
        return TemplateError(text, path=at, label="Property error")

    def size(self) -> int:
        """One member for each key."""
        return len(self.values_by_key)

    def names(self, size: int) -> Sequence[str]:
        """The first keys."""
        return list(self.values_by_key)[:size]

    def member_types(self) -> Collection[str]:
        """The type of the members, if there are any."""
        return [self.properties[RESOURCE_DEF][TYPE]] if self.size() else ()

    def entry(self, name: str) -> Entry:
        """The definition, with the key and its value in it."""
        given, key_var = self.properties[RESOURCE_DEF], self.properties[KEY_VAR]
        variable, value = Variable(self.properties[VALUE_VAR]), self.values_by_key[name]

        def change(text: str) -> Any:
            return variable.substitute(text.replace(key_var, name), value)

        values = replace_texts(remove_nulls(given[PROPERTIES]), change)
        return member_template.build_entry(given[TYPE], values, given[METADATA])

    # -- attributes ---------------------------------------------------------------------------

    def build_output(self, names: Collection[str], path: ReadPath) -> Any:
        """As for every group, with maps by key in the place of lists."""
        found = super().build_output(names, path)
        return (
            member_template.build_attribute_map(names, path) if isinstance(found, list) else found
        )

    def get_other_attribute(self, key: str, *path: Any) -> Any:
        """An attribute that only the members have, by key."""
        return self.map_of(key, *path)

    def _resolve_attribute(self, name: str) -> Any:
        if name == KEYS:
            return [member.name for member in self.present()]
        return super()._resolve_attribute(name)


def _to_key(item: Any) -> str:
    """The key that an item of the list, or a key of the map, is."""
    if isinstance(item, bool):
        return "true" if item else "false"
    return str(item)
