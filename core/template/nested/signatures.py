"""Signatures: texts that change when the nested stack of a resource would be another one.

Called by ``TemplateTree`` for fingerprints and for the engine. A resource whose type is a template
has to be visited by an update if that file has changed, or a default that the file's parameters
have from an environment, or anything below. Which types a group uses may depend on values: these
are followed as far as they can be seen, from parameter to parameter; beyond that everything counts.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from typing import Any, Protocol

from zonda.hooks.errors import TemplateError
from zonda.hooks.function import Function
from zonda.hooks.hashes import blake2b
from zonda.hooks.records import dataclass, replace
from zonda.hooks.resources.resource import Resource

from ..definition.child_spec import ChildSpec
from ..definition.fingerprint import format_canonical
from ..definition.loader import LoadContext
from ..definition.stack_definition import StackDefinition
from ..environment.environment import Environment
from ..source import versions
from ..source.bundle import Identity
from ..source.document import Document, get_section, load_document, may_contain
from ..types.registry import Choice, Registry, is_template


@dataclass(frozen=True, slots=True)
class RegistryScope:
    """A place in the tree, as far as it decides what types mean.

    ``names``: the resources that lead there; empty where the registry says nothing for single
    resources. ``document``: the file whose links say what names of files mean.
    """

    names: tuple[str, ...]
    without: frozenset[str]
    document: str


class SharedTree(Protocol):
    """The parts of ``TemplateTree`` that the modules of this folder use."""

    load_context: LoadContext
    signatures: ChildSignatures

    @property
    def environment(self) -> Environment:
        """The environment of the root."""

    def document(self, file: str) -> Document:
        """The document of a file; raises TemplateError, with a place."""

    def load_template_class(self, file: str) -> type[Resource]:
        """The class of a file; raises ValidationErrors."""

    def build_registry(self, level: RegistryScope) -> Registry:
        """The registry of a nested stack."""

    def enter_nested(
        self, level: RegistryScope, resource: str, choice: Choice | None
    ) -> RegistryScope:
        """The level of a resource's nested stack."""

    def level(self, spec: ChildSpec | None) -> RegistryScope:
        """The level of a nested stack."""

    def is_name_dependent(self, spec: ChildSpec) -> bool:
        """Whether the meaning of types in a nested stack depends on the names of resources."""

    def build_cache_key(self, spec: ChildSpec, unknown: frozenset[str]) -> str | None:
        """Build a key of all that the check of a nested stack depends on."""

    def load_partially(
        self, spec: ChildSpec, identity: Identity, unknown: frozenset[str]
    ) -> tuple[StackDefinition | None, list[TemplateError]]:
        """The definition, if the template can be read, and the faults of loading."""


@dataclass(frozen=True, slots=True)
class TypeSignature:
    """``digest`` changes with the type. ``fed``: the parameters whose values name further types."""

    digest: str
    fed: frozenset[str] = frozenset()
    #: Whether every property may name types: it is a group's.
    takes_any: bool = False


#: With what a list or a map begins, on its way through a parameter.
_BRACKETS = ("{", "[")
_GET_FILE = "get_file"
_RING = TypeSignature("a template inside itself")


