"""Signatures: whether the nested stack of a resource would be another one than it was.

Called by ``TemplateTree`` for fingerprints and for the engine. A resource whose type is a template
has to be visited by an update if that file has changed, or a default that the file's parameters
have from an environment, or anything below. Which types a group uses may depend on values: these
are followed as far as they can be seen, from parameter to parameter; beyond that everything counts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

from zonda.hooks.errors import TemplateError
from zonda.hooks.function import Function

from ..definition.child_spec import ChildSpec
from ..definition.fingerprint import canonical
from ..definition.loader import LoadContext
from ..environment.environment import Environment
from ..source import versions
from ..source.document import Document, load_document, may_say
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


class Shared(Protocol):
    """What signatures are made from: ``TemplateTree``."""

    @property
    def around(self) -> LoadContext:
        """What templates are loaded with."""

    @property
    def environment(self) -> Environment:
        """The environment of the root."""

    def document(self, file: str) -> Document:
        """The document of a file; raises TemplateError."""

    def registry_at(self, level: RegistryScope) -> Registry:
        """The registry of a nested stack."""

    def below(self, level: RegistryScope, resource: str, choice: Choice | None) -> RegistryScope:
        """The level of a resource's nested stack."""


@dataclass(frozen=True, slots=True)
class Signed:
    """``digest`` changes with the type. ``fed``: the parameters whose values name further types."""

    digest: str
    fed: frozenset[str] = frozenset()
    #: Whether every property may name types: it is a group's.
    takes_any: bool = False


#: With what a list or a map begins, on its way through a parameter.
_BRACKETS = ("{", "[")
_GET_FILE = "get_file"
_RING = Signed("a template inside itself")


