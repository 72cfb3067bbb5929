"""The declaration of one property. Plug-ins know it as ``properties.Schema``.

Declarations are checked when they are made, so that a mistake in a plug-in shows when it is
imported and not when somebody's stack fails.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, ClassVar, Final

from ..errors import SchemaError
from .constraints import Constraint
from .support import SupportStatus

_SUPPORTED: Final = SupportStatus()
#: The length at which a summary ends.
_SUMMARY: Final = 400


class Schema:
    """One declared property.

    ``schema`` describes what is inside: of a MAP a dict of schemas, of a LIST the schema of its
    items. ``update_allowed``: an update may change it in place; ``immutable``: no update may change
    it at all. ``allow_conversion``: text is taken for lists and maps, as template resources do.
    ``hidden``: encrypted at rest and never shown.
    """

    TYPES: ClassVar[tuple[str, ...]] = (
        INTEGER := "Integer",
        STRING := "String",
        NUMBER := "Number",
        BOOLEAN := "Boolean",
        MAP := "Map",
        LIST := "List",
        ANY := "Any",
    )

    __slots__ = (
        "alias_of",
        "allow_conversion",
        "constraints",
        "default",
        "description",
        "hidden",
        "immutable",
        "implemented",
        "known_keys",
        "required",
        "schema",
        "settled",
        "support_status",
        "type",
        "update_allowed",
    )

    def __init__(
        self,
        data_type: str,
        description: str | None = None,
        default: Any = None,
        schema: Mapping[str, Schema] | Schema | None = None,
        required: bool = False,
        constraints: Sequence[Constraint] | None = (),
        implemented: bool = True,
        update_allowed: bool = False,
        immutable: bool = False,
        support_status: SupportStatus | None = None,
        allow_conversion: bool = False,
        hidden: bool = False,
        known_keys: Sequence[str] = (),
        alias_of: str = "",
    ) -> None:
        """Raises SchemaError if the parts do not fit each other.

        ``known_keys``: of a map that is free inside, all that are read; a template is warned of
        others. ``alias_of``: the property that a translation rule gives this one's value to, so
        that an editor takes it for that one where that is required.
        """
        self.type = data_type
        self.description = description
        self.default = default
        self.schema = schema
        self.required = required
        self.constraints = tuple(constraints or ())
        self.implemented = implemented
        self.update_allowed = update_allowed
        self.immutable = immutable
        self.support_status = support_status or _SUPPORTED
        self.allow_conversion = allow_conversion
        self.hidden = hidden
        self.known_keys = tuple(known_keys)
        self.alias_of = alias_of
        #: The default in its type, once that was found to be always the same; () if it is not.
        self.settled: tuple[Any, ...] | None = None
        self._check()

    def _check(self) -> None:
        if self.type not in self.TYPES:
            raise SchemaError(f"Invalid type ({self.type})")
        if self.update_allowed and self.immutable:
            raise SchemaError("A property cannot be both update_allowed and immutable.")
        if not isinstance(self.support_status, SupportStatus):
            raise SchemaError(f"support_status is {self.support_status!r}, no SupportStatus")
        self._check_inside()
        for constraint in self.constraints:
            constraint.check_type(self.type)

    def _check_inside(self) -> None:
        if self.schema is None:
            return
        if self.type == Schema.LIST and not isinstance(self.schema, Schema):
            raise SchemaError("A list's schema is the one Schema of its items.")
        if self.type == Schema.MAP and not isinstance(self.schema, Mapping):
            raise SchemaError("A map's schema is a mapping of names to Schema objects.")
        for name, inside in self.fields.items():
            if not (isinstance(name, str) and isinstance(inside, Schema)):
                raise SchemaError(
                    f"A map's schema is a mapping of names to Schema objects; {name!r}: {inside!r}"
                )
        if self.type not in (Schema.LIST, Schema.MAP):
            raise SchemaError(f"A property of type {self.type} has nothing inside to describe.")

    @property
    def fields(self) -> Mapping[str, Schema]:
        """The schemas inside a map; empty where the inside is free."""
        return self.schema if isinstance(self.schema, Mapping) else {}

    @property
    def items(self) -> Schema | None:
        """The schema of a list's items; None where they are free."""
        return self.schema if isinstance(self.schema, Schema) else None

    @property
    def summary(self) -> str:
        """The description for the hint of an error: its beginning, where it is long."""
        said = self.description or ""
        if len(said) <= _SUMMARY:
            return said
        end = said.rfind(". ", 0, _SUMMARY)
        return said[: end + 1] if end > 0 else f"{said[:_SUMMARY]}..."

    def empty(self) -> Any:
        """The empty value of the type: ``''``, ``0``, ``False``, ``[]``, ``{}``; None for ANY."""
        if self.type == Schema.LIST:
            return []
        if self.type == Schema.MAP:
            return {}
        return _EMPTY[self.type]

    def default_value(self) -> Any:
        """The default, one's own copy of it; None where there is none."""
        if isinstance(self.default, dict | list):
            return deepcopy(self.default)
        return self.default

    def to_dict(self) -> dict[str, Any]:
        """Plain data for display, in Heat's keys; what is inside a list stands under ``*``."""
        shown: dict[str, Any] = {
            "type": self.type.lower(),
            "required": self.required,
            "update_allowed": self.update_allowed,
            "immutable": self.immutable,
        }
        if self.description is not None:
            shown["description"] = self.description
        if self.default is not None:
            shown["default"] = self.default_value()
        if self.constraints:
            shown["constraints"] = [constraint.to_dict() for constraint in self.constraints]
        inside = self.fields if self.items is None else {"*": self.items}
        if inside:
            shown["schema"] = {name: schema.to_dict() for name, schema in inside.items()}
        return shown

    def __repr__(self) -> str:
        return f"Schema({self.type}{', required' if self.required else ''})"


_EMPTY: Final = {
    Schema.INTEGER: 0,
    Schema.STRING: "",
    Schema.NUMBER: 0,
    Schema.BOOLEAN: False,
    Schema.ANY: None,
}
