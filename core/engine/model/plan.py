"""The data of a plan: the desired state of a stack and the part it is for. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.hooks.errors import TemplateWarning
from zonda.hooks.records import dataclass, field

from .tracing import PlanRequest
from .unit_of_work import UnitOfWork

#: Between the names of the owners that lead to what is nested.
BELOW = "/"


@dataclass(frozen=True, slots=True)
class Desired:
    """One resource of the desired state. ``always``: every update looks at it.

    ``template_id``: the template, where it is another one than that of the plan. ``instance``: the
    id of the one that it shall be, whatever others there are.
    """

    name: str
    type: str
    hash: str
    requires: tuple[str, ...]
    always: bool = False
    template_id: str | None = None
    instance: str = ""


@dataclass(frozen=True, slots=True)
class Selection:
    """``names`` are worked on; ``outside`` keep what they have.

    ``added`` are those that nobody named: what a target requires, or what requires what is left
    out.
    """

    names: frozenset[str]
    outside: tuple[str, ...]
    added: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Given:
    """The record of a plan beside its stack.

    ``by``: the user who asked; '' for what a failure has asked for. ``detail``: what else it was
    asked for with, e.g. ``{"because": 3}`` (the generation whose failure is rolled back). The
    hashes are keyed, and '' where the plan uses a template that is stored already. ``request``: the
    one behind it.
    """

    by: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)
    template_hash: str = ""
    environment_hash: str = ""
    request: PlanRequest = field(default_factory=PlanRequest)


@dataclass(frozen=True, slots=True)
class Move:
    """The instance ``key`` of the stack ``stack_id``, now ``old``, is to get the name ``new``.

    ``old`` is the way to it from the stack at the top; ``new`` a name in the stack of the plan, or
    the way to one in what is nested in it. ``template_id``: the template in which it is called so.
    Without a ``key`` it only leads on to what is nested further below.
    """

    key: str
    old: str
    new: str
    stack_id: str
    template_id: str | None = None

    @property
    def is_promise(self) -> bool:
        """Whether the plan of a nested stack is to take it."""
        return BELOW in self.new


@dataclass(frozen=True, slots=True)
class StackPlan:
    """A plan of a stack. ``wanted`` is None for verbs (suspend, resume, check).

    ``generation`` is the one that was seen when it was worked out (0: there was no stack yet).
    ``owed``: a failure has asked for it, so a cancellation makes it void. ``demanded``: somebody
    has, so a rollback or a repetition may be of a stack that is idle, and the deletion of a nested
    stack is not that of its owner.
    ``body`` is a new template, sealed where needed, to be stored under ``template_id``;
    ``base_id``: the one that it builds on, and ``base`` the body of that one where it is new, too;
    ``checked``: what is well in it (``checked``).
    ``given`` is what the history tells of it. ``selection``: what it is for, None for
    everything. ``ceilings``: by name, the strongest that may be done to an instance that is there
    (``update`` or ``unchanged``), where that is limited. ``which``: the instances that a verb is
    for, None for all. ``also``: what else is written once the plan is. ``more``: how many
    resources of a nested stack are new. ``facts``: what the stack with all below it was like when
    somebody looked at the plan, where it is to be carried out like that or not at all. ``guard``
    raises where the stack, as it is when the plan is accepted, stands against it. ``most``: the
    quotas of the project for what is made by it. ``moves``: the
    instances that get another name. ``untaken``: those that an earlier plan has promised, and
    nobody had taken when this one was worked out. ``warnings``: those about its template, where the
    caller wants them.
    """

    stack_id: str
    action: str
    generation: int
    wanted: Sequence[Desired] | None = None
    template_id: str | None = None
    body: str | None = None
    changes: dict[str, object] = field(default_factory=dict)
    owed: bool = False
    given: Given = field(default_factory=Given)
    selection: Selection | None = None
    ceilings: Mapping[str, str] = field(default_factory=dict)
    more: int = 0
    demanded: bool = False
    which: Callable[[ResourceRow], bool] | None = None
    also: Callable[[UnitOfWork, StackRow], None] | None = None
    base_id: str | None = None
    base: str | None = None
    checked: str = ""
    facts: Sequence[tuple[Any, ...]] | None = None
    guard: Callable[[StackRow], None] | None = None
    most: Mapping[str, int] = field(default_factory=dict)
    moves: Sequence[Move] = ()
    untaken: Sequence[str] = ()
    warnings: tuple[TemplateWarning, ...] | None = None
