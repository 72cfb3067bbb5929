"""Rules about a life without accidents. Each gets a ``Trial`` and raises ``Violated``."""

from __future__ import annotations

import logging
import sys
from logging.handlers import BufferingHandler
from typing import Final

from ..errors import NotFound, NotSupported
from ..resources.live_state import OpaqueState, compare_live_state
from ..resources.nested_stack import NestedStack
from ..resources.resource import Resource
from ..schema import attributes
from .instrumented import InstrumentedLifecycle
from .suite import NotApplicable, Violated
from .trial import Trial, describe_error


def check_create(trial: Trial) -> None:
    """Raise Violated unless valid properties make a resource."""
    schemata, known = trial.cls.properties_schema, trial.properties
    there = {*known, *(schemata[name].alias_of for name in known.keys() & schemata.keys())}
    lacking = [name for name in schemata if schemata[name].required and name not in there]
    if lacking:
        names = ", ".join(lacking)
        raise Violated(
            f"no good value is known of {names}, which is required: give one as example",
            "or in Backend.properties()",
        )
    trial.life().validate()
    life = trial.make_created()
    if not life.reference:
        raise Violated("it has no reference", "get_reference_id gives nothing")


def check_attributes(trial: Trial) -> None:
    """Raise Violated unless every attribute can be read and is of its declared type."""
    if not trial.cls.attributes_schema:
        raise NotApplicable("it has no attributes")
    life, listener = trial.make_created(), BufferingHandler(sys.maxsize)
    logger = logging.getLogger(attributes.__name__)
    logger.addHandler(listener)
    try:
        keyed = trial.cls.attributes_with_key if issubclass(trial.cls, NestedStack) else ()
        names = (name for name in trial.cls.attributes_schema if name not in keyed)
        faults = [_describe_read_error(life, name) for name in (*names, "show")]
    finally:
        logger.removeHandler(listener)
    wrong = [*filter(None, faults), *(record.getMessage() for record in listener.buffer)]
    if wrong:
        raise Violated("; ".join(wrong))


def _describe_read_error(life: InstrumentedLifecycle, name: str) -> str:
    try:
        life.attribute(name)
    except Exception as error:  # the border: a plug-in is asked for an attribute
        return f"{name}: {describe_error(life.cls, error)}"
    return ""


def check_live_state_is_true(trial: Trial) -> None:
    """Raise Violated unless ``get_live_state`` returns the properties given, then NotFound.

    Who only tells whether it is in sync may say that it is not once it is gone.
    """
    if trial.cls.get_live_state is Resource.get_live_state:
        raise NotApplicable("it has no CHECK", "there is no get_live_state")
    life = trial.make_created()
    _check_live_properties(life)
    if trial.backend.outlasts(trial.type_name):
        return
    resource_id = life.resource_id
    life.delete()
    life.saved.resource_id = resource_id
    try:
        found = life.live_state()
    except NotFound:
        return
    if isinstance(found, OpaqueState) and not found.in_sync:
        return
    if found is not None:
        raise Violated("it is told of after its deletion", "raise errors.NotFound")


def _check_live_properties(life: InstrumentedLifecycle) -> None:
    live = life.live_state()
    if live is None:
        raise NotApplicable("it cannot tell", "get_live_state gives None")
    unknown = [name for name in live if name not in life.cls.properties_schema]
    if unknown:
        raise Violated(f"no properties: {', '.join(unknown)}")
    found = compare_live_state(life.instance().properties, live)
    if found.differing:
        raise Violated(f"not what was asked for: {', '.join(found.differing)}")


def check_update_without_change(trial: Trial) -> None:
    """Raise Violated if an update that changes no property changes anything."""
    life = trial.make_created()
    before = life.uuid, life.resource_id
    if life.update(trial.properties) != "unchanged" and not life.instance().always_update():
        raise Violated("an update with the same properties was not left out")
    outcome = life.update(trial.properties, metadata={"zonda.check": "1"})
    if outcome == "replaced" or (life.uuid, life.resource_id) != before:
        raise Violated("new metadata alone led to a replacement")