class ChildSignatures:
    """The signatures of one tree, one for each file and each level that matters."""

    def __init__(self, shared: SharedTree) -> None:
        self._shared = shared
        self._files: dict[RegistryScope, TypeSignature] = {}
        self._contents: dict[str, str] = {}
        self._texts: dict[tuple[RegistryScope, str], TypeSignature] = {}
        self._busy: set[RegistryScope] = set()
        self._defaults: dict[Any, str] = {}

    def hash_values(
        self,
        level: RegistryScope,
        resource: str,
        type_: str,
        types: Collection[str],
        properties: Any,
    ) -> str:
        """Hash the types and values of a resource; a value that is not known is a Function.

        ``types``: more types that its nested stack is said to use.
        """
        walk = _Walk(self, level)
        walk.entry(resource, type_, properties)
        inside = self.find_inner_level(level, resource)
        walk.parts += (self.hash_type(inside, "", each).digest for each in sorted(types))
        return walk.digest()

    def sign_spec(self, level: RegistryScope, spec: ChildSpec) -> str:
        """The signature of all that a nested stack at ``level`` is made from."""
        walk = _Walk(self, level)
        if spec.file is not None:
            walk.parts.append(self._hash_file(level).digest)
        for given in (spec.template, spec.text, spec.parameters):
            walk.value(given)
        return walk.digest()

    def hash_type(self, level: RegistryScope, resource: str, type_: str) -> TypeSignature:
        """The signature of a type in a template of ``level``."""
        try:
            choice = self._shared.build_registry(level).choose(type_, resource)
        except TemplateError:
            return TypeSignature(f"unknown {type_}")
        if choice.cls is not None:
            cls = choice.cls  # not its module, which a later release may have moved it from
            return TypeSignature(
                f"{choice.meant} {cls.__qualname__}", takes_any=cls.is_nested_stack
            )
        return self._hash_file(self._shared.enter_nested(level, resource, choice))

    def _hash_file(self, level: RegistryScope) -> TypeSignature:
        known = self._files.get(level)
        if known is None:
            if level in self._busy:
                return _RING
            self._busy.add(level)
            try:
                known = self._files[level] = self._hash_document(level)
            finally:
                self._busy.discard(level)
        return known

    def _hash_document(self, level: RegistryScope) -> TypeSignature:
        walk = _FileWalk(self, level)
        walk.parts.append(self._hash_content(level.document))
        with suppress(TemplateError):  # told when the template is loaded
            walk.document(self._shared.document(level.document).data)
        return TypeSignature(walk.digest(), frozenset(walk.fed))

    def _hash_content(self, file: str) -> str:
        """Hash a file and its inputs, wherever in the tree it is used."""
        known = self._contents.get(file)
        if known is None:
            text = self._shared.load_context.bundle.files.get(file, "")
            parts = [text]
            with suppress(TemplateError):  # as above
                parts += self._list_inputs(file, text, self._shared.document(file).data)
            known = self._contents[file] = hash_texts(parts)
        return known

    def _list_inputs(self, file: str, text: str, data: Any) -> Iterator[str]:
        """List the defaults of a template's parameters, and the files that it reads."""
        for name in get_section(data, "parameters"):
            yield f"{name}"
            yield self._format_default(name)
        bundle = self._shared.load_context.bundle
        for key in sorted(_list_files(data)) if may_contain(text, _GET_FILE) else ():
            yield bundle.files.get(bundle.key_of(file, key), "")

    def _format_default(self, name: Any) -> str:
        """Format the environment's default of a parameter; many files have the same parameters."""
        known = self._defaults.get(name)
        if known is None:
            known = self._defaults[name] = format_canonical(self.default(name))
        return known

    def sign_text(self, level: RegistryScope, text: str) -> TypeSignature:
        """The signature of a template that came as a value into one of ``level``."""
        inside = self.find_level_of_text(level, text)
        if inside.document != level.document:
            return self._hash_file(inside)
        known = self._texts.get((level, text))
        if known is None:
            self._texts[level, text] = _RING  # whatever asks meanwhile is inside it
            known = self._texts[level, text] = self._hash_text(level, text)
        return known

    def _hash_text(self, level: RegistryScope, text: str) -> TypeSignature:
        walk = _FileWalk(self, level)
        walk.parts.append(text)
        with suppress(TemplateError):  # told when the template is loaded
            data = load_document(text, "").data
            walk.parts += self._list_inputs(level.document, text, data)
            walk.document(data)
        return TypeSignature(walk.digest(), frozenset(walk.fed))

    def find_level_of_text(self, level: RegistryScope, text: str) -> RegistryScope:
        """The same level, with the file that is the text, if one is."""
        file = self._shared.load_context.bundle.file_of(level.document, text)
        return level if file is None else replace(level, document=file)

    def find_inner_level(self, level: RegistryScope, resource: str) -> RegistryScope:
        """The level of what a resource generates."""
        return self._shared.enter_nested(level, resource, None)

    def may_be_type_name(self, text: str) -> bool:
        """Whether a text may be the name of a type that is a template."""
        names, starts = self._type_names
        return text in names or is_template(text) or text.startswith(starts)

    @cached_property
    def _type_names(self) -> tuple[frozenset[str], tuple[str, ...]]:
        names: set[str] = set()
        starts: set[str] = set()
        for name in _list_entry_names(self._shared.environment.registry):
            (starts if name.endswith("*") else names).add(name.removesuffix("*"))
        return frozenset(names), tuple(starts)

    @cached_property
    def everything(self) -> str:
        """The digest of all inputs that any template of the tree may use."""
        environment, bundle = self._shared.environment, self._shared.load_context.bundle
        said = [environment.defaults, environment.registry, environment.requires]
        return hash_texts(
            [format_canonical(said), *(f"{k}\n{v}" for k, v in sorted(bundle.files.items()))]
        )

    def default(self, name: str) -> Any:
        """The environment's default of a parameter, wherever it is declared; null for none."""
        return self._shared.environment.defaults.get(name)

    def functions(self, version: str) -> Collection[str]:
        """The names that make a map of one key a call."""
        return self._shared.load_context.functions(version).functions.keys()

    @property
    def resource_rules(self) -> str:
        """The registry's rules for single resources, as text."""
        return format_canonical(self._shared.environment.registry.get("resources"))


