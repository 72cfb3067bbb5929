"""The plans of nested stacks: the state that the owner wants, as a proposal. In the pool.

A nested stack is planned like every other one. What differs: its template builds on the one of the
stack at the top, it is never rolled back by itself, and nobody but its owner plans it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.core.store.values.jsontext import dumps
from zonda.core.template.definition.child_spec import ChildSpec
from zonda.core.template.definition.fingerprint import format_canonical
from zonda.core.template.environment import policies
from zonda.core.template.environment.policies import Policies
from zonda.core.template.source.bundle import Identity
from zonda.core.template.syntax.sizes import check_size
from zonda.hooks.errors import ZondaError, show_path

from ..model.definition import Definition
from ..model.outcomes import SUPERSEDED
from ..model.plan import Given, StackPlan
from ..model.states import IDLE
from ..plan.from_template import has_secrets, list_desired
from ..progress.children import is_superseded
from ..services import EngineServices
from ..templates.definitions import read_policies


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
    )


def build_plan(
    services: EngineServices,
    child: StackRow,
    spec: ChildSpec,
    parent: Definition,
    parent_template: str,
) -> StackPlan:
    """The plan that brings a nested stack to ``spec``.

    ``parent`` is the definition of the owner's stack, stored as ``parent_template``. Raises
    ValidationErrors.
    """
    identity = Identity(child.id, child.name, child.project)
    before = _find_previous(services, child)
    values = None if before is None else before.parameters.values
    definition: Definition = load_nested(parent.family, spec, identity, values)
    there = frozenset[str]() if before is None else before.resources.keys()
    more = sum(name not in there for name in definition.resources)
    if more:
        tree = child.root, services.reader().stack_row(child.root).generation
        services.sizes.check(services.reader(), tree, more, max_resources(definition))
    base = services.definitions.find_base(parent_template)
    template_id = services.ids()
    services.definitions.keep(template_id, definition, base)
    body = {"spec": spec.to_json()}
    sealed = bool(spec.marks) or has_secrets(definition)
    return StackPlan(
        child.id,
        "UPDATE" if child.generation else "CREATE",
        child.generation,
        list_desired(services, definition),
        template_id,
        services.sealer.dump(body, sealed=sealed),
        {
            "policies": _merge_policies(services, definition, child, spec),
            "description": str(definition.description),
            "note": "",
            "disable_rollback": 1,
            "timeout_mins": read_timeout(services, child),
        },
        given=Given("", {}, *_compute_hashes(services, spec)),
        base_id=base,
        more=more,
    )


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


def _find_previous(services: EngineServices, child: StackRow) -> Definition | None:
    if not child.generation or child.template_id is None:
        return None
    return services.definitions.get(child.template_id)


def _merge_policies(
    services: EngineServices, definition: Definition, child: StackRow, spec: ChildSpec
) -> str:
    """Merge what the environment says by now and said before, unless that is undone.

    Not what it said when ``definition`` was planned: that of a signal may be an older one.
    """
    known = read_current_policies(services, child, spec) or read_policies(definition)
    if is_undone(services, child):
        return known.to_undo_policies().to_text()
    return replace(known, before=_read_root(services, child)[1].before).to_text()


def read_current_policies(
    services: EngineServices, child: StackRow, spec: ChildSpec | None = None
) -> Policies | None:
    """The policies of the root stack for a nested one; None without any.

    It may have been updated since, and have had no reason to plan the nested one anew. Where it
    cannot be loaded any more what is stored of it counts: a deletion needs no template. ``spec``:
    what the nested one is to be made from, if not what it was.
    """
    root, known = _read_root(services, child)
    if root.template_id is None or (spec is None and child.template_id is None):
        return None
    try:
        family = services.definitions.get(root.template_id).family
        spec = spec or services.definitions.read_spec(str(child.template_id))
    except ZondaError:
        breakpoints = policies.parse_policies(child.policies).breakpoints
        return replace(known, before={}, breakpoints=breakpoints)
    own = family.build_child_environment({}).own
    return policies.build_policies(own, family.build_child_registry(spec).breakpoints)


def _read_root(services: EngineServices, child: StackRow) -> tuple[StackRow, Policies]:
    """The root stack, and its stored policies."""
    root = services.reader().stack_row(child.root)
    return root, policies.parse_policies(root.policies)


def read_timeout(services: EngineServices, child: StackRow) -> int:
    """The timeout of an action of the root stack, in minutes."""
    return services.reader().stack_row(child.root).timeout_mins


def is_undone(services: EngineServices, child: StackRow) -> bool:
    """Whether the root stack rolls back a failed plan, with all that it has made."""
    root, known = _read_root(services, child)
    return root.action == "ROLLBACK" and root.phase != IDLE and not known.before


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


def format_token(token: Mapping[str, Any]) -> str:
    """A token of an owner's operation for its column."""
    return dumps(dict(token))
