"""One project as one caller sees it: look-ups, actions, previews, values.

Every look-up compares the project: what belongs to another one is not there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as StillWaiting
from functools import cached_property
from typing import Any, TypeVar

from zonda.core.app.inspection import StackInspector
from zonda.core.app.parts import add_declared_types
from zonda.core.app.planning import PlanResult, make_plan, make_read_services
from zonda.core.app.templates import Templates
from zonda.core.engine.actions import Accepted, Action, Allowance
from zonda.core.engine.actions import Caller as ActionCaller
from zonda.core.engine.actions.base import Templated
from zonda.core.engine.model.unit_of_work import UnitOfWork
from zonda.core.engine.plan.accept import Noted, skip_note
from zonda.core.engine.plan.quotas import KINDS
from zonda.core.engine.preview.preview import Preview, build_preview
from zonda.core.engine.runtime.building import EngineEnded
from zonda.core.introspection.template_tree import Tree
from zonda.core.reference.installed import Reference
from zonda.core.reports.export import StackExporter
from zonda.core.reports.outputs import OutputView, StackValues, make_stack_values
from zonda.core.store.database.faults import Refused, Unusable
from zonda.core.store.read.pages import ListedStack
from zonda.core.store.read.reader import Reader
from zonda.core.store.read.views import ResourceView, StackView
from zonda.core.store.write.transaction import Transaction
from zonda.core.template.definition.stack_definition import StackDefinition
from zonda.core.template.source.bundle import Bundle, Identity
from zonda.hooks import ResourceContext
from zonda.hooks.errors import NotFound, StoreError, TemplateWarning, ZondaError
from zonda.hooks.policies import PolicyStack, PolicyTarget
from zonda.hooks.records import asdict, dataclass, replace

from ..identity.callers import Caller, Forbidden
from .attempts import Attempt
from .service import PATIENCE, Service

T = TypeVar("T")


class Busy(StoreError):
    """The engine has not answered in time."""


@dataclass(frozen=True, slots=True)
class ResourceDetails:
    """The part of a resource that has to be resolved."""

    description: str
    attributes: dict[str, Any]


@dataclass(frozen=True)
class Project:
    """One project with all that one caller may see and do in it."""

    service: Service
    caller: Caller
    id: str
    request_id: str = ""

    @property
    def reader(self) -> Reader:
        """The reader of this thread."""
        return self.service.reader

    @property
    def action_caller(self) -> ActionCaller:
        """The caller as the engine knows it."""
        return self._make_caller(True)

    def check_policy(self, rule: str, operation: str, stack: str = "", resource: str = "") -> None:
        """Raise Forbidden unless the caller may use an operation here.

        ``rule``: the one that counts without an entry in ``[policy]``. ``stack``: name or id.
        """
        found: list[PolicyStack | None] = []

        def find_stack() -> PolicyStack | None:
            if not found:
                found.append(self._describe_stack(stack) if stack else None)
            return found[0]

        target = PolicyTarget(self.id, resource, find_stack=find_stack)
        self.service.policies.check(self.caller, rule, operation, target)

    def _describe_stack(self, name: str) -> PolicyStack | None:
        """The description of a stack for policies; None where the project has no such stack."""
        known = self.reader.find_live_stack(name, self.id)
        listed = self.reader.read_listed_stack(name if known is None else known.id)
        if listed is None or listed.stack.project != self.id:
            return None
        stack = listed.stack
        return PolicyStack(stack.id, stack.name, tuple(stack.tags), listed.user)

    def _make_caller(self, supersedes: bool) -> ActionCaller:
        quotas = self.service.quotas.find(self.caller, self.id)
        most = {kind: int(quotas[kind]) for kind in ("stacks", *KINDS) if kind in quotas}
        asked_by = {}
        if self._limits_types:
            caller = {**asdict(self.caller), "roles": sorted(self.caller.roles)}
            asked_by = {"caller": caller, "project": self.id}
        allowance = Allowance(most, self.check_definition, asked_by)
        return ActionCaller(self.caller.user, self.id, supersedes, allowance=allowance)

    @property
    def _limits_types(self) -> bool:
        """Whether anybody may use some types only."""
        return self.service.policies.has_type_rules or self.service.quotas.has_types

    def check_bundle(self, bundle: Bundle) -> None:
        """Raise TooLarge for a template that is larger than the quota."""
        self.service.quotas.check_bundle(self.caller, self.id, bundle)

    def check_definition(self, definition: StackDefinition) -> None:
        """Raise Forbidden where a template has types that the caller may not use."""
        service = self.service
        if not self._limits_types:
            return
        nodes = Tree(self.make_context).walk(definition)
        names = {node.type for each in nodes for node in each.definition.resources.values()}
        for name in sorted(names):
            if not service.quotas.may_use_type(self.caller, self.id, name):
                raise Forbidden(f"You are not authorized to use resource_types:{name}.")
            service.policies.check_type(self.caller, name, self.id)

    def make_context(self) -> ResourceContext:
        """Make the context of a resource that is only validated."""
        return self.service.app.make_context(self.id)

    # -- look-ups -------------------------------------------------------------------------------

    def find_stack(self, stack_id: str, name: str | None = None) -> ListedStack:
        """A stack by its id (and its name, where that is known), also a deleted one.

        Raises NotFound, which says nothing of stacks of other projects.
        """
        found = self.reader.read_listed_stack(stack_id)
        if found is None or found.stack.project != self.id or name not in (None, found.stack.name):
            raise NotFound("Stack", stack_id if name is None else name)
        return found

    def find_by_name_or_id(self, name: str) -> StackView:
        """A live stack by its name, else any by its id; raises NotFound."""
        reader = self.reader
        found = reader.find_live_stack(name, self.id)
        if found is not None:
            return found
        listed = reader.read_listed_stack(name)
        if listed is None or listed.stack.project != self.id:
            raise NotFound("Stack", name)
        return listed.stack

    # -- actions --------------------------------------------------------------------------------

    def submit(
        self, action: Action, *, supersedes: bool = True, note: Noted = skip_note
    ) -> Accepted:
        """Have an action planned and committed; raises ZondaError where it is refused.

        ``note`` runs in the transaction that accepts it; what it raises undoes that.
        """
        engine, tracing = self.service.app.engine, self.service.tracing
        caller = self._make_caller(supersedes)
        if isinstance(action, Templated):
            self.check_bundle(action.bundle)
        with tracing.trace_plan(type(action).__name__) as parent:
            caller = replace(caller, request=self.request_id, traceparent=parent)
            owned = self.service.app.store.ownership
            if owned is not None:
                return self._submit_as_member(owned.member, action, caller, note)
            return self._wait_for(engine.submit(action, caller, note))

    def _submit_as_member(
        self, member: str, action: Action, caller: ActionCaller, note: Noted
    ) -> Accepted:
        """As ``submit``; an action whose end the engine has not lived to see is looked for."""
        app = self.service.app
        attempt = Attempt(app, self.reader, member, app.ids())

        def note_both(work: UnitOfWork, accepted: Accepted) -> None:
            note(work, accepted)
            attempt.note(work, accepted)

        caller = replace(caller, attempt=attempt.key)
        try:
            return self._wait_for(app.engine.submit(action, caller, note_both))
        except (EngineEnded, Refused, Unusable):
            found = attempt.find_answer(PATIENCE)
            if found is None:
                raise
            return found

    def _wait_for(self, future: Future[Accepted]) -> Accepted:
        """The answer of the engine; raises Busy for an action that it has not planned in time."""
        try:
            return future.result(PATIENCE)
        except StillWaiting:
            if not future.cancel():  # it is being committed
                return future.result()
            raise Busy(
                "The engine is busy: the request was not planned in time, and is withdrawn.",
                hint="Send it again later.",
            ) from None

    def keep(self, write: Callable[[Transaction], T]) -> T:
        """Commit a write that is no action; returns its result."""
        found: T = self.service.app.engine.keep(write)
        return found

    def preview(self, action: Action) -> Preview:
        """The preview of an action; changes nothing."""
        if isinstance(action, Templated):
            self.check_bundle(action.bundle)
        services = make_read_services(self.service.app, self.reader, self.action_caller)
        return build_preview(services, action)

    def plan(self, action: Action, *, keep: bool) -> PlanResult:
        """The plan of an action as a document; ``keep``: also as the text of a plan file."""
        app = self.service.app
        if isinstance(action, Templated):
            self.check_bundle(action.bundle)
        action = add_declared_types(action, app)
        return make_plan(app, self.reader, action, keep=keep, caller=self.action_caller)

    @property
    def templates(self) -> Templates:
        """The queries on templates and environments that need no stack."""
        return Templates(self.service.app, self.id)

    @property
    def reference(self) -> Reference:
        """The reference of resource types and functions."""
        app = self.service.app
        return Reference(app.plugins, app.function_table, self.make_context)

    def check_template(self, bundle: Bundle) -> StackDefinition:
        """The definition of a template that belongs to no stack; raises ValidationErrors."""
        identity = Identity("None", "template", self.id)
        self.check_bundle(bundle)
        definition = self.service.checker.load(bundle, identity, None, False, all_given=False)
        self.check_definition(definition)
        return definition

    # -- values ---------------------------------------------------------------------------------

    @cached_property
    def values(self) -> StackValues:
        """The values of stacks through their templates."""
        app = self.service.app
        return make_stack_values(
            self.reader,
            app.plugins.resource_types,
            load=app.template_loader,
            lender=app.lender,
            clock=app.clock,
            source=app.random,
            definitions=app.engine.definitions,
        )

    def list_warnings(self, stack: StackView) -> list[TemplateWarning]:
        """The warnings about a stack's template; empty where it cannot be read."""
        if stack.template_id is None:
            return []
        try:
            return list(self.service.find_definition(stack.template_id).warnings)
        except ZondaError:
            return []

    def resolve_outputs(self, stack: StackView) -> list[OutputView]:
        """The outputs of a stack, memorised until something of its tree changes."""
        version = tuple(map(tuple, self.reader.tree_facts(stack.root_id)))
        known: Any = self.service.values.find(stack.id, version)
        if known is None:
            known = self.values.outputs(stack.id)
            self.service.values.put(stack.id, version, known)
        found: list[OutputView] = known
        return found

    def read_details(
        self, stack: StackView, view: ResourceView, also: Iterable[str] = ()
    ) -> ResourceDetails:
        """The description and the attributes of a resource; ``also``: other attributes."""
        row, description = self.reader.resource_row(view.id), ""
        if stack.template_id is None or row is None:
            return ResourceDetails("", {})
        try:
            node = self.service.find_definition(stack.template_id).resources.get(view.name)
            description = "" if node is None else str(getattr(node, "description", None) or "")
            return ResourceDetails(description, self.values.resolve_attributes(row, also))
        except ZondaError:  # its type may be gone; all else is shown
            return ResourceDetails(description, {})

    @property
    def inspector(self) -> StackInspector:
        """The inspector of history, failures and graphs."""
        return StackInspector(self.reader, lambda: self.service.app.template_loader)

    @property
    def exporter(self) -> StackExporter:
        """The exporter of documents."""
        return StackExporter(self.reader, self.inspector.read)


def make_check(service: Service, asked_by: Mapping[str, Any]) -> Callable[[StackDefinition], None]:
    """Make the check of a template for a caller at another server, see ``Allowance``."""
    caller = {**asked_by["caller"], "roles": frozenset(asked_by["caller"]["roles"])}
    return Project(service, Caller(**caller), asked_by["project"]).check_definition
