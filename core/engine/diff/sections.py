"""The changes of one resource's definition, section by section, without anything secret. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from zonda.core.template.sensitivity.labels import hides
from zonda.hooks.resources.definition import ResourceDefinition

from ..plugins.reasons import OPEN
from .changes import NOTHING, Change, changes, forced, hidden

_ORDER = (OPEN, "sealed", "hidden")
_SCALARS = ("type", "external_id", "deletion_policy", "depends_on", "description")
_MAPS = ("metadata", "update_policy")


@dataclass(frozen=True, slots=True)
class Marks:
    """What may not be shown of a definition: marks of properties by name, and of sections."""

    properties: Mapping[str, str] = field(default_factory=dict)
    sections: Mapping[str, str] = field(default_factory=dict)
    otherwise: str = OPEN

    def of(self, name: str) -> str:
        """The mark of a property."""
        return self.properties.get(name, self.otherwise)

    def of_section(self, section: str) -> str:
        """The mark of ``metadata`` or ``update_policy``."""
        return self.sections.get(section, self.otherwise)


#: Of a definition whose template is not there any more: nothing may be shown.
ALL_HIDDEN = Marks(otherwise="hidden")


def marks_of(definition: Any, name: str) -> Marks:
    """The marks of a resource in a template."""
    node, secrecy = definition.resources[name], definition.secrecy
    sections = {section: secrecy.of(getattr(node, section)) for section in _MAPS}
    sections["metadata"] = secrecy.of_metadata(name)
    schemas = node.cls.properties_schema
    own = {key: "hidden" for key in schemas if hides(schemas[key])}  # given or observed
    return Marks({**own, **node.secrecy}, sections)


def stricter(one: str, other: str) -> str:
    """The stricter of two marks."""
    return max(one, other, key=_ORDER.index)


def of_new(wanted: ResourceDefinition, marks: Marks) -> Iterator[Change]:
    """What a resource is made with."""
    if wanted.external_id is not None:
        yield Change(("external_id",), "added", after=wanted.external_id)
    yield from _properties({}, wanted.properties, Marks(), marks)
    for section in _MAPS:
        mark = marks.of_section(section)
        yield from _section(getattr(wanted, section) or NOTHING, NOTHING, section, mark)


def of_existing(
    before: ResourceDefinition,
    wanted: ResourceDefinition,
    marks: tuple[Marks, Marks],
    forces: Mapping[str, str],
) -> Iterator[Change]:
    """What changes of a resource. ``marks``: before and after; ``forces``: see ``forced``."""
    for key in _SCALARS:
        old, new = getattr(before, key), getattr(wanted, key)
        if key == "depends_on":
            old, new = sorted(old), sorted(new)
        yield from changes(_given(old), _given(new), (key,))
    for change in _properties(before.properties, wanted.properties, *marks):
        yield forced(change, forces)
    for section in _MAPS:
        mark = stricter(marks[0].of_section(section), marks[1].of_section(section))
        old, new = getattr(before, section), getattr(wanted, section)
        yield from _section(new or NOTHING, old or NOTHING, section, mark)


def _given(value: Any) -> Any:
    return NOTHING if value in (None, "", []) else value


def _properties(
    before: Mapping[str, Any], after: Mapping[str, Any], old: Marks, new: Marks
) -> Iterator[Change]:
    for key in dict.fromkeys((*before, *after)):
        values = before.get(key, NOTHING), after.get(key, NOTHING)
        mark = stricter(old.of(key) if key in before else OPEN, new.of(key))
        if key not in after:
            mark = old.of(key)
        if mark == OPEN:
            yield from changes(*values, ("properties", key))
        else:
            yield from hidden(*values, ("properties", key), mark)


def _section(after: Any, before: Any, section: str, mark: str) -> Iterator[Change]:
    if mark == OPEN:
        yield from changes(before, after, (section,))
    else:
        yield from hidden(before, after, (section,), mark)
