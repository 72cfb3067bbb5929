"""The definition of an output."""

from __future__ import annotations

from typing import Any

from heat.engine import function


class OutputDefinition:
    """An output: a name, a value, a description."""

    def __init__(self, name: str, value: Any, description: str | None = None) -> None:
        self.name = name
        self._value = value
        self._description = description

    def get_value(self) -> Any:
        """The value."""
        return function.resolve(self._value)

    def description(self) -> str:
        """The description."""
        return "No description given" if self._description is None else str(self._description)

    def validate(self, path: str = "") -> None:
        """Look for faults in the value."""
        function.validate(self._value, path)

    def required_resource_names(self) -> set[str]:
        return set()

    def dep_attrs(self, resource_name: str, load_all: bool = False) -> set[Any]:
        return set()

    def render_hot(self) -> dict[str, Any]:
        """The output as a template writes it."""
        shown = {"value": self._value}
        return shown if self._description is None else {**shown, "description": self._description}
