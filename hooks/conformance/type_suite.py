"""The conformance suite of a resource type."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any

from ..context import ResourceContext
from ..resources.declaration import validate_declaration
from ..resources.resource import Resource
from ..schema.support import Unavailable
from ..testing.fakes import FakeContext
from . import crash_rules, lifecycle_rules, property_rules, schema_rules
from .backend import Backend, Factory
from .instrumented import ClassState
from .leak_detection import LeakDetector
from .suite import (
    DEFAULT_LIMIT,
    Finding,
    Kind,
    NotApplicable,
    Report,
    Row,
    Rule,
    Suite,
    Violated,
    time_limit,
)
from .trial import Trial, describe_error, is_python, open_trial

NO_BACKEND = "no back end is given: it would act on this machine or its services"


class TypeSuite(Suite):
    """The rules for one type; see ``check`` for the arguments."""

    def __init__(
        self,
        cls: type[Resource],
        type_name: str,
        backend: Factory | None = None,
        *,
        context: ResourceContext | None = None,
        limit: float = DEFAULT_LIMIT,
        on_row: Callable[[Row], object] | None = None,
    ) -> None:
        super().__init__(type_name, on_row)
        self.cls = cls
        self._limit = limit
        self._backend = Backend if backend is None and not cls.has_side_effects else backend
        self._lender = context
        self._leaks = LeakDetector()
        self._class_state = ClassState(cls)
        self.rules = list(self._build_rules())

    def describe_advice(self, finding: Finding) -> str:
        """The advice for who writes Python, and not a manifest."""
        return finding.advice if is_python(self.cls) else ""

    def describe_error(self, error: BaseException) -> str:
        """The text of an error of the type."""
        return describe_error(self.cls, error)

    def _build_rules(self) -> Iterator[Rule]:
        unusable = validate_declaration(self.cls, Resource)
        if isinstance(unusable, Unavailable):
            yield Rule(self, "can be used", partial(_raise, Violated(unusable.reason)))
            return
        left_out = () if is_python(self.cls) else (*schema_rules.PYTHON, *lifecycle_rules.PYTHON)
        for name, rule in schema_rules.RULES.items():
            # whether a constraint is there knows only who knows all plug-ins
            needs_lender = rule is schema_rules.check_constraints and self._lender is None
            if rule not in left_out and not needs_lender:
                yield Rule(self, name, partial(self._try_on_schema, rule))
        if self._backend is None:
            yield Rule(self, "life cycle", partial(_raise, NotApplicable(NO_BACKEND)))
            return
        for name, check in lifecycle_rules.RULES.items():
            if check not in left_out:
                kind: Kind = "basic" if check is lifecycle_rules.check_create else "plain"
                yield Rule(self, name, partial(self._try_on_life, check), kind=kind)
        yield from self._build_property_rules()
        for name, check in crash_rules.RULES.items():
            yield Rule(self, name, partial(self._try_on_life, check))
        yield Rule(self, "properties at random", self._try_random_lives)
        if is_python(self.cls):
            yield Rule(self, "what is stored is kept", self._check_stored_state, kind="summary")
        yield Rule(self, "secrets stay secret", self._check_leaks, kind="summary")

    def _build_property_rules(self) -> Iterator[Rule]:
        for name, schema in self.cls.properties_schema.items():
            what, check = "replace", lifecycle_rules.check_property_replacement
            if schema.update_allowed:
                what, check = "update", lifecycle_rules.check_property_update
            if schema.immutable:
                what, check = "immutable", lifecycle_rules.check_immutable_property
            if schema.implemented and not self.cls.never_update:
                life = partial(self._try_on_life, partial(check, name=name))
                yield Rule(self, what, life, name)

    @cached_property
    def _context(self) -> ResourceContext:
        """The context that declarations are checked with."""
        if self._lender is not None or self._backend is None:
            return self._lender or FakeContext()
        backend = self._backend()
        try:
            return backend.context()
        finally:
            backend.close()

    def _make_backend(self) -> Backend:
        """A back end that has the constraints of the caller's context besides its own."""
        assert self._backend is not None
        backend, lender = self._backend(), self._lender
        if lender is not None:
            backend.context = partial(_lend_constraints, backend.context, lender)  # type: ignore[method-assign]
        return backend

    def _try_on_schema(self, rule: schema_rules.SchemaRule) -> None:
        with time_limit(self._limit):
            rule(self.name, self.cls, self._context)

    def _try_on_life(self, check: Callable[[Trial], Any]) -> None:
        self._class_state.forget()
        with (
            self._leaks,
            open_trial(self.name, self.cls, self._make_backend, self._leaks) as trial,
            time_limit(self._limit),
        ):
            try:
                check(trial)
            finally:
                trial.look()

    def _try_random_lives(self) -> None:
        backend = self._make_backend()
        backend.close()
        property_rules.check_random_lives(self._try_on_life, backend.examples)

    def _check_stored_state(self) -> None:
        if self._leaks.state_losses:
            raise Violated("; ".join(self._leaks.state_losses))

    def _check_leaks(self) -> None:
        for row in self.report.failed:
            self._leaks.look_for_secrets(f"the error of {row.check}", row.reason)
        if not any(schema.hidden for schema in self.cls.properties_schema.values()):
            raise NotApplicable("no property is hidden")
        if self._leaks.leaks:
            raise Violated(f"seen in {', '.join(self._leaks.leaks)}")
        if not self._leaks.secrets:
            raise NotApplicable("no hidden text could be given")


def _raise(finding: Finding) -> None:
    raise finding


def _lend_constraints(make: Callable[[], FakeContext], lender: ResourceContext) -> FakeContext:
    context = make()
    known = context.constraint
    context.constraint = (  # type: ignore[method-assign]
        lambda name: known(name) or lender.constraint(name)
    )
    return context


def rules(types: Mapping[str, type[Resource]], backend: Factory | None = None) -> list[Rule]:
    """The rules for every type, by name, as parameters of a test that calls each one."""
    return [rule for name, cls in types.items() for rule in TypeSuite(cls, name, backend).rules]


def check(
    cls: type[Resource],
    type_name: str,
    backend: Factory | None = None,
    *,
    context: ResourceContext | None = None,
    limit: float = DEFAULT_LIMIT,
    on_row: Callable[[Row], object] | None = None,
) -> Report:
    """Check one type against every rule, without pytest.

    ``backend`` makes an outside world; types that say ``has_side_effects = False`` need none.
    ``context``: whose custom constraints the schemas may use where no back end brings them.
    ``limit``: seconds that one try of a rule may take; where it takes longer the rule has failed,
    and those that follow are left out; 0: none. ``on_row`` gets every row as soon as it is there.
    """
    suite = TypeSuite(cls, type_name, backend, context=context, limit=limit, on_row=on_row)
    return suite.try_all()
