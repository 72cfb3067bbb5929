"""The changes of one resource's definition, section by section, without anything secret. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from zonda.core.template.sensitivity.labels import has_hidden_part
from zonda.hooks.records import dataclass, field
from zonda.hooks.resources.definition import ResourceDefinition

from ..plugins.reasons import OPEN
from .changes import NOTHING, Change, compare_marked, compare_values, with_forces

_ORDER = (OPEN, "sealed", "hidden")
_SCALARS = ("type", "external_id", "deletion_policy", "depends_on", "description")
_MAPS = ("metadata", "update_policy")


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks of secrets of a definition: of properties by name, and of sections."""

    properties: Mapping[str, str] = field(default_factory=dict)
    sections: Mapping[str, str] = field(default_factory=dict)
    otherwise: str = OPEN

    def of(self, name: str) -> str:
        """The mark of a property."""
        return self.properties.get(name, self.otherwise)

    def section_mark(self, section: str) -> str:
        """The mark of ``metadata`` or ``update_policy``."""
        return self.sections.get(section, self.otherwise)


#: Of a definition whose template is not there any more: nothing may be shown.
ALL_HIDDEN = Marks(otherwise="hidden")


def read_marks(definition: Any, name: str) -> Marks:
    """The marks of a resource in a template."""
    node, secrecy = definition.resources[name], definition.secrecy
    sections = {section: secrecy.of(getattr(node, section)) for section in _MAPS}
    sections["metadata"] = secrecy.classify_metadata(name)
    schemas = node.cls.properties_schema
    own = {key: "hidden" for key in schemas if has_hidden_part(schemas[key])}  # given or observed
    return Marks({**own, **node.secrecy}, sections)


def max_mark(one: str, other: str) -> str:
    """The stricter of two marks."""
    return max(one, other, key=_ORDER.index)


def list_new(wanted: ResourceDefinition, marks: Marks) -> Iterator[Change]:
    """The changes of a new resource."""
    if wanted.external_id is not None:
        yield Change(("external_id",), "added", after=wanted.external_id)
    yield from _list_property_changes({}, wanted.properties, Marks(), marks)
    for section in _MAPS:
        mark = marks.section_mark(section)
        yield from compare_marked(NOTHING, getattr(wanted, section) or NOTHING, (section,), mark)


def list_changes(
    before: ResourceDefinition,
    wanted: ResourceDefinition,
    marks: tuple[Marks, Marks],
    forces: Mapping[str, str],
) -> Iterator[Change]:
    """The changes of a resource. ``marks``: before and after; ``forces``: see ``with_forces``."""
    for key in _SCALARS:
        old, new = getattr(before, key), getattr(wanted, key)
        if key == "depends_on":
            old, new = sorted(old), sorted(new)
        yield from compare_values(_omit_empty(old), _omit_empty(new), (key,))
    for change in _list_property_changes(before.properties, wanted.properties, *marks):
        yield with_forces(change, forces)
    for section in _MAPS:
        mark = max_mark(marks[0].section_mark(section), marks[1].section_mark(section))
        old, new = getattr(before, section), getattr(wanted, section)
        yield from compare_marked(old or NOTHING, new or NOTHING, (section,), mark)


def _omit_empty(value: Any) -> Any:
    return NOTHING if value in (None, "", []) else value


def _list_property_changes(
    before: Mapping[str, Any], after: Mapping[str, Any], old: Marks, new: Marks
) -> Iterator[Change]:
    for key in dict.fromkeys((*before, *after)):
        values = before.get(key, NOTHING), after.get(key, NOTHING)
        mark = max_mark(old.of(key) if key in before else OPEN, new.of(key))
        if key not in after:
            mark = old.of(key)
        yield from compare_marked(*values, ("properties", key), mark)
