"""The operation of a resource whose physical side is a nested stack. In the pool.

Its handler is a plan of the child, applied by the transaction that stores the token; its check
looks whether the child has come to rest. The end of the child pokes it, so that the time between
two looks is only a backstop. What it stores is enough to go on with after a crash.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.core.store.values.jsontext import dumps
from zonda.hooks import records
from zonda.hooks.errors import Conflict, ResourceFailure
from zonda.hooks.resources.nested_stack import ChildTemplate, NestedStack
from zonda.hooks.resources.resource import Resource, ResourceDefinition

from ..diff import ceilings
from ..model.definition import Definition
from ..model.lending import Write
from ..model.outcomes import NO, Again, Answer, Failure, Final, Waiting
from ..model.plan import StackPlan
from ..model.states import IDLE, MAKING
from ..model.unit_of_work import UnitOfWork, read_failures
from ..model.work_item import WorkItem
from ..plan import moves_across
from ..plan.accept import accept
from ..plugins.operation import PluginOperation
from ..plugins.reasons import paths_by_key
from ..progress import children, protection
from ..services import EngineServices
from . import plan as nesting
from . import verbs

#: Operations that make the child what a template says.
_TEMPLATED = MAKING | {"SIGNAL"}


class ChildOperation(PluginOperation):
    """One running operation of an owner."""

    def __init__(
        self, services: EngineServices, seen: WorkItem, gathered: list[Write] | None = None
    ) -> None:
        super().__init__(services.instances, seen, gathered)
        self._services = services
        self._backstop = services.settings.backstop
        self._pause_ends: float | None = None
        # Whether a plan of it was refused since the one above wants something else, or is halted.
        self._is_unwanted = False
        self.is_light = True

    def policy(self) -> str:
        """The policy of recovery: nothing happens outside before it is stored."""
        return "idempotent"

    def abort(self) -> None:
        """Do nothing: the end of the operation also ends its nested operations."""

    def cleaner(self) -> PluginOperation:
        """Never asked for: a failed owner is not attempted again."""
        raise NotImplementedError

    def seal_carried_data(self) -> str | None:
        """None: no attempt follows."""
        return None

    def _build_failure(self, error: BaseException) -> Failure:
        """A plan of the child that is refused is told by what it is."""
        if isinstance(error, Conflict) and error.heat_type == Conflict.heat_type:
            error.heat_type = protection.KIND if error.code == protection.CODE else "Conflict"
        return super()._build_failure(error)

    def _build_again(self, error: BaseException) -> Again:
        """Only the members of the nested stack are tried more than once."""
        return NO

    def _build_shown(self, instance: Resource, reason: str = "state changed") -> Final:
        """All that is shown is of one moment: the members are read once for all of it."""
        context: Any = instance.context
        with context.one_look():
            return super()._build_shown(instance, reason)

    # -- handle ---------------------------------------------------------------------------------

    def _handle(self) -> Answer:
        self._during = "handle"
        if self.action in _TEMPLATED:
            return self._apply_next(0)
        child = self._read_child()
        if child is None:
            if self.action == "DELETE":
                return Final()
            raise ResourceFailure("Resource not created")
        root = self._read_root()
        proposal = verbs.build_plan(self._services, self.action, self.seen.stack, child)
        if proposal is None and child.phase == IDLE:
            return self._build_final()
        return self._wait_for_plan(child, proposal, 0, root)

    def _apply_next(self, applied: int) -> Answer:
        """Plan the next template that the owner wants, or end."""
        desired = self._find_desired_state()
        target = self._make_desired(*desired)
        wanted = target.next_template(target.child, applied)
        if wanted is None:
            return self._build_final(of=target if self.action in MAKING else None)
        known = self.token or {}
        if wanted.pause > 0 and "until" not in known:
            until, self._pause_ends = self._services.clock.now() + wanted.pause, None
            token = {**known, "applied": applied, "until": until, "pause": wanted.pause}
            return self._build_child_waiting(token, self._pause_left(token))
        return self._apply_template(target, wanted, applied, *desired)

    def _pause_left(self, token: Mapping[str, Any]) -> float:
        """Seconds, by the clock that nobody sets; after a restart at most the whole pause."""
        clock = self._services.clock
        if self._pause_ends is None:
            left = min(token["until"] - clock.now(), token["pause"])
            self._pause_ends = clock.monotonic() + left
        return self._pause_ends - clock.monotonic()

    def _apply_template(
        self,
        target: NestedStack,
        wanted: ChildTemplate,
        applied: int,
        template_id: str,
        resolved: ResourceDefinition,
    ) -> Answer:
        root = self._read_root()
        parent = self.instances.definitions.get(template_id)
        spec = parent.build_child_spec(self.row.name, wanted, resolved)
        child = self._read_child()
        if child is None:
            name = target.physical_resource_name()
            child = nesting.build_child(self._services, self.seen.stack, self.row, name)
        proposal = nesting.build_plan(self._services, child, spec, parent, template_id, root)
        proposal = nesting.adapt_plan(self._services, self.seen, child, proposal)
        limits = ceilings.read_child_ceilings(self.instances.definitions.reader, self.row, child)
        proposal = records.replace(proposal, ceilings=limits)
        proposal = moves_across.take_promised(self._services, root.id, child, spec.names, proposal)
        most = nesting.max_resources(parent)
        return self._wait_for_plan(child, proposal, applied + 1, root, most)

    def _read_root(self) -> StackRow:
        """The root stack before the child's plan is made."""
        return self._services.reader().stack_row(self.seen.stack.root)

    def _wait_for_plan(
        self,
        child: StackRow,
        proposal: StackPlan | None,
        applied: int,
        root: StackRow,
        most: int = 0,
    ) -> Waiting:
        """Wait for the child; the token is stored with its plan, or not at all.

        ``root``: the root stack that the plan heeds; it is made anew if that has changed meanwhile.
        ``most``: how many resources the whole tree may have.
        """
        token = {"child": child.id, "applied": applied}
        if proposal is None:
            return self._build_child_waiting(token, self._backstop)
        owner, plan = self.row.id, proposal
        above = nesting.list_root_state(root)
        if self._is_unwanted:
            children.check_may_go_on(self.instances.definitions.reader, owner)

        def apply(work: UnitOfWork) -> bool:
            row = work.tx.resource(owner)
            assert row is not None
            if not children.may_go_on(work, row):
                self._is_unwanted = True
                return False
            top = work.tx.stack(root.id)
            if top is not None and nesting.list_root_state(top) != above:
                return False
            if plan.more and not self._admit(work, row, plan.more, most):
                return False
            if accept(work, child, plan) is None:
                return False
            found = work.tx.stack(child.id)
            assert found is not None
            # it has as long as its owner, whatever was allowed when it was made
            found.timeout_mins = work.stack_of(row).timeout_mins
            found.deadline = row.deadline
            row.physical_id = child.id
            return True

        return Waiting(token, dumps(token), False, self._backstop, apply)

    def _admit(self, work: UnitOfWork, row: ResourceRow, more: int, most: int) -> bool:
        """Whether the tree may have more; it may be another one than when the plan was made."""
        top = work.tx.stack(work.stack_of(row).root)
        assert top is not None
        return self._services.sizes.admit(work.tx, (top.id, top.generation), more, most)

    def _build_child_waiting(self, token: dict[str, Any], delay: float) -> Waiting:
        return Waiting(token, dumps(token), False, delay)

    # -- poll -----------------------------------------------------------------------------------

    def note_stored(self, answer: Waiting) -> None:
        """Note that the answer is stored."""
        self.token = answer.token
        self.row.physical_id = answer.token.get("child", self.row.physical_id)

    def _poll(self) -> Answer:
        self._during = "poll"
        self._instance = None  # what it says of its child, and has kept, must be read anew
        data = self.instances.definitions.reader.read_sealed_data(self.row.id)
        self.seen = records.replace(self.seen, data=data)
        token = self.token
        if "until" in token:
            children.check_may_go_on(self.instances.definitions.reader, self.row.id)
            left = self._pause_left(token)
            return (
                self._build_child_waiting(token, left)
                if left > 0
                else self._apply_next(token["applied"])
            )
        child = self.instances.definitions.reader.stack_row(token["child"])
        if child.phase != IDLE:
            children.check_wanted(self.instances.definitions.reader, self.row.id)
            return self._build_child_waiting(token, self._backstop)
        if read_failures(child):  # its state may be shown as what it was before
            kind, reason = nesting.format_failure(self.row.name, child)
            return Failure(reason, kind, during="poll")
        if self.action in _TEMPLATED:
            return self._apply_next(token["applied"])
        return self._build_final()

    # -- what is wanted -------------------------------------------------------------------------

    def _read_child(self) -> StackRow | None:
        return self.instances.definitions.reader.child_row(self.row.id)

    def _find_desired_state(self) -> tuple[str, ResourceDefinition]:
        """(id of the template, definition) of the desired state of the operation."""
        row = self.row
        if self.action in MAKING:
            template_id, text = row.op_template_id, row.op_definition
        else:
            template_id, text = row.have_template_id, row.definition or row.op_definition
        template_id = template_id or row.op_template_id or row.want_template_id
        assert template_id is not None
        return template_id, self.instances.read(row, text)

    def _make_desired(self, template_id: str, resolved: ResourceDefinition) -> NestedStack:
        """The owner in its desired state."""
        cls = self.instances.definitions.get(template_id).resources[self.row.name].cls
        made = self.instances.make(
            self.seen, definition=resolved, cls=cls, context=self._build_context()
        )
        assert isinstance(made, NestedStack)
        if self.action == "ADOPT":
            made.adopted = nesting.list_members(self._services, self.seen)
        return made

    def _list_references(
        self, instance: Resource, definition: Definition
    ) -> Iterator[tuple[str, tuple[Any, ...]]]:
        """List references: beside the schema, each key below an attribute is a value of its own."""
        for key, path in super()._list_references(instance, definition):
            if key in type(instance).attributes_schema:
                yield key, path
        yield from paths_by_key(type(instance), definition, self.row.name)

    def _make_current(self) -> Resource:
        if self.action not in MAKING:
            return super()._make_current()
        return self._make_desired(*self._find_desired_state())
