"""Protection: resources that may not be deleted or replaced, stacks that may not be deleted.

A command says so for what is there (``protect`` of a row), the environment for what it names
(``policies``); either suffices, and each is lifted where it was said. What the environment said
before a plan holds during that plan, too: taking the word away and the resource with it are two
steps. Pure, but for ``check``; ``preview`` asks the same functions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.core.template.environment import policies
from zonda.core.template.environment.policies import Policies
from zonda.hooks.errors import Conflict
from zonda.hooks.records import dataclass

from ..model import row_annotations
from ..model.plan import StackPlan
from ..model.states import COMPLETE, PRESENT
from ..model.unit_of_work import UnitOfWork
from .history import add_user

CODE = "ZON209"
#: The kind of failure, in the history.
KIND = "Protected"


@dataclass(frozen=True, slots=True)
class Protection:
    """The source of the protection of a resource, or of a stack (``name`` is '')."""

    stack: str
    name: str
    by_command: bool
    by_environment: bool

    def __bool__(self) -> bool:
        return self.by_command or self.by_environment

    @property
    def how_to_lift(self) -> str:
        """The steps that end the protection."""
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
        """The reason why a resource cannot be deleted or replaced (``what``)."""
        lift = self.how_to_lift
        return f"Protected: resources.{self.name}: it is protected and cannot be {what}. {lift}"


def find_protection(stack: StackRow, row: ResourceRow, known: Policies | None = None) -> Protection:
    """The protection of an instance; ``known``: by other policies than the running plan's.

    What was never made needs no protection from the environment.
    """
    known = policies.parse_policies(stack.policies) if known is None else known
    named = bool(row.outputs_hash) and known.protects(row.name, row.type)
    return Protection(stack.name, row.name, bool(row.protect), named)


def find_stack_protection(stack: StackRow) -> Protection:
    """The protection of a stack."""
    named = policies.parse_policies(stack.policies).protects_stack
    return Protection(stack.name, "", bool(stack.protect), named)


def explain_no_replacement(stack: StackRow, row: ResourceRow) -> str:
    """The reason why an instance cannot be replaced, or ''."""
    if not stack.policies and not row.protect:
        return ""
    found = find_protection(stack, row)
    return found.forbids("replaced") if found else ""


def explain_no_deletion(work: UnitOfWork, row: ResourceRow) -> str:
    """The reason why an instance cannot be deleted, or ''.

    An old instance whose successor is there is not what the environment means by its name, nor
    is what a plan has made that is undone.
    """
    stack = work.stack_of(row)
    if not stack.policies and not row.protect:
        return ""
    found = find_protection(stack, row)
    if not found.by_command and (
        not found or policies.parse_policies(stack.policies).undoing or _has_successor(work, row)
    ):
        return ""
    return found.forbids("deleted")


def _has_successor(work: UnitOfWork, row: ResourceRow) -> bool:
    named = work.tx.resources_named(row.stack_id, row.name)
    return any(other.want == PRESENT and other.id != row.id for other in named)


def check_plan(work: UnitOfWork, stack: StackRow, proposal: StackPlan) -> None:
    """Raise Conflict if a plan would delete protected instances; nothing has been done yet.

    A replacement shows only when properties are resolved; it is refused then.
    """
    if proposal.action == "DELETE" and (found := find_stack_protection(stack)):
        raise _build_conflict(f"The stack {stack.name} is protected.", found.how_to_lift)
    if proposal.wanted is None or not proposal.generation:
        return
    known = policies.parse_policies(str(proposal.changes.get("policies", stack.policies)))
    # of a nested stack that goes, all below was asked when the one at the top went
    above = proposal.action == "DELETE" and stack.owner_resource_id is not None
    deep = proposal.demanded or not above
    if known.protects_any or not deep or work.tx.has_protected(stack.root):
        rows = work.tx.resources_of(stack.id)
        going = _list_deletions(rows, proposal)
        leaving = {move.key for move in proposal.moves}
        own = Policies() if known.undoing else known
        held = [found for row in going if (found := find_protection(stack, row, own))]
        for row in going if deep else ():
            held += list_protected_below(work, row, known, leaving)
        if above and deep:
            held += _list_protected_above(work, stack, known)
        if held:
            raise build_conflict(stack, held)


def _list_protected_above(
    work: UnitOfWork, stack: StackRow, known: Policies
) -> Iterator[Protection]:
    """The protections of the resources that a stack is nested in."""
    while stack.owner_resource_id is not None:
        owner = work.tx.resource(stack.owner_resource_id)
        if owner is None:
            return
        stack = work.stack_of(owner)
        if found := find_protection(stack, owner, known):
            yield found


def list_protected_below(
    work: UnitOfWork, owner: ResourceRow, known: Policies, leaving: Collection[str] = ()
) -> list[Protection]:
    """The protections nested in an instance; ``known``: the policies.

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
        if row.want == PRESENT and row.id not in leaving and not row_annotations.read_promise(row):
            if each := find_protection(child, row, known):
                found.append(each)
            found += list_protected_below(work, row, known, leaving)
    return found


def explain_protected_below(work: UnitOfWork, row: ResourceRow) -> str:
    """The reason why nested resources forbid a replacement, or ''."""
    stack = work.stack_of(row)
    if not stack.policies and not work.tx.has_protected(stack.root):
        return ""
    held = list_protected_below(work, row, policies.parse_policies(stack.policies))
    if not held:
        return ""
    names, lift = _format_names(stack, held), _format_hints(held)
    return f"Protected: resources.{row.name}: {names} in it cannot be deleted. {lift}"


def _list_deletions(rows: Iterable[ResourceRow], proposal: StackPlan) -> list[ResourceRow]:
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
        and (proposal.action == "DELETE" or not row_annotations.read_promise(row))
    ]


def build_conflict(stack: StackRow, held: Sequence[Protection]) -> Conflict:
    """The error for a plan that would delete protected instances of a stack, or below it."""
    are, them = ("is", "it") if len(held) == 1 else ("are", "them")
    return _build_conflict(
        f"{_format_names(stack, held)} in stack {stack.name} {are} protected, "
        "and this would delete "
        f"{them}.",
        _format_hints(held),
    )


def _format_names(stack: StackRow, held: Sequence[Protection]) -> str:
    """The names of protected instances; nested ones with their stack."""
    here = [found.name for found in held if found.stack == stack.name]
    below = [f"{found.name} (of {found.stack})" for found in held if found.stack != stack.name]
    return ", ".join(sorted(here) + sorted(below))


def _format_hints(held: Sequence[Protection]) -> str:
    return " ".join(dict.fromkeys(found.how_to_lift for found in held))


def _build_conflict(message: str, hint: str) -> Conflict:
    return Conflict(message, hint=hint, code=CODE)


def end_old_protection(work: UnitOfWork, stack: StackRow) -> None:
    """Have the present environment count alone, and report the protections that end."""
    known = policies.parse_policies(stack.policies)
    now = known.continue_from(Policies())
    stack.policies = now.to_text()
    if not any(known.before.values()):
        return
    action = work.tx.last_action(stack.id)
    reason = add_user("its environment protects it no more", "" if action is None else action.by)
    if known.before.get(policies.STACK) and not (now.protects_stack or stack.protect):
        work.stack_event(stack, "UNPROTECT", COMPLETE, reason)
    for row in work.tx.resources_of(stack.id):
        if row.want != PRESENT or row.protect or not row.outputs_hash:
            continue
        if known.protects(row.name, row.type) and not now.protects(row.name, row.type):
            work.resource_event(row, "UNPROTECT", COMPLETE, reason)
