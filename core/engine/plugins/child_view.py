"""Nested stacks as plug-ins see them (``hooks.nested.Child``): read in the pool, never written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from zonda.core.store.read.reader import Reader
from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.hooks.cached_property import cached_property

from ..model.definition import Definition
from ..model.states import COMPLETE, FAILED, IDLE, PRESENT
from .values import RowValues


class ChildView:
    """One nested stack as it was when it was asked for; its resources are read when used.

    ``build_values`` makes what gives the attributes of its rows.
    """

    def __init__(
        self,
        row: StackRow,
        reader: Reader,
        define: Callable[[str], Definition],
        build_values: Callable[[StackRow, Iterable[ResourceRow]], RowValues],
    ) -> None:
        self.row = row
        self.id, self.name = row.id, row.name
        #: The last action, and its status.
        self.action, self.status = row.action, row.status
        self._reader = reader
        self._define = define
        self._build_values = build_values

    @cached_property
    def is_healthy(self) -> bool:
        """Whether all of it is as its template says, as far as known."""
        if self.row.status != COMPLETE or self.row.phase != IDLE or self.row.action == "DELETE":
            return False
        return not any(
            each.dirty or each.status == FAILED or each.want != PRESENT for each in self._all_rows
        )

    def members(self) -> Sequence[MemberView]:
        """Its resources, in the order of its template."""
        return list(self._members.values())

    def member(self, name: str) -> MemberView | None:
        """The resource of that name."""
        return self._members.get(name)

    def output_names(self) -> Sequence[str]:
        """The outputs of its template."""
        return () if self._definition is None else list(self._definition.outputs)

    def has_output(self, name: str) -> bool:
        """Whether its template has that output."""
        return self._definition is not None and name in self._definition.outputs

    def output(self, name: str) -> Any:
        """The value of an output; raises what its expression raises."""
        assert self._definition is not None
        return _copy(self._definition.outputs[name].resolve(self._scope))

    def entry(self, name: str) -> Mapping[str, Any]:
        """The entry of a resource in the present template."""
        assert self._definition is not None
        raw: Mapping[str, Any] = self._definition.resources[name].raw
        return raw

    @cached_property
    def values(self) -> RowValues:
        """The attributes of its resources."""
        return self._build_values(self.row, self._rows.values())

    @cached_property
    def _scope(self) -> Any:
        assert self._definition is not None
        return self._definition.scope(self.values)

    @cached_property
    def _definition(self) -> Definition | None:
        return None if self.row.template_id is None else self._define(self.row.template_id)

    @cached_property
    def _all_rows(self) -> list[ResourceRow]:
        return self._reader.resource_rows(self.row.id)

    @cached_property
    def _rows(self) -> dict[str, ResourceRow]:
        return {row.name: row for row in self._all_rows if row.want == PRESENT}

    @cached_property
    def _members(self) -> dict[str, MemberView]:
        if self._definition is None:
            return {}
        return {
            name: MemberView(self, self._rows[name])
            for name in self._definition.resources
            if name in self._rows
        }


class MemberView:
    """One resource of a nested stack; ``type``: as the nested template says."""

    def __init__(self, child: ChildView, row: ResourceRow) -> None:
        self._child = child
        self.name, self.type, self.physical_id = row.name, row.type, row.physical_id
        #: The last action, and its status.
        self.action, self.status = row.action, row.status
        #: The time of its creation.
        self.created_at = row.created_at
        self.is_current = row.status == COMPLETE and row.want_hash == row.have_hash

    @property
    def reference(self) -> Any:
        """The value of ``get_resource``."""
        return self._child.values.reference(self.name)

    @property
    def definition(self) -> Mapping[str, Any]:
        """Its entry in the nested stack's present template."""
        return self._child.entry(self.name)

    def attribute(self, name: str, *path: Any) -> Any:
        """The value of an attribute, below ``path``: the caller's own, who may sort it in place."""
        return _copy(self._child.values.attribute(self.name, name, path))


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list) else value
