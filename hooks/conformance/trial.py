"""One trial of one rule: a back end of its own and the lives in it, all closed at the end."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import Any

from ..errors import ValidationErrors, ZondaError
from ..resources.resource import Resource
from ..schema import examples
from ..text.sanitize import describe_exception, safe_str
from .backend import Backend
from .instrumented import InstrumentedLifecycle, instrument
from .leak_detection import LeakDetector, make_hidden_text
from .suite import NotApplicable, Violated

_MOST_VALUES = 12


def is_python(cls: type[Resource]) -> bool:
    """Whether the class was written in Python; else it was made from a text."""
    return cls.declared_by is None


def describe_error(cls: type[Resource], error: BaseException) -> str:
    """The error as text for the author of ``cls``: its class means nothing in a manifest."""
    return describe_exception(error) if is_python(cls) else safe_str(error)


class Trial:
    """A type in an outside world; each rule gets a new one."""

    def __init__(
        self, type_name: str, cls: type[Resource], backend: Backend, leak_detector: LeakDetector
    ) -> None:
        self.type_name = type_name
        self.cls = cls
        self.backend = backend
        self.leak_detector = leak_detector
        self.properties = self._build_properties()
        self._lives: list[InstrumentedLifecycle] = []

    def _build_properties(self) -> dict[str, Any]:
        """Required properties, those of author and back end, and a text for each hidden one."""
        context = self.backend.context()
        given = {**self.cls.example, **self.backend.properties(self.type_name)}
        for name, schema in self.cls.properties_schema.items():
            text = make_hidden_text(name, schema, context) if schema.hidden else None
            if text is not None and name not in given:
                with_it = {**examples.build_properties(self.cls.properties_schema, given, context)}
                if self.is_valid({**with_it, name: text}):
                    given[name] = text
        return examples.build_properties(self.cls.properties_schema, given, context)

    def life(
        self, properties: Mapping[str, Any] | None = None, **options: Any
    ) -> InstrumentedLifecycle:
        """The lifecycle of a resource that is not made yet."""
        given = dict(self.properties if properties is None else properties)
        self.leak_detector.knows(self.cls, given)
        life = instrument(
            self.cls,
            given,
            name="checked",
            type_name=self.type_name,
            context=self.backend.context(),
            **options,
        )
        self._lives.append(life)
        return life

    def make_created(self, properties: Mapping[str, Any] | None = None) -> InstrumentedLifecycle:
        """The lifecycle of a resource that was created."""
        life = self.life(properties)
        life.create()
        return life

    def is_valid(self, properties: Mapping[str, Any]) -> bool:
        """Whether a template with these properties would be accepted."""
        context = self.backend.context()
        life = instrument(self.cls, properties, type_name=self.type_name, context=context)
        try:
            life.validate()
        except (ValidationErrors, ZondaError):
            return False
        return True

    def others(self, name: str) -> Iterator[dict[str, Any]]:
        """All properties with another value for one of them, once for each value that is valid."""
        schema = self.cls.properties_schema[name]
        wished = self.backend.changes(self.type_name).get(name)
        context = self.backend.context()
        found = examples.list_values(schema, context) if wished is None else iter(wished)
        for value in islice(found, _MOST_VALUES):
            changed = {**self.properties, name: value}
            if self._differs(name, changed) and self.is_valid(changed):
                yield changed

    def pick_change(self, name: str) -> dict[str, Any]:
        """The first set of ``others``; raises NotApplicable where there is none."""
        for changed in self.others(name):
            return changed
        raise NotApplicable("no other good value is known", "Backend.changes() may give one")

    def _differs(self, name: str, changed: Mapping[str, Any]) -> bool:
        before, after = self.life().instance(), self.life(changed).instance()
        return name in after.properties.diff(before.properties)

    def leftovers(self) -> Collection[str]:
        """The leftovers of the back end; raises NotApplicable where it cannot tell."""
        found = self.backend.leftovers()
        if found is None:
            raise NotApplicable("nobody can tell what is there", "Backend.leftovers() does not")
        return found

    def expect_nothing_left(self, after: str) -> None:
        """Raise Violated if anything that was made is still there."""
        found = self.backend.leftovers()
        if found:
            raise Violated(f"still there after {after}: {', '.join(map(str, found))}")

    def look(self) -> None:
        """Search every life for secrets that it shows, and for faults in what it stores."""
        for life in self._lives:
            self.leak_detector.state_losses.update(dict.fromkeys(life.state_losses))
            self.leak_detector.inspect_resource(life)


@contextmanager
def open_trial(
    type_name: str, cls: type[Resource], make: Callable[[], Backend], leak_detector: LeakDetector
) -> Iterator[Trial]:
    """A trial in a new outside world, which is closed at the end."""
    backend = make()
    try:
        yield Trial(type_name, cls, backend, leak_detector)
    finally:
        backend.close()
