"""Protection: what may be neither deleted nor replaced, and the stack that may not be deleted.

A command says so for what is there (``protect`` of a row), the environment for what it names
(``policies``); either suffices, and each is lifted where it was said. What the environment said
before a plan holds during that plan, too: taking the word away and the resource with it are two
steps. Pure, but for ``check``; ``preview`` asks the same functions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.core.template.environment import policies
from zonda.core.template.environment.policies import Policies
from zonda.hooks.errors import Conflict

from ..model import row_annotations
from ..model.plan import StackPlan
from ..model.states import PRESENT
from ..model.unit_of_work import UnitOfWork

CODE = "ZON209"
#: The kind of failure, in the history.
KIND = "Protected"


@dataclass(frozen=True, slots=True)
class Protection:
    """Who protects a resource, or a stack (``name`` is '')."""

    stack: str
    name: str
    by_command: bool
    by_environment: bool

    def __bool__(self) -> bool:
        return self.by_command or self.by_environment

    @property
    def how_to_lift(self) -> str:
        """What has to be done before it can go."""
        ways = []
        if self.by_command:
            words = " ".join(filter(None, ("zonda stack unprotect", self.stack, self.name)))
            ways.append(f"run '{words}'")
        if self.by_environment:
            entry = f"zonda: {{protect: {{{self.name or policies.STACK}: false}}}}"
            ways.append(f"update the stack with '{entry}' in its environment")
        text = ", and ".join(ways)
        return f"{text[:1].upper()}{text[1:]} first."

    def forbids(self, what: str) -> str:
        """Why a resource cannot be deleted or replaced (``what``), as the reason of a failure."""
        lift = self.how_to_lift
        return f"Protected: resources.{self.name}: it is protected and cannot be {what}. {lift}"


def of_resource(stack: StackRow, row: ResourceRow, known: Policies | None = None) -> Protection:
    """Who protects an instance; ``known``: by other policies than those of the running plan.

    What was never made needs no protection from the environment.
    """
    known = policies.read(stack.policies) if known is None else known
    named = bool(row.outputs_hash) and known.protects(row.name, row.type)
    return Protection(stack.name, row.name, bool(row.protect), named)


def of_stack(stack: StackRow) -> Protection:
    """Who protects a stack."""
    named = policies.read(stack.policies).protects_stack
    return Protection(stack.name, "", bool(stack.protect), named)


def forbids_replacement(stack: StackRow, row: ResourceRow) -> str:
    """Why an instance cannot be replaced, or ''."""
    if not stack.policies and not row.protect:
        return ""
    found = of_resource(stack, row)
    return found.forbids("replaced") if found else ""


def forbids_deletion(work: UnitOfWork, row: ResourceRow) -> str:
    """Why an instance cannot be deleted, or ''.

    An old instance whose successor is there is not what the environment means by its name, nor
    is what a plan has made that is undone.
    """
    stack = work.stack_of(row)
    if not stack.policies and not row.protect:
        return ""
    found = of_resource(stack, row)
    if not found.by_command and (
        not found or policies.read(stack.policies).undoing or _has_successor(work, row)
    ):
        return ""
    return found.forbids("deleted")


def _has_successor(work: UnitOfWork, row: ResourceRow) -> bool:
    named = work.tx.resources_named(row.stack_id, row.name)
    return any(other.want == PRESENT and other.id != row.id for other in named)


def check(work: UnitOfWork, stack: StackRow, proposal: StackPlan) -> None:
    """Raise Conflict if a plan would delete what is protected; nothing has been done yet.

    A replacement shows only when properties are resolved; it is refused then.
    """
    if proposal.action == "DELETE" and (found := of_stack(stack)):
        raise _refusal(f"The stack {stack.name} is protected.", found.how_to_lift)
    if proposal.wanted is None or not proposal.generation:
        return
    known = policies.read(str(proposal.changes.get("policies", stack.policies)))
    # of a nested stack that goes, all below was asked when the one at the top went
    deep = not (proposal.action == "DELETE" and stack.owner_resource_id is not None)
    if known.protects_any or not deep or work.tx.has_protected(stack.root):
        rows = work.tx.resources_of(stack.id)
        held = would_delete(stack, rows, proposal, known)
        going = _going(rows, proposal) if deep else ()
        leaving = {move.key for move in proposal.moves}
        held += [each for row in going for each in held_below(work, row, known, leaving)]
        if held:
            raise deleting(stack, held)


def held_below(
    work: UnitOfWork, owner: ResourceRow, known: Policies, leaving: Collection[str] = ()
) -> list[Protection]:
    """What is protected of all that an instance has nested; ``known``: by which policies.

    The environment says the same of every nested stack: what it says now counts, although they
    may have had no reason to be planned since. ``leaving``: what the plan moves elsewhere.
    """
    if known.undoing:
        known = Policies()
    child = work.tx.child_of(owner.id)
    if child is None or owner.deletion_policy == "Retain":
        return []
    found: list[Protection] = []
    for row in work.tx.resources_of(child.id):
        if row.want == PRESENT and row.id not in leaving and not row_annotations.promised_to(row):
            if each := of_resource(child, row, known):
                found.append(each)
            found += held_below(work, row, known, leaving)
    return found


def forbids_replacement_below(work: UnitOfWork, row: ResourceRow) -> str:
    """Why an instance cannot be replaced, for what it has nested goes with it; or ''."""
    stack = work.stack_of(row)
    if not stack.policies and not work.tx.has_protected(stack.root):
        return ""
    held = held_below(work, row, policies.read(stack.policies))
    if not held:
        return ""
    names, lift = _named(stack, held), _lifting(held)
    return f"Protected: resources.{row.name}: {names} in it cannot be deleted. {lift}"


def would_delete(
    stack: StackRow, rows: Iterable[ResourceRow], proposal: StackPlan, known: Policies
) -> list[Protection]:
    """What is protected of the instances that a plan with the policies ``known`` would delete."""
    if known.undoing:
        known = Policies()
    going = _going(rows, proposal)
    return [found for row in going if (found := of_resource(stack, row, known))]


def _going(rows: Iterable[ResourceRow], proposal: StackPlan) -> list[ResourceRow]:
    """The instances that a plan would delete."""
    wanted = {item.name for item in proposal.wanted or ()}
    selection = proposal.selection
    leaving = {move.key for move in proposal.moves}
    return [
        row
        for row in rows
        if row.want == PRESENT
        and row.name not in wanted
        and (selection is None or row.name in selection.names)
        and row.id not in leaving
        and (proposal.action == "DELETE" or not row_annotations.promised_to(row))
    ]


def deleting(stack: StackRow, held: Sequence[Protection]) -> Conflict:
    """The error for a plan that would delete what is protected in a stack, or below it."""
    are, them = ("is", "it") if len(held) == 1 else ("are", "them")
    return _refusal(
        f"{_named(stack, held)} in stack {stack.name} {are} protected, and this would delete "
        f"{them}.",
        _lifting(held),
    )


def _named(stack: StackRow, held: Sequence[Protection]) -> str:
    """What is protected; what is nested with its own stack."""
    here = [found.name for found in held if found.stack == stack.name]
    below = [f"{found.name} (of {found.stack})" for found in held if found.stack != stack.name]
    return ", ".join(sorted(here) + sorted(below))


def _lifting(held: Sequence[Protection]) -> str:
    return " ".join(dict.fromkeys(found.how_to_lift for found in held))


def _refusal(message: str, hint: str) -> Conflict:
    return Conflict(message, hint=hint, code=CODE)
