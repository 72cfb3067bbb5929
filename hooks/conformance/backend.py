"""The outside world of a check, which authors of plug-ins extend."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..testing.fakes import FakeContext


class Backend:
    """An outside world of its own; every single check makes a new one and closes it.

    Override what your types need; nothing has to be overridden for types that live in memory.
    """

    #: How many examples hypothesis makes; 0 where a life costs money or minutes.
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
        return None

    def lose(self, resource_id: str) -> bool:
        """Take a physical resource away behind zonda's back; whether that was possible."""
        return False

    def close(self) -> None:
        """Clean up, whatever has happened."""
        return None
