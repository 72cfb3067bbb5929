"""A nested stack in its planned state, for the plug-in of its owner; unknown values raise.

Implements ``hooks.nested.Child``. Whatever would have to be guessed raises ``UnknownUntilRun``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from zonda.core.store.schema.rows import ResourceRow
from zonda.core.template.evaluation.unknown_values import UNKNOWN, UnknownUntilRun, has_unknown
from zonda.hooks.cached_property import cached_property

from ..model.states import COMPLETE
from ..plugins.reasons import OPEN
from .entries import Entry, Inside
from .outputs import resolve_output


class PlannedChild:
    """The nested stack of ``inside``. ``is_strict``: a partly unknown output raises.

    ``tells_secrets``: whether what its template marks as secret may be told, too.
    """

    def __init__(self, inside: Inside, *, is_strict: bool, tells_secrets: bool) -> None:
        self.inside = inside
        self._is_strict = is_strict
        self.tells_secrets = tells_secrets
        self._known: dict[str, Any] = {}

    @cached_property
    def entries(self) -> Mapping[str, Entry]:
        """The entries of its resources, by name; desired ones come first."""
        return {each.name: each for each in reversed(self.inside.entries)}

    @property
    def id(self) -> str:
        """Its id."""
        self._check_exists()
        return self.inside.stack.id

    @property
    def name(self) -> str:
        """Its name."""
        self._check_exists()
        return self.inside.stack.name

    def _check_exists(self) -> None:
        if not self.inside.stack.generation:
            raise UnknownUntilRun

    @property
    def action(self) -> str:
        """The action of the plan."""
        return self.inside.action

    @property
    def status(self) -> str:
        """The status after success."""
        return COMPLETE

    @property
    def is_healthy(self) -> bool:
        """True: the state after success."""
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
        """The value of an output, with unknown parts."""
        output = self.inside.definition.outputs[name]
        if output.secrecy != OPEN and not self.tells_secrets:
            raise UnknownUntilRun
        if name not in self._known:
            self._known[name] = self._resolve_output(output)
        value = self._known[name]
        if value is UNKNOWN or (self._is_strict and has_unknown(value)):
            raise UnknownUntilRun
        return value

    def _resolve_output(self, output: Any) -> Any:
        value, error = resolve_output(self.inside.definition, output, self.inside.values)
        return value if error is None else UNKNOWN


class PlannedMember:
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
        """The value of ``get_resource``."""
        marks = self._child.inside.definition.secrecy
        self._check_visible(marks.classify_reference(self.name))
        return self._child.inside.values.reference(self.name)

    def _check_visible(self, mark: str) -> None:
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
    def physical_id(self) -> str | None:
        """Its physical id."""
        return self._row.physical_id

    @property
    def action(self) -> str:
        """The last action."""
        return self._row.action

    @property
    def status(self) -> str:
        """The status of the last action."""
        return self._row.status

    @property
    def created_at(self) -> float:
        """The time at which it was first made."""
        return self._row.created_at

    @property
    def is_current(self) -> bool:
        """True: the state after success."""
        return True

    @property
    def definition(self) -> Mapping[str, Any]:
        """Its entry in the template that it will be made from."""
        raw: Mapping[str, Any] = self._node.raw
        return raw

    def attribute(self, name: str, *path: Any) -> Any:
        """The value of an attribute, below ``path``."""
        marks = self._child.inside.definition.secrecy
        self._check_visible(marks.classify_attribute(self.name, name, path))
        return self._child.inside.values.attribute(self.name, name, path)
