"""The outermost shape of a template: its sections, and the keys of every resource.

Called by ``stack.load`` first of all. What stands inside the sections is other modules' matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sized
from typing import Any

from zonda.hooks.errors import Path, TemplateError, TooManyResources

from ..capabilities import section as capabilities
from ..source.diagnostics import (
    GROUPS,
    RESOURCE_KEY,
    RESOURCE_SHAPE,
    RESOURCE_TYPE,
    SECTION,
    format_type_name,
    suggestion,
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
#: The keys of resources from version ``CONDITIONS_SINCE`` on.
RESOURCE_KEYS_LATER = ("condition", "external_id")


def find_section_faults(data: Mapping[str, Any], version: str) -> Iterator[TemplateError]:
    """Yield faults of unknown sections, and of resources without the right keys."""
    later = version >= CONDITIONS_SINCE
    known = (*_SECTIONS, "conditions") if later else _SECTIONS
    for section in data:
        if section not in known and section != _IGNORED:
            since = f"conditions exists from version {CONDITIONS_SINCE} on."
            yield TemplateError(
                f"The template section is invalid: {section}",
                at=(section,),
                code=SECTION,
                hint=suggestion(section, known) or (since if section == "conditions" else ""),
            )
    yield from capabilities.find_faults(data.get(capabilities.SECTION))
    yield from _find_resource_faults(data.get(RESOURCES))


def _find_resource_faults(resources: Any) -> Iterator[TemplateError]:
    if not resources:  # whatever is empty, as in Heat
        return
    if not isinstance(resources, Mapping):
        yield _make_map_fault(resources, (RESOURCES,))
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
            yield _make_type_fault((RESOURCES, name))
        elif not isinstance(entry, Mapping):
            yield _make_map_fault(entry, (RESOURCES, name))
        elif "type" not in entry or not keys.issuperset(entry):
            yield from _find_key_faults(entry, keys, (RESOURCES, name))


def _find_key_faults(
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
        yield _make_type_fault(at)


def _make_type_fault(at: Path) -> TemplateError:
    return TemplateError("Each resource must contain a type key.", at=at, code=RESOURCE_TYPE)


def _make_map_fault(value: Any, at: Path) -> TemplateError:
    return TemplateError(
        f'"resources" must contain a map of resource maps. Found a [{type(value)}] instead',
        at=at,
        code=RESOURCE_SHAPE,
    )


def find_group_faults(groups: Any, parameters: Mapping[str, Any]) -> Iterator[TemplateError]:
    """Yield faults of ``parameter_groups``; ``parameters`` are the declared names."""
    section: Path = ("parameter_groups",)
    if not groups:
        return
    if not isinstance(groups, list):
        yield _make_group_fault("The parameter_groups should be a list.", section, section)
        return
    seen: set[str] = set()
    for index, group in enumerate(groups):
        at = (*section, index)
        if not isinstance(group, Mapping):
            text = f"A parameter group should be a map, not a {format_type_name(group)}."
            yield _make_group_fault(text, section, at)
        else:
            yield from _find_faults_of_group(group, parameters, seen, at)


def _find_faults_of_group(
    group: Mapping[str, Any], parameters: Mapping[str, Any], seen: set[str], at: Path
) -> Iterator[TemplateError]:
    path = ("parameter_groups", str(group.get("label", "")))
    names = group.get("parameters")
    if names is None:
        text = "The parameters must be provided for each parameter group."
        yield _make_group_fault(text, path, at)
        return
    if not isinstance(names, list):
        text = "The parameters of parameter group should be a list."
        yield _make_group_fault(text, path, (*at, "parameters"))
        return
    for index, name in enumerate(names):
        here = (*at, "parameters", index)
        if isinstance(name, dict | list) or name not in parameters:
            text = f"The grouped parameter {name} does not reference a valid parameter."
            yield _make_group_fault(text, path, here, suggestion(name, parameters))
        elif name in seen:
            text = f"The {name} parameter must be assigned to one parameter group only."
            yield _make_group_fault(text, path, here)
        else:
            seen.add(name)


def _make_group_fault(message: str, path: Path, at: Path, hint: str = "") -> TemplateError:
    return TemplateError(
        message, path=path, label="Parameter Groups error", at=at, code=GROUPS, hint=hint
    )


def check_size(resources: Sized, most: int) -> None:
    """Raise TooManyResources where there are more than ``most``."""
    if len(resources) > most:
        raise TooManyResources(len(resources), most, at=(RESOURCES,))
