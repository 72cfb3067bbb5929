"""The type of one module: a resource that the module makes, changes, looks at and removes.

``make_type`` makes the class when a template uses it. A module whose schemas cannot be made has a
class, too, which says why as soon as it is used.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Final

from zonda.hooks import (
    Path,
    PropertyErrors,
    Resource,
    ResourceDefinition,
    ResourceFailure,
    SchemaError,
    TemplateError,
    TranslationRule,
    UsageError,
    attributes,
    constraints,
    properties,
    sources,
    support,
)

from . import hosts, relations
from .index import Index
from .interfaces import NoInterface, load_interface
from .lives.life_cycles import KEEP, NOTHING, LifeCycle, find_life_cycle
from .lives.module_runs import ModuleRuns
from .schemata import list_alias_rules, make_attributes_schema, make_properties_schema

PREFIX: Final = "Ansible::"
ON, DELETE, ENVIRONMENT, TIMEOUT = (
    "ansible_on",
    "ansible_delete",
    "ansible_environment",
    "ansible_timeout",
)
RESULT, CHANGED = "ansible_result", "ansible_changed"

_Schema = properties.Schema
_Attribute = attributes.Schema


def _make_own_properties(life: LifeCycle) -> dict[str, properties.Schema]:
    """The properties that every type has beside the options of its module."""
    ways = {
        None: f"nothing: how {life.module} undoes its work is not known",
        KEEP: "nothing: what it makes is kept",
        NOTHING: "nothing: it makes nothing",
    }
    is_named = life.delete is None or isinstance(life.delete, str)
    way = ways.get(life.delete, KEEP) if is_named else "as the module's conventions say"
    return {
        ON: _Schema(
            _Schema.MAP,
            "The machine: the attribute `connection` of a Zonda::Ansible::Host, or the same "
            "settings. Without it: the machine that zonda runs on.",
            default={},
            schema=hosts.make_settings(),
            update_allowed=True,
        ),
        DELETE: _Schema(
            _Schema.ANY,
            "What deletion does: options that take the place of those given (`{state: absent}`), "
            "another module with its options (`{module: ..., options: {...}}`, where `$name` is an "
            f"option of this one), or `keep`. Without it: {way}.",
            update_allowed=True,
        ),
        ENVIRONMENT: _Schema(
            _Schema.MAP, "Environment variables of the module.", default={}, update_allowed=True
        ),
        TIMEOUT: _Schema(
            _Schema.NUMBER,
            "Seconds until the module is ended, and fails. Without it: those of the stack.",
            constraints=[constraints.Range(1, 86400)],
            update_allowed=True,
        ),
    }


_OWN_ATTRIBUTES: Final = {
    RESULT: _Attribute(
        "All that the module returned when it last made or changed something; never shown.",
        type=_Attribute.MAP,
        hidden=True,
    ),
    CHANGED: _Attribute("Whether the module has changed anything then.", type=_Attribute.BOOLEAN),
}


class Module(ModuleRuns):
    """The base of all types: `make_type` fills in the rest."""

    rules: ClassVar[Sequence[TranslationRule]] = ()

    def translation_rules(self, properties: properties.Properties) -> Sequence[TranslationRule]:
        """Other names of options lead to the option itself."""
        return self.rules

    def validate(self) -> None:
        """The rules among the module's options, at any depth."""
        errors = PropertyErrors(self)
        options, between = self.interface["options"], self.interface["relations"]
        given = self.list_given(self.properties)
        unknown = [name for name in options if errors.is_unknown(name)]
        written = errors.get_written_name
        for name, text in relations.find_faults(options, between, given, unknown, written):
            errors.add(name, text)
        for name in given.keys() - {*unknown}:
            for text in _find_faults_inside(options[name], given[name]):
                errors.add(name, text)
        delete = self.properties[DELETE]
        if delete is not None and delete != KEEP and not isinstance(delete, Mapping):
            errors.add(DELETE, f"give a map of options, or `{KEEP}`")
        errors.raise_all()

    def describe_claim(self) -> str:
        """The values of the options that name the thing, and its machine."""
        given, errors = self.list_given(self.properties), PropertyErrors(self)
        if self.is_to_go() or not self.life.removes_anything:
            return ""
        values = self.life.list_claim(given)
        if any(errors.is_unknown(name) for name in self._list_naming()):
            return ""
        tree = self.t.raw.get("properties")
        asked = tree.get(ON) if isinstance(tree, Mapping) else None
        read = [(each.kind, each.name) for each in sources(asked)]
        machine = hosts.list_machine(self.properties[ON])
        return json.dumps([read, machine, values], default=str) if any(values) else ""


