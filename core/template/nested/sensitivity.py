"""What of a nested stack is secret, as its owner's template has to know: which attributes are.

Called by ``TemplateTree`` for the marks of resources that own a nested stack. A secret that goes
down as a property comes up again in some output; a nested template may make secrets itself. Both is
told from the texts alone, for every value that may come: what cannot be seen is hidden.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, Protocol

from zonda.hooks.errors import TemplateError
from zonda.hooks.function import Function
from zonda.hooks.resources.resource import Resource
from zonda.hooks.schema.properties import Schema

from ..definition.child_spec import FACADE
from ..dependencies.static_reads import ANY, parameter_of
from ..dependencies.template_summary import Nodes, TemplateSummary, facts_in, node_of_type
from ..environment.environment import Environment
from ..sensitivity.labels import (
    HIDDEN,
    OPEN,
    SEALED,
    AttributeLabels,
    Keys,
    SensitivityAnalysis,
    highest,
    of_one,
    reads_one,
)
from ..source.document import Document, load_document
from ..source.versions import KEYS
from ..syntax.resource import NoClass, ResourceNode
from ..types.registry import Choice, Registry
from .signatures import ChildSignatures, RegistryScope

_REFERENCE = "OS::stack_id"
_REFS = ("refs", "refs_map")


class Shared(Protocol):
    """What marks are found with: ``TemplateTree``."""

    @property
    def environment(self) -> Environment:
        """The environment of the root."""

    @property
    def signatures(self) -> ChildSignatures:
        """Tells by which parameters types come into a template."""

    def document(self, file: str) -> Document:
        """The document of a file; raises TemplateError."""

    def template_class(self, file: str) -> type[Resource]:
        """The class of a file; raises ValidationErrors."""

    def registry_at(self, level: RegistryScope) -> Registry:
        """The registry of a nested stack."""

    def below(self, level: RegistryScope, resource: str, choice: Choice | None) -> RegistryScope:
        """The level of a resource's nested stack."""


class _Hidden:
    """The marks of what cannot be seen."""

    def of(self, attribute: str | None, keys: Keys = (), *, reference: bool = False) -> str:
        """Hidden; references are ids."""
        return OPEN if reference else HIDDEN


class _Nothing:
    """The marks of a template inside itself: told while it is checked."""

    def of(self, attribute: str | None, keys: Keys = (), *, reference: bool = False) -> str:
        """Open."""
        return OPEN


