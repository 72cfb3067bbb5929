"""Refuses a plan that would delete protected members of resources that stay.

What a plan deletes of the stack itself is seen in its transaction (``protection.check_plan``). What
an owner would drop of its nested stack only shows when its plug-in is asked, which is done here as
for a plan that is only shown. What is not certain yet, and replacements, are refused when their
turn comes. Called by ``runners``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from zonda.core.store.schema.rows import StackRow

from ..model.plan import StackPlan
from ..model.states import PRESENT
from ..preview.children import Below
from ..preview.entries import Entry
from ..preview.walk import Walk
from ..progress import protection
from ..progress.protection import Protection
from ..services import EngineServices

_DOES_SOMETHING = ("update", "replace", "delete")


def check(services: EngineServices, stack: StackRow, proposal: StackPlan) -> None:
    """Raise Conflict where something protected would be deleted below."""
    below = Below(services, stack, proposal)
    if not below.children:
        return
    walk = Walk(services, stack, proposal, services.reader().resource_rows(stack.id), below)
    held = list(_list_protected_below(walk.entries()))
    # what has had another plan meanwhile is proposed anew
    if held and services.reader().stack_row(stack.id).generation == proposal.generation:
        raise protection.build_conflict(stack, held)


def _list_protected_below(entries: Iterable[Entry]) -> Iterator[Protection]:
    for entry in entries:
        if entry.action in _DOES_SOMETHING and not entry.perhaps:
            for inside in entry.nested:
                yield from _list_protected(inside.entries)
                yield from _list_protected_below(inside.entries)


def _list_protected(entries: Iterable[Entry]) -> Iterator[Protection]:
    for entry in entries:
        if entry.held is not None and entry.row is not None and entry.row.want == PRESENT:
            yield entry.held
