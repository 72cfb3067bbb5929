"""Constraints: rules that a value must keep, for properties and for template parameters.

A violation is a ``ValueError`` (``Violation``) with Heat's sentence, or with the constraint's
``description`` where it has one. A constraint that is itself malformed is a ``SchemaError`` when
it is made.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, ClassVar, Protocol

from ..context import ResourceContext
from ..errors import NotFound, SchemaError
from ..text import patterns
from ..text.borders import raise_interruption
from ..text.redaction import MASK
from ..text.sanitize import describe_exception, safe_str, truncate_middle
from ..text.suggestions import suggestion
from .conversion import normalize_kind, to_kind, to_number


class Violation(ValueError):
    """A value that breaks a rule. ``hint`` may quote the value; ``discreet`` is the sentence for a
    hidden one.
    """

    def __init__(self, message: str, hint: str = "", discreet: str = "") -> None:
        super().__init__(message)
        self.hint = hint
        self.discreet = discreet


class ConstraintNotFound(Violation):
    """No plug-in brings the custom constraint ``name``."""

    def __init__(self, message: str, name: str, discreet: str) -> None:
        super().__init__(message, discreet=discreet)
        self.name = name


class NotChecked(Violation):
    """Whether a value keeps a rule cannot be asked now: a warning while a template is validated."""


class RuleBroken(Violation):
    """The code of the custom constraint ``name`` failed."""

    def __init__(self, name: str, error: BaseException) -> None:
        text = f"The custom constraint {name} broke"
        super().__init__(truncate_middle(f"{text}: {describe_exception(error)}"), discreet=text)


class Typed(Protocol):
    """The schema that a constraint belongs to, as far as a constraint needs it."""

    @property
    def type(self) -> str:
        """A property type (``String``) or a parameter type (``string``)."""


class Constraint(ABC):
    """The base class of all constraints. ``keyword`` is the constraint's name in a template."""

    keyword: ClassVar[str]
    #: The kinds of value that it fits, as ``conversion.normalize_kind`` names them.
    valid_types: ClassVar[tuple[str, ...]]

    def __init__(self, description: str | None = None) -> None:
        self.description = description

    def validate(
        self, value: Any, schema: Typed | None = None, context: ResourceContext | None = None
    ) -> None:
        """Raise ValueError if ``value`` breaks the rule."""
        if not self._holds(value, schema, context):
            raise Violation(
                self.description or self._format_violation(value),
                self._suggest(value),
                self.description or self._format_discreet_violation(value),
            )

    def _suggest(self, value: Any) -> str:
        """A hint for a value that breaks the rule, or an empty text."""
        return ""

    def check_type(self, type_name: str) -> None:
        """Raise SchemaError if this kind of constraint does not fit a type."""
        if normalize_kind(type_name) not in self.valid_types:
            raise SchemaError(f"{type(self).__name__} constraint invalid for {type_name}")

    def to_dict(self) -> dict[str, Any]:
        """The constraint as a template would write it."""
        shown = {self.keyword: self._build_rule()}
        return shown if self.description is None else {**shown, "description": self.description}

    @abstractmethod
    def _holds(self, value: Any, schema: Typed | None, context: ResourceContext | None) -> bool:
        """Whether ``value`` keeps the rule."""

    @abstractmethod
    def _format_violation(self, value: Any) -> str:
        """The sentence for a value that breaks the rule."""

    def _format_discreet_violation(self, value: Any) -> str:
        """The sentence for a hidden value that breaks the rule."""
        return self._format_violation(MASK)

    @abstractmethod
    def _build_rule(self) -> Any:
        """The value of the keyword in a template."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._build_rule()!r})"


class Range(Constraint):
    """A number between ``min`` and ``max``, both included; one of them may be left out."""

    keyword = "range"
    valid_types: ClassVar[tuple[str, ...]] = ("integer", "number")

    def __init__(self, min: Any = None, max: Any = None, description: str | None = None) -> None:
        super().__init__(description)
        if min is None and max is None:
            raise SchemaError(
                f"A {self.keyword} constraint must have a min value and/or a max value specified."
            )
        self.min, self.max = (self._to_limit(bound) for bound in (min, max))

    def _to_limit(self, value: Any) -> Any:
        try:
            return None if value is None else to_number(value)
        except ValueError as error:
            raise SchemaError(str(error), heat_type="ValueError") from error

    def _holds(self, value: Any, schema: Typed | None, context: ResourceContext | None) -> bool:
        return self._is_within(to_number(value))

    def _is_within(self, number: Any) -> bool:
        # A NaN is neither below nor above anything, so it passes, as it does in Heat.
        below = self.min is not None and number < self.min
        above = self.max is not None and number > self.max
        return not (below or above)

    def _format_violation(self, value: Any) -> str:
        return f"{value} is out of range (min: {self.min}, max: {self.max})"

    def _build_rule(self) -> dict[str, Any]:
        limits = {"min": self.min, "max": self.max}
        return {name: limit for name, limit in limits.items() if limit is not None}


class Length(Range):
    """A length between ``min`` and ``max``: of characters, items or keys."""

    keyword = "length"
    valid_types: ClassVar[tuple[str, ...]] = ("string", "list", "map")

    def _to_limit(self, value: Any) -> Any:
        bound = super()._to_limit(value)
        if isinstance(bound, float):
            raise SchemaError("min/max length must be integral")
        return bound

    def _holds(self, value: Any, schema: Typed | None, context: ResourceContext | None) -> bool:
        return self._is_within(_get_length(value))

    def _format_violation(self, value: Any) -> str:
        return f"length ({_get_length(value)}) is out of range (min: {self.min}, max: {self.max})"

    def _format_discreet_violation(self, value: Any) -> str:
        return self._format_violation(value)


def _get_length(value: Any) -> int:
    try:
        return len(value)
    except TypeError as error:
        raise ValueError(f"{value!r} has no length; write it as text") from error


class Modulo(Constraint):
    """``offset``, or ``offset`` plus a multiple of ``step``; both are whole numbers."""

    keyword = "modulo"
    valid_types: ClassVar[tuple[str, ...]] = ("integer", "number")

    def __init__(
        self, step: Any = None, offset: Any = None, description: str | None = None
    ) -> None:
        super().__init__(description)
        if step is None or offset is None:
            raise SchemaError(
                "A modulo constraint must have a step value and an offset value specified."
            )
        self.step, self.offset = self._to_whole_number(step), self._to_whole_number(offset)
        if self.step == 0:
            raise SchemaError("step cannot be 0.")
        if abs(self.offset) >= abs(self.step):
            raise SchemaError("offset must be smaller (by absolute value) than step.")
        if self.step * self.offset < 0:
            raise SchemaError("step and offset must be both positive or both negative.")

    @staticmethod
    def _to_whole_number(value: Any) -> int:
        try:
            number = to_number(value)
        except ValueError as error:
            raise SchemaError(str(error), heat_type="ValueError") from error
        if isinstance(number, float) and not number.is_integer():
            raise SchemaError("step/offset must be integer")
        return int(number)

    def _holds(self, value: Any, schema: Typed | None, context: ResourceContext | None) -> bool:
        number = to_number(value)
        try:
            whole = int(number)
        except (ValueError, OverflowError):  # a NaN, an infinity
            return False
        return bool(number == whole and whole % self.step == self.offset)

    def _format_violation(self, value: Any) -> str:
        return f"{value} is not a multiple of {self.step} with an offset of {self.offset}"

    def _build_rule(self) -> dict[str, int]:
        return {"step": self.step, "offset": self.offset}


class AllowedValues(Constraint):
    """One of ``allowed``; of a list, every item must be one of them.

    A text as ``allowed`` is the sequence of its characters.
    """

    keyword = "allowed_values"
    valid_types: ClassVar[tuple[str, ...]] = (
        "string",
        "integer",
        "number",
        "boolean",
        "list",
        "any",
    )

    def __init__(self, allowed: Sequence[Any], description: str | None = None) -> None:
        super().__init__(description)
        if not isinstance(allowed, Sequence):
            raise SchemaError("AllowedValues must be a list")
        self.allowed = tuple(allowed)

    def _holds(self, value: Any, schema: Typed | None, context: ResourceContext | None) -> bool:
        if isinstance(value, Sequence) and not isinstance(value, str):
            return all(item in self.allowed for item in value)
        if schema is None:
            return value in self.allowed
        allowed = [to_kind(schema.type, item) for item in self.allowed]
        return to_kind(schema.type, value) in allowed

    def _format_violation(self, value: Any) -> str:
        return f"{_as_json(value)} is not an allowed value {_as_json(list(self.allowed))}"

    def _suggest(self, value: Any) -> str:
        items = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
        return next(
            (suggestion(item, self.allowed) for item in items if item not in self.allowed), ""
        )

    def _build_rule(self) -> list[Any]:
        return list(self.allowed)


def _as_json(value: Any) -> str:
    return json.dumps(value, default=str)


class AllowedPattern(Constraint):
    """Text that a regular expression matches from its first to its last character.

    Only the first way to match counts: ``a|ab`` refuses ``ab``, as Heat does.
    """

    keyword = "allowed_pattern"
    valid_types: ClassVar[tuple[str, ...]] = ("string",)

    def __init__(self, pattern: str, description: str | None = None) -> None:
        super().__init__(description)
        if not isinstance(pattern, str):
            raise SchemaError("AllowedPattern must be a string")
        self.pattern = pattern
        try:
            _compile_pattern(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            raise SchemaError(f'Invalid pattern "{pattern}": {error}') from error

    def _holds(self, value: Any, schema: Typed | None, context: ResourceContext | None) -> bool:
        if not isinstance(value, str):
            raise ValueError(f"{value!r} is not text and cannot match a pattern")
        match = full_match if context is None else context.full_match
        try:
            return match(self.pattern, value)
        except ValueError as error:
            raise ValueError(f"{self.keyword} constraint: {error}") from error

    def _format_violation(self, value: Any) -> str:
        return f'"{value}" does not match pattern "{self.pattern}"'

    def _build_rule(self) -> str:
        return self.pattern


#: The default of the seconds that a pattern may take.
_SECONDS = 1.0


@lru_cache(maxsize=512)
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def full_match(pattern: str, text: str) -> bool:
    """Whether the first match of ``pattern`` at the start of ``text`` ends at its end.

    For where there is no context, which has a setting for it. Raises ValueError where it takes
    longer than a second.
    """
    return patterns.full_match(pattern, text, _SECONDS)


class CustomConstraint(Constraint):
    """A rule that a plug-in brings under ``name`` (hook ``zonda_constraints``).

    ``environment`` may be anything with ``get_constraint(name)``; the operation's context is
    asked without one.
    """

    keyword = "custom_constraint"
    valid_types: ClassVar[tuple[str, ...]] = ("string", "integer", "number", "boolean", "list")

    def __init__(self, name: str, description: str | None = None, environment: Any = None) -> None:
        super().__init__(description)
        self.name = name
        self.environment = environment

    def validate(
        self, value: Any, schema: Typed | None = None, context: ResourceContext | None = None
    ) -> None:
        """Raise ValueError if the plug-in's rule refuses ``value`` or is not installed."""
        try:
            said = self._find_objection(value, context)
        except ValueError:
            raise
        except BaseException as error:  # the border: a plug-in's rule is asked
            raise_interruption(error)
            raise RuleBroken(self.name, error) from error
        if said is not None:
            discreet = self.description or self._format_violation(MASK)
            raise Violation(self.description or said, discreet=discreet)

    def _find_objection(self, value: Any, context: ResourceContext | None) -> str | None:
        """The plug-in's error text for ``value``; None where it is good."""
        rule = self._find_implementation(context)
        if rule is None:
            texts = (
                f'"{each}" does not validate {self.name} (constraint not found)'
                for each in (value, MASK)
            )
            message, discreet = (self.description or text for text in texts)
            raise ConstraintNotFound(message, self.name, discreet)
        return None if rule.validate(value, context) else safe_str(rule.error(value))

    def _find_implementation(self, context: ResourceContext | None) -> BaseCustomConstraint | None:
        if self.environment is not None:
            found = self.environment.get_constraint(self.name)
        else:
            found = None if context is None else context.constraint(self.name)
        made = found() if isinstance(found, type) else found
        return made if made is None or isinstance(made, BaseCustomConstraint) else None

    def _holds(self, value: Any, schema: Typed | None, context: ResourceContext | None) -> bool:
        rule = self._find_implementation(context)
        return rule is not None and rule.validate(value, context)

    def _format_violation(self, value: Any) -> str:
        return f'"{value}" does not validate {self.name}'

    def _build_rule(self) -> str:
        return self.name


class BaseCustomConstraint:
    """The base class of custom constraints, which a plug-in extends.

    Overrides ``validate``, or ``validate_with_client`` with ``expected_exceptions``. An instance
    serves one check; what ``validate`` keeps in ``_error_message`` becomes part of the sentence.
    """

    expected_exceptions: ClassVar[tuple[type[Exception], ...]] = (NotFound,)
    #: Good values, for the generated reference and for ``zonda plugin check``.
    examples: ClassVar[Sequence[Any]] = ()

    _error_message: str | None = None

    def validate(self, value: Any, context: ResourceContext | None) -> bool:
        """Whether ``value`` is good."""
        try:
            self.validate_with_client(context, value)
        except self.expected_exceptions as error:
            self._error_message = str(error)
            return False
        return True

    def validate_with_client(self, client: Any, value: Any) -> None:
        """Raise one of ``expected_exceptions`` for a bad value.

        ``client`` is the operation's context: ``client.client(name)`` gives a client object.
        """

    def error(self, value: Any) -> str:
        """The sentence for a bad value."""
        text = f"Error validating value '{value}'"
        return text if self._error_message is None else f"{text}: {self._error_message}"