class NestedSensitivity:
    """The marks below the resources of one family. ``lock``: of all that ask each other."""

    def __init__(self, shared: Shared, lock: AbstractContextManager[Any]) -> None:
        self._shared = shared
        self.lock = lock
        self._facts: dict[RegistryScope, TemplateSummary] = {}
        self._known: dict[Any, AttributeLabels] = {}

    def of_node(
        self,
        level: RegistryScope,
        node: ResourceNode,
        secrecy: SensitivityAnalysis,
        properties: Any,
    ) -> AttributeLabels:
        """The marks below a resource of ``level``.

        ``secrecy``: the marks of its template; ``properties``: their values as far as they are
        known, the rest Functions.
        """
        try:
            choice = self._shared.registry_at(level).choose(node.type, node.name)
        except TemplateError:
            return _Nothing()
        inside = self._shared.below(level, node.name, choice)
        if choice.template_file is None:
            return self._of_group(inside, node, secrecy, properties)
        signed = self._shared.signatures.of_type(level, node.name, node.type)
        given = properties if isinstance(properties, Mapping) else {}
        marks = {**secrecy.of_properties(node.name), FACADE: secrecy.of_facade(node.name)}
        return self._of_file(inside, marks, {name: given.get(name) for name in signed.fed})

    def _of_file(
        self, level: RegistryScope, marks: Mapping[str, str], values: Mapping[str, Any]
    ) -> AttributeLabels:
        said = frozenset((name, mark) for name, mark in marks.items() if mark != OPEN)
        key = (level, said, repr(sorted(values.items())))
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._made(level, dict(said), values)
        return known

    def _made(
        self, level: RegistryScope, marks: dict[str, str], values: Mapping[str, Any]
    ) -> AttributeLabels:
        try:
            facts = self._facts_of(level)
        except TemplateError:
            return _Nothing()
        return _FileMarks(self, level, facts, marks, values)

    def _facts_of(self, level: RegistryScope) -> TemplateSummary:
        known = self._facts.get(level)
        if known is None:
            document = self._shared.document(level.document)
            said = document.made.get(TemplateSummary)  # the same at each level, but for the classes
            if said is None:
                said = document.made[TemplateSummary] = facts_in(document.data)
            known = self._facts[level] = self._classed(said, level)
        return known

    def _classed(self, said: TemplateSummary, level: RegistryScope) -> TemplateSummary:
        """The same with the classes that types mean at a level."""

        def classed(name: str) -> ResourceNode:
            node = said.resources[name]
            return replace(node, cls=self.class_of(level, name, node.type))

        nodes = Nodes(said.resources.keys(), classed)
        return TemplateSummary(said.parameters, nodes, said.outputs)

    def class_of(self, level: RegistryScope, name: str, type_: str) -> type[Resource]:
        """The class of a type, or one that stands for none."""
        try:
            choice = self._shared.registry_at(level).choose(type_, name)
            if choice.template_file is not None:
                return self._shared.template_class(choice.template_file)
        except TemplateError:
            return NoClass
        return choice.cls or NoClass

    def is_sealed(self, parameter: str) -> bool:
        """Whether the environments say that a parameter is a secret."""
        return parameter in self._shared.environment.encrypted

    def default(self, parameter: str) -> Any:
        """What the environments give for a parameter wherever it is declared."""
        return self._shared.environment.defaults.get(parameter)

    def _of_group(
        self,
        inside: RegistryScope,
        node: ResourceNode,
        secrecy: SensitivityAnalysis,
        properties: Any,
    ) -> AttributeLabels:
        texts: set[str] = set(getattr(node.cls, "always_used_types", ()))
        if not _types_in(_deciding(node, properties), texts):
            return _Hidden()
        worst = highest(secrecy.of_properties(node.name).values())
        keys = secrecy.of_keys(node.name)
        if worst != OPEN and _has_open_keys(node.properties):
            keys = {}
        members: dict[str, ResourceNode] = {}
        metadata = {} if worst == OPEN else {ANY: None}  # of members; something or other
        for type_ in sorted(text for text in texts if self._is_type(inside, text)):
            member = self._member(inside, str(len(members)), type_, keys)
            member.metadata = metadata
            if member.cls is not NoClass:
                members[member.name] = member
        written = sorted(text for text in texts if any(key in text for key in KEYS))
        if written and secrecy.of_text(node.name) != OPEN:
            return _Hidden()
        whole = [self._of_text(inside, text, keys, worst) for text in written]
        return _GroupMarks(
            self,
            inside,
            members,
            keys,
            worst,
            whole,
            _own_marks(node, secrecy),
            getattr(node.cls, "attributes_with_key", ()),
        )

    def _of_text(
        self, level: RegistryScope, text: str, keys: Mapping[str, str], worst: str
    ) -> AttributeLabels:
        """The marks of a template that came as a value."""
        level = self._shared.signatures.level_of_text(level, text)
        try:
            facts = self._classed(facts_in(load_document(text, "").data), level)
        except TemplateError:
            return _Hidden()
        marks = {name: keys.get(name, worst) for name in facts.parameters}
        return _FileMarks(self, level, facts, marks, {})

    def _is_type(self, level: RegistryScope, text: str) -> bool:
        known = self._shared.registry_at(level).types
        return text in known or self._shared.signatures.names_type(text)

    def _member(
        self, level: RegistryScope, name: str, type_: str, keys: Mapping[str, str]
    ) -> ResourceNode:
        cls = self.class_of(level, name, type_)
        given = cls.properties_schema.keys()
        node = node_of_type(name, type_, dict.fromkeys(keys.keys() & given if keys else given))
        node.cls = cls
        return node


class _FileMarks:
    """The marks of one template, with certain marks of its parameters."""

    def __init__(
        self,
        below: NestedSensitivity,
        level: RegistryScope,
        facts: TemplateSummary,
        marks: Mapping[str, str],
        values: Mapping[str, Any],
    ) -> None:
        self._below = below
        self._level = level
        self._facts = facts
        self._marks = marks
        self._values = values
        facade = marks.get(FACADE, OPEN)
        self._secrecy = SensitivityAnalysis(
            facts.resources, self._parameter, below=self._inside, facade=facade
        )

    def of(self, attribute: str | None, keys: Keys = (), *, reference: bool = False) -> str:
        """The mark of an output, or of what reaches inside; of all outputs together for None."""
        outputs = self._facts.outputs
        if reference:
            return self._secrecy.of(outputs.get(_REFERENCE))
        if attribute in outputs:
            return self._secrecy.of(outputs[attribute])
        if attribute is None or not reads_one(attribute):
            return highest(map(self._secrecy.of, outputs.values()))
        resources = self._facts.resources
        found = [each for each in of_one(attribute, keys) if each[0] in resources]
        return highest(_of_read(self._secrecy, *each) for each in found or _all_of(resources))

    def _parameter(self, name: str) -> str:
        if name == ANY:
            return highest(map(self._parameter, self._facts.parameters))
        declared = self._facts.parameters.get(name)
        if isinstance(declared, Mapping) and declared.get("hidden"):
            return HIDDEN
        sealed = SEALED if self._below.is_sealed(name) else OPEN
        return highest((sealed, self._marks.get(name, OPEN)))

    def _inside(self, node: ResourceNode, secrecy: SensitivityAnalysis) -> AttributeLabels:
        return self._below.of_node(self._level, node, secrecy, self._filled(node.properties))

    def _filled(self, tree: Any) -> Any:
        """``tree`` with the values of parameters where they are known."""
        if isinstance(tree, Mapping):
            return {key: self._filled(value) for key, value in tree.items()}
        if isinstance(tree, list):
            return [self._filled(value) for value in tree]
        name = parameter_of(tree)
        return tree if name is None else self._value(name, tree)

    def _value(self, name: str, tree: Any) -> Any:
        if self._values.get(name) is not None:
            return self._values[name]
        declared = self._facts.parameters.get(name, None)
        own = declared.get("default") if isinstance(declared, Mapping) else None
        found = self._below.default(name)
        found = own if found is None else found
        return tree if found is None else found