class _Walk:
    """Collects the signatures of the types in some values. The value of a function is unknown."""

    def __init__(self, signatures: ChildSignatures, level: RegistryScope) -> None:
        self.signatures = signatures
        self.level = level
        self.parts: list[str] = [signatures.resource_rules]
        self._visited: set[tuple[RegistryScope, str]] = set()

    def digest(self) -> str:
        """The digest of all parts that were collected."""
        return hash_texts(self.parts)

    def entry(self, resource: str, type_: str, properties: Any) -> None:
        """Visit a resource, or a map that may become one: its type, and types in its properties."""
        signed = self.signatures.hash_type(self.level, resource, type_)
        self.parts.append(signed.digest)
        if signed.takes_any:
            outside, self.level = self.level, self.signatures.find_inner_level(self.level, resource)
            self.value(properties)
            self.level = outside
        elif signed.fed and isinstance(properties, Mapping) and not self.is_call(properties):
            for name in sorted(signed.fed & properties.keys()):
                self.value(properties[name])
        elif signed.fed:
            self.value(properties)

    def value(self, value: Any) -> None:
        """Visit a value that may name types: texts at any depth."""
        if isinstance(value, str):
            self._visit_text(value)
        elif isinstance(value, Function):
            self.parts.append(self.signatures.everything)
        elif isinstance(value, Mapping):
            if self.is_call(value):
                self.call(value)
            else:
                self._visit_map(value)
        elif isinstance(value, list | tuple):
            for item in value:
                self.value(item)

    def _visit_map(self, value: Mapping[str, Any]) -> None:
        type_ = value.get("type")
        for key, item in value.items():
            if key == "properties" and isinstance(type_, str) and type_:
                self.entry("", type_, item)
            else:
                self.value(item)

    def _visit_text(self, text: str) -> None:
        mark = (self.level, text)
        if mark in self._visited:
            return
        if any(key in text for key in versions.KEYS):  # a whole template
            self._visited.add(mark)
            self.parts.append(self.signatures.sign_text(self.level, text).digest)
        elif text[:1] in _BRACKETS:
            self._visited.add(mark)
            with suppress(ValueError, RecursionError):  # no JSON, so no value of a parameter
                self.value(json.loads(text))
        elif "," in text:  # what a list of texts is, on its way through a parameter
            self._visited.add(mark)
            for piece in text.split(","):
                self._visit_text(piece.strip())
        elif self.signatures.may_be_type_name(text):
            self._visited.add(mark)
            signed = self.signatures.hash_type(self.level, "", text)
            self.parts.append(f"{text} {signed.digest}")

    def is_call(self, value: Mapping[str, Any]) -> bool:
        """Whether a map calls a function: values never do."""
        return False

    def call(self, value: Mapping[str, Any]) -> None:
        """Visit a call: it may give anything."""
        self.parts.append(self.signatures.everything)


class _FileWalk(_Walk):
    """The same for a template as written, in which values come from parameters."""

    def __init__(self, signatures: ChildSignatures, level: RegistryScope) -> None:
        super().__init__(signatures, level)
        self.fed: set[str] = set()
        self._functions: Collection[str] = ()
        self._parameters: Mapping[str, Any] = {}

    def document(self, data: Any) -> None:
        """Visit every type of a template that decides about its nested stacks."""
        self._functions = self.signatures.functions(versions.resolve_version(data))
        self._parameters = get_section(data, "parameters")
        for name, entry in get_section(data, "resources").items():
            if isinstance(entry, Mapping) and isinstance(entry.get("type"), str):
                self.entry(str(name), entry["type"], entry.get("properties"))

    def is_call(self, value: Mapping[str, Any]) -> bool:
        """Whether a map calls a function."""
        return len(value) == 1 and next(iter(value)) in self._functions

    def call(self, value: Mapping[str, Any]) -> None:
        """Visit a call: a parameter has the owner's value or a default; all else is unknown."""
        ((name, args),) = value.items()
        read = args[0] if isinstance(args, list) and args else args
        if name == "get_param" and isinstance(read, str) and read in self._parameters:
            self._visit_parameter(read)
        elif name == "if" and isinstance(args, list):
            self.value(args[1:])
        else:
            self.parts.append(self.signatures.everything)

    def _visit_parameter(self, name: str) -> None:
        if name in self.fed:
            return
        self.fed.add(name)
        declared = self._parameters[name]
        default = declared.get("default") if isinstance(declared, Mapping) else None
        plain = _Walk(self.signatures, self.level)
        for value in (default, self.signatures.default(name)):
            plain.value(value)
        self.parts += plain.parts


def hash_texts(parts: Collection[str]) -> str:
    """Hash some texts to one short text."""
    made = blake2b(digest_size=16)
    for part in parts:
        made.update(part.encode("utf-8", "surrogatepass"))
        made.update(b"\0")
    return made.hexdigest()


def _list_entry_names(registry: Mapping[str, Any]) -> Iterator[str]:
    """Every name that a registry says something for, also for single resources."""
    for name, target in registry.items():
        if isinstance(target, Mapping):
            yield from _list_entry_names(target)
        elif isinstance(name, str):
            yield name


def _list_files(tree: Any) -> Iterator[str]:
    """List the files that a template reads, as far as their names are literal."""
    inside = [tree]
    seen: set[int] = set()
    while inside:
        value = inside.pop()
        if not isinstance(value, dict | list) or id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, dict):
            name = value.get(_GET_FILE)
            if isinstance(name, str):
                yield name
            inside += value.values()
        else:
            inside += value
