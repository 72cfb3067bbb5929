"""Rules about a life without accidents. Each gets a ``Trial`` and raises ``Violated``."""

from __future__ import annotations

import logging
from typing import Any, Final

from ..errors import NotFound, NotSupported
from ..resources.live_state import compare_live_state
from ..resources.nested_stack import NestedStack
from ..resources.resource import Resource
from ..schema import attributes
from .instrumented import InstrumentedLifecycle
from .report import NotApplicable, Violated, describe_error
from .trial import Trial


def creates(trial: Trial) -> None:
    """Valid properties make a resource."""
    schemata, known = trial.cls.properties_schema, trial.properties
    lacking = [name for name in schemata if schemata[name].required and name not in known]
    if lacking:
        names = ", ".join(lacking)
        raise Violated(
            f"no good value is known of {names}, which is required: give one as example",
            "or in Backend.properties()",
        )
    trial.life().validate()
    life = trial.created()
    if not life.reference:
        raise Violated("it has no reference", "get_reference_id gives nothing")


class _Mistyped(logging.Handler):
    """Gathers what ``attributes`` says of values that are not of the declared type."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """One warning."""
        self.said.append(record.getMessage())


def shows(trial: Trial) -> None:
    """Every attribute can be read, and is of its declared type."""
    if not trial.cls.attributes_schema:
        raise NotApplicable("it has no attributes")
    life, listener = trial.created(), _Mistyped()
    logger = logging.getLogger(attributes.__name__)
    logger.addHandler(listener)
    try:
        keyed = trial.cls.attributes_with_key if issubclass(trial.cls, NestedStack) else ()
        names = (name for name in trial.cls.attributes_schema if name not in keyed)
        faults = [_unreadable(life, name) for name in (*names, "show")]
    finally:
        logger.removeHandler(listener)
    wrong = [*filter(None, faults), *listener.said]
    if wrong:
        raise Violated("; ".join(wrong))


def _unreadable(life: InstrumentedLifecycle, name: str) -> str:
    try:
        life.attribute(name)
    except Exception as error:  # the border: a plug-in is asked for an attribute
        return f"{name}: {describe_error(life.cls, error)}"
    return ""


def live_state(trial: Trial) -> None:
    """What ``get_live_state`` tells is what was asked for."""
    if trial.cls.get_live_state is Resource.get_live_state:
        raise NotApplicable("it has no CHECK", "there is no get_live_state")
    life = trial.created()
    _expect_live(life)
    resource_id = life.resource_id
    life.delete()
    life.saved.resource_id = resource_id
    try:
        found = life.live_state()
    except NotFound:
        return
    if found is not None:
        raise Violated("it is told of after its deletion", "raise errors.NotFound")


def _expect_live(life: InstrumentedLifecycle) -> None:
    live = life.live_state()
    if live is None:
        raise NotApplicable("it cannot tell", "get_live_state gives None")
    unknown = [name for name in live if name not in life.cls.properties_schema]
    if unknown:
        raise Violated(f"no properties: {', '.join(unknown)}")
    found = compare_live_state(life.instance().properties, live)
    if found.differing:
        raise Violated(f"not what was asked for: {', '.join(found.differing)}")


def stays(trial: Trial) -> None:
    """An update that changes no property changes nothing."""
    life = trial.created()
    before = life.uuid, life.resource_id
    if life.update(trial.properties) != "unchanged" and not life.instance().always_update():
        raise Violated("an update with the same properties was not left out")
    outcome = life.update(trial.properties, metadata={"zonda.check": "1"})
    if outcome == "replaced" or (life.uuid, life.resource_id) != before:
        raise Violated("new metadata alone led to a replacement")


def updates(trial: Trial, name: str) -> None:
    """A property that may be updated is, in place."""
    changed = trial.other(name)
    life = trial.created()
    before = life.resource_id
    if life.update(changed) == "replaced":
        raise NotApplicable("it asked for a replacement", "handle_update raised UpdateReplace")
    if life.resource_id != before and before is not None and life.resource_id is None:
        raise Violated("the physical id was lost")
    if trial.cls.get_live_state is not Resource.get_live_state:
        _expect_live(life)
    life.delete()
    trial.expect_nothing_left("update and delete")


def replaces(trial: Trial, name: str) -> None:
    """A property that may not be updated leads to a new resource, and the old one goes."""
    changed = trial.other(name)
    life = trial.created()
    before, count = life.uuid, len(trial.backend.leftovers() or ())
    life.update(changed)
    if life.uuid == before:
        raise Violated("it was not replaced")
    if len(trial.backend.leftovers() or ()) > count:
        raise Violated("the old one is still there")
    life.delete()
    trial.expect_nothing_left("replacement and delete")


def refuses(trial: Trial, name: str) -> None:
    """An immutable property cannot be changed."""
    changed = trial.other(name)
    try:
        trial.created().update(changed)
    except NotSupported:
        return
    raise Violated("it was changed")


def suspends(trial: Trial) -> None:
    """It can be suspended, resumed, and then deleted."""
    _needs(trial, "suspend")
    life = trial.created()
    life.suspend()
    life.resume()
    life.delete()
    trial.expect_nothing_left("suspend, resume and delete")


def checks(trial: Trial) -> None:
    """It is well as long as it is there, and a check changes neither its id nor its metadata.

    What a check has seen may be kept by ``data_set``.
    """
    _needs(trial, "check")
    life = trial.created()
    before = life.resource_id, dict(life.saved.metadata)
    life.check()
    if (life.resource_id, life.saved.metadata) != before:
        raise Violated("a check has changed the physical id or the metadata")


def misses(trial: Trial) -> None:
    """A check fails once the physical resource is gone."""
    _needs(trial, "check")
    life = trial.created()
    if life.resource_id is None or not trial.backend.lose(life.resource_id):
        raise NotApplicable("it cannot be taken away", "Backend.lose() does not")
    try:
        life.check()
    except Exception:  # the border: a plug-in may say so in any way
        return
    raise Violated("a check of what is gone says that all is well")


def snapshots(trial: Trial) -> None:
    """Snapshots can be made and deleted."""
    _needs(trial, "snapshot")
    life = trial.created()
    life.delete_snapshot(life.snapshot())
    life.delete()


def deletes_twice(trial: Trial) -> None:
    """What is gone already, or was never made, can be deleted."""
    life = trial.created()
    stored = _stored(life)
    life.delete()
    trial.expect_nothing_left("delete")
    life.saved.resource_id, life.saved.data = stored[0], dict(stored[1])
    life.delete()
    trial.life().delete()


def gone_by_hand(trial: Trial) -> None:
    """What somebody else has taken away can be deleted."""
    life = trial.created()
    if life.resource_id is None or not trial.backend.lose(life.resource_id):
        raise NotApplicable("it cannot be taken away", "Backend.lose() does not")
    life.delete()


def _needs(trial: Trial, action: str) -> None:
    if not hasattr(trial.cls, f"handle_{action}"):
        raise NotApplicable(f"it has no {action.upper()}", f"there is no handle_{action}")


def _stored(life: InstrumentedLifecycle) -> tuple[Any, dict[str, str], dict[str, Any]]:
    return life.resource_id, dict(life.saved.data), dict(life.saved.metadata)


RULES: Final = {
    "create": creates,
    "attributes": shows,
    "live state": live_state,
    "update without change": stays,
    "suspend and resume": suspends,
    "check": checks,
    "check of what is gone": misses,
    "snapshot": snapshots,
    "delete twice": deletes_twice,
    "delete of what is gone": gone_by_hand,
}
#: What only a class that somebody wrote can do.
PYTHON: Final = (snapshots,)
