"""The plans of nested stacks: the state that the owner wants, as a proposal. In the pool.

A nested stack is planned like every other one. What differs: its template builds on the one of the
stack at the top, it is never rolled back by itself, and nobody but its owner plans it. Limits,
protection and breakpoints are those that the stack at the top has by now, also where no template of
the nested one was planned since.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.core.template.definition.child_spec import ChildSpec
from zonda.core.template.definition.fingerprint import format_canonical
from zonda.core.template.environment import policies
from zonda.core.template.environment.policies import Policies
from zonda.core.template.source.bundle import Identity
from zonda.core.template.syntax.sections import check_size
from zonda.hooks.errors import ZondaError, show_path
from zonda.hooks.records import replace

from ..model import row_annotations
from ..model.definition import Definition
from ..model.outcomes import SUPERSEDED
from ..model.plan import Given, StackPlan
from ..model.states import COMPLETE, IDLE
from ..model.work_item import WorkItem
from ..plan import adoption, snapshots
from ..plan.from_template import has_secrets, list_desired, load_nodes
from ..progress.phases import is_superseded
from ..services import EngineServices
from ..templates.definitions import format_bundle, read_policies
from ..templates.kept_inputs import add_kept_inputs


def build_child(
    services: EngineServices, stack: StackRow, owner: ResourceRow, name: str
) -> StackRow:
    """The row of a nested stack that is not there yet."""
    return StackRow(
        services.ids(),
        stack.project,
        name,
        owner_resource_id=owner.id,
        root_id=stack.root,
        disable_rollback=1,
        timeout_mins=stack.timeout_mins,
        tags=stack.tags,
        created_by=stack.created_by,
    )


def build_plan(
    services: EngineServices,
    child: StackRow,
    spec: ChildSpec,
    parent: Definition,
    parent_template: str,
    root: StackRow,
) -> StackPlan:
    """The plan that brings a nested stack to ``spec``.

    ``parent`` is the definition of the owner's stack, stored as ``parent_template``; ``root`` the
    stack at the top of their tree. Raises ValidationErrors.
    """
    identity = Identity(child.id, child.name, child.project)
    before: Definition | None = None
    if child.generation and child.template_id is not None:
        before = services.definitions.get(child.template_id)
    values = None if before is None else before.parameters.values
    base = load_base(services, child, spec, parent, before)
    definition: Definition = load_nested(base.family, spec, identity, values)
    there = frozenset[str]() if before is None else before.resources.keys()
    more = sum(name not in there for name in definition.resources)
    if more:
        tree = root.id, root.generation
        services.sizes.check(services.reader(), tree, more, max_resources(definition))
    base_text = None
    if base is parent:
        base_id = services.definitions.find_base(parent_template)
    elif base is before:
        base_id = services.definitions.find_base(str(child.template_id))
    else:
        base_id = services.ids()
        services.definitions.keep(base_id, base)
        bundle = format_bundle(base.family.load_context.bundle)
        base_text = services.sealer.dump(bundle, sealed=has_secrets(base))
    template_id = services.ids()
    services.definitions.keep(template_id, definition, base_id)
    body = {"spec": spec.to_json()}
    sealed = bool(spec.marks) or has_secrets(definition)
    above = Above(services, root, child)
    # not what was said when it was planned: the definition of a signal may be an older one
    known = above.find_policies(spec) or read_policies(definition)
    return StackPlan(
        child.id,
        "UPDATE" if child.generation else "CREATE",
        child.generation,
        list_desired(services, definition),
        template_id,
        services.sealer.dump(body, sealed=sealed),
        {
            **above.list_changes(replace(known, before=above.policies.before)),
            "description": str(definition.description),
            "note": "",
            "disable_rollback": 1,
        },
        given=Given("", {}, *_compute_hashes(services, spec)),
        base_id=base_id,
        base=base_text,
        more=more,
    )


def load_base(
    services: EngineServices,
    child: StackRow,
    spec: ChildSpec,
    parent: Definition,
    before: Definition | None,
) -> Definition:
    """A definition of the tree to load ``spec`` in: ``parent``, ``before``, or a new root.

    A new one, or that of ``before``, has what members keep and the tree of ``parent`` lacks.
    """
    bundle = add_kept_inputs(spec, parent, before)
    for known in (parent, before):
        if known is not None and bundle == known.family.load_context.bundle:
            return known
    root = services.reader().stack_row(child.root)
    identity = Identity(root.id, root.name, root.project)
    made: Definition = services.definitions.load(bundle, identity, None, False)
    return made


def max_resources(definition: Definition) -> int:
    """The limit of resources of a stack with all of its nested stacks."""
    most: int = definition.family.load_context.limits.max_resources_per_stack
    return most


def load_nested(
    family: Any,
    spec: ChildSpec,
    identity: Identity,
    before: Mapping[str, Any] | None,
    later: frozenset[str] = frozenset(),
) -> Any:
    """The definition of a nested template; raises where it has too many resources."""
    most = family.load_context.limits.max_resources_per_stack
    if spec.template is not None:  # nothing is made of one that is too large
        check_size(spec.template.get("resources") or (), most)
    definition = family.load(spec, identity, before, False, later)
    check_size(definition.resources, most)
    return definition


class Above:
    """The facts of the root stack on which every plan of a nested stack depends."""

    def __init__(self, services: EngineServices, root: StackRow, child: StackRow) -> None:
        self._definitions = services.definitions
        self._child = child
        self._root = root
        self.policies = policies.parse_policies(self._root.policies)

    def find_policies(self, spec: ChildSpec | None = None) -> Policies | None:
        """The policies of the root stack for the nested one; None without any.

        It may have been updated since, and have had no reason to plan the nested one anew. Where it
        cannot be loaded any more what is stored of it counts: a deletion needs no template.
        ``spec``: what the nested one is to be made from, if not what it was.
        """
        root, child = self._root, self._child
        if root.template_id is None or (spec is None and child.template_id is None):
            return None
        try:
            family = self._definitions.get(root.template_id).family
            spec = spec or self._definitions.read_spec(str(child.template_id))
        except ZondaError:
            breakpoints = policies.parse_policies(child.policies).breakpoints
            return replace(self.policies, before={}, breakpoints=breakpoints)
        own = family.build_child_environment({}).own
        return policies.build_policies(own, family.build_child_registry(spec).breakpoints)

    def list_changes(self, known: Policies) -> dict[str, object]:
        """The limits of a plan with the policies ``known``."""
        root = self._root
        # it rolls back a failed plan, with all that it has made
        if root.action == "ROLLBACK" and root.phase != IDLE and not self.policies.before:
            known = known.to_undo_policies()
        return {"policies": known.to_text(), "timeout_mins": root.timeout_mins}


def list_root_state(root: StackRow) -> tuple[object, ...]:
    """The columns of the root stack on which the plans of its nested stacks depend."""
    return root.template_id, root.policies, root.action, root.timeout_mins


def _compute_hashes(services: EngineServices, spec: ChildSpec) -> tuple[str, str]:
    """As ``history.hashes``, of a nested template and its parameters."""
    texts = (format_canonical([spec.file, spec.template]), format_canonical(dict(spec.parameters)))
    first, second = (services.sealer.hmac(text.encode("utf-8", "surrogatepass")) for text in texts)
    return first, second


def format_failure(owner: str, child: StackRow) -> tuple[str, str]:
    """(kind, reason) of the owner's failure: the child's first one, with the path to it."""
    known: list[str] = json.loads(child.failures)
    first = known[0] if known else child.status_reason
    if is_superseded(child):
        return SUPERSEDED, first
    kind, separator, text = first.partition(": resources")
    above = show_path(("resources", owner))
    if separator and kind.isidentifier() and text[:1] in (".", "["):
        return kind, f"{kind}: {above}.resources{text}"
    if first.startswith(("resources.", "resources[")):
        return "ResourceFailure", f"ResourceFailure: {above}.{first}"
    return "ResourceFailure", f"ResourceFailure: {above}: {first}"


def adapt_plan(
    services: EngineServices, owner: WorkItem, child: StackRow, proposal: StackPlan
) -> StackPlan:
    """The plan of a nested stack, adapted to the operation of its owner."""
    if owner.row.op == "ADOPT":
        return adoption.plan_child_adoption(
            services, owner.row, proposal, read_annotation(services, owner, row_annotations.ADOPT)
        )
    if owner.stack.action == "RESTORE" and row_annotations.has(owner.row, row_annotations.RESTORE):
        return _restore_plan(
            services, child, proposal, read_annotation(services, owner, row_annotations.RESTORE)
        )
    return proposal


def list_members(services: EngineServices, owner: WorkItem) -> tuple[str, ...]:
    """The members in the document from which an owner is adopted."""
    known = read_annotation(services, owner, row_annotations.ADOPT).get("resources")
    return tuple(map(str, known)) if isinstance(known, Mapping) else ()


def read_annotation(services: EngineServices, owner: WorkItem, kind: str) -> Mapping[str, Any]:
    """The annotation of an owner."""
    return row_annotations.read_values(services.sealer, owner.row, kind)


def _restore_plan(
    services: EngineServices, child: StackRow, proposal: StackPlan, handed: Mapping[str, Any]
) -> StackPlan:
    part = snapshots.find_part(services, child, str(handed.get("snapshot")))
    if part is None or (part.action, part.status) != ("SNAPSHOT", COMPLETE):
        return proposal  # this stack is younger than the snapshot
    nodes = load_nodes(services, proposal.template_id)
    proposal = replace(proposal, action="RESTORE")
    return snapshots.with_restore(services, proposal, part, nodes)