class ChildSignatures:
    """The signatures of one family, each file's made once for each level that matters."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._files: dict[RegistryScope, Signed] = {}
        self._contents: dict[str, str] = {}
        self._texts: dict[tuple[RegistryScope, str], Signed] = {}
        self._busy: set[RegistryScope] = set()
        self._defaults: dict[Any, str] = {}

    def of_values(
        self,
        level: RegistryScope,
        resource: str,
        type_: str,
        types: Collection[str],
        properties: Any,
    ) -> str:
        """The signature of a resource whose properties are known, but for what is a Function.

        ``types``: more types that its nested stack is said to use.
        """
        walk = _Walk(self, level)
        walk.entry(resource, type_, properties)
        inside = self.inside(level, resource)
        walk.parts += (self.of_type(inside, "", each).digest for each in sorted(types))
        return walk.digest()

    def of_spec(self, level: RegistryScope, spec: ChildSpec) -> str:
        """The signature of all that a nested stack at ``level`` is made from."""
        walk = _Walk(self, level)
        if spec.file is not None:
            walk.parts.append(self._of_file(level).digest)
        for given in (spec.template, spec.text, spec.parameters):
            walk.value(given)
        return walk.digest()

    def of_type(self, level: RegistryScope, resource: str, type_: str) -> Signed:
        """The signature of a type, as it stands in a template of ``level``."""
        try:
            choice = self._shared.registry_at(level).choose(type_, resource)
        except TemplateError:
            return Signed(f"unknown {type_}")
        if choice.cls is not None:
            cls = choice.cls
            return Signed(f"{cls.__module__}.{cls.__qualname__}", takes_any=cls.is_nested_stack)
        return self._of_file(self._shared.below(level, resource, choice))

    def _of_file(self, level: RegistryScope) -> Signed:
        known = self._files.get(level)
        if known is None:
            if level in self._busy:
                return _RING
            self._busy.add(level)
            try:
                known = self._files[level] = self._signed(level)
            finally:
                self._busy.discard(level)
        return known

    def _signed(self, level: RegistryScope) -> Signed:
        walk = _FileWalk(self, level)
        walk.parts.append(self._content_of(level.document))
        with suppress(TemplateError):  # told when the template is loaded
            walk.document(self._shared.document(level.document).data)
        return Signed(walk.digest(), frozenset(walk.fed))

    def _content_of(self, file: str) -> str:
        """What a file says and reads, wherever in the tree it is used."""
        known = self._contents.get(file)
        if known is None:
            text = self._shared.around.bundle.files.get(file, "")
            parts = [text]
            with suppress(TemplateError):  # as above
                parts += self._read_by(file, text, self._shared.document(file).data)
            known = self._contents[file] = digest_of(parts)
        return known

    def _read_by(self, file: str, text: str, data: Any) -> Iterator[str]:
        """What the environment gives the parameters of a template, and the files that it reads."""
        for name in _section(data, "parameters"):
            yield f"{name}"
            yield self._text_of_default(name)
        bundle = self._shared.around.bundle
        for key in sorted(_files(data)) if may_say(text, _GET_FILE) else ():
            yield bundle.files.get(bundle.key_of(file, key), "")

    def _text_of_default(self, name: Any) -> str:
        """What the environment gives for a parameter; many files have the same ones."""
        known = self._defaults.get(name)
        if known is None:
            known = self._defaults[name] = canonical(self.default(name))
        return known

    def of_text(self, level: RegistryScope, text: str) -> Signed:
        """The signature of a template that came as a value into one of ``level``."""
        inside = self.level_of_text(level, text)
        if inside.document != level.document:
            return self._of_file(inside)
        known = self._texts.get((level, text))
        if known is None:
            self._texts[level, text] = _RING  # whatever asks meanwhile is inside it
            known = self._texts[level, text] = self._walked(level, text)
        return known

    def _walked(self, level: RegistryScope, text: str) -> Signed:
        walk = _FileWalk(self, level)
        walk.parts.append(text)
        with suppress(TemplateError):  # told when the template is loaded
            data = load_document(text, "").data
            walk.parts += self._read_by(level.document, text, data)
            walk.document(data)
        return Signed(walk.digest(), frozenset(walk.fed))

    def level_of_text(self, level: RegistryScope, text: str) -> RegistryScope:
        """The same level, with the file that is the text, if one is."""
        file = self._shared.around.bundle.file_of(level.document, text)
        return level if file is None else replace(level, document=file)

    def inside(self, level: RegistryScope, resource: str) -> RegistryScope:
        """The level of what a resource generates."""
        return self._shared.below(level, resource, None)

    def names_type(self, text: str) -> bool:
        """Whether a text may be the name of a type that is a template."""
        names, starts = self._type_names
        return text in names or is_template(text) or text.startswith(starts)

    @cached_property
    def _type_names(self) -> tuple[frozenset[str], tuple[str, ...]]:
        names: set[str] = set()
        starts: set[str] = set()
        for name in _entry_names(self._shared.environment.registry):
            (starts if name.endswith("*") else names).add(name.removesuffix("*"))
        return frozenset(names), tuple(starts)

    @cached_property
    def everything(self) -> str:
        """What stands for all that any template of the family may be made from."""
        environment, bundle = self._shared.environment, self._shared.around.bundle
        said = [environment.defaults, environment.registry, environment.requires]
        return digest_of([canonical(said), *(f"{k}\n{v}" for k, v in sorted(bundle.files.items()))])

    def default(self, name: str) -> Any:
        """What the environment gives for a parameter wherever it is declared; null for nothing."""
        return self._shared.environment.defaults.get(name)

    def functions(self, version: str) -> Collection[str]:
        """The names that make a map of one key a call."""
        return self._shared.around.functions(version).functions.keys()

    @property
    def of_levels(self) -> str:
        """What the registry says for single resources."""
        return canonical(self._shared.environment.registry.get("resources"))


class _Walk:
    """Gathers what the types in some values are made from. Functions hide what they give."""

    def __init__(self, signatures: ChildSignatures, level: RegistryScope) -> None:
        self.signatures = signatures
        self.level = level
        self.parts: list[str] = [signatures.of_levels]
        self._told: set[tuple[RegistryScope, str]] = set()

    def digest(self) -> str:
        """All that was found, as one short text."""
        return digest_of(self.parts)

    def entry(self, resource: str, type_: str, properties: Any) -> None:
        """A resource, or what may become one: its type, and the types that its properties name."""
        signed = self.signatures.of_type(self.level, resource, type_)
        self.parts.append(signed.digest)
        if signed.takes_any:
            outside, self.level = self.level, self.signatures.inside(self.level, resource)
            self.value(properties)
            self.level = outside
        elif signed.fed and isinstance(properties, Mapping) and not self.is_call(properties):
            for name in sorted(signed.fed & properties.keys()):
                self.value(properties[name])
        elif signed.fed:
            self.value(properties)

    def value(self, value: Any) -> None:
        """Whatever may name types: texts at any depth."""
        if isinstance(value, str):
            self._text(value)
        elif isinstance(value, Function):
            self.parts.append(self.signatures.everything)
        elif isinstance(value, Mapping):
            if self.is_call(value):
                self.call(value)
            else:
                self._map(value)
        elif isinstance(value, list | tuple):
            for item in value:
                self.value(item)

    def _map(self, value: Mapping[str, Any]) -> None:
        type_ = value.get("type")
        for key, item in value.items():
            if key == "properties" and isinstance(type_, str) and type_:
                self.entry("", type_, item)
            else:
                self.value(item)

    def _text(self, text: str) -> None:
        mark = (self.level, text)
        if mark in self._told:
            return
        if any(key in text for key in versions.KEYS):  # a whole template
            self._told.add(mark)
            self.parts.append(self.signatures.of_text(self.level, text).digest)
        elif text[:1] in _BRACKETS:
            self._told.add(mark)
            with suppress(ValueError, RecursionError):  # no JSON, so no value of a parameter
                self.value(json.loads(text))
        elif "," in text:  # what a list of texts is, on its way through a parameter
            self._told.add(mark)
            for piece in text.split(","):
                self._text(piece.strip())
        elif self.signatures.names_type(text):
            self._told.add(mark)
            signed = self.signatures.of_type(self.level, "", text)
            self.parts.append(f"{text} {signed.digest}")

    def is_call(self, value: Mapping[str, Any]) -> bool:
        """Whether a map calls a function: values never do."""
        return False

    def call(self, value: Mapping[str, Any]) -> None:
        """What a call may give: anything."""
        self.parts.append(self.signatures.everything)


class _FileWalk(_Walk):
    """The same in a template as it is written, in which values come from parameters."""

    def __init__(self, signatures: ChildSignatures, level: RegistryScope) -> None:
        super().__init__(signatures, level)
        self.fed: set[str] = set()
        self._functions: Collection[str] = ()
        self._parameters: Mapping[str, Any] = {}

    def document(self, data: Any) -> None:
        """Every type of a template that decides what nested stacks are made from it."""
        self._functions = self.signatures.functions(versions.version_of(data))
        self._parameters = _section(data, "parameters")
        for name, entry in _section(data, "resources").items():
            if isinstance(entry, Mapping) and isinstance(entry.get("type"), str):
                self.entry(str(name), entry["type"], entry.get("properties"))

    def is_call(self, value: Mapping[str, Any]) -> bool:
        """Whether a map calls a function."""
        return len(value) == 1 and next(iter(value)) in self._functions

    def call(self, value: Mapping[str, Any]) -> None:
        """What a parameter has comes from the owner, or is a default; all else may be anything."""
        ((name, args),) = value.items()
        read = args[0] if isinstance(args, list) and args else args
        if name == "get_param" and isinstance(read, str) and read in self._parameters:
            self._parameter(read)
        elif name == "if" and isinstance(args, list):
            self.value(args[1:])
        else:
            self.parts.append(self.signatures.everything)

    def _parameter(self, name: str) -> None:
        if name in self.fed:
            return
        self.fed.add(name)
        declared = self._parameters[name]
        default = declared.get("default") if isinstance(declared, Mapping) else None
        plain = _Walk(self.signatures, self.level)
        for value in (default, self.signatures.default(name)):
            plain.value(value)
        self.parts += plain.parts


def digest_of(parts: Collection[str]) -> str:
    """A short text for some texts."""
    made = hashlib.blake2b(digest_size=16)
    for part in parts:
        made.update(part.encode("utf-8", "surrogatepass"))
        made.update(b"\0")
    return made.hexdigest()


def _entry_names(registry: Mapping[str, Any]) -> Iterator[str]:
    """Every name that a registry says something for, also for single resources."""
    for name, target in registry.items():
        if isinstance(target, Mapping):
            yield from _entry_names(target)
        elif isinstance(name, str):
            yield name


def _section(data: Any, name: str) -> Mapping[str, Any]:
    found = data.get(name) if isinstance(data, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _files(tree: Any) -> Iterator[str]:
    """The files that a template reads, as far as their names are written there."""
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