def _find_faults_inside(option: Mapping[str, Any], value: Any) -> list[str]:
    """The faults among suboptions."""
    inside = option.get("options")
    if not inside:
        return []
    items = value if isinstance(value, list) else [value]
    found = []
    for item in items:
        if isinstance(item, Mapping):
            told = relations.find_faults(inside, option.get("relations") or {}, item)
            found += [f"{name}: {text}" for name, text in told]
            for name in inside.keys() & item.keys():
                found += [
                    f"{name}: {text}" for text in _find_faults_inside(inside[name], item[name])
                ]
    return found


class _UnknownProperties(properties.Properties):
    """The properties of a module of which nothing is known: the fault is the reason."""

    __slots__ = ("hint", "reason")

    reason: str
    hint: str

    def validate(
        self, path: Path = (), *, pending: Collection[str] | None = None
    ) -> list[TemplateError]:
        """The reason, at the type."""
        at = (*path[:-1], "type")
        return [TemplateError(self.reason, path=at, hint=self.hint)]

    def get_stored_values(self) -> dict[str, Any]:
        """The values as they were given."""
        return dict(self._given)


class Unmade(Resource):
    """A module of which no type can be made. What it has made stays, until it can."""

    reason: ClassVar[str] = ""
    hint: ClassVar[str] = ""
    any_attribute = True
    repairs_in_place = True

    def make_properties(self, definition: ResourceDefinition) -> properties.Properties:
        """The properties as they are given."""
        raw = definition.raw.get("properties") or {}
        made = _UnknownProperties({}, definition.properties, raw=raw)
        made.reason, made.hint = self.reason, self.hint
        return made

    def needs_replace_failed(self) -> bool:
        """False: what is there is not lost."""
        return self.resource_id is None

    def handle_create(self) -> None:
        """The reason."""
        raise ResourceFailure(self.reason, hint=self.hint)

    def handle_update(
        self,
        json_snippet: ResourceDefinition,
        tmpl_diff: Mapping[str, Any],
        prop_diff: Mapping[str, Any],
    ) -> None:
        """The reason."""
        raise ResourceFailure(self.reason, hint=self.hint)

    def handle_delete(self) -> None:
        """The reason, if there is anything to remove."""
        if self.resource_id is not None:
            raise ResourceFailure(self.reason, hint=self.hint)

    def get_live_state(self) -> Mapping[str, Any]:
        """The reason: nobody can look."""
        raise ResourceFailure(self.reason, hint=self.hint)


@lru_cache(maxsize=512)
def _make_type(index_of: _Hashed, name: str) -> type[Resource]:
    module = name.removeprefix(PREFIX)
    common = {"__module__": __name__, "__qualname__": name}
    try:
        interface = load_interface(index_of.index, module)
        life = find_life_cycle(index_of.index, module, interface)
        options = make_properties_schema(interface)
        own = _make_own_properties(life)
        both = sorted(options.keys() & own.keys())
        if both:
            raise SchemaError(f"its options {', '.join(both)} are names of zonda's own")
        returned = make_attributes_schema(interface)
    except (NoInterface, SchemaError, UsageError, ResourceFailure) as error:
        reason = f"{module} cannot be used: {error}"
        said = {"reason": reason, "hint": getattr(error, "hint", "") or NoInterface.hint}
        return type(name, (Unmade,), {**common, **said, "__doc__": reason})
    status = support.DEPRECATED if interface["deprecated"] else support.SUPPORTED
    body = {
        **common,
        "__doc__": f"{interface['summary']}\n\n{interface['description']}",
        "index": index_of.index,
        "interface": interface,
        "life": life,
        "rules": [*list_alias_rules(interface["options"])],
        "properties_schema": {**options, **own},
        "attributes_schema": {**returned, **_OWN_ATTRIBUTES},
        "start_policy": "idempotent",
        "support_status": support.SupportStatus(
            status=status, version=index_of.index.get_version(module) or None
        ),
    }
    return type(name, (Module,), body)


class _Hashed:
    """An index as the key of a cache."""

    def __init__(self, index: Index) -> None:
        self.index = index

    def __hash__(self) -> int:
        return hash(self.index.fingerprint)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Hashed) and other.index.fingerprint == self.index.fingerprint


def make_type(index: Index, name: str) -> type[Resource]:
    """The type ``Ansible::NAME`` of a module of the index."""
    return _make_type(_Hashed(index), name)
