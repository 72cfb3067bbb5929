"""Plans from actions: names are looked up, rules checked, templates loaded. In the pool.

Raises the errors of ``hooks/errors.py`` for whatever the caller did wrong.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from zonda.core.store.read.to_view import to_stack_view
from zonda.core.store.read.views import format_deletion_time
from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.core.template.environment import policies
from zonda.core.template.source.bundle import Bundle, Identity
from zonda.hooks import records
from zonda.hooks.errors import ActionInProgress, Conflict, NotFound, NotSupported
from zonda.hooks.resources.resource import Resource

from .. import actions
from ..model.definition import Definition, Node
from ..model.plan import Desired, Given, StackPlan
from ..model.states import COMPLETE, IDLE, OVERTAKES
from ..model.unit_of_work import UnitOfWork
from ..plugins.reasons import HIDDEN
from ..progress import partial
from ..progress.history import compute_hashes
from ..services import EngineServices
from ..templates import checks, unused
from ..templates.checks import EarlierChecks
from ..templates.definitions import format_bundle, read_drift_section, read_policies
from ..templates.fingerprints import compute_fingerprint
from ..templates.merging import merge_bundles
from ..templates.stored import read_stored as stored_as
from . import drift_schedule, moves, moves_across
from .scope import select_without

_VERBS = {"SuspendStack": "SUSPEND", "ResumeStack": "RESUME", "CheckStack": "CHECK"}
UNCHECKED = ". 'CHECK' not fully supported (see resources)"


def find_stack(services: EngineServices, name: str) -> StackRow:
    """The live stack of a name or an id; raises NotFound."""
    reader, project = services.reader(), services.settings.project
    try:
        stack = reader.stack_named(name, project)
    except NotFound as error:
        error.hint = error.hint or reader.hint(name, project)
        raise
    return check_live(stack, name)


def check_live(stack: StackRow, name: str) -> StackRow:
    """Return the stack, which was asked for as ``name``; raises NotFound for a deleted one."""
    if stack.deleted_at is not None:
        raise NotFound(
            "Stack", name, hint=f"It was deleted at {format_deletion_time(to_stack_view(stack))}."
        )
    return stack


def check_root(services: EngineServices, stack: StackRow) -> None:
    """Raise NotSupported for a nested stack: actions on it are up to its owner."""
    if stack.owner_resource_id is None:
        return
    root = services.reader().stack_row(stack.root)
    raise NotSupported(
        f"Stack {stack.name} is nested in the stack {root.name}.",
        hint=f"Act on {root.name}: what is nested in it follows.",
    )


def find_root_stack(services: EngineServices, name: str) -> StackRow:
    """The live stack of a name or an id, which is not nested; raises NotFound, NotSupported."""
    stack = find_stack(services, name)
    check_root(services, stack)
    return stack


def plan_rollback(services: EngineServices, stack_id: str) -> tuple[StackPlan | None, StackRow]:
    """The plan back to the last good template; None if none is owed, or not yet."""
    stack = services.reader().stack_row(stack_id)
    if stack.next_action != "ROLLBACK":
        return None, stack
    try:
        proposal = _plan_undo(services, stack)
    except moves_across.Busy:  # the end of what runs asks again
        return None, stack
    request = services.instances.lending.tracing.find_request(stack)
    given = records.replace(proposal.given, request=request)
    return records.replace(proposal, owed=True, given=given), stack


def _plan_undo(services: EngineServices, stack: StackRow) -> StackPlan:
    """The plan that undoes the running one, for the same part of the template.

    Resources get the names back that they had when all worked.
    """
    proposal = plan_last_good(services, stack)
    names = {item.name for item in proposal.wanted or ()}
    names.update(row.name for row in services.reader().resource_rows(stack.id))
    proposal = records.replace(
        proposal,
        selection=select_without(names, partial.read_excluded(stack)),
        given=Given(detail={"because": stack.generation}),
    )
    good = moves.find_good_generation(services, stack)
    return moves.plan_moves_back(services, stack, proposal, good)


def plan_last_good(services: EngineServices, stack: StackRow) -> StackPlan:
    """The plan of the last good template; of nothing where no plan has ever worked."""
    proposal = plan_stored(services, stack, "ROLLBACK", stack.good_template_id)
    return records.replace(
        proposal, wanted=list_good_desired(services, stack, proposal.wanted or ())
    )


def list_good_desired(
    services: EngineServices, stack: StackRow, wanted: Sequence[Desired]
) -> list[Desired]:
    """The desired resources of the last good template, with parts from other templates."""
    parts = partial.read_good_parts(stack)
    found = [item for item in wanted if item.name not in parts]
    for name, key in parts.items():
        if key is not None:
            known = list_desired(services, services.definitions.get(key))
            found += partial.list_named(known, name, key)
    return found


def plan_stored(
    services: EngineServices,
    stack: StackRow,
    action: str,
    template_id: str | None,
    *,
    keeps_protected: bool = False,
) -> StackPlan:
    """The plan of an earlier template of a stack; None: of nothing.

    ``keeps_protected``: what is protected now is so during the plan. It is not where a failed
    action is undone, with all that it has made.
    """
    description = ""
    said: Mapping[str, Any] = {}
    if template_id is None:
        known, wanted = policies.parse_policies(stack.policies).to_removal_policies(), []
    else:
        definition = services.definitions.get(template_id)
        known, wanted = read_policies(definition), list_desired(services, definition)
        said = read_drift_section(definition)
        description = str(definition.description)
    known = (
        known.continue_from(policies.parse_policies(stack.policies))
        if keeps_protected
        else known.to_undo_policies()
    )
    changes: dict[str, object] = {
        **drift_schedule.plan_columns(services, stack, said),
        "policies": known.to_text(),
        "note": "",
        "description": description,
    }
    return StackPlan(stack.id, action, stack.generation, wanted, template_id, changes=changes)


def plan_creation(
    services: EngineServices, stack: StackRow, action: actions.CreateStack
) -> StackPlan:
    """The plan of a new stack."""
    definition = load_definition(services, stack, action.bundle, None)
    drift = (action.drift_schedule, action.drift_policy)
    return build_plan(services, stack, "CREATE", action.bundle, definition, {}, drift=drift)


def load_nodes(services: EngineServices, template_id: str | None) -> Mapping[str, Node]:
    """The resources of a stored template; none of a stack that was rolled back to nothing."""
    return {} if template_id is None else services.definitions.get(template_id).resources


def build_stack(
    services: EngineServices, action: actions.CreateStack | actions.AdoptStack
) -> StackRow:
    """The row of a stack that is not there yet; raises Conflict where its name is taken."""
    try:
        services.reader().stack_named(action.name, services.settings.project)
    except NotFound:
        pass
    else:
        raise build_name_taken(action.name)
    return StackRow(
        services.ids(),
        services.settings.project,
        action.name,
        disable_rollback=int(not action.rollback),
        timeout_mins=action.timeout_mins,
        tags=json.dumps(action.tags),
        created_by=services.settings.user,
    )


def build_name_taken(name: str) -> Conflict:
    """The error for a name that is taken."""
    error = Conflict(
        f"The Stack ({name}) already exists.",
        hint="Choose another name, or update that stack.",
        code="ZON206",
    )
    error.heat_type = "StackExists"
    return error


def plan_update(
    services: EngineServices, stack: StackRow, action: actions.UpdateStack
) -> StackPlan:
    """The plan of another template, or of the same with other values."""
    if stack.suspended and stack.action != "RESUME":
        raise NotSupported(
            "Updating a stack when it is suspended is not supported.", hint="Resume it first."
        )
    check_overtakes(stack, "UPDATE")
    bundle, before = action.bundle, None
    if stack.template_id is not None:
        before = services.definitions.get(stack.template_id, bundle.documents)
    if action.existing and before is not None and stack.template_id is not None:
        old = unused.rebuild_bundle(stored_as(services.reader(), stack.template_id), before)
        bundle = merge_bundles(old, before, bundle)
    if before is not None:  # a stack is simulated from its creation on, or never
        bundle = records.replace(bundle, simulated=before.family.load_context.bundle.simulated)
    previous = None if before is None else before.parameters.values
    definition = load_definition(services, stack, bundle, previous)
    changes: dict[str, Any] = {}
    if action.timeout_mins is not None:
        changes["timeout_mins"] = action.timeout_mins
    if action.rollback is not None:
        changes["disable_rollback"] = int(not action.rollback)
    if action.tags is not None:
        changes["tags"] = json.dumps(action.tags)
    drift = (action.drift_schedule, action.drift_policy)
    proposal = build_plan(services, stack, "UPDATE", bundle, definition, changes, drift=drift)
    return moves.plan_moves(services, stack, proposal, definition)


def load_definition(
    services: EngineServices, stack: StackRow, bundle: Bundle, previous: Mapping[str, Any] | None
) -> Definition:
    """The definition of a bundle, with its resources validated; raises ValidationErrors."""
    identity = Identity(stack.id, stack.name, stack.project)
    earlier = (
        EarlierChecks(services.reader, services.sealer, stack) if previous is not None else None
    )
    definition = services.definitions.load(bundle, identity, previous, True, earlier)
    allowance = services.settings.allowance
    if allowance is not None and allowance.check_definition is not None:
        allowance.check_definition(definition)
    return definition


def build_plan(
    services: EngineServices,
    stack: StackRow,
    action: str,
    bundle: Bundle,
    definition: Definition,
    changes: dict[str, Any],
    *,
    also: Callable[[UnitOfWork, StackRow], None] | None = None,
    drift: tuple[str | None, str | None] = (None, None),
) -> StackPlan:
    """The plan of a new template; ``changes`` and ``also``: other changes with it.

    ``drift``: the schedule and the policy that were asked for with it.
    """
    template_id = services.ids()
    services.definitions.keep(template_id, definition)
    sealed = has_secrets(definition)
    description = definition.description
    kept = records.replace(bundle, types=definition.family.types)
    return StackPlan(
        stack.id,
        action,
        stack.generation,
        list_desired(services, definition),
        template_id,
        services.sealer.dump(format_bundle(kept), sealed=sealed),
        {
            **changes,
            **drift_schedule.plan_columns(
                services, stack, read_drift_section(definition), *drift, is_new=True
            ),
            "policies": read_policies(definition)
            .continue_from(policies.parse_policies(stack.policies))
            .to_text(),
            "description": description if isinstance(description, str) else str(description),
            "note": "",
        },
        given=Given("", {}, *compute_hashes(services.sealer, bundle)),
        also=also,
        checked=checks.format_checks(services.reader(), services.sealer, stack, definition),
    )


def has_secrets(definition: Definition) -> bool:
    """Whether hidden values may stand in a bundle: of parameters, or as hidden properties."""
    return bool(definition.parameters.hidden) or any(
        HIDDEN in node.secrecy.values() for node in definition.resources.values()
    )


def list_desired(services: EngineServices, definition: Definition) -> list[Desired]:
    """The desired resources of a definition, as plans compare them.

    An update stops before all that have a hook for that, whether they change or not.
    """
    hooks = read_policies(definition).hooks if definition.registry.breakpoints else None
    return [
        Desired(
            name,
            node.type,
            compute_fingerprint(services.sealer, node),
            tuple(sorted(node.requires)),
            node.cls.always_update is not Resource.always_update
            or (hooks is not None and "pre-update" in hooks(name)),
        )
        for name, node in definition.resources.items()
    ]


def plan_cancellation(
    services: EngineServices, stack: StackRow, action: actions.CancelStack
) -> StackPlan:
    """The rollback of the running action."""
    if stack.phase == IDLE or stack.action not in OVERTAKES["ROLLBACK"]:
        raise NotSupported(
            f"Cancelling update when stack is ('{stack.action}', '{stack.status}') "
            "is not supported.",
            hint="Nothing is running, so there is nothing to cancel."
            if stack.phase == IDLE
            else f"{stack.action} cannot be undone; --no-rollback starts nothing more of it.",
        )
    return _plan_undo(services, stack)


def plan_verb(services: EngineServices, stack: StackRow, action: Any) -> StackPlan | None:
    """The plan of a suspension, a resumption or a check; None if that was the last action."""
    op = _VERBS[type(action).__name__]
    check_overtakes(stack, op)
    check_not_deleting(stack, op)
    if (stack.action, stack.status) == (op, COMPLETE) and op != "CHECK":
        return None
    note = UNCHECKED if op == "CHECK" and not _has_check_handlers(services, stack) else ""
    # what a suspension has not reached need not be resumed
    which = is_suspended if op == "RESUME" and stack.suspended else None
    return StackPlan(stack.id, op, stack.generation, changes={"note": note}, which=which)


def check_not_deleting(stack: StackRow, op: str) -> None:
    """Raise NotSupported for a stack that is being deleted."""
    if stack.action == "DELETE":
        raise NotSupported(
            f"Stack {stack.name} is {stack.action}_{stack.status}: {op} is for what is to stay.",
            hint=f"Go on with 'zonda stack delete {stack.name}', or update the stack to keep it.",
        )


def is_suspended(row: ResourceRow) -> bool:
    """Whether an instance is to be resumed."""
    return bool(row.suspended)


def _has_check_handlers(services: EngineServices, stack: StackRow) -> bool:
    if stack.template_id is None:
        return True
    nodes = services.definitions.get(stack.template_id).resources.values()
    return all(callable(getattr(node.cls, "handle_check", None)) for node in nodes)


def check_overtakes(stack: StackRow, action: str) -> None:
    """Raise Conflict unless ``action`` may begin now."""
    if stack.action not in OVERTAKES.get(action, ()):
        check_idle(stack)


def check_idle(stack: StackRow) -> None:
    """Raise Conflict if anything runs."""
    if stack.phase == IDLE:
        return
    raise ActionInProgress(
        f"Stack {stack.name} already has an action ({stack.action}) in progress.",
        hint=f"'zonda stack wait {stack.name}' waits for its end, and goes on with it where nobody "
        "does; or cancel it, or delete the stack.",
    )
