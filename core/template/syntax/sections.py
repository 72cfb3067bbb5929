"""The outermost shape of a template: its sections, and the keys of every resource.

Called by ``stack.load`` first of all. What stands inside the sections is other modules' matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from zonda.hooks.errors import Path, TemplateError

from ..capabilities import section as capabilities
from ..source.diagnostics import (
    GROUPS,
    RESOURCE_KEY,
    RESOURCE_SHAPE,
    RESOURCE_TYPE,
    SECTION,
    suggestion,
    type_name,
)
from ..source.versions import CONDITIONS_SINCE, KEY

RESOURCES = "resources"

_SECTIONS = (
    KEY,
    "description",
    "parameter_groups",
    "parameters",
    RESOURCES,
    "outputs",
    capabilities.SECTION,
)
#: Heat lets this name slip through.
_IGNORED = "__undefined__"

_RESOURCE_KEYS = (
    "type",
    "properties",
    "metadata",
    "depends_on",
    "deletion_policy",
    "update_policy",
    "description",
)
#: What a resource may have from version ``CONDITIONS_SINCE`` on.
RESOURCE_KEYS_LATER = ("condition", "external_id")


def check_sections(data: Mapping[str, Any], version: str) -> Iterator[TemplateError]:
    """Sections that do not exist, and resources without the right keys."""
    later = version >= CONDITIONS_SINCE
    known = (*_SECTIONS, "conditions") if later else _SECTIONS
    for section in data:
        if section not in known and section != _IGNORED:
            yield TemplateError(
                f"The template section is invalid: {section}",
                at=(section,),
                code=SECTION,
                hint=suggestion(section, known) or _since("conditions", section),
            )
    yield from capabilities.faults(data.get(capabilities.SECTION))
    yield from _check_resources(data.get(RESOURCES))


def _since(name: str, section: Any) -> str:
    return f"{name} exists from version {CONDITIONS_SINCE} on." if name == section else ""


def _check_resources(resources: Any) -> Iterator[TemplateError]:
    if resources is None:
        return
    if not isinstance(resources, Mapping):
        yield _no_map(resources, (RESOURCES,))
        return
    keys = frozenset((*_RESOURCE_KEYS, *RESOURCE_KEYS_LATER))
    for name in sorted(resources, key=str):
        entry = resources[name]
        if not isinstance(name, str):
            yield TemplateError(
                f"The name of a resource must be text, not {name!r}.",
                at=(RESOURCES, name),
                code=RESOURCE_SHAPE,
                hint="Put the name in quotes.",
            )
        elif not entry:
            yield _without_type((RESOURCES, name))
        elif not isinstance(entry, Mapping):
            yield _no_map(entry, (RESOURCES, name))
        elif "type" not in entry or not keys.issuperset(entry):
            yield from _check_resource(entry, keys, (RESOURCES, name))


def _check_resource(
    entry: Mapping[str, Any], keys: frozenset[str], at: Path
) -> Iterator[TemplateError]:
    for key in entry:
        if key not in keys:
            yield TemplateError(
                f'"{key}" is not a valid keyword inside a resource definition',
                at=(*at, key),
                code=RESOURCE_KEY,
                hint=suggestion(str(key), sorted(keys)),
            )
    if "type" not in entry:
        yield _without_type(at)


def _without_type(at: Path) -> TemplateError:
    return TemplateError("Each resource must contain a type key.", at=at, code=RESOURCE_TYPE)


def _no_map(value: Any, at: Path) -> TemplateError:
    return TemplateError(
        f'"resources" must contain a map of resource maps. Found a [{type(value)}] instead',
        at=at,
        code=RESOURCE_SHAPE,
    )


def check_groups(groups: Any, parameters: Mapping[str, Any]) -> Iterator[TemplateError]:
    """Faults of ``parameter_groups``; ``parameters`` are the declared names."""
    section: Path = ("parameter_groups",)
    if groups is None:
        return
    if not isinstance(groups, list):
        yield _group_fault("The parameter_groups should be a list.", section, section)
        return
    seen: set[str] = set()
    for index, group in enumerate(groups):
        at = (*section, index)
        if not isinstance(group, Mapping):
            text = f"A parameter group should be a map, not a {type_name(group)}."
            yield _group_fault(text, section, at)
        else:
            yield from _check_group(group, parameters, seen, at)


def _check_group(
    group: Mapping[str, Any], parameters: Mapping[str, Any], seen: set[str], at: Path
) -> Iterator[TemplateError]:
    path = ("parameter_groups", str(group.get("label", "")))
    names = group.get("parameters")
    if names is None:
        text = "The parameters must be provided for each parameter group."
        yield _group_fault(text, path, at)
        return
    if not isinstance(names, list):
        text = "The parameters of parameter group should be a list."
        yield _group_fault(text, path, (*at, "parameters"))
        return
    for index, name in enumerate(names):
        here = (*at, "parameters", index)
        if isinstance(name, dict | list) or name not in parameters:
            text = f"The grouped parameter {name} does not reference a valid parameter."
            yield _group_fault(text, path, here, suggestion(name, parameters))
        elif name in seen:
            text = f"The {name} parameter must be assigned to one parameter group only."
            yield _group_fault(text, path, here)
        else:
            seen.add(name)


def _group_fault(message: str, path: Path, at: Path, hint: str = "") -> TemplateError:
    return TemplateError(
        message, path=path, label="Parameter Groups error", at=at, code=GROUPS, hint=hint
    )
