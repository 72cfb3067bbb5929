"""Protections that end because an environment no longer names them: reported, never silent.

Called at the end of a plan: until then what was protected before it still is.
"""

from __future__ import annotations

from zonda.core.store.schema.rows import StackRow
from zonda.core.template.environment import policies
from zonda.core.template.environment.policies import STACK

from ..model.states import COMPLETE, PRESENT
from ..model.unit_of_work import UnitOfWork
from .history import add_user


def end_old_protection(work: UnitOfWork, stack: StackRow) -> None:
    """Have the present environment count alone, and report the protections that end."""
    known = policies.parse_policies(stack.policies)
    now = known.after(policies.Policies())
    stack.policies = now.to_text()
    if not any(known.before.values()):
        return
    action = work.tx.last_action(stack.id)
    reason = add_user("its environment protects it no more", "" if action is None else action.by)
    if known.before.get(STACK) and not (now.protects_stack or stack.protect):
        work.stack_event(stack, "UNPROTECT", COMPLETE, reason)
    for row in work.tx.resources_of(stack.id):
        if row.want != PRESENT or row.protect or not row.outputs_hash:
            continue
        if known.protects(row.name, row.type) and not now.protects(row.name, row.type):
            work.resource_event(row, "UNPROTECT", COMPLETE, reason)
