"""The plans of nested stacks: what the owner wants of its child, as a proposal. In the pool.

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
from zonda.core.template.definition.fingerprint import canonical
from zonda.core.template.environment import policies
from zonda.core.template.environment.policies import Policies
from zonda.core.template.source.bundle import Identity
from zonda.core.template.syntax.sizes import check_size
from zonda.hooks.errors import ZondaError, show_path

from ..model.definition import Definition
from ..model.outcomes import SUPERSEDED
from ..model.plan import Given, StackPlan
from ..model.states import IDLE
from ..plan.from_template import holds_secrets, wanted_by
from ..progress.children import is_superseded
from ..services import EngineServices
from ..templates.definitions import policies_of


def new_child(services: EngineServices, stack: StackRow, owner: ResourceRow, name: str) -> StackRow:
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


def proposed(
    services: EngineServices,
    child: StackRow,
    spec: ChildSpec,
    parent: Definition,
    parent_template: str,
) -> StackPlan:
    """The plan that makes a nested stack what ``spec`` says.

    ``parent`` is the definition of the owner's stack, stored as ``parent_template``. Raises
    ValidationErrors.
    """
    identity = Identity(child.id, child.name, child.project)
    before = _before(services, child)
    values = None if before is None else before.parameters.values
    definition: Definition = loaded(parent.family, spec, identity, values)
    there = frozenset[str]() if before is None else before.resources.keys()
    more = sum(name not in there for name in definition.resources)
    if more:
        tree = child.root, services.reader().stack_row(child.root).generation
        services.sizes.check(services.reader(), tree, more, most_of(definition))
    base = services.definitions.base_of(parent_template)
    template_id = services.ids()
    services.definitions.keep(template_id, definition, base)
    body = {"spec": spec.to_json()}
    sealed = bool(spec.marks) or holds_secrets(definition)
    return StackPlan(
        child.id,
        "UPDATE" if child.generation else "CREATE",
        child.generation,
        wanted_by(services, definition),
        template_id,
        services.sealer.dump(body, sealed=sealed),
        {
            "policies": _policies(services, definition, child, spec),
            "description": str(definition.description),
            "note": "",
            "disable_rollback": 1,
            "timeout_mins": minutes(services, child),
        },
        given=Given("", {}, *_hashes(services, spec)),
        base_id=base,
        more=more,
    )


def most_of(definition: Definition) -> int:
    """How many resources a stack may have with all that is nested in it."""
    most: int = definition.family.around.limits.max_resources_per_stack
    return most


def loaded(
    family: Any,
    spec: ChildSpec,
    identity: Identity,
    before: Mapping[str, Any] | None,
    later: frozenset[str] = frozenset(),
) -> Any:
    """A nested template that is to be applied; it may not have too many resources."""
    most = family.around.limits.max_resources_per_stack
    if spec.template is not None:  # nothing is made of one that is too large
        check_size(spec.template.get("resources") or (), most)
    definition = family.load(spec, identity, before, False, later)
    check_size(definition.resources, most)
    return definition


def _before(services: EngineServices, child: StackRow) -> Definition | None:
    if not child.generation or child.template_id is None:
        return None
    return services.definitions.get(child.template_id)


def _policies(
    services: EngineServices, definition: Definition, child: StackRow, spec: ChildSpec
) -> str:
    """What the environment says by now, and said before, unless that is undone.

    Not what it said when ``definition`` was planned: that of a signal may be an older one.
    """
    known = policies_now(services, child, spec) or policies_of(definition)
    if is_undone(services, child):
        return known.for_undoing().to_text()
    return replace(known, before=_root(services, child)[1].before).to_text()


def policies_now(
    services: EngineServices, child: StackRow, spec: ChildSpec | None = None
) -> Policies | None:
    """What the stack at the top says by now of what is nested in it; None where nothing does.

    It may have been updated since, and have had no reason to plan the nested one anew. Where it
    cannot be loaded any more what is stored of it counts: a deletion needs no template. ``spec``:
    what the nested one is to be made from, if not what it was.
    """
    root, known = _root(services, child)
    if root.template_id is None or (spec is None and child.template_id is None):
        return None
    try:
        family = services.definitions.get(root.template_id).family
        spec = spec or services.definitions.spec_of(str(child.template_id))
    except ZondaError:
        breakpoints = policies.read(child.policies).breakpoints
        return replace(known, before={}, breakpoints=breakpoints)
    own = family.environment_below({}).own
    return policies.of_environment(own, family.registry_below(spec).breakpoints)


def _root(services: EngineServices, child: StackRow) -> tuple[StackRow, Policies]:
    """The stack at the top, and what is stored of what it says."""
    root = services.reader().stack_row(child.root)
    return root, policies.read(root.policies)


def minutes(services: EngineServices, child: StackRow) -> int:
    """How long an action of the stack at the top may take by now."""
    return services.reader().stack_row(child.root).timeout_mins


def is_undone(services: EngineServices, child: StackRow) -> bool:
    """Whether the stack at the top undoes a plan that has failed, with all that it has made."""
    root, known = _root(services, child)
    return root.action == "ROLLBACK" and root.phase != IDLE and not known.before


def said(root: StackRow) -> tuple[object, ...]:
    """What a stack at the top has that decides the plans of all that is nested in it."""
    return root.template_id, root.policies, root.action, root.timeout_mins


def _hashes(services: EngineServices, spec: ChildSpec) -> tuple[str, str]:
    """As ``recording.hashes``, of a nested template and its parameters."""
    texts = (canonical([spec.file, spec.template]), canonical(dict(spec.parameters)))
    first, second = (services.sealer.hmac(text.encode("utf-8", "surrogatepass")) for text in texts)
    return first, second


def reason_above(owner: str, child: StackRow) -> tuple[str, str]:
    """(kind, reason) of the owner's failure: the child's first one, with the way down to it."""
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


def token_text(token: Mapping[str, Any]) -> str:
    """A token of an owner's operation for its column."""
    return dumps(dict(token))
