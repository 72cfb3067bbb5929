"""Rows as the engine holds them while a transaction runs: mutable, one field per column.

The fields stand in the order of the columns in ``tables.py`` (a test compares them).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from operator import attrgetter, itemgetter
from typing import Any


@dataclass(slots=True)
class StackRow:
    """One row of ``stack``."""

    id: str
    project: str
    name: str
    owner_resource_id: str | None = None
    generation: int = 0
    phase: str = "IDLE"
    remaining: int = 0
    halted: int = 0
    failures: str = "[]"
    next_action: str = ""
    note: str = ""
    action: str = ""
    status: str = ""
    status_reason: str = ""
    template_id: str | None = None
    good_template_id: str | None = None
    disable_rollback: int = 1
    timeout_mins: int = 60
    deadline: float | None = None
    description: str = ""
    tags: str = "[]"
    drift_policy: str = "OFF"
    drift_schedule: str = ""
    drift_next: float | None = None
    created_at: float = 0.0
    updated_at: float | None = None
    deleted_at: float | None = None


@dataclass(slots=True)
class ResourceRow:
    """One row of ``resource``."""

    id: str
    stack_id: str
    name: str
    type: str
    class_type: str = ""
    replaces_id: str | None = None
    generation: int = 0
    want: str = "PRESENT"
    verb: str = ""
    want_hash: str = ""
    want_template_id: str | None = None
    requires: str = "[]"
    waiting: int = 0
    dirty: int = 0
    open: int = 0
    action: str = "INIT"
    status: str = "COMPLETE"
    status_reason: str = ""
    have_hash: str = ""
    resolved_hash: str = ""
    have_template_id: str | None = None
    definition: str | None = None
    properties: str | None = None
    hidden: str = "{}"
    retain: int = 0
    external_id: str | None = None
    physical_id: str | None = None
    reference: str | None = None
    outputs: str | None = None
    outputs_hash: str = ""
    meta: str = "{}"
    op: str = ""
    op_id: str | None = None
    op_gen: int = 0
    op_hash: str = ""
    op_template_id: str | None = None
    op_definition: str | None = None
    op_properties: str | None = None
    op_resolved: str = ""
    op_state: str = ""
    token: str | None = None
    is_volatile: int = 0
    attempt: int = 0
    started_at: float | None = None
    deadline: float | None = None
    fence: int = 0
    owner: str = ""
    created_at: float = 0.0
    updated_at: float = 0.0


@dataclass(slots=True)
class PlanRow:
    """What a plan must know of an instance."""

    id: str
    name: str
    want: str
    want_hash: str
    action: str
    status: str
    have_hash: str
    physical_id: str | None
    op: str
    dirty: int


@dataclass(slots=True)
class EventRow:
    """One row of ``event``; ``seq`` is given by the database."""

    id: str
    stack_id: str
    stack_name: str
    generation: int
    resource_id: str | None
    resource_name: str
    resource_type: str
    physical_id: str | None
    action: str
    status: str
    reason: str
    at: float


def columns(row_type: type[Any]) -> tuple[str, ...]:
    """The column names of a row type, in order."""
    return tuple(item.name for item in fields(row_type))


#: Never rewritten once a row is there.
FIXED = frozenset({"id", "stack_id", "name", "created_at"})


#: Columns that stand in an index. An update that leaves them out touches no page of an index.
INDEXED = {
    StackRow: frozenset({"project", "deleted_at", "drift_next"}),
    ResourceRow: frozenset({"open", "op", "op_id", "deadline"}),
}


def _changing(row_type: type[Any], but: frozenset[str] = FIXED) -> tuple[str, ...]:
    return tuple(name for name in columns(row_type) if name not in FIXED | but)


def _places(row_type: type[Any]) -> tuple[int, ...]:
    return tuple(columns(row_type).index(name) for name in sorted(INDEXED[row_type]))


stack_values = attrgetter(*columns(StackRow))
stack_changing = attrgetter(*_changing(StackRow))
resource_values = attrgetter(*columns(ResourceRow))
resource_changing = attrgetter(*_changing(ResourceRow))
#: The changing columns that stand in no index, of a row; and the indexed ones, of its values.
stack_stepping = attrgetter(*_changing(StackRow, INDEXED[StackRow]))
stack_indexed = itemgetter(*_places(StackRow))
resource_stepping = attrgetter(*_changing(ResourceRow, INDEXED[ResourceRow]))
resource_indexed = itemgetter(*_places(ResourceRow))
event_values = attrgetter(*columns(EventRow))


def copied(row: ResourceRow) -> ResourceRow:
    """The row as it is now: what leaves a transaction must not change with it."""
    return ResourceRow(*resource_values(row))
