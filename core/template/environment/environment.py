"""Environments: their sections, the merge of several files, and the precedence of values.

Called by ``stack.load``. An environment is data only: the registry of types is read by
``registry``, parameter values are checked by ``parameters``. The section ``zonda`` is ours and
read by ``zonda_section``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zonda.hooks.errors import Path, Place, TemplateError
from zonda.hooks.records import dataclass, field, replace

from ..capabilities import requirements
from ..parameters.merge import MergeConflict, choose_strategy, merge_value
from ..parameters.parameters import ParameterSchema
from ..source.bundle import Bundle
from ..source.diagnostics import ENVIRONMENT, ENVIRONMENT_SECTION, format_type_name, suggestion
from ..source.document import Document, find_value, load_document
from . import policies, zonda_section

PARAMETERS = "parameters"
DEFAULTS = "parameter_defaults"
REGISTRY = "resource_registry"
STRATEGIES = "parameter_merge_strategies"
ENCRYPTED = "encrypted_param_names"
EVENT_SINKS = "event_sinks"
REQUIRES = requirements.SECTION
OWN = zonda_section.SECTION

#: The type of each section.
SECTIONS: dict[str, type] = {
    PARAMETERS: dict,
    DEFAULTS: dict,
    REGISTRY: dict,
    STRATEGIES: dict,
    ENCRYPTED: list,
    EVENT_SINKS: list,
    REQUIRES: dict,
    OWN: dict,
}
_WORDS: dict[type, str] = {dict: "map", list: "list"}


@dataclass
class Environment:
    """All environments of a request as one. ``own`` is the section ``zonda`` in normal form.

    ``parameters`` holds what the user gave, too; ``named`` are the names that the user gave and
    that count, whatever the documents say. ``is_nested``: it is that of a nested stack, whose
    ``parameters`` no document gives.
    """

    parameters: dict[str, Any] = field(default_factory=dict)
    defaults: dict[str, Any] = field(default_factory=dict)
    registry: dict[str, Any] = field(default_factory=dict)
    encrypted: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()
    requires: dict[str, Any] = field(default_factory=dict)
    own: dict[str, Any] = field(default_factory=dict)
    documents: list[Document] = field(default_factory=list)
    is_nested: bool = False

    def derive_nested(self, parameters: Mapping[str, Any]) -> Environment:
        """The environment of a nested stack with these parameters: all else reaches down."""
        own = {name: value for name, value in self.own.items() if name != zonda_section.PROTECT}
        protect = {
            name: value
            for name, value in self.own.get(zonda_section.PROTECT, {}).items()
            if name != policies.STACK
        }
        if protect:
            own[zonda_section.PROTECT] = protect
        return replace(
            self, parameters=dict(parameters), named=frozenset(), own=own, is_nested=True
        )

    def place(self, path: Path) -> Place | None:
        """The place of ``path`` in the last document that gives it a value; None if none does.

        What it says null to does not count, since that leaves the value of another.
        """
        for document in reversed(self.documents):
            if path and find_value(document.data, path) is not None:
                return document.place(path, key=True)
        return None


def load_environment(
    bundle: Bundle,
    schemas: Mapping[str, ParameterSchema],
    errors: list[TemplateError],
    *,
    max_bytes: int,
) -> Environment:
    """Load the environment of a request. Faults go to ``errors``; ``schemas`` steer the merging."""
    found = Environment()
    merged: dict[str, Any] = {}
    if bundle.environment is not None:
        document = _load_document(bundle.environment, "environment", errors, max_bytes)
        if document is not None:
            found.documents.append(document)
            merged = {key: document.data[key] for key in document.data}
            merged[OWN] = zonda_section.merge_sections({}, merged.get(OWN, {}))
    if not bundle.parameters_win:
        merged[PARAMETERS] = {**merged.get(PARAMETERS, {}), **bundle.parameters}
    known: dict[str, str] = {}
    for file, text in bundle.environment_files:
        document = _load_document(text, file, errors, max_bytes)
        if document is not None:
            found.documents.append(document)
            if file in bundle.links and REGISTRY in document.data:
                linked = _replace_links(document.data[REGISTRY], bundle.links[file])
                document.data = {**document.data, REGISTRY: linked}
            nulls = _find_new_nulls(merged, document.data) if bundle.parameters_win else {}
            _merge(merged, document, schemas, known, errors)
            if nulls:
                merged[REGISTRY] = {**merged.get(REGISTRY, {}), **nulls}
    if bundle.parameters_win:
        merged[PARAMETERS] = {**merged.get(PARAMETERS, {}), **bundle.parameters}
    found.named = _list_named_parameters(bundle, found.documents)
    found.parameters = merged.get(PARAMETERS, {})
    found.defaults = merged.get(DEFAULTS, {})
    found.registry = merged.get(REGISTRY, {})
    found.encrypted = frozenset(str(name) for name in merged.get(ENCRYPTED, ()))
    found.requires = merged.get(REQUIRES, {})
    found.own = merged.get(OWN, {})
    return found


def _find_new_nulls(merged: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, None]:
    """Find the registry names that a file takes back and no earlier one has given.

    Heat's server drops every null of a file, but Heat's client sends the merged environment, too,
    in which these stand: a pattern takes back what it covers.
    """
    given = merged.get(REGISTRY) or {}
    lines = data.get(REGISTRY) or {}
    return {name: None for name, target in lines.items() if target is None and name not in given}


def _list_named_parameters(bundle: Bundle, documents: list[Document]) -> frozenset[str]:
    """The parameters whose given values no environment file overrules."""
    names = set(map(str, bundle.parameters))
    if not bundle.parameters_win:
        files = {file for file, _ in bundle.environment_files}
        for document in documents:
            if document.file in files:
                given = document.data.get(PARAMETERS) or {}
                names -= {name for name, value in given.items() if value is not None}
    return frozenset(names)


def _load_document(
    text: str, file: str, errors: list[TemplateError], max_bytes: int
) -> Document | None:
    """A parsed environment whose sections have the right shape, or None."""
    try:
        document = load_document(text, file, max_bytes=max_bytes, what="environment")
    except TemplateError as error:
        errors.append(error)
        return None
    if document.data is None or document.data == "":
        document.data = {}
    faults = list(_find_faults(document.data))
    for fault in faults:
        fault.place = document.place(fault.at, key=True)
    errors.extend(faults)
    if faults:
        return None
    # In Heat an empty section of any type is one that is not there.
    document.data = {
        section: value
        for section, value in document.data.items()
        if value or isinstance(value, SECTIONS[section])
    }
    return document


def _find_faults(data: Any) -> list[TemplateError]:
    if not isinstance(data, Mapping):
        return [_make_fault("The environment is not a valid YAML mapping data type.", ())]
    faults = []
    for section, value in data.items():
        if section not in SECTIONS:
            faults.append(
                _make_fault(
                    f'environment has wrong section "{section}"',
                    (section,),
                    suggestion(section, SECTIONS),
                    ENVIRONMENT_SECTION,
                )
            )
        elif value is None:
            faults.append(_make_fault(f'environment has empty section "{section}"', (section,)))
        elif value and not isinstance(value, SECTIONS[section]):
            wanted = _WORDS[SECTIONS[section]]
            text = f'The environment section "{section}" must be a {wanted}, not a '
            faults.append(_make_fault(text + format_type_name(value), (section,)))
    faults += zonda_section.find_faults(data.get(OWN))
    faults += requirements.find_faults(data.get(REQUIRES))
    if not faults and data.get(EVENT_SINKS):
        text = "There are no event sinks of that type; leave event_sinks empty."
        faults.append(_make_fault(text, (EVENT_SINKS, 0)))
    return faults


def _merge(
    merged: dict[str, Any],
    document: Document,
    schemas: Mapping[str, ParameterSchema],
    known: dict[str, str],
    errors: list[TemplateError],
) -> None:
    """Merge one more environment file into ``merged``; ``known`` are the strategies so far."""
    strategies = document.data.get(STRATEGIES, {})
    for section, value in document.data.items():
        if not value or section == STRATEGIES:
            continue
        if section not in (PARAMETERS, DEFAULTS):
            old = merged.get(section)
            if section == OWN:
                merged[section] = zonda_section.merge_sections(old or {}, value)
            else:
                merged[section] = _merge_plain(old, value)
            continue
        old = merged.get(section) or {}
        target = merged[section] = dict(old)
        for name, given in value.items():
            if name not in schemas:
                # A value that no parameter takes is a fault in the first file, and dropped in all
                # others; defaults are for nested templates, too.
                if not old or section == DEFAULTS:
                    target[name] = given
                continue
            if given is None:
                continue
            strategy = choose_strategy(name, strategies, known)
            try:
                _check_strategy(name, strategy, known, document.file)
                kind = schemas[name].type
                target[name] = merge_value(old, name, given, strategy, kind) if old else given
            except MergeConflict as conflict:
                fault = conflict.fault(name)
                fault.place = document.place((section, name), key=True)
                errors.append(fault)


def _check_strategy(name: str, strategy: str, known: dict[str, str], file: str) -> None:
    """Record the strategy for a parameter; raise MergeConflict if the first file has another."""
    if known.setdefault(name, strategy) != strategy:
        raise MergeConflict(
            f"Conflicting merge strategy '{strategy}' for parameter '{name}' in file '{file}'.",
            "ConflictingMergeStrategyForParam",
            "Name the same strategy in the first file that gives this parameter.",
        )


def _replace_links(value: Any, links: Mapping[str, str]) -> Any:
    """Replace the names of files in a registry by the keys of the files in the bundle."""
    if isinstance(value, dict):
        return {name: _replace_links(item, links) for name, item in value.items()}
    if isinstance(value, list):
        return [_replace_links(item, links) for item in value]
    return links.get(value, value) if isinstance(value, str) else value


def _merge_plain(old: Any, new: Any) -> Any:
    """Sections without strategies: maps shallowly (null is skipped), lists one after the other."""
    if isinstance(new, dict):
        return {**(old or {}), **{key: value for key, value in new.items() if value is not None}}
    return [*(old or []), *new]


def _make_fault(message: str, at: Path, hint: str = "", code: str = ENVIRONMENT) -> TemplateError:
    return TemplateError(message, at=at, code=code, heat_type="ValueError", hint=hint)