class _GroupMarks:
    """The marks of what a plug-in generates: a member for each type that it is known to use."""

    def __init__(
        self,
        below: NestedSensitivity,
        level: RegistryScope,
        members: Mapping[str, ResourceNode],
        keys: Mapping[str, str],
        worst: str,
        whole: Sequence[AttributeLabels],
        own: Mapping[str, str],
        keyed: Collection[str],
    ) -> None:
        self._own = own
        self._keyed = keyed
        self._members = members
        self._worst = worst
        self._whole = whole
        self._secrecy = SensitivityAnalysis(
            members,
            lambda name: OPEN,
            below=lambda node, secrecy: below.of_node(level, node, secrecy, {}),
            literal=lambda key: OPEN if worst == OPEN else keys.get(str(key), worst),
            lock=below.lock,
        )

    def of(self, attribute: str | None, keys: Keys = (), *, reference: bool = False) -> str:
        """The mark of an attribute of every member; of all of them for what no member has."""
        if reference:
            return OPEN
        if attribute is not None and attribute in self._own:
            return self._own[attribute]
        if not self._members:
            return highest((self._worst, *(each.of(None) for each in self._whole)))
        ways = list(self._ways(attribute, keys))
        return highest(self._of_member(name, each) for name in self._members for each in ways)

    def _ways(self, attribute: str | None, keys: Keys) -> Iterator[Keys]:
        """What is read of members: nothing (the reference), or an attribute and what is below."""
        if attribute in _REFS:
            yield ()
        elif attribute in self._keyed:
            yield keys or (None,)
        elif attribute is not None and reads_one(attribute):
            for _, read in of_one(attribute, keys):
                yield read
        else:
            yield (attribute, *keys)

    def _of_member(self, name: str, read: Keys) -> str:
        """The mark of what is read of a member; of all that it shows, where it has no such."""
        cls = self._members[name].cls
        if read and not (read[0] in cls.attributes_schema or _reaches_inside(cls, read[0])):
            read = (None,)
        return _of_read(self._secrecy, name, read)


def _of_read(secrecy: SensitivityAnalysis, name: str, read: Keys) -> str:
    """The mark of the reference of a resource, or of an attribute of it, with what is below."""
    return secrecy.of_attribute(name, read[0], read[1:]) if read else secrecy.of_reference(name)


def _all_of(resources: Mapping[str, ResourceNode]) -> list[tuple[str, Keys]]:
    return [(name, (None,)) for name in resources]


def _reaches_inside(cls: type[Resource], attribute: str | None) -> bool:
    return cls.is_nested_stack and reads_one(attribute)


def _own_marks(node: ResourceNode, secrecy: SensitivityAnalysis) -> dict[str, str]:
    """The marks of attributes that are the plug-in's own, and repeat nothing of any member."""
    given = secrecy.of_properties(node.name)
    return {
        attribute: highest(given.get(key, OPEN) for key in repeated)
        for attribute, repeated in node.cls.exposes_properties.items()
        if attribute is not None
        and attribute in node.cls.attributes_schema
        and attribute not in _REFS
    }


def _has_open_keys(tree: Any) -> bool:
    """Whether what members are given has names that are only known later."""
    if isinstance(tree, Mapping):
        return any(
            (isinstance(value, Function) and str(key).endswith("properties"))
            or _has_open_keys(value)
            for key, value in tree.items()
        )
    return isinstance(tree, list) and any(map(_has_open_keys, tree))


def _deciding(node: ResourceNode, properties: Any) -> Any:
    """The properties of a group that may name types."""
    if not isinstance(properties, Mapping):
        return properties
    named = getattr(node.cls, "type_properties", None)
    if named is not None:
        return {name: properties[name] for name in named if name in properties}
    schema = node.cls.properties_schema
    numbers = {name for name, each in schema.items() if each.type in _NUMBERS}
    return {name: value for name, value in properties.items() if name not in numbers}


def _types_in(tree: Any, found: set[str]) -> bool:
    """Gather all texts that may be types; whether none can be hidden behind a function."""
    if isinstance(tree, str):
        found.add(tree)
    elif isinstance(tree, Function):
        return False
    elif isinstance(tree, Mapping):
        typed = isinstance(tree.get("type"), str)
        for key, value in tree.items():
            if typed and key in ("properties", "metadata"):
                _types_in(value, found)  # what a member is given makes no other member
            elif not _types_in(value, found) and key not in _NO_TYPES:
                return False
    elif isinstance(tree, list):
        seen = [_types_in(item, found) for item in tree]  # each, to gather all
        return all(seen)
    return True


_NUMBERS = (Schema.INTEGER, Schema.NUMBER, Schema.BOOLEAN)
#: Properties of the usual groups that never name types.
_NO_TYPES = frozenset(("resource_properties", "removal_policies", "for_each", "index_var"))
