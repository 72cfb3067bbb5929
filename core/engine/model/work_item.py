"""The work of the pool: a row as a transaction saw it, with the data that its instance needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from zonda.core.store.read.reader import Reader
from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.core.store.schema.words import DRIFTED, MISSING
from zonda.core.store.values.sealing import Sealer
from zonda.core.template.evaluation.unknown_values import has_unknown
from zonda.hooks.cached_property import cached_property
from zonda.hooks.errors import TemplateError
from zonda.hooks.records import dataclass, field
from zonda.hooks.resources.definition import ResourceDefinition
from zonda.hooks.resources.nested_stack import Child
from zonda.hooks.resources.resource import Resource
from zonda.hooks.schema.properties import Properties

from . import row_annotations
from .definition import Definition
from .exempted_parts import CannotStay, overlay
from .lending import LentOperation, Onward


class Prior:
    """The present state of an instance, with what a drift check has observed.

    ``observed``: the properties that the running plan repairs; ``left``: the parts of them that it
    leaves as they are. ``is_missing``: a repair has found it missing, and no operation has begun
    since but its update; ``is_partial``: the removal of a failed creation has not ended well;
    ``is_prepared``: it was made ready for a replacement, and is to be taken back.
    """

    def __init__(self, sealer: Sealer, row: ResourceRow) -> None:
        self._sealer = sealer
        self._row = row
        self.observed: Mapping[str, Any] = {}
        self.left: Mapping[str, Sequence[str]] = {}
        self.is_missing = self.is_partial = self.is_prepared = False
        if row.given is not None:
            self._read_annotations()

    def _read_annotations(self) -> None:
        row = self._row
        self.is_missing = row_annotations.has(row, row_annotations.MISSING)
        self.is_partial = row_annotations.has(row, row_annotations.REMOVING)
        self.is_prepared = row_annotations.has(row, row_annotations.PREPARED)
        found = row_annotations.read_values(self._sealer, row, row_annotations.REPAIR)
        if found.get("generation") == row.generation:
            self.observed, self.left = found["live"], found.get("left", {})

    @property
    def drift(self) -> str:
        """The drift that the running plan repairs, or ''."""
        return MISSING if self.is_missing else DRIFTED if self.observed else ""

    @cached_property
    def definition(self) -> ResourceDefinition:
        """The definition of the last operation that succeeded, else of the first one begun.

        With what was observed instead, where the running plan repairs it.
        """
        row = self._row
        found = read_definition(self._sealer, row, row.definition or row.op_definition)
        if not self.observed:
            return found
        return found.freeze(properties={**found.properties, **self.observed})

    def adapt(self, wanted: ResourceDefinition, cls: type[Resource]) -> ResourceDefinition:
        """``wanted`` for a repair: defaults written out, exempted parts as they are."""
        there = self.observed
        if not there:
            return wanted
        properties = dict(wanted.properties)
        known = Properties(cls.properties_schema, properties)
        names = [name for name in there if name in known and not has_unknown(properties.get(name))]
        with suppress(TemplateError):  # that it does not fit is told by who reads it
            properties.update(known.get_sent_values(*names))
        for name, each in self.left.items():
            try:
                properties[name] = overlay(properties.get(name), there.get(name), each)
            except CannotStay:  # the template's value is another one by now
                properties[name] = there.get(name)
        return wanted.freeze(properties=properties)


def take_desired(row: ResourceRow) -> None:
    """Make the definition of the operation of ``row`` its present one."""
    row.have_hash, row.have_template_id = row.op_hash, row.op_template_id
    row.definition, row.properties = row.op_definition, row.op_properties
    row.resolved_hash = row.op_resolved


def read_definition(sealer: Sealer, row: ResourceRow, text: str | None) -> ResourceDefinition:
    """A definition from a column of ``row``."""
    values: Mapping[str, Any] = sealer.load(text) or {"type": row.type}
    return ResourceDefinition(
        row.name, **{**values, "depends_on": tuple(values.get("depends_on", ()))}
    )


@dataclass(frozen=True, slots=True)
class Observation:
    """A drift check of one resource: the data of its call, and the data that it keeps."""

    operation: LentOperation
    kept: dict[str, Any]


@dataclass(frozen=True, slots=True)
class WorkItem:
    """A row as a transaction saw it, with the data that an instance needs.

    ``fresh``: its operation was begun in that transaction, so nothing was called yet.
    ``found``: what its instance has looked up elsewhere so far; ``lent``: the named secrets that it
    was told.
    ``definition``: the template it is seen by, where that is only shown; ``nested``: its nested
    stack, likewise. ``observation``: this is a drift check.
    """

    row: ResourceRow
    stack: StackRow
    data: list[tuple[str, str, int]] = field(default_factory=list)
    required: list[ResourceRow] = field(default_factory=list)
    fresh: bool = False
    found: list[ResourceRow] = field(default_factory=list)
    lent: dict[str, str] = field(default_factory=dict, repr=False)
    onward: list[Onward] | None = None
    definition: Definition | None = None
    nested: Child | None = None
    observation: Observation | None = None
    _prior: Prior | None = field(default=None, init=False, repr=False, compare=False)

    def read_prior(self, sealer: Sealer) -> Prior:
        """The present state of the instance, worked out once."""
        if self._prior is None:
            object.__setattr__(self, "_prior", Prior(sealer, self.row))
        assert self._prior is not None
        return self._prior

    @classmethod
    def read(cls, reader: Reader, key: str) -> WorkItem | None:
        """The work item of the instance ``key`` as it is stored; None where there is none."""
        with reader.snapshot():
            row = reader.resource_row(key)
            if row is None:
                return None
            return cls(row, reader.stack_row(row.stack_id), reader.read_sealed_data(key))
