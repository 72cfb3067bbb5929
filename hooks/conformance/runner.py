"""Runs all rules on one type in order; an exception of a rule becomes a row."""

from __future__ import annotations

import signal
from collections.abc import Callable
from functools import partial

from ..context import ResourceContext
from ..resources.declaration import validate_declaration
from ..resources.resource import Resource
from ..schema.support import Unavailable
from ..testing.fakes import FakeContext
from ..text.borders import interruptible, raise_interruption
from . import crash_rules, lifecycle_rules, property_rules, schema_rules
from .backend import Backend
from .leak_detection import LeakDetector
from .report import (
    FAILED,
    NOT_APPLICABLE,
    PASSED,
    NotApplicable,
    Report,
    Row,
    Violated,
    describe_error,
    is_python,
)
from .state_loss import ClassState
from .timeouts import DEFAULT_LIMIT, TookTooLong, time_limit
from .trial import Trial, trial

NO_BACKEND = "no back end is given: it would act on this machine or its services"


def check(
    cls: type[Resource],
    type_name: str,
    backend: Callable[[], Backend] | None = None,
    *,
    context: ResourceContext | None = None,
    limit: float = DEFAULT_LIMIT,
    on_row: Callable[[Row], None] | None = None,
) -> Report:
    """Check one type against every rule.

    ``backend`` makes an outside world; types that say ``has_side_effects = False`` need none.
    ``context``: whose custom constraints the schemas may use where no back end brings them.
    ``limit``: seconds that one try of a rule may take; where it takes longer the rule has failed,
    and those that follow are left out; 0: none. ``on_row`` gets every row as soon as it is there.
    """
    with interruptible(signal.SIGINT):
        report = Report(type_name, limit=limit, on_row=on_row)
        _check_all_rules(report, type_name, cls, backend, context)
    return report


def _check_all_rules(
    report: Report,
    type_name: str,
    cls: type[Resource],
    backend: Callable[[], Backend] | None,
    context: ResourceContext | None,
) -> None:
    known = context or (FakeContext() if backend is None else backend().context())
    unusable = validate_declaration(cls, Resource)
    if isinstance(unusable, Unavailable):
        report.add("can be used", FAILED, reason=unusable.reason)
        return
    row = partial(_add_row, report, cls)
    left_out = set() if is_python(cls) else {*schema_rules.PYTHON}
    if context is None:
        left_out.add(schema_rules.check_constraints)  # only who knows all plug-ins knows that
    for name, rule in schema_rules.RULES.items():
        if rule not in left_out:
            looked = partial(rule, type_name, cls, known)
            row(name, "", partial(_run_with_limit, report.limit, looked))
    make = backend
    if make is None and not cls.has_side_effects:
        make = Backend
    if make is not None and context is not None:
        make = partial(_make_with_constraints, make, context)
    if make is None:
        report.add("life cycle", NOT_APPLICABLE, reason=NO_BACKEND)
    else:
        with LeakDetector() as leak_detector:
            _check_life(report, cls, type_name, make, leak_detector)
            if is_python(cls):
                _add_state_row(report, leak_detector)
            _add_leak_row(report, cls, leak_detector)


def _run_with_limit(seconds: float, rule: Callable[[], None]) -> None:
    with time_limit(seconds):
        rule()


def _make_with_constraints(make: Callable[[], Backend], lender: ResourceContext) -> Backend:
    """A back end that has the constraints of the caller's context besides its own."""
    made = make()
    own = made.context

    def context() -> FakeContext:
        found = own()
        known = found.constraint
        found.constraint = (  # type: ignore[method-assign]
            lambda name: known(name) or lender.constraint(name)
        )
        return found

    made.context = context  # type: ignore[method-assign]
    return made


def _check_life(
    report: Report,
    cls: type[Resource],
    type_name: str,
    make: Callable[[], Backend],
    leak_detector: LeakDetector,
) -> None:
    class_state = ClassState(cls)

    def try_rule(rule: Callable[[Trial], None]) -> None:
        class_state.forget()
        with trial(type_name, cls, make, leak_detector) as one, time_limit(report.limit):
            try:
                rule(one)
            finally:
                one.look()

    row = partial(_add_row, report, cls)
    row("create", "", partial(try_rule, lifecycle_rules.check_create))
    if report.rows[-1].verdict == FAILED:
        report.add("life cycle", NOT_APPLICABLE, reason="it cannot be created")
        return
    for name, rule in lifecycle_rules.RULES.items():
        if rule is not lifecycle_rules.check_create and (
            is_python(cls) or rule not in lifecycle_rules.PYTHON
        ):
            row(name, "", partial(try_rule, rule))
    for name, schema in cls.properties_schema.items():
        what, of_property = ("replace", lifecycle_rules.check_property_replacement)
        if schema.update_allowed:
            what, of_property = ("update", lifecycle_rules.check_property_update)
        if schema.immutable:
            what, of_property = ("immutable", lifecycle_rules.check_immutable_property)
        if schema.implemented and not cls.never_update:
            row(what, name, partial(try_rule, partial(_apply_to_property, of_property, name)))
    for name, rule in crash_rules.RULES.items():
        row(name, "", partial(try_rule, rule))
    count = make().examples
    row("properties at random", "", partial(property_rules.check_random_lives, try_rule, count))


def _apply_to_property(rule: Callable[[Trial, str], None], name: str, one: Trial) -> None:
    rule(one, name)


def _add_row(
    report: Report, cls: type[Resource], name: str, subject: str, rule: Callable[[], None]
) -> None:
    if report.stopped:
        report.add(name, NOT_APPLICABLE, subject, f"left out: {report.stopped}")
        return
    try:
        rule()
    except TookTooLong:
        report.stopped = f"{name}{f' of {subject}' if subject else ''} took too long"
        report.add(name, FAILED, subject, f"it takes longer than {report.limit:g} s")
    except NotApplicable as reason:
        report.add(name, NOT_APPLICABLE, subject, reason.reason(cls))
    except Violated as reason:
        report.add(name, FAILED, subject, reason.reason(cls))
    except BaseException as error:  # the border: a plug-in's calls may raise anything
        raise_interruption(error)
        notes = " ".join(getattr(error, "__notes__", ()))
        report.add(name, FAILED, subject, f"{describe_error(cls, error)} {notes}".rstrip())
    else:
        report.add(name, PASSED, subject)


def _add_state_row(report: Report, leak_detector: LeakDetector) -> None:
    if leak_detector.state_losses:
        report.add("what is stored is kept", FAILED, reason="; ".join(leak_detector.state_losses))
    else:
        report.add("what is stored is kept", PASSED)


def _add_leak_row(report: Report, cls: type[Resource], leak_detector: LeakDetector) -> None:
    for row in report.rows:
        leak_detector.look_for_secrets(f"the error of {row.check}", row.reason)
    if not any(schema.hidden for schema in cls.properties_schema.values()):
        report.add("secrets stay secret", NOT_APPLICABLE, reason="no property is hidden")
    elif leak_detector.leaks:
        report.add(
            "secrets stay secret", FAILED, reason=f"seen in {', '.join(leak_detector.leaks)}"
        )
    elif not leak_detector.secrets:
        report.add("secrets stay secret", NOT_APPLICABLE, reason="no hidden text could be given")
    else:
        report.add("secrets stay secret", PASSED)
