"""Attributes: the values that a resource gives out while it exists.

A plug-in declares them by name; the engine asks for a value through ``Attributes``, which calls
the plug-in once per name, and looks inside it with ``select``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final

from ..records import dataclass, field
from .conversion import to_boolean, to_number
from .support import SupportStatus


@dataclass(eq=False, repr=False, slots=True)
class Schema:
    """One declared attribute. A value that is not of the declared type is logged as a warning.

    ``cache_mode`` is ``cache_local`` (asked once per operation) or ``cache_none`` (asked each
    time). ``sealed``: encrypted at rest, shown when asked for. ``hidden``: encrypted at rest and
    never shown.
    """

    TYPES: ClassVar[tuple[str, ...]] = (
        STRING := "String",
        NUMBER := "Number",
        BOOLEAN := "Boolean",
        MAP := "Map",
        LIST := "List",
    )
    CACHE_MODES: ClassVar[tuple[str, ...]] = (
        CACHE_LOCAL := "cache_local",
        CACHE_NONE := "cache_none",
    )

    description: str | None = None
    support_status: SupportStatus = field(default_factory=SupportStatus)
    cache_mode: str = CACHE_LOCAL
    type: str | None = None
    sealed: bool = field(default=False, kw_only=True)
    hidden: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        if self.type is not None and self.type not in self.TYPES:
            known = ", ".join(self.TYPES)
            raise ValueError(f"An attribute cannot have the type {self.type!r}: {known}")
        self.support_status = self.support_status or SupportStatus()
        if not isinstance(self.support_status, SupportStatus):
            raise ValueError(f"support_status is {self.support_status!r}, no SupportStatus")
        self.sealed = self.sealed or self.hidden


_LOG: Final = logging.getLogger(__name__)


def _converts(value: Any, function: Callable[[Any], Any]) -> bool:
    try:
        function(value)
    except ValueError:
        return False
    return True


#: Whether a value fits the type that an attribute declares. Null fits each: it is not known yet.
_FITS: Final[dict[str, Callable[[Any], bool]]] = {
    Schema.STRING: lambda value: value is None or isinstance(value, str),
    Schema.NUMBER: lambda value: value is None or _converts(value, to_number),
    Schema.BOOLEAN: lambda value: value is None or _converts(value, to_boolean),
    Schema.MAP: lambda value: value is None or isinstance(value, Mapping),
    Schema.LIST: lambda value: (
        value is None or (isinstance(value, Sequence) and not isinstance(value, str))
    ),
}

SHOW: Final = "show"
SHOW_SCHEMA: Final = Schema("Detailed information about resource.", type=Schema.MAP)


class Attributes(Mapping[str, Any]):
    """The values of one resource's attributes, asked for once per name where that is allowed.

    ``resolver`` is given a name and gives the value, which is kept in ``known``; null is never
    kept, so that a value that is not known yet is asked for again.
    """

    __slots__ = ("_known", "_resolver", "_schemata", "name")

    def __init__(
        self,
        name: str,
        schemata: Mapping[str, Schema],
        resolver: Callable[[str], Any],
        known: dict[str, Any] | None = None,
    ) -> None:
        self.name = name
        self._schemata = schemata
        self._resolver = resolver
        self._known: dict[str, Any] = {} if known is None else known

    def __getitem__(self, key: str) -> Any:
        if key in self._known:
            return self._known[key]
        schema = self._schemata[key]
        value = self._resolver(key)
        if schema.type is not None and not _FITS[schema.type](value):
            # Never the value: it may be a secret.
            _LOG.warning(
                "The attribute %s of %s is declared as %s and is of type %s",
                key,
                self.name,
                schema.type,
                type(value).__name__,
            )
        if value is not None and schema.cache_mode == Schema.CACHE_LOCAL:
            self._known[key] = value
        return value

    def __contains__(self, key: object) -> bool:
        return key in self._schemata

    def __iter__(self) -> Iterator[str]:
        return iter(self._schemata)

    def __len__(self) -> int:
        return len(self._schemata)

    def __repr__(self) -> str:
        return f"Attributes({self.name!r}: {', '.join(self._schemata)})"

    def reset(self) -> None:
        """Forget every value, so that the plug-in is asked again."""
        self._known.clear()


def select(value: Any, path: Sequence[Any]) -> Any:
    """The value at ``path`` in ``value``; null where the path leads nowhere.

    A map takes a key, a list or a text an integer (negative counts from the end); text as a list
    index leads nowhere.
    """
    for component in path:
        value = _follow_step(value, component)
        if value is None:
            return None
    return value


def _follow_step(value: Any, component: Any) -> Any:
    if isinstance(value, Mapping):
        return value.get(component) if _is_scalar(component) else None
    if isinstance(value, Sequence) and isinstance(component, int):
        try:
            return value[component]
        except IndexError:
            return None
    return None


def _is_scalar(component: Any) -> bool:
    return component is None or isinstance(component, str | int | float | bool)
