"""The strongest operation that a plan file allows for each instance.

Set by the plan in column ``ceiling``, of nested ones as well; a stronger operation fails instead of
happening.
"""

from __future__ import annotations

from collections.abc import Mapping

from zonda.core.store.read.reader import Reader
from zonda.core.store.schema.rows import ResourceRow, StackRow

from ..model.outcomes import Prepared
from ..model.states import PRESENT
from ..plugins.reasons import format_not_in_plan
from .decision import Comparison

#: The changes of an instance that each ceiling allows.
_UNDER: Mapping[str, tuple[str, ...]] = {
    "unchanged": ("unchanged", "note", "refuse", "fail"),
    "update": ("unchanged", "note", "update", "refuse", "fail"),
}


def check_ceiling(row: ResourceRow, compared: Comparison) -> Prepared | None:
    """The refusal of an operation stronger than the plan file allows, else None."""
    allowed = _UNDER.get(row.ceiling)
    if allowed is None or compared.decision in allowed:
        return None
    return Prepared("fail", "UPDATE", format_not_in_plan(row, compared.decision), kind="NotInPlan")


def read_child_ceilings(reader: Reader, owner: ResourceRow, child: StackRow) -> dict[str, str]:
    """The ceilings of the resources of a nested stack, by name, where the plan file sets them."""
    if owner.op != "UPDATE" or not owner.ceiling or not child.generation:
        return {}
    rows = reader.resource_rows(child.id)
    return {row.name: row.ceiling for row in rows if row.want == PRESENT and row.ceiling}
