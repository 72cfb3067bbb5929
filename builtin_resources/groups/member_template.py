"""Templates that groups make: plain data, the values of properties as they are.

Called by the types that are groups. What a template's outputs read of the members is what the
template above reads of the group, so that an attribute nobody has is found when it is validated.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

VERSION: Final = "2015-04-30"

Entry = dict[str, Any]
#: The keys of a member's definition that are read; Heat ignores the rest.
KEYS: Final = (
    "type",
    "properties",
    "metadata",
    "deletion_policy",
    "update_policy",
    "description",
)
#: A path that a template reads of a group: (attribute, key, index, ...).
ReadPath = tuple[Any, ...]


def build_entry(
    type_name: str,
    properties: Mapping[str, Any],
    metadata: Mapping[str, Any] | None = None,
    depends_on: str | None = None,
) -> Entry:
    """The definition of one member; what is empty is left out."""
    made: Entry = {"type": type_name}
    if properties:
        made["properties"] = dict(properties)
    if metadata:
        made["metadata"] = dict(metadata)
    if depends_on is not None:
        made["depends_on"] = [depends_on]
    return made


def build_template(
    entries: Mapping[str, Mapping[str, Any]], outputs: Mapping[str, Any]
) -> dict[str, Any]:
    """A template with these resources, and outputs with these values."""
    made: dict[str, Any] = {"heat_template_version": VERSION, "resources": dict(entries)}
    if outputs:
        made["outputs"] = {name: {"value": value} for name, value in outputs.items()}
    return made


def format_output_name(path: Sequence[Any]) -> str:
    """The name of the output that stands for a path, in Heat's form."""
    return ", ".join(str(item) for item in path)


def build_call(member: str, path: Sequence[Any]) -> dict[str, Any]:
    """A call that reads an attribute of a member."""
    return {"get_attr": [member, *path]}


def build_attribute_list(names: Iterable[str], path: Sequence[Any]) -> list[Any]:
    """The attribute of each member."""
    return [build_call(name, path) for name in names]


def build_attribute_map(names: Iterable[str], path: Sequence[Any]) -> dict[str, Any]:
    """The attribute of each member, by name."""
    return {name: build_call(name, path) for name in names}


def build_member_call(names: Collection[str], path: Sequence[Any]) -> Any:
    """The call for ``resource.NAME.ATTRIBUTE``; None where that is a reference or nothing."""
    name, _, attribute = str(path[0]).removeprefix("resource.").partition(".")
    below = [attribute, *path[1:]] if attribute else list(path[1:])
    return build_call(name, below) if below and name in names else None


def sort_paths(paths: Collection[ReadPath]) -> list[ReadPath]:
    """The paths in an order that is always the same."""
    return sorted(paths, key=lambda path: tuple(str(item) for item in path))
