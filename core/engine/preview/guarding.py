"""Refuses a plan that would delete what is protected inside of owners that stay, before it begins.

What a plan deletes of the stack itself is seen in its transaction (``protection.check``). What an
owner would drop of its nested stack only shows when its plug-in is asked, which is done here as for
a plan that is only shown. What is not certain yet, and replacements, are refused when their turn
comes. Called by ``acting`` for what a user asks for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from zonda.core.engine import protection
from zonda.core.engine.planning import Proposal
from zonda.core.engine.plans import propose
from zonda.core.engine.protection import Protection
from zonda.core.engine.room import Room
from zonda.core.engine.states import PRESENT
from zonda.core.store.rows import StackRow
from zonda.core.template import policies

from .below import Below
from .entries import Entry
from .walk import Walk

_DOES_SOMETHING = ("update", "replace", "delete")


def guarded(room: Room, action: Any) -> tuple[Proposal | None, StackRow]:
    """As ``propose``; raises Conflict where something protected would be deleted below."""
    proposal, stack = propose(room, action)
    if proposal is not None and proposal.wanted and _may_be_held(room, stack, proposal):
        _check(room, stack, proposal)
    return proposal, stack


def _may_be_held(room: Room, stack: StackRow, proposal: Proposal) -> bool:
    if not proposal.generation:
        return False
    known = policies.read(str(proposal.changes.get("policies", stack.policies)))
    return known.protects_any or room.reader().has_protected(stack.id)


def _check(room: Room, stack: StackRow, proposal: Proposal) -> None:
    below = Below(room, stack, proposal)
    if not below.children:
        return
    walk = Walk(room, stack, proposal, room.reader().resource_rows(stack.id), below)
    held = list(_held_below(walk.entries()))
    # what has had another plan meanwhile is proposed anew
    if held and room.reader().stack_row(stack.id).generation == proposal.generation:
        raise protection.deleting(stack, held)


def _held_below(entries: Iterable[Entry]) -> Iterator[Protection]:
    for entry in entries:
        if entry.action in _DOES_SOMETHING and not entry.perhaps:
            for inside in entry.nested:
                yield from _held(inside.entries)
                yield from _held_below(inside.entries)


def _held(entries: Iterable[Entry]) -> Iterator[Protection]:
    for entry in entries:
        if entry.held is not None and entry.row is not None and entry.row.want == PRESENT:
            yield entry.held
