"""The instance that a successor replaces: it is made ready for that, or it is taken back.

Some things only one can have: a port, an address, a name. A type whose instances hold one says so
by ``prepare_for_replace``, which lets go of it before the successor is made; ``restore_replaced``
gets it back where a plan takes the old instance again. In the pool; called by ``operation``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from zonda.hooks.resources.resource import Resource

from ..model.work_item import WorkItem
from .instances import Instances


def find_preparation(of: type[Resource] | Resource) -> Callable[..., Any] | None:
    """``prepare_for_replace`` of a type or an instance; None where the type has none."""
    found: Callable[..., Any] | None = getattr(of, "prepare_for_replace", None)
    return found


def restore(instances: Instances, seen: WorkItem, instance: Resource) -> None:
    """Have an instance that was made ready for its replacement get back what it let go of.

    A type without ``restore_replaced`` holds nothing that it needs afterwards.
    """
    take_back = getattr(instance, "restore_replaced", None)
    if take_back is not None:
        take_back(_find_successor(instances, seen))


def _find_successor(instances: Instances, seen: WorkItem) -> Resource | None:
    """The newest of the instances made in its place, for reading; None where none was made."""
    row, reader = seen.row, instances.definitions.reader
    made = [
        each
        for each in reader.resource_rows(row.stack_id)
        if each.name == row.name and each.id != row.id and each.physical_id is not None
    ]
    if not made:
        return None
    last = max(made, key=lambda each: each.id)
    return instances.make_for_reading(WorkItem(last, seen.stack, reader.read_sealed_data(last.id)))
