"""The declaration of a HOT template's parameters."""

from __future__ import annotations

from typing import Any, ClassVar

from heat.engine import constraints as constr
from heat.engine import parameters

PARAM_CONSTRAINTS = (
    DESCRIPTION,
    LENGTH,
    RANGE,
    MODULO,
    ALLOWED_VALUES,
    ALLOWED_PATTERN,
    CUSTOM_CONSTRAINT,
) = (
    "description",
    "length",
    "range",
    "modulo",
    "allowed_values",
    "allowed_pattern",
    "custom_constraint",
)
RANGE_KEYS = (MIN, MAX) = ("min", "max")
MODULO_KEYS = (STEP, OFFSET) = ("step", "offset")


class HOTParamSchema(parameters.Schema):
    """One declared parameter."""

    KEYS: ClassVar[tuple[str, ...]] = (
        TYPE := "type",
        DESCRIPTION := "description",
        DEFAULT := "default",
        SCHEMA := "schema",
        CONSTRAINTS := "constraints",
        HIDDEN := "hidden",
        LABEL := "label",
        IMMUTABLE := "immutable",
    )
    TYPES: ClassVar[tuple[str, ...]] = (
        STRING := "string",
        NUMBER := "number",
        LIST := "comma_delimited_list",
        MAP := "json",
        BOOLEAN := "boolean",
    )
    PARAMETER_KEYS: ClassVar[tuple[str, ...]] = KEYS

    @classmethod
    def from_dict(cls, param_name: str, schema_dict: dict[str, Any]) -> HOTParamSchema:
        """The schema of an entry of ``parameters``."""
        rules = [_constraint(each) for each in schema_dict.get(cls.CONSTRAINTS) or ()]
        return cls(
            schema_dict[cls.TYPE],
            description=schema_dict.get(cls.DESCRIPTION),
            default=schema_dict.get(cls.DEFAULT),
            constraints=rules,
            hidden=bool(schema_dict.get(cls.HIDDEN, False)),
            label=schema_dict.get(cls.LABEL),
            immutable=bool(schema_dict.get(cls.IMMUTABLE, False)),
        )


def _constraint(said: dict[str, Any]) -> constr.Constraint:
    text = said.get(DESCRIPTION)
    for keyword, make in _MAKERS.items():
        if keyword in said:
            made: constr.Constraint = make(said[keyword], text)
            return made
    raise ValueError(f"No constraint among {', '.join(said)}")


_MAKERS: dict[str, Any] = {
    MODULO: lambda rule, text: constr.Modulo(rule.get(STEP), rule.get(OFFSET), text),
    RANGE: lambda rule, text: constr.Range(rule.get(MIN), rule.get(MAX), text),
    LENGTH: lambda rule, text: constr.Length(rule.get(MIN), rule.get(MAX), text),
    ALLOWED_VALUES: constr.AllowedValues,
    ALLOWED_PATTERN: constr.AllowedPattern,
    CUSTOM_CONSTRAINT: constr.CustomConstraint,
}

HOTParamSchema20170224 = HOTParamSchema20180302 = HOTParamSchema
