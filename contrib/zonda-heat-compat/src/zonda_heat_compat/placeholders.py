"""Placeholders for properties that cannot be read as the type declares them, and their faults.

Made by ``adapter`` only.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from zonda.hooks import Path, Properties, TemplateError, describe_exception, properties

from heat.common import exception

from . import asking


class Broken(Properties):
    """Stands for the properties of an instance that cannot be made: that is their fault."""

    __slots__ = ("_error",)

    def __init__(self, schemata: Mapping[str, properties.Schema], error: Exception) -> None:
        super().__init__(schemata, {})
        self._error = error

    def validate(
        self, path: Path = (), *, pending: Collection[str] | None = None
    ) -> list[TemplateError]:
        """The fault."""
        fault = make_fault(self._error)
        if not isinstance(self._error, exception.HeatException):
            fault = TemplateError(f"The plug-in cannot be used: {describe_exception(self._error)}")
        if asking.gives_no_answer(self._error):
            reason = asking.format_reason(self._error)
            fault = TemplateError(f"The resource is not checked: {reason}", code=asking.NOT_CHECKED)
        fault.__cause__ = self._error
        return [fault.prepend_path(*path[:2])]


class AsGiven(Properties):
    """The properties of a type that declares none and takes any, as ``OS::Heat::None``."""

    __slots__ = ()

    def get_stored_values(self) -> dict[str, Any]:
        """The stored value, as it is."""
        return dict(self._given)

    def validate(
        self, path: Path = (), *, pending: Collection[str] | None = None
    ) -> list[TemplateError]:
        """No faults."""
        return []


def make_fault(error: Exception) -> TemplateError:
    """An error of a plug-in's own check, as a fault of the template."""
    if isinstance(error, TemplateError):
        return error
    if isinstance(error, exception.HeatExceptionWithPath):
        text = str(error.error_message) or str(error.error)
        label = str(error.error) if error.error_message else ""
        return TemplateError(text, path=[_item(each) for each in error.path], label=label)
    text = str(error) or type(error).__name__
    if isinstance(error, exception.HeatException):
        return TemplateError(text, heat_type=type(error).__name__)
    return TemplateError(text)


def _item(part: Any) -> str | int:
    return part if isinstance(part, int) else str(part)
