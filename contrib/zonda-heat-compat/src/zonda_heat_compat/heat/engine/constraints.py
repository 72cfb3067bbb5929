"""Constraints, and the base of all schemas: zonda's own, with what Heat's offer besides."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from zonda.hooks import Constraint, constraints, properties, to_kind, to_number

from heat.common import exception
from heat.common.context import request_context
from zonda_heat_compat import asking

__all__ = [
    "AllowedPattern",
    "AllowedValues",
    "AnyIndexDict",
    "BaseCustomConstraint",
    "Constraint",
    "CustomConstraint",
    "Length",
    "Modulo",
    "Range",
    "Schema",
]

AllowedPattern = constraints.AllowedPattern
CustomConstraint = constraints.CustomConstraint
Length = constraints.Length
Modulo = constraints.Modulo
Range = constraints.Range


class AllowedValues(constraints.AllowedValues):
    """One of some values. What gives them need not be a list: ``AllowedValues(MAP.keys())``."""

    def __init__(self, allowed: Any, description: str | None = None) -> None:
        one = isinstance(allowed, str)
        super().__init__(allowed if one else list(allowed), description)


class AnyIndexDict(Mapping[Any, Any]):
    """The schema of every item of a list."""

    ANYTHING: ClassVar[str] = "*"

    def __init__(self, value: Any) -> None:
        self.value = value

    def __getitem__(self, key: Any) -> Any:
        if key != self.ANYTHING and not isinstance(key, int):
            raise KeyError(f"Invalid key {key}")
        return self.value

    def __iter__(self) -> Iterator[Any]:
        yield self.ANYTHING

    def __len__(self) -> int:
        return 1


class Schema(properties.Schema):
    """What a value must be. Reads as a map of its parts, too (``schema["type"]``).

    Mistakes in a schema that Heat does not notice do not matter here either: a plug-in that works
    there is loaded here.
    """

    KEYS: ClassVar[tuple[str, ...]] = (
        TYPE := "type",
        DESCRIPTION := "description",
        DEFAULT := "default",
        SCHEMA := "schema",
        REQUIRED := "required",
        CONSTRAINTS := "constraints",
        IMMUTABLE := "immutable",
    )

    def __init__(
        self,
        data_type: str,
        description: str | None = None,
        default: Any = None,
        schema: Any = None,
        required: bool = False,
        constraints: Any = None,
        label: str | None = None,
        immutable: bool = False,
    ) -> None:
        self.label = label
        super().__init__(
            data_type,
            description,
            default,
            schema,
            bool(required),
            _as_list(constraints),
            immutable=immutable,
        )

    def _check(self) -> None:
        if self.type not in self.TYPES:
            text = f"Invalid type ({self.type})"
            raise exception.InvalidSchemaError(message=text)

    def validate(self, context: Any = None) -> None:
        """Whether the parts fit each other; raises InvalidSchemaError."""
        try:
            properties.Schema._check(self)
        except Exception as error:
            raise exception.InvalidSchemaError(message=str(error)) from error

    def set_default(self, default: Any = None) -> None:
        """Put another default in."""
        self.default = default

    def to_schema_type(self, value: Any) -> Any:
        """``value`` as the type has it; raises ValueError."""
        return to_kind(self.type, value)

    def validate_constraints(self, value: Any, context: Any = None, skipped: Any = None) -> None:
        """Raise StackValidationFailed where a constraint refuses ``value``."""
        for constraint in self.constraints:
            if skipped and type(constraint) in skipped:
                continue
            try:
                constraint.validate(value, self, context)
            except ValueError as error:
                raise exception.StackValidationFailed(message=str(error)) from error

    @staticmethod
    def str_to_num(value: Any) -> Any:
        """A number from text."""
        return to_number(value)

    def _shown(self) -> dict[str, Any]:
        return self.to_dict()

    def keys(self) -> list[str]:
        """The names of the parts."""
        return list(self._shown())

    def get(self, key: str, default: Any = None) -> Any:
        """One part."""
        return self._shown().get(key, default)

    def __getitem__(self, key: str) -> Any:
        return self._shown()[key]

    def __contains__(self, key: object) -> bool:
        return key in self._shown()

    def __iter__(self) -> Iterator[str]:
        return iter(self._shown())


def _as_list(given: Any) -> list[Constraint]:
    if given is None:
        return []
    return [given] if isinstance(given, Constraint) else list(given)


class BaseCustomConstraint(constraints.BaseCustomConstraint):
    """A constraint of a plug-in's own.

    ``validate_with_client`` is given the clients of the context; ``resource_client_name`` and
    ``resource_getter_name`` say which of their functions finds what a value names.
    """

    expected_exceptions: ClassVar[Any] = (exception.EntityNotFound,)
    resource_client_name: str | None = None
    resource_getter_name: str | None = None

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        own = cls.__dict__.get("validate")
        if own is not None:
            cls.validate = _in_context(own)  # type: ignore[method-assign]

    def validate(self, value: Any, context: Any = None, template: Any = None) -> bool:
        """Whether ``value`` is good."""
        clients = request_context(context).clients
        expected = self.expected_exceptions
        try:
            with asking.not_checked("The value", context):
                self.validate_with_client(clients, value)
        except constraints.NotChecked:
            raise
        except Exception as error:
            if not (isinstance(error, expected) or asking.is_ambiguous(error)):
                raise
            self._error_message = str(error)
            return False
        return True

    def validate_with_client(self, client: Any, value: Any) -> None:
        """Raise one of ``expected_exceptions`` for a bad value."""
        if self.resource_client_name and self.resource_getter_name:
            getattr(client.client_plugin(self.resource_client_name), self.resource_getter_name)(
                value
            )


def _in_context(own: Any) -> Any:
    """``validate`` of a plug-in, which knows Heat's request context and not the engine's."""

    @functools.wraps(own)
    def validate(self: Any, value: Any, context: Any = None, *more: Any, **named: Any) -> Any:
        with asking.not_checked("The value", context):
            return own(self, value, request_context(context), *more, **named)

    return validate
