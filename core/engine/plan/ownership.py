"""Ownership of objects: a physical id of a type belongs to one resource.

Two resources with one object would both update it, and whichever is deleted first destroys the
other's. So what is adopted or imported must belong to nobody in this database. Not owned are
objects that a resource only refers to (``external_id``), and those of an adoption that has not
worked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from zonda.core.store.schema.rows import ResourceRow
from zonda.hooks.errors import Conflict

from ..model import row_annotations
from ..model.definition import Node
from ..model.states import PRESENT
from ..model.unit_of_work import UnitOfWork
from ..services import EngineServices


def check_free(
    services: EngineServices,
    nodes: Mapping[str, Node],
    ids: Mapping[str, Any],
    own: tuple[str, str] = ("", ""),
) -> None:
    """Raise Conflict if another resource has one of ``ids`` (by the name of the resource).

    ``own``: stack id and name of a resource whose own older instances do not count.
    """
    wanted = {
        (_find_type(services, nodes[name]), key): name
        for name, key in ids.items()
        if isinstance(key, str) and nodes[name].cls.has_side_effects
    }
    for row, stack in services.reader().owners(key for _, key in wanted) if wanted else ():
        name = wanted.get((row.class_type or row.type, str(row.physical_id)))
        if name is None or (row.stack_id, row.name) == own or row_annotations.is_adopting(row):
            continue
        owner = f"resource {row.name} of stack {stack}"
        way_out = f"Forget that one first ('zonda stack abandon {stack}'), or refer to it with "
        if services.reader().stack_row(row.stack_id).project != services.settings.project:
            owner, way_out = "a resource of another project", "Refer to it with "
        raise Conflict(
            f"{row.physical_id} belongs to {owner} already, so it cannot become resource {name}, "
            "too.",
            hint=f"{way_out}'external_id'. Where this type's ids are not unique, give --force.",
        )


def check_still_free(
    services: EngineServices, rows: Iterable[ResourceRow], nodes: Mapping[str, Node]
) -> None:
    """Raise Conflict if another resource now has the object of one of the adopted ``rows``.

    Until their adoption has worked they own nothing, so an import or another adoption may.
    """
    handed = {
        row.name: row_annotations.read_values(services.sealer, row, row_annotations.ADOPT).get(
            "resource_id"
        )
        for row in rows
        if row.want == PRESENT and row.name in nodes and row_annotations.is_adopting(row)
    }
    check_free(services, nodes, handed)


def _find_type(services: EngineServices, node: Node) -> str:
    return services.definitions.class_type(node.cls) or node.type


def release_object(
    work: UnitOfWork, stack_id: str, name: str, physical_id: str, handed: str
) -> None:
    """Have older instances leave alone an object that is about to be bound to a new one.

    ``handed``: what the new one is handed.
    """
    for row in work.tx.resources_named(stack_id, name):
        if row.physical_id == physical_id:
            row_annotations.annotate(row, row_annotations.ADOPT, handed)
