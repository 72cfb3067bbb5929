"""The decision on an instance: its operation, and the reason for it. Nothing is written.

The one place that decides between creating, updating, replacing and leaving alone: ``prepare`` asks
it before an operation, ``preview`` for a plan that is only shown. Raises what a plug-in raises.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal

from zonda.core.store.schema.rows import ResourceRow
from zonda.hooks.errors import TemplateError, UpdateReplace
from zonda.hooks.resources.definition import ResourceDefinition
from zonda.hooks.resources.resource import Resource

from ..model import row_annotations
from ..model.causes import Cause, as_text
from ..model.states import FAILED, UNHARMED
from ..plugins.reasons import format_restricted

Decision = Literal["create", "check", "unchanged", "note", "update", "replace", "fail", "refuse"]
#: Why: ``fixed``, a property that only a new instance can have; ``plugin``: the plug-in says so.
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
    "protected",
]


@dataclass(frozen=True, slots=True)
class Question:
    """An instance and its desired definition.

    ``class_type``: the registered name of ``cls``. ``before`` and ``after`` make plug-in instances
    of what there is and of what is wanted; ``hashed`` gives the hash of the wanted definition.
    ``supposed``: properties whose values are not known yet and are to be taken as changed;
    ``pending``: all that are not known, which are not validated. ``protected``: why it cannot be
    replaced, or ''. ``observed``: the properties of which a repair has just seen that they differ.
    ``left``: properties of which that leaves a part as it is: for them alone nothing is made anew,
    since the part would be lost.
    """

    row: ResourceRow
    resolved: ResourceDefinition
    cls: type[Resource]
    class_type: str
    restricted: Callable[[], Collection[str]]
    before: Callable[[], Resource]
    after: Callable[[], Resource]
    hashed: Callable[[], str]
    supposed: Collection[str] = ()
    pending: Collection[str] = ()
    protected: Callable[[], str] = str
    observed: Collection[str] = ()
    left: Collection[str] = ()


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
    row = case.row
    if (row.external_id or None) != case.resolved.external_id:
        return _build_refusal(case, "property external_id", "refuse", "external", ())
    if row.class_type != case.class_type:
        return _decide_replacement(case, "type")
    before = case.before()
    failed = not row.have_hash or (row.status == FAILED and row.action not in UNHARMED)
    unwell = (row.action, row.status) == ("CHECK", FAILED)
    if case.observed and row.action in ("UPDATE", "CHECK"):
        failed = unwell = False  # whatever became of that, what there is now is known
    removed = row.action == "DELETE" or row_annotations.is_half_removed(row)
    broken = removed or (unwell and not case.cls.repairs_in_place)
    known: Why = "missing" if row_annotations.is_missing(row) else "failed"
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
            if not before.needs_update(after, not same):
                return UNCHANGED if same else Comparison("note", after=after)
        except UpdateReplace:
            return _decide_replacement(case, "plugin")
    return _decide_changed(case, before, after, known if failed else "always" if same else "")


def _decide_changed(case: Question, before: Resource, after: Resource, why: Why) -> Comparison:
    _validate(after, case)
    known = before.properties
    if case.cls.declared_by is not None:  # another text has another schema, which is no change
        known = after.make_properties(before.t)
    differing = after.properties.diff(known, case.observed)
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
            if set(changed) <= set(case.left):
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
    return Comparison("fail", "restricted", changed=changed, reason=reason, would=what)


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
        if len(fault.path) < 3 or fault.path[2] not in case.pending:
            raise fault
