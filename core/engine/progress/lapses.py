"""Protection that ends because an environment does not say so any more: told, never silent.

Called at the end of a plan: until then what was protected before it still is.
"""

from __future__ import annotations

from zonda.core.store.schema.rows import StackRow
from zonda.core.template.environment import policies
from zonda.core.template.environment.policies import STACK

from ..model.states import COMPLETE, PRESENT
from ..model.unit_of_work import UnitOfWork
from .history import signed


def lapse(work: UnitOfWork, stack: StackRow) -> None:
    """An environment counts alone from now on; what it protects no more is told."""
    known = policies.read(stack.policies)
    now = known.after(policies.Policies())
    stack.policies = now.to_text()
    if not any(known.before.values()):
        return
    action = work.tx.last_action(stack.id)
    reason = signed("its environment protects it no more", "" if action is None else action.by)
    if known.before.get(STACK) and not (now.protects_stack or stack.protect):
        work.stack_event(stack, "UNPROTECT", COMPLETE, reason)
    for row in work.tx.resources_of(stack.id):
        if row.want != PRESENT or row.protect or not row.outputs_hash:
            continue
        if known.protects(row.name, row.type) and not now.protects(row.name, row.type):
            work.resource_event(row, "UNPROTECT", COMPLETE, reason)
