"""Properties."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from .constraints import Constraint
from .context import ResourceContext
from .errors import Path, TemplateError
from .support import SupportStatus
from .translation import Rule


class Schema:
    """One declared property."""

    TYPES: ClassVar[tuple[str, ...]] = (
        INTEGER := "Integer",
        STRING := "String",
        NUMBER := "Number",
        BOOLEAN := "Boolean",
        MAP := "Map",
        LIST := "List",
        ANY := "Any",
    )

    def __init__(
        self,
        data_type: str,
        description: str | None = None,
        default: Any = None,
        schema: Mapping[Any, Schema] | Schema | None = None,
        required: bool = False,
        constraints: Sequence[Constraint] = (),
        implemented: bool = True,
        update_allowed: bool = False,
        immutable: bool = False,
        support_status: SupportStatus | None = None,
        allow_conversion: bool = False,
        hidden: bool = False,
    ) -> None:
        self.type = data_type
        self.description = description
        self.default = default
        self.schema = schema
        self.required = required
        self.constraints = tuple(constraints)
        self.implemented = implemented
        self.update_allowed = update_allowed
        self.immutable = immutable
        self.support_status = support_status or SupportStatus()
        self.allow_conversion = allow_conversion
        self.hidden = hidden


class Properties(Mapping[str, Any]):
    """The properties of one resource."""

    def __init__(
        self,
        schemata: Mapping[str, Schema],
        data: Mapping[str, Any],
        *,
        raw: Mapping[str, Any] | None = None,
        context: ResourceContext | None = None,
        rules: Callable[[Properties], Sequence[Rule]] | None = None,
    ) -> None:
        self.schemata = schemata
        self.data = data

    def __getitem__(self, key: str) -> Any:
        return self.data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.schemata)

    def __len__(self) -> int:
        return len(self.schemata)

    def validate(self, path: Path = ()) -> list[TemplateError]:
        """Every fault."""
        return []

    def stored(self) -> dict[str, Any]:
        """The given keys."""
        return dict(self.data)
