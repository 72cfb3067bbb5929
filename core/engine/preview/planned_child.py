"""A nested stack as it will be, for the plug-in of its owner: what is not known yet is not told.

Implements ``hooks.nested.Child``. Whatever would have to be guessed raises ``UnknownUntilRun``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from zonda.core.store.schema.rows import ResourceRow
from zonda.core.template.evaluation.unknown_values import UNKNOWN, UnknownUntilRun, has_unknown

from ..model.states import COMPLETE
from ..plugins.child_view import RowFacts
from ..plugins.reasons import OPEN
from .entries import Entry, Inside
from .outputs import value_of


class PlannedChild:
    """The nested stack of ``inside``. ``is_strict``: an output that is open in part is not told.

    ``tells_secrets``: whether what its template marks as secret may be told, too.
    """

    def __init__(self, inside: Inside, *, is_strict: bool, tells_secrets: bool) -> None:
        self.inside = inside
        self._is_strict = is_strict
        self.tells_secrets = tells_secrets
        self._known: dict[str, Any] = {}

    @cached_property
    def entries(self) -> Mapping[str, Entry]:
        """What becomes of its resources, by name; those that are wanted come first."""
        return {each.name: each for each in reversed(self.inside.entries)}

    @property
    def id(self) -> str:
        """Its id."""
        self._must_be_there()
        return self.inside.stack.id

    @property
    def name(self) -> str:
        """Its name."""
        self._must_be_there()
        return self.inside.stack.name

    def _must_be_there(self) -> None:
        if not self.inside.stack.generation:
            raise UnknownUntilRun

    @property
    def action(self) -> str:
        """The action of the plan."""
        return self.inside.action

    @property
    def status(self) -> str:
        """As it is when all went well."""
        return COMPLETE

    @property
    def is_healthy(self) -> bool:
        """As it is when all went well."""
        return True

    def members(self) -> Sequence[PlannedMember]:
        """Its resources, in the order of its template."""
        nodes = self.inside.definition.resources.values()
        if not all(node.is_certain for node in nodes):
            raise UnknownUntilRun
        return [PlannedMember(self, node) for node in nodes]

    def member(self, name: str) -> PlannedMember | None:
        """The resource of that name."""
        node = self.inside.definition.resources.get(name)
        if node is None:
            return None
        if not node.is_certain:
            raise UnknownUntilRun
        return PlannedMember(self, node)

    def output_names(self) -> Sequence[str]:
        """The outputs of its template."""
        return list(self.inside.definition.outputs)

    def has_output(self, name: str) -> bool:
        """Whether its template has that output."""
        return name in self.inside.definition.outputs

    def output(self, name: str) -> Any:
        """The value of an output, with what is known later left open."""
        output = self.inside.definition.outputs[name]
        if output.secrecy != OPEN and not self.tells_secrets:
            raise UnknownUntilRun
        if name not in self._known:
            self._known[name] = self._resolved(output)
        value = self._known[name]
        if value is UNKNOWN or (self._is_strict and has_unknown(value)):
            raise UnknownUntilRun
        return value

    def _resolved(self, output: Any) -> Any:
        value, error = value_of(self.inside.definition, output, self.inside.values)
        return value if error is None else UNKNOWN


class PlannedMember(RowFacts):
    """One resource of it."""

    def __init__(self, child: PlannedChild, node: Any) -> None:
        self._child = child
        self._node = node

    @property
    def name(self) -> str:
        """Its name."""
        return str(self._node.name)

    @property
    def type(self) -> str:
        """Its type, as the nested template says."""
        return str(self._node.type)

    @property
    def reference(self) -> Any:
        """What ``get_resource`` gives."""
        marks = self._child.inside.definition.secrecy
        self._may_be_told(marks.of_reference(self.name))
        return self._child.inside.values.reference(self.name)

    def _may_be_told(self, mark: str) -> None:
        if mark != OPEN and not self._child.tells_secrets:
            raise UnknownUntilRun

    @property
    def _row(self) -> ResourceRow:
        """Its row, where the plan does nothing to it."""
        entry = self._child.entries.get(self.name)
        if entry is None or entry.row is None or entry.action != "none" or entry.may:
            raise UnknownUntilRun
        return entry.row

    @property
    def definition(self) -> Mapping[str, Any]:
        """Its entry in the template that it will be made from."""
        raw: Mapping[str, Any] = self._node.raw
        return raw

    def attribute(self, name: str, *path: Any) -> Any:
        """The value of an attribute, below ``path``."""
        marks = self._child.inside.definition.secrecy
        self._may_be_told(marks.of_attribute(self.name, name, path))
        return self._child.inside.values.attribute(self.name, name, path)
