"""The outside world of a check, which authors of plug-ins extend, and its look-up.

It is named on the command line or declared: by a package with an entry point of group
``zonda.check``, which nothing but a check loads; by a file with a function ``check_backend``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib.metadata import entry_points
from typing import Any, Final

from ..errors import UsageError
from ..testing.fakes import FakeContext
from ..text.sanitize import describe_exception


class Backend:
    """An outside world of its own; every single check makes a new one and closes it.

    Override what your types need; nothing has to be overridden for types that live in memory.
    """

    #: The number of hypothesis' examples; 0 where a life cycle costs money or minutes.
    examples: int = 15

    def context(self) -> FakeContext:
        """The engine's services: clients, runners, constraints (``FakeContext(clients=...)``)."""
        return FakeContext()

    def properties(self, type_name: str) -> Mapping[str, Any]:
        """Properties that a life needs and the schema does not tell, e.g. a path or a host."""
        return {}

    def changes(self, type_name: str) -> Mapping[str, Sequence[Any]]:
        """Values that a property may change to, where those of its schema do not do."""
        return {}

    def leftovers(self) -> Collection[str] | None:
        """The things that the checked resources made and that still exist; None: not known."""

    def lose(self, resource_id: str) -> bool:
        """Take a physical resource away behind zonda's back; whether that was possible."""
        return False

    def outlasts(self, type_name: str) -> bool:
        """Whether a resource only refers to its thing, which its deletion leaves."""
        return False

    def close(self) -> None:
        """Clean up, whatever has happened."""


GROUP: Final = "zonda.check"
FUNCTION: Final = "check_backend"
Factory = Callable[[], Backend]


def load_backend_factory(text: str) -> Factory:
    """The factory behind ``MODULE:NAME``; raises UsageError."""
    module, colon, name = text.partition(":")
    if not (module and colon and name):
        raise UsageError(f"A back end is named MODULE:NAME, not {text}.")
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except Exception as error:  # a stranger's module may raise anything
        raise UsageError(
            f"The back end {text} cannot be loaded: {describe_exception(error)}"
        ) from error
    return to_backend_factory(found, text)


def find_factory_of_distribution(distribution: str) -> Factory | None:
    """The factory that a package declares, or None; raises UsageError where it cannot be loaded."""
    for entry in entry_points(group=GROUP):
        if entry.dist is not None and entry.dist.metadata["Name"] == distribution:
            return load_backend_factory(entry.value)
    return None


def find_factory_of_class(cls: type[Any]) -> Factory | None:
    """The factory of a type's class method ``check_backend``; None for most types."""
    found = getattr(cls, FUNCTION, None)
    return None if found is None else to_backend_factory(found, f"{FUNCTION} of {cls.__name__}")


def to_backend_factory(found: Any, text: str) -> Factory:
    """Make a factory of back ends of ``found``; raises UsageError."""
    if not callable(found):
        raise UsageError(f"The back end {text} cannot be called.")

    def make() -> Backend:
        made = found()
        if not isinstance(made, Backend):
            raise UsageError(f"{text} gives {type(made).__name__}, no conformance.Backend.")
        return made

    return make


def check_factory(make: Factory) -> Factory:
    """Return ``make`` after it has made one back end; raises UsageError where it cannot."""
    try:
        make().close()
    except UsageError:
        raise
    except Exception as error:  # a stranger's back end may raise anything
        raise UsageError(f"The back end cannot be made: {describe_exception(error)}") from error
    return make
