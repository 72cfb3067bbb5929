"""Parts of a stack from another template than the rest: an action was for a part only.

A plan stores which names it leaves ``outside``. Once it has worked, ``good_parts`` tells what those
are instead: name -> the template they are from, or None where there is no such resource. So what a
rollback goes back to is what there was, and not a template that was never carried out as a whole.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.hooks.errors import Conflict
from zonda.hooks.records import replace

from ..model.plan import Desired, Selection
from ..model.states import PRESENT
from ..model.unit_of_work import UnitOfWork

Parts = Mapping[str, str | None]


def begin(work: UnitOfWork, stack: StackRow, selection: Selection | None) -> None:
    """Record a plan for ``selection``. Raises Conflict where it leaves out a running operation."""
    names = () if selection is None else selection.outside
    there = _list_present(work, stack) if names else {}
    for name in names:
        for row in there.get(name, ()):
            if row.op:
                raise Conflict(
                    f"Resource {name} cannot be left as it is: its {row.op} is running.",
                    hint="Wait for its end, or cancel with 'zonda stack cancel --no-rollback'.",
                )
    stack.outside = json.dumps(list(names))


def record_success(work: UnitOfWork, stack: StackRow) -> None:
    """Record that the plan of a template has worked; called before it is the last good one."""
    names = dict.fromkeys(read_excluded(stack))
    if stack.action == "ROLLBACK" and stack.template_id == stack.good_template_id:
        names.update(dict.fromkeys(read_good_parts(stack)))
    found: dict[str, str | None] = {}
    there = _list_present(work, stack) if names else {}
    for name in names:
        rows = there.get(name, ())
        found[name] = rows[-1].have_template_id if rows else None
    stack.good_parts = json.dumps(found)


def read_excluded(stack: StackRow) -> list[str]:
    """The names that the last plan of a template was not for."""
    names: list[str] = json.loads(stack.outside)
    return names


def read_good_parts(stack: StackRow) -> Parts:
    """The parts that are not as the last good template says."""
    found: Parts = json.loads(stack.good_parts)
    return found


def list_named(wanted: Sequence[Desired], name: str, template_id: str) -> list[Desired]:
    """The desired resources of a template with one name."""
    return [replace(item, template_id=template_id) for item in wanted if item.name == name]


def _list_present(work: UnitOfWork, stack: StackRow) -> dict[str, list[ResourceRow]]:
    """The present instances of each name, the oldest first, read at once."""
    found: dict[str, list[ResourceRow]] = {}
    for row in work.tx.resources_of(stack.id):
        if row.want == PRESENT:
            found.setdefault(row.name, []).append(row)
    return found
