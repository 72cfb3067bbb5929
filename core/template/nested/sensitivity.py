"""Sensitivity of nested stacks: the attributes of a resource that repeat secrets.

Called by ``TemplateTree`` for the marks of resources that own a nested stack. A secret that goes
down as a property comes up again in some output; a nested template may make secrets itself. Both is
told from the texts alone, for every value that may come: what cannot be seen is hidden.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from zonda.hooks.errors import TemplateError
from zonda.hooks.function import Function
from zonda.hooks.records import replace
from zonda.hooks.resources.resource import Resource
from zonda.hooks.schema.properties import Schema

from ..definition.child_spec import FACADE
from ..dependencies.template_summary import (
    ANY,
    LazyNodes,
    TemplateSummary,
    build_partial_node,
    find_parameter,
    summarize_template,
)
from ..sensitivity.labels import (
    HIDDEN,
    OPEN,
    SEALED,
    AttributeLabels,
    Keys,
    SensitivityAnalysis,
    find_strictest,
    is_member_attribute,
    split_member_attribute,
)
from ..source.document import load_document
from ..source.versions import KEYS
from ..syntax.resource import NoClass, ResourceNode
from .signatures import RegistryScope, SharedTree

_REFERENCE = "OS::stack_id"
_REFS = ("refs", "refs_map")


class _AllHidden:
    """Labels that are all hidden, for what cannot be analysed."""

    def of(self, attribute: str | None, keys: Keys = (), *, reference: bool = False) -> str:
        """Hidden; references are ids."""
        return OPEN if reference else HIDDEN


class _NoLabels:
    """Labels that are all open: for a template inside itself, which is a fault elsewhere."""

    def of(self, attribute: str | None, keys: Keys = (), *, reference: bool = False) -> str:
        """Open."""
        return OPEN


class NestedSensitivity:
    """The labels of the nested stacks of one tree. ``lock``: shared by all that call each other."""

    def __init__(self, shared: SharedTree, lock: AbstractContextManager[Any]) -> None:
        self._shared = shared
        self.lock = lock
        self._facts: dict[RegistryScope, TemplateSummary] = {}
        self._known: dict[Any, AttributeLabels] = {}

    def build_labels(
        self,
        level: RegistryScope,
        node: ResourceNode,
        secrecy: SensitivityAnalysis,
        properties: Any,
    ) -> AttributeLabels:
        """Build the labels of the nested stack of a resource of ``level``.

        ``secrecy``: the marks of its template; ``properties``: their values as far as they are
        known, the rest Functions.
        """
        try:
            choice = self._shared.build_registry(level).choose(node.type, node.name)
        except TemplateError:
            return _NoLabels()
        inside = self._shared.enter_nested(level, node.name, choice)
        if choice.template_file is None:
            return self._build_group_labels(inside, node, secrecy, properties)
        signed = self._shared.signatures.hash_type(level, node.name, node.type)
        given = properties if isinstance(properties, Mapping) else {}
        marks = {
            **secrecy.classify_properties(node.name),
            FACADE: secrecy.classify_facade(node.name),
        }
        return self._build_file_labels(
            inside, marks, {name: given.get(name) for name in signed.fed}
        )

    def _build_file_labels(
        self, level: RegistryScope, marks: Mapping[str, str], values: Mapping[str, Any]
    ) -> AttributeLabels:
        said = frozenset((name, mark) for name, mark in marks.items() if mark != OPEN)
        key = (level, said, repr(sorted(values.items())))
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._build_template_labels(level, dict(said), values)
        return known

    def _build_template_labels(
        self, level: RegistryScope, marks: dict[str, str], values: Mapping[str, Any]
    ) -> AttributeLabels:
        try:
            facts = self._load_summary(level)
        except TemplateError:
            return _NoLabels()
        return _FileLabels(self, level, facts, marks, values)

    def _load_summary(self, level: RegistryScope) -> TemplateSummary:
        known = self._facts.get(level)
        if known is None:
            document = self._shared.document(level.document)
            said = document.made.get(TemplateSummary)  # the same at each level, but for the classes
            if said is None:
                said = document.made[TemplateSummary] = summarize_template(document.data)
            known = self._facts[level] = self._add_classes(said, level)
        return known

    def _add_classes(self, said: TemplateSummary, level: RegistryScope) -> TemplateSummary:
        """Add the classes that the types mean at a level to a summary."""

        def set_class(name: str) -> ResourceNode:
            node = said.resources[name]
            return replace(node, cls=self.class_of(level, name, node.type))

        nodes = LazyNodes(said.resources.keys(), set_class)
        return TemplateSummary(said.parameters, nodes, said.outputs)

    def class_of(self, level: RegistryScope, name: str, type_: str) -> type[Resource]:
        """The class of a type, or one that stands for none."""
        try:
            choice = self._shared.build_registry(level).choose(type_, name)
            if choice.template_file is not None:
                return self._shared.load_template_class(choice.template_file)
        except TemplateError:
            return NoClass
        return choice.cls or NoClass

    def is_sealed(self, parameter: str) -> bool:
        """Whether the environments say that a parameter is a secret."""
        return parameter in self._shared.environment.encrypted

    def default(self, parameter: str) -> Any:
        """The value that the environments give for a parameter wherever it is declared."""
        return self._shared.environment.defaults.get(parameter)

    def _build_group_labels(
        self,
        inside: RegistryScope,
        node: ResourceNode,
        secrecy: SensitivityAnalysis,
        properties: Any,
    ) -> AttributeLabels:
        texts: set[str] = set(getattr(node.cls, "always_used_types", ()))
        if not _collect_types(_select_type_properties(node, properties), texts):
            return _AllHidden()
        worst = find_strictest(secrecy.classify_properties(node.name).values())
        keys = secrecy.classify_keys(node.name)
        if worst != OPEN and _has_open_keys(node.properties):
            keys = {}
        members: dict[str, ResourceNode] = {}
        metadata = {} if worst == OPEN else {ANY: None}  # of members; something or other
        for type_ in sorted(text for text in texts if self._is_type(inside, text)):
            member = self._build_member(inside, str(len(members)), type_, keys)
            member.metadata = metadata
            if member.cls is not NoClass:
                members[member.name] = member
        written = sorted(text for text in texts if any(key in text for key in KEYS))
        if written and secrecy.find_text_label(node.name) != OPEN:
            return _AllHidden()
        whole = [self._build_text_labels(inside, text, keys, worst) for text in written]
        return _GroupLabels(
            self,
            inside,
            members,
            keys,
            worst,
            whole,
            _build_own_labels(node, secrecy),
            getattr(node.cls, "attributes_with_key", ()),
        )

    def _build_text_labels(
        self, level: RegistryScope, text: str, keys: Mapping[str, str], worst: str
    ) -> AttributeLabels:
        """Build the labels of a template that came as a value."""
        level = self._shared.signatures.find_level_of_text(level, text)
        try:
            facts = self._add_classes(summarize_template(load_document(text, "").data), level)
        except TemplateError:
            return _AllHidden()
        marks = {name: keys.get(name, worst) for name in facts.parameters}
        return _FileLabels(self, level, facts, marks, {})

    def _is_type(self, level: RegistryScope, text: str) -> bool:
        known = self._shared.build_registry(level).types
        return text in known or self._shared.signatures.may_be_type_name(text)

    def _build_member(
        self, level: RegistryScope, name: str, type_: str, keys: Mapping[str, str]
    ) -> ResourceNode:
        cls = self.class_of(level, name, type_)
        given = cls.properties_schema.keys()
        node = build_partial_node(
            name, type_, dict.fromkeys(keys.keys() & given if keys else given)
        )
        node.cls = cls
        return node


class _FileLabels:
    """The labels of one template, with certain labels of its parameters."""

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
            facts.resources,
            self._classify_parameter,
            below=self._build_nested_labels,
            facade=facade,
        )

    def of(self, attribute: str | None, keys: Keys = (), *, reference: bool = False) -> str:
        """The label of an output, or of a nested attribute; of all outputs together for None."""
        outputs = self._facts.outputs
        if reference:
            return self._secrecy.of(outputs.get(_REFERENCE))
        if attribute in outputs:
            return self._secrecy.of(outputs[attribute])
        if attribute is None or not is_member_attribute(attribute):
            return find_strictest(map(self._secrecy.of, outputs.values()))
        resources = self._facts.resources
        found = [each for each in split_member_attribute(attribute, keys) if each[0] in resources]
        reads = found or [(name, (None,)) for name in resources]
        return find_strictest(_classify_read(self._secrecy, *each) for each in reads)

    def _classify_parameter(self, name: str) -> str:
        if name == ANY:
            return find_strictest(map(self._classify_parameter, self._facts.parameters))
        declared = self._facts.parameters.get(name)
        if isinstance(declared, Mapping) and declared.get("hidden"):
            return HIDDEN
        sealed = SEALED if self._below.is_sealed(name) else OPEN
        return find_strictest((sealed, self._marks.get(name, OPEN)))

    def _build_nested_labels(
        self, node: ResourceNode, secrecy: SensitivityAnalysis
    ) -> AttributeLabels:
        return self._below.build_labels(
            self._level, node, secrecy, self._fill_parameters(node.properties)
        )

    def _fill_parameters(self, tree: Any) -> Any:
        """Replace parameters in ``tree`` by their values where these are known."""
        if isinstance(tree, Mapping):
            return {key: self._fill_parameters(value) for key, value in tree.items()}
        if isinstance(tree, list):
            return [self._fill_parameters(value) for value in tree]
        name = find_parameter(tree)
        return tree if name is None else self._find_value(name, tree)

    def _find_value(self, name: str, tree: Any) -> Any:
        if self._values.get(name) is not None:
            return self._values[name]
        declared = self._facts.parameters.get(name, None)
        own = declared.get("default") if isinstance(declared, Mapping) else None
        found = self._below.default(name)
        found = own if found is None else found
        return tree if found is None else found


class _GroupLabels:
    """The labels of a generated template: a member for each type that it is known to use."""

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
            below=lambda node, secrecy: below.build_labels(level, node, secrecy, {}),
            literal=lambda key: OPEN if worst == OPEN else keys.get(str(key), worst),
            lock=below.lock,
        )

    def of(self, attribute: str | None, keys: Keys = (), *, reference: bool = False) -> str:
        """The label of an attribute of every member; of all attributes where no member has it."""
        if reference:
            return OPEN
        if attribute is not None and attribute in self._own:
            return self._own[attribute]
        if not self._members:
            return find_strictest((self._worst, *(each.of(None) for each in self._whole)))
        ways = list(self._list_reads(attribute, keys))
        return find_strictest(
            self._classify_member(name, each) for name in self._members for each in ways
        )

    def _list_reads(self, attribute: str | None, keys: Keys) -> Iterator[Keys]:
        """List the reads of members: the reference (empty), or an attribute and its keys."""
        if attribute in _REFS:
            yield ()
        elif attribute in self._keyed:
            yield keys or (None,)
        elif attribute is not None and is_member_attribute(attribute):
            for _, read in split_member_attribute(attribute, keys):
                yield read
        else:
            yield (attribute, *keys)

    def _classify_member(self, name: str, read: Keys) -> str:
        """The label of a read of a member; of all its attributes, where it has no such."""
        cls = self._members[name].cls
        is_nested = bool(read) and cls.is_nested_stack and is_member_attribute(read[0])
        if read and read[0] not in cls.attributes_schema and not is_nested:
            read = (None,)
        return _classify_read(self._secrecy, name, read)


def _classify_read(secrecy: SensitivityAnalysis, name: str, read: Keys) -> str:
    """The label of the reference of a resource, or of an attribute of it, with its keys."""
    return (
        secrecy.classify_attribute(name, read[0], read[1:])
        if read
        else secrecy.classify_reference(name)
    )


def _build_own_labels(node: ResourceNode, secrecy: SensitivityAnalysis) -> dict[str, str]:
    """Build the labels of attributes that are the plug-in's own and repeat no member's."""
    given = secrecy.classify_properties(node.name)
    return {
        attribute: find_strictest(given.get(key, OPEN) for key in repeated)
        for attribute, repeated in node.cls.exposes_properties.items()
        if attribute is not None
        and attribute in node.cls.attributes_schema
        and attribute not in _REFS
    }


def _has_open_keys(tree: Any) -> bool:
    """Whether the properties of members have names that are not known yet."""
    if isinstance(tree, Mapping):
        return any(
            (isinstance(value, Function) and str(key).endswith("properties"))
            or _has_open_keys(value)
            for key, value in tree.items()
        )
    return isinstance(tree, list) and any(map(_has_open_keys, tree))


def _select_type_properties(node: ResourceNode, properties: Any) -> Any:
    """Select the properties of a group that may name types."""
    if not isinstance(properties, Mapping):
        return properties
    named = getattr(node.cls, "type_properties", None)
    if named is not None:
        return {name: properties[name] for name in named if name in properties}
    schema = node.cls.properties_schema
    numbers = {name for name, each in schema.items() if each.type in _NUMBERS}
    return {name: value for name, value in properties.items() if name not in numbers}


def _collect_types(tree: Any, found: set[str]) -> bool:
    """Collect all texts that may be types; false where a function may hide one."""
    if isinstance(tree, str):
        found.add(tree)
    elif isinstance(tree, Function):
        return False
    elif isinstance(tree, Mapping):
        typed = isinstance(tree.get("type"), str)
        for key, value in tree.items():
            if typed and key in ("properties", "metadata"):
                _collect_types(value, found)  # what a member is given makes no other member
            elif not _collect_types(value, found) and key not in _NO_TYPES:
                return False
    elif isinstance(tree, list):
        seen = [_collect_types(item, found) for item in tree]  # each, to gather all
        return all(seen)
    return True


_NUMBERS = (Schema.INTEGER, Schema.NUMBER, Schema.BOOLEAN)
#: Properties of the usual groups that never name types.
_NO_TYPES = frozenset(("resource_properties", "removal_policies", "for_each", "index_var"))
