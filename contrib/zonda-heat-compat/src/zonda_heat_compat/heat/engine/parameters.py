"""The declaration of a template's parameters: the names of its keys and types."""

from __future__ import annotations

from typing import Any, ClassVar

from heat.engine import constraints as constr

PARAMETER_KEYS = (
    TYPE,
    DEFAULT,
    NO_ECHO,
    ALLOWED_VALUES,
    ALLOWED_PATTERN,
    MAX_LENGTH,
    MIN_LENGTH,
    MAX_VALUE,
    MIN_VALUE,
    DESCRIPTION,
    CONSTRAINT_DESCRIPTION,
    LABEL,
) = (
    "Type",
    "Default",
    "NoEcho",
    "AllowedValues",
    "AllowedPattern",
    "MaxLength",
    "MinLength",
    "MaxValue",
    "MinValue",
    "Description",
    "ConstraintDescription",
    "Label",
)


class Schema(constr.Schema):
    """One declared parameter."""

    TYPES: ClassVar[tuple[str, ...]] = (
        STRING := "String",
        NUMBER := "Number",
        LIST := "CommaDelimitedList",
        MAP := "Json",
        BOOLEAN := "Boolean",
    )
    PARAMETER_KEYS: ClassVar[tuple[str, ...]] = PARAMETER_KEYS

    def __init__(
        self,
        data_type: str,
        description: str | None = None,
        default: Any = None,
        schema: Any = None,
        constraints: Any = None,
        hidden: bool = False,
        label: str | None = None,
        immutable: bool = False,
        tags: Any = None,
    ) -> None:
        super().__init__(
            data_type,
            description,
            default,
            constraints=constraints,
            required=default is None,
            label=label,
            immutable=immutable,
        )
        self.hidden = hidden
        self.tags = tags
