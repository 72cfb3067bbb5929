"""Quotas: how much a project may have, counted in the transaction that accepts a plan.

Two plans cannot both take what is left: the second sees what the first has written, and what is
raised here undoes its own. Members of a cluster count one after the other. A plan that adds nothing
passes, wherever the project stands.
"""

from __future__ import annotations

from collections.abc import Mapping

from zonda.core.store.schema.rows import StackRow
from zonda.hooks.errors import RequestError

from ..model.plan import StackPlan
from ..model.unit_of_work import UnitOfWork


class QuotaExceeded(RequestError):
    """A project has all that it may have."""

    heat_type = "RequestLimitExceeded"


#: The quotas of what plans add to.
KINDS = ("resources", "actions", "snapshots")


def lock(work: UnitOfWork, stack: StackRow, plan: StackPlan) -> None:
    """Let no other member of a cluster count for the same project until the commit."""
    if plan.most and work.tx.duties is not None:
        work.tx.duties.lock_quotas(stack.project)


def check_new(work: UnitOfWork, stack: StackRow, plan: StackPlan) -> None:
    """Raise QuotaExceeded where a new stack is one too many."""
    most = plan.most.get("stacks")
    if most is not None and work.tx.count_of_project("stacks", stack.project) >= most:
        raise QuotaExceeded(
            f"You have reached the maximum stacks per tenant, {most}. Please delete some stacks."
        )


def count(work: UnitOfWork, stack: StackRow, plan: StackPlan) -> Mapping[str, int]:
    """The numbers of what is limited, before a plan; a deletion is always possible."""
    if plan.action == "DELETE":
        return {}
    return {
        kind: work.tx.count_of_project(kind, stack.project) for kind in KINDS if kind in plan.most
    }


def check(work: UnitOfWork, stack: StackRow, plan: StackPlan, before: Mapping[str, int]) -> None:
    """Raise QuotaExceeded where a plan, which has been written, has added too much."""
    for kind, earlier in before.items():
        now, most = work.tx.count_of_project(kind, stack.project), plan.most[kind]
        if now > most and now > earlier:
            at_once = " at a time" if kind == "actions" else ""
            raise QuotaExceeded(
                f"The project would have {now} {kind}{at_once}; its quota is {most}.",
                hint="Delete something, wait, or have the operator raise the quota.",
            )
