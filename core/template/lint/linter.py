"""Warnings: parts of a template or an environment that are valid, but likely a mistake.

Called by ``stack`` when somebody asks for warnings, after everything was read; works on what the
loader has found so far, however little. Never changes what a template means.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol

from zonda.hooks.errors import Path, Related, TemplateWarning

from ..environment import drift_section, policies, zonda_section
from ..environment.environment import DEFAULTS, PARAMETERS, REGISTRY, STRATEGIES, Environment
from ..evaluation.scope import FunctionTable
from ..parameters.merge import KNOWN as KNOWN_STRATEGIES
from ..parameters.parameters import Parameters
from ..source.diagnostics import suggestion
from ..source.document import Document
from ..syntax.outputs import KEYS as OUTPUT_KEYS
from ..syntax.outputs import SECTION as OUTPUTS
from ..syntax.outputs import OutputNode
from ..syntax.resource import ResourceNode
from ..syntax.sections import RESOURCES
from ..types.registry import Registry
from . import deprecations, functions
from . import registry as advice_registry

log = logging.getLogger(__name__)

#: Codes, stable for ever.
DUPLICATE_KEY = "ZON601"
UNUSED_PARAMETER = "ZON602"
HIDES_PSEUDO = "ZON603"
EMPTY_SECTION = "ZON610"
HIDDEN_DEFAULT = "ZON612"
UNKNOWN_STRATEGY = "ZON613"
FOR_NOTHING = "ZON614"

_MAY_BE_EMPTY = ("heat_template_version", "description", "capabilities")


class LintContext(Protocol):
    """The parts of the loader that the linter reads."""

    version: str
    functions: Callable[[str], FunctionTable]
    found_document: Document | None
    environment: Environment
    parameters: Parameters
    registry: Registry
    resources: dict[str, ResourceNode]
    outputs: dict[str, OutputNode]


def list_warnings(found: LintContext) -> list[TemplateWarning]:
    """List every warning, those of the template first, each file from first to last line.

    A part that breaks gives none: what is only advice ends nothing.
    """
    made = _collect_part(_list_document_warnings, found)
    for environment in found.environment.documents:
        made += _collect_part(_list_environment_file_warnings, environment, found)
    return made + _collect_part(advice_registry.list_warnings, found.registry, found.environment)


def _collect_part(
    part: Callable[..., Iterable[TemplateWarning]], *about: Any
) -> list[TemplateWarning]:
    try:
        return list(part(*about))
    except Exception:  # border: a plug-in's declarations are read, and it is only advice
        log.warning("Some warnings could not be worked out", exc_info=True)
        return []


def _list_document_warnings(found: LintContext) -> list[TemplateWarning]:
    document = found.found_document
    if document is None:
        return []
    made = [*_list_duplicate_warnings(document)]
    if isinstance(document.data, Mapping):
        made += (
            _locate_warning(each, document)
            for each in _list_template_warnings(document.data, found)
        )
    return sorted(made, key=_get_position)


def _list_environment_file_warnings(
    environment: Document, found: LintContext
) -> list[TemplateWarning]:
    made = [*_list_duplicate_warnings(environment)]
    if isinstance(environment.data, Mapping):
        made += (
            _locate_warning(each, environment)
            for each in _list_environment_warnings(environment.data)
        )
        made += (
            _locate_warning(each, environment)
            for each in _list_unused_entry_warnings(environment.data, found)
        )
    return sorted(made, key=_get_position)


def _get_position(warning: TemplateWarning) -> tuple[int, int]:
    place = warning.place
    return (0, 0) if place is None else (place.line, place.column)


def _locate_warning(warning: TemplateWarning, document: Document) -> TemplateWarning:
    place = document.place(warning.path, key=True)
    return TemplateWarning(
        warning.code, warning.message, warning.path, place, warning.hint, warning.related
    )


def _list_duplicate_warnings(document: Document) -> Iterator[TemplateWarning]:
    if not document.repeated:
        return
    for path, first, second in document.duplicates:
        yield TemplateWarning(
            DUPLICATE_KEY,
            f"{path[-1]} was given before ({first}); the last one counts",
            path,
            second,
            "Take one of them away.",
            (Related(f"{path[-1]} is given here first", first, path),),
        )


def _list_template_warnings(
    data: Mapping[str, Any], found: LintContext
) -> Iterator[TemplateWarning]:
    for section, value in data.items():
        if section not in _MAY_BE_EMPTY and _is_empty(value):
            yield _make_empty_warning(section, "template")
    yield from _list_parameter_warnings(data, found.parameters)
    yield from _list_output_warnings(data.get(OUTPUTS))
    yield from functions.list_warnings(data, found.version, found.functions)
    yield from deprecations.list_warnings(found.resources, found.outputs)


def _list_environment_warnings(data: Mapping[str, Any]) -> Iterator[TemplateWarning]:
    for section in (PARAMETERS, DEFAULTS, REGISTRY):
        if section in data and _is_empty(data[section]):
            yield _make_empty_warning(section, "environment")
    strategies = data.get(STRATEGIES)
    for name, strategy in strategies.items() if isinstance(strategies, Mapping) else ():
        if strategy not in KNOWN_STRATEGIES:
            yield TemplateWarning(
                UNKNOWN_STRATEGY,
                f"There is no merge strategy {strategy}, so the default is taken",
                (STRATEGIES, name),
                hint=suggestion(strategy, KNOWN_STRATEGIES)
                or f"One of {', '.join(KNOWN_STRATEGIES)}.",
            )
    given, defaults = data.get(PARAMETERS), data.get(DEFAULTS)
    if isinstance(given, Mapping) and isinstance(defaults, Mapping):
        for name in defaults:
            if given.get(name) is not None:
                yield TemplateWarning(
                    HIDDEN_DEFAULT,
                    f"The default of {name} has no effect: {PARAMETERS} gives it a value",
                    (DEFAULTS, name),
                    hint="Take one of them away.",
                )


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, dict | list) and not value)


def _make_empty_warning(section: str, what: str) -> TemplateWarning:
    return TemplateWarning(
        EMPTY_SECTION,
        f"The section {section} of the {what} is empty",
        (section,),
        hint="Fill it or leave it out.",
    )


def _list_parameter_warnings(
    data: Mapping[str, Any], parameters: Parameters
) -> Iterator[TemplateWarning]:
    used = functions.list_used_parameters(data)
    for name in parameters.schemas:
        if name in parameters.pseudo:
            yield TemplateWarning(
                HIDES_PSEUDO,
                f"The parameter {name} hides the pseudo parameter of that name",
                (PARAMETERS, name),
                hint="Choose another name.",
            )
        if used is not None and name not in used:
            yield TemplateWarning(
                UNUSED_PARAMETER,
                f"The parameter {name} is used nowhere",
                (PARAMETERS, name),
                hint=f"Read it with get_param: {name}, or take it away.",
            )


def _list_output_warnings(data: Any) -> Iterator[TemplateWarning]:
    for name, entry in data.items() if isinstance(data, Mapping) else ():
        if not isinstance(entry, Mapping) or "value" not in entry:
            continue
        for key in entry:
            if key not in OUTPUT_KEYS:
                yield TemplateWarning(
                    deprecations.IGNORED_KEY,
                    f"The key {key} of an output is not looked at",
                    (OUTPUTS, name, key),
                    hint=suggestion(key, OUTPUT_KEYS),
                )


def _list_unused_entry_warnings(
    data: Mapping[str, Any], found: LintContext
) -> Iterator[TemplateWarning]:
    """Yield a warning for entries of the section ``zonda`` whose name does not exist."""
    document = found.found_document
    declared = document.data.get(RESOURCES) if document is not None else None
    names = set(declared) if isinstance(declared, Mapping) else set()
    names |= {node.type for node in found.resources.values()}
    for part, table in data.get(zonda_section.SECTION, {}).items():
        if part == zonda_section.MOVED:
            continue  # it names what is there no more
        known = {*names, policies.STACK} if part == zonda_section.PROTECT else names
        for name, below in _list_named_entries(part, table):
            if zonda_section.EVERY not in name and name not in known:
                path = (zonda_section.SECTION, part, *below)
                text = f"{name} is neither a resource of the template nor the type of one"
                yield TemplateWarning(FOR_NOTHING, text, path, hint=suggestion(name, known))


def _list_named_entries(part: str, table: Any) -> Iterator[tuple[str, Path]]:
    """Yield the names in a part of the section ``zonda`` with their paths; nested: the owner."""
    if part == drift_section.DRIFT:
        for at, said in enumerate((table or {}).get(drift_section.IGNORE) or ()):
            name = said[drift_section.RESOURCE].partition("/")[0]
            yield name, (drift_section.IGNORE, at, drift_section.RESOURCE)
        return
    for at, name in enumerate(table or ()):
        if isinstance(name, str):
            yield name, (at if isinstance(table, list) else name,)
