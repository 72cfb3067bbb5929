"""The decision on an instance: its operation, and the reason for it. Nothing is written.

The one place that decides between creating, updating, replacing and leaving alone: ``prepare`` asks
it before an operation, ``preview`` for a plan that is only shown. Raises what a plug-in raises.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Literal

from zonda.core.store.schema.rows import ResourceRow
from zonda.core.store.values.sealing import Sealer
from zonda.hooks import records
from zonda.hooks.errors import TemplateError, UpdateReplace
from zonda.hooks.records import dataclass
from zonda.hooks.resources.definition import ResourceDefinition
from zonda.hooks.resources.resource import Resource
from zonda.hooks.schema.values import NOT_CHECKED

from ..model import row_annotations
from ..model.causes import Cause, as_text
from ..model.definition import Definition, Node
from ..model.states import FAILED, UNHARMED
from ..model.work_item import Prior, WorkItem
from ..plugins.instances import Instances
from ..plugins.reasons import format_restricted
from ..progress.protection import explain_no_replacement
from ..templates.fingerprints import compute_hash

Decision = Literal["create", "check", "unchanged", "note", "update", "replace", "fail", "refuse"]
#: The reason: ``fixed``, a property of new instances only; ``plugin``: the plug-in says so;
#: ``prepared``: it was made ready to be replaced, and is taken back.
Why = Literal[
    "",
    "new",
    "type",
    "failed",
    "missing",
    "fixed",
    "immutable",
    "plugin",
    "restricted",
    "external",
    "always",
    "prepared",
    "protected",
]


@dataclass(frozen=True, slots=True)
class Question:
    """An instance, with what there is of it, and its desired definition.

    ``class_type``: the registered name of ``cls``. ``before`` and ``after`` make plug-in instances
    of what there is and of what is wanted, ``desired`` one of ``resolved``, which it is in the end;
    ``hashed`` gives the hash of that.
    ``supposed``: properties whose values are not known yet and are to be taken as changed;
    ``pending``: all that are not known, which are not validated. ``protected``: why it cannot be
    replaced, or ''. Where ``prior`` leaves a part of a property as it is, nothing is made anew for
    that property alone, since the part would be lost.
    """

    row: ResourceRow
    prior: Prior
    resolved: ResourceDefinition
    cls: type[Resource]
    class_type: str
    restricted: Callable[[], Collection[str]]
    before: Callable[[], Resource]
    after: Callable[[], Resource]
    desired: Callable[[], Resource]
    hashed: Callable[[], str]
    protected: Callable[[], str]
    pending: Collection[str] = ()
    supposed: Collection[str] = ()

    @classmethod
    def of(
        cls,
        instances: Instances,
        item: WorkItem,
        node: Node,
        resolved: ResourceDefinition,
        *,
        pending: Collection[str] = (),
        marked_by: Definition | None = None,
    ) -> Question:
        """The question what ``resolved`` means for the instance of a work item.

        The item's definition is the template of ``node``; ``marked_by``: see ``compute_hash``.
        """
        row, definition, sealer = item.row, item.definition, instances.lending.sealer
        assert definition is not None
        prior = item.read_prior(sealer)

        def build_before() -> Resource:
            template_id = row.have_template_id or row.op_template_id
            if row.class_type or instances.definition_of(template_id, row.name) is not None:
                return instances.make(item)
            return instances.make(item, cls=node.cls)  # moved there by the plan

        def make_instance(wanted: ResourceDefinition) -> Resource:
            return instances.make(item, definition=wanted, cls=node.cls)

        def build_desired() -> Resource:
            return make_instance(resolved)

        hashes: list[str] = []  # made once; to wrap a function for that takes as long as a hash

        def build_hash() -> str:
            if not hashes:
                of = (sealer, definition, resolved, node.cls, build_desired, marked_by)
                hashes.append(compute_hash(*of) + _find_snapshot(sealer, item, node.cls))
            return hashes[0]

        return cls(
            # what was observed is not what it was made
            records.replace(row, resolved_hash="") if prior.observed else row,
            prior,
            resolved,
            node.cls,
            instances.definitions.class_type(node.cls),
            lambda: definition.registry.list_restricted_actions(row.name),
            build_before,
            lambda: make_instance(prior.adapt(resolved, node.cls)),
            build_desired,
            build_hash,
            lambda: explain_no_replacement(item.stack, row),
            pending,
        )


def _find_snapshot(sealer: Sealer, item: WorkItem, cls: type[Resource]) -> str:
    """The id of the snapshot that a nested stack is restored from; it makes another hash."""
    if item.stack.action != "RESTORE" or not cls.is_nested_stack:
        return ""
    known = row_annotations.read_values(sealer, item.row, row_annotations.RESTORE)
    return str(known.get("snapshot", ""))


@dataclass(frozen=True, slots=True)
class Comparison:
    """The decision. ``about``: the properties that force it; ``changed``: all that change.

    ``check``: a resource that is managed elsewhere is taken note of. ``note``: nothing is done, yet
    the new definition is kept. ``fail`` and ``refuse`` come with Heat's ``reason``; ``would`` is
    what they keep from happening.
    """

    decision: Decision
    why: Why = ""
    about: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    reason: str = ""
    would: Decision = "update"
    after: Resource | None = None

    @property
    def cause(self) -> str:
        """The text for column ``cause``."""
        return as_text(Cause(self.decision, self.why, self.about, self.changed))


UNCHANGED = Comparison("unchanged")


def decide(case: Question) -> Comparison:
    """The decision on the instance."""
    return _decide_new(case) if case.row.action == "INIT" else _decide_existing(case)


def _decide_new(case: Question) -> Comparison:
    if case.resolved.external_id is not None:
        if not case.resolved.external_id:
            raise _NoExternalId("Resource ID was not provided.")
        return Comparison("check", "new")
    instance = case.after()
    _validate(instance, case)
    return Comparison("create", "new", after=instance)


def _decide_existing(case: Question) -> Comparison:
    row, prior = case.row, case.prior
    if (row.external_id or None) != case.resolved.external_id:
        return _build_refusal(case, "property external_id", "refuse", "external", ())
    if row.class_type != case.class_type:
        return _decide_replacement(case, "type")
    before = case.before()
    failed = not row.have_hash or (row.status == FAILED and row.action not in UNHARMED)
    unwell = (row.action, row.status) == ("CHECK", FAILED)
    if prior.observed and row.action in ("UPDATE", "CHECK"):
        failed = unwell = False  # whatever became of that, what there is now is known
    removed = row.action == "DELETE" or prior.is_partial
    broken = removed or (unwell and not case.cls.repairs_in_place)
    known: Why = "missing" if prior.is_missing else "failed"
    if broken or (failed and before.needs_replace_failed()):
        return _decide_replacement(case, known)
    if case.resolved.external_id is not None:
        return UNCHANGED
    after = case.after()
    if case.cls.never_update:
        return Comparison("note", after=after)
    same = not case.supposed and case.hashed() == row.resolved_hash
    if not failed:
        try:
            if not before.needs_update(after, not same) and not prior.is_prepared:
                return UNCHANGED if same else Comparison("note", after=after)
        except UpdateReplace:
            return _decide_replacement(case, "plugin")
    why: Why = "prepared" if prior.is_prepared else "always" if same else ""
    return _decide_changed(case, before, after, known if failed else why)


def _decide_changed(case: Question, before: Resource, after: Resource, why: Why) -> Comparison:
    _validate(after, case)
    known = before.properties
    if case.cls.declared_by is not None:  # another text has another schema, which is no change
        known = after.make_properties(before.t)
    differing = after.properties.diff(known, case.prior.observed)
    if case.supposed:
        surely = {*differing, *case.supposed}
        differing = [key for key in after.properties.props if key in surely]
    fixed = after.properties.immutable(differing)
    if fixed:
        named = f"properties {', '.join(fixed)}"
        return _build_refusal(case, named, "fail", "immutable", tuple(fixed))
    changed = tuple(differing)
    if changed:
        if before.needs_replace_with_prop_diff(differing, after.properties, known):
            if set(changed) <= set(case.prior.left):
                return UNCHANGED
            return _decide_replacement(case, "plugin", changed, changed)
        if not after.properties.update_allowed(differing):
            props = after.properties.props
            about = tuple(key for key in differing if not props[key].update_allowed)
            return _decide_replacement(case, "fixed", about, changed)
    if "update" in case.restricted():
        return _build_restriction(case, "update", changed)
    return Comparison("update", why, changed=changed, after=after)


def _decide_replacement(
    case: Question, why: Why, about: tuple[str, ...] = (), changed: tuple[str, ...] = ()
) -> Comparison:
    reason = case.protected()
    if reason:
        return Comparison("refuse", "protected", about, changed, reason, would="replace")
    if "replace" in case.restricted():
        return _build_restriction(case, "replace", changed)
    return Comparison("replace", why, about, changed)


def _build_restriction(
    case: Question, what: Literal["update", "replace"], changed: tuple[str, ...]
) -> Comparison:
    reason = format_restricted(case.row.name, what)
    return Comparison("refuse", "restricted", changed=changed, reason=reason, would=what)


def _build_refusal(
    case: Question, what: str, decision: Decision, why: Why, about: tuple[str, ...]
) -> Comparison:
    name, kind = case.row.name, case.row.type
    text = f"resources.{name}: Update to {what} of {name} ({kind}) is not supported."
    return Comparison(decision, why, about, about, f"NotSupported: {text}")


class _NoExternalId(Exception):
    heat_type = "Exception"


def _validate(instance: Resource, case: Question) -> None:
    faults: list[TemplateError] = instance.properties.validate(
        (case.row.name, "Properties"), pending=case.pending
    )
    for fault in faults:
        if fault.code == NOT_CHECKED:  # the handler will tell
            continue
        if len(fault.path) < 3 or fault.path[2] not in case.pending:
            raise fault