def check_property_update(trial: Trial, name: str) -> None:
    """Raise Violated unless a property that allows updates is updated in place."""
    changed = trial.pick_change(name)
    life = trial.make_created()
    before = life.resource_id
    if life.update(changed) == "replaced":
        raise NotApplicable("it asked for a replacement", "handle_update raised UpdateReplace")
    if life.resource_id != before and before is not None and life.resource_id is None:
        raise Violated("the physical id was lost")
    if trial.cls.get_live_state is not Resource.get_live_state:
        _check_live_properties(life)
    life.delete()
    trial.expect_nothing_left("update and delete")


def check_property_replacement(trial: Trial, name: str) -> None:
    """Raise Violated unless another value of a property replaces the resource."""
    changed = trial.pick_change(name)
    life = trial.make_created()
    before, count = life.uuid, len(trial.backend.leftovers() or ())
    life.update(changed)
    if life.uuid == before:
        raise Violated("it was not replaced")
    if len(trial.backend.leftovers() or ()) > count:
        raise Violated("the old one is still there")
    life.delete()
    trial.expect_nothing_left("replacement and delete")


def check_immutable_property(trial: Trial, name: str) -> None:
    """Raise Violated if an immutable property can be changed."""
    changed = trial.pick_change(name)
    try:
        trial.make_created().update(changed)
    except NotSupported:
        return
    raise Violated("it was changed")


def check_suspend_and_resume(trial: Trial) -> None:
    """Raise Violated if leftovers remain after suspend, resume and delete."""
    _require_handler(trial, "suspend")
    life = trial.make_created()
    life.suspend()
    life.resume()
    life.delete()
    trial.expect_nothing_left("suspend, resume and delete")


def check_check_action(trial: Trial) -> None:
    """Raise Violated if a check fails without reason, or changes the id or the metadata.

    What a check has seen may be kept by ``data_set``.
    """
    _require_handler(trial, "check")
    life = trial.make_created()
    before = life.resource_id, dict(life.saved.metadata)
    life.check()
    if (life.resource_id, life.saved.metadata) != before:
        raise Violated("a check has changed the physical id or the metadata")


def check_missing_is_detected(trial: Trial) -> None:
    """Raise Violated unless a check fails once the physical resource is gone."""
    _require_handler(trial, "check")
    life = trial.make_created()
    if life.resource_id is None or not trial.backend.lose(life.resource_id):
        raise NotApplicable("it cannot be taken away", "Backend.lose() does not")
    try:
        life.check()
    except Exception:  # the border: a plug-in may say so in any way
        return
    raise Violated("a check of what is gone says that all is well")


def check_snapshots(trial: Trial) -> None:
    """Make a snapshot and delete it."""
    _require_handler(trial, "snapshot")
    life = trial.make_created()
    life.delete_snapshot(life.snapshot())
    life.delete()


def check_delete_twice(trial: Trial) -> None:
    """Delete a resource that is gone already, and one that was never made."""
    life = trial.make_created()
    resource_id, data = life.resource_id, dict(life.saved.data)
    life.delete()
    trial.expect_nothing_left("delete")
    life.saved.resource_id, life.saved.data = resource_id, data
    life.delete()
    trial.life().delete()


def check_delete_of_missing(trial: Trial) -> None:
    """Delete a resource that was removed behind zonda's back."""
    life = trial.make_created()
    if life.resource_id is None or not trial.backend.lose(life.resource_id):
        raise NotApplicable("it cannot be taken away", "Backend.lose() does not")
    life.delete()


def _require_handler(trial: Trial, action: str) -> None:
    if not hasattr(trial.cls, f"handle_{action}"):
        raise NotApplicable(f"it has no {action.upper()}", f"there is no handle_{action}")


RULES: Final = {
    "create": check_create,
    "attributes": check_attributes,
    "live state": check_live_state_is_true,
    "update without change": check_update_without_change,
    "suspend and resume": check_suspend_and_resume,
    "check": check_check_action,
    "check of what is gone": check_missing_is_detected,
    "snapshot": check_snapshots,
    "delete twice": check_delete_twice,
    "delete of what is gone": check_delete_of_missing,
}
#: The rules that apply to a hand-written class only.
PYTHON: Final = (check_snapshots,)
