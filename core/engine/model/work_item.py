"""The work of the pool: a row as a transaction saw it, with the data that its instance needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.hooks.resources.nested_stack import Child

from .definition import Definition
from .lending import LentOperation, Onward


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
