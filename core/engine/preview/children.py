"""The preview of nested stacks: each one is walked like the stack above, as far as known.

Called by ``walk`` for every owner that something happens to, and for no other. What the owner wants
of its nested stack is asked of the plug-in, as an operation does, with the template that it shall
have in the end; parameters that are only known later are left open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from zonda.core.store.read.tree_paths import by_owner
from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.core.template.evaluation.unknown_values import has_unknown
from zonda.core.template.source.bundle import Identity
from zonda.core.template.types.template_types import TemplateResource
from zonda.hooks import records
from zonda.hooks.cached_property import cached_property
from zonda.hooks.errors import TooManyResources, ZondaError
from zonda.hooks.resources.definition import ResourceDefinition
from zonda.hooks.resources.nested_stack import ChildTemplate, NestedStack
from zonda.hooks.text.borders import raise_interruption

from ..model.plan import StackPlan
from ..model.states import PRESENT
from ..model.work_item import WorkItem
from ..nested import plan, verbs
from ..plan.from_template import list_desired
from ..services import EngineServices
from . import group_batches
from .child_templates import Offers
from .entries import Inside
from .moved import apply_moves_to_plan, move_rows, select_moves
from .walk import Owner, Walk

#: The attributes of a nested stack that no template knows before it exists.
_OF_A_NEW_ONE = frozenset(("OS::stack_id", "OS::stack_name"))


class Below:
    """The nested stacks of one tree; ``root`` is the stack at its top, ``proposal`` its plan."""

    def __init__(self, services: EngineServices, root: StackRow, proposal: StackPlan) -> None:
        self._services = services
        self._root = root
        # What it says while that is carried out holds for all that is nested in it: what is stored
        # of a nested stack may be older, since it need not have been planned since.
        said = str(proposal.changes.get("policies", root.policies))
        self._changes: dict[str, object] = {"policies": said}
        self._moves = proposal.moves
        self._count = len(proposal.wanted or ())

    @cached_property
    def children(self) -> Mapping[str, StackRow]:
        """The existing nested stacks, by the ids of their owners."""
        if not self._root.generation:
            return {}
        return by_owner(self._services.reader().tree(self._root.id))

    def walk_deleted(self, stack: StackRow, row: ResourceRow) -> Iterator[Inside]:
        """The nested stacks that are deleted with an instance of ``stack``."""
        child = self.children.get(row.id)
        if child is None:
            return
        proposal = verbs.build_plan(self._services, "DELETE", stack, child)
        if proposal is None:  # it goes already
            proposal = StackPlan(child.id, "DELETE", child.generation)
        changes = {**proposal.changes, **self._changes}
        yield self._walk(child, records.replace(proposal, wanted=[], changes=changes), None)

    def walk_owner(self, owner: Owner) -> tuple[Sequence[Inside], BaseException | None]:
        """The preview of the nested stack of an owner, or the error of a plug-in or a template.

        ``owner.row`` is a row without an id where there is no instance yet.
        """
        child = self.children.get(owner.row.id) if owner.row.id else None
        try:
            return self._walk_nested(owner, child), None
        except BaseException as error:  # a plug-in or the template's author is at fault
            raise_interruption(error)
            if issubclass(owner.cls, TemplateResource) or not has_unknown(owner.wanted.properties):
                return (), error
            return (
                self._build_unknown(owner, child),
            ), None  # what it is depends on what is not known

    def _walk_nested(self, owner: Owner, child: StackRow | None) -> Sequence[Inside]:
        target = self._make_desired(owner)
        made = _find_final(target)
        if made is None:
            return ()
        inside = self._walk_template(owner, child, target, made)
        first = _find_first(target, inside)
        if first is not None and first.template != made.template:
            inside = group_batches.merge_batches(
                self._walk_template(owner, child, target, first), inside
            )
        wanted = _drop_unknown(owner.wanted, owner.cls)
        offers = Offers(self._services.instances, owner, wanted, inside)
        return (records.replace(inside, offer=offers.value),)

    def _walk_template(
        self, owner: Owner, child: StackRow | None, target: NestedStack, made: ChildTemplate
    ) -> Inside:
        """The preview of the nested stack of an owner for the template ``made``."""
        later = {key for key, value in made.parameters.items() if has_unknown(value)}
        known = {key: value for key, value in made.parameters.items() if key not in later}
        made = records.replace(made, parameters=known)
        spec = owner.definition.build_child_spec(owner.wanted.name, made, owner.wanted)
        if spec.depth > owner.definition.family.load_context.limits.max_nested_depth:
            return self._build_unknown(owner, child)
        later.update(_list_unknown_parameters(owner))
        if child is None:
            child, later = (
                self._build_child(owner, target.physical_resource_name()),
                later | _OF_A_NEW_ONE,
            )
        definition = self._load_definition(owner, child, spec, frozenset(later))
        return self._walk(child, self._build_plan(child, definition), definition, spec.names)

    def _build_unknown(self, owner: Owner, child: StackRow | None) -> Inside:
        action = "CREATE" if child is None else "UPDATE"
        return Inside(child or self._build_child(owner, owner.wanted.name), action, is_known=False)

    # -- one nested stack -----------------------------------------------------------------------

    def _make_desired(self, owner: Owner) -> NestedStack:
        """The owner in its desired state; its writes are not stored."""
        row, instances = owner.row, self._services.instances
        data = self._services.reader().read_sealed_data(row.id) if row.id else []
        seen = WorkItem(row, owner.stack, data, definition=owner.definition)
        wanted = _drop_unknown(owner.wanted, owner.cls)
        made = instances.make_for_reading(seen, definition=wanted, cls=owner.cls)
        assert isinstance(made, NestedStack)
        return made

    def _build_child(self, owner: Owner, name: str) -> StackRow:
        return plan.build_child(self._services, owner.stack, owner.row, name)

    def _load_definition(
        self, owner: Owner, child: StackRow, spec: Any, later: frozenset[str]
    ) -> Any:
        before = load_previous(self._services, child)
        previous = None if before is None else before.parameters.values
        identity = Identity(child.id, child.name, child.project)
        base = plan.load_base(self._services, child, spec, owner.definition, before)
        return plan.load_nested(base.family, spec, identity, previous, later)

    def _build_plan(self, child: StackRow, definition: Any) -> StackPlan:
        """The plan of a template that is not stored, since it is only a preview."""
        return StackPlan(
            child.id,
            "UPDATE" if child.generation else "CREATE",
            child.generation,
            list_desired(self._services, definition),
            changes=self._changes,
        )

    def _walk(
        self, child: StackRow, proposal: StackPlan, definition: Any, names: Sequence[str] = ()
    ) -> Inside:
        services = self._services
        if definition is not None:
            self._check_size(len(proposal.wanted or ()), definition)
        rows = services.reader().resource_rows(child.id) if child.generation else []
        moves = select_moves(self._moves, names)
        rows = move_rows(services, rows, moves, child.id)
        proposal = apply_moves_to_plan(proposal, moves)
        before = load_previous(services, child)
        walk = Walk(services, child, proposal, rows, self, definition)
        return Inside(
            child,
            proposal.action,
            tuple(walk.entries()),
            definition,
            before,
            walk.values,
            walk.build_row_values([row for row in rows if row.want == PRESENT]),
        )

    def _check_size(self, more: int, definition: Any) -> None:
        """Raise TooManyResources, as the action would: a few files can make billions."""
        most = definition.family.load_context.limits.max_resources_per_stack
        if self._count + more > most:
            raise TooManyResources(self._count + more, most, at=("resources",), nested=True)
        self._count += more


def load_previous(services: EngineServices, stack: StackRow) -> Any:
    """The present definition of a stack; None where there is none, or it cannot be read."""
    if stack.template_id is None:
        return None
    try:
        return services.definitions.get(stack.template_id)
    except ZondaError:  # a plug-in is gone: what was is not told
        return None


def _find_final(target: NestedStack) -> ChildTemplate | None:
    """The last template of the nested stack, however many steps lead to it."""
    if type(target).child_template is NestedStack.child_template:
        return target.next_template(target.child, 0)
    return ChildTemplate(target.child_template(), parameters=target.child_parameters())


def _find_first(target: NestedStack, inside: Inside) -> ChildTemplate | None:
    """The template of the first batch, where it may change nested stacks of members."""
    if type(target).child_template is NestedStack.child_template or target.child is None:
        return None
    return (
        target.next_template(target.child, 0) if group_batches.has_early_changes(inside) else None
    )


def _drop_unknown(wanted: ResourceDefinition, cls: type[Any]) -> ResourceDefinition:
    """The definition of a template's owner without unknown values.

    Others get it as it is: their plug-ins hand values on to members, whatever these are.
    """
    if not issubclass(cls, TemplateResource):
        return wanted
    known = {key: value for key, value in wanted.properties.items() if not has_unknown(value)}
    return records.replace(wanted, properties=known)


def _list_unknown_parameters(owner: Owner) -> list[str]:
    if not issubclass(owner.cls, TemplateResource):
        return []
    return [key for key, value in owner.wanted.properties.items() if has_unknown(value)]
