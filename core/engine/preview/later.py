"""The values of resources during a walk: stored ones, and those that are only known later."""

from __future__ import annotations

from typing import Any

from zonda.core.engine.values import RowValues
from zonda.core.template.partly import KnownLater


class LaterValues:
    """``ResourceValues`` that raise ``KnownLater`` for what the plan makes or may change.

    ``asked``: the resources whose later values have been asked for; whoever resolves something
    empties it before.
    """

    def __init__(self, values: RowValues) -> None:
        self._values = values
        self._attributes: set[str] = set()
        self._references: set[str] = set()
        self.asked: dict[str, None] = {}

    def open(self, name: str, *, reference: bool) -> None:
        """Take note that attributes of ``name``, and its reference too, are known later."""
        self._attributes.add(name)
        if reference:
            self._references.add(name)

    def is_open(self, name: str) -> bool:
        """Whether anything of ``name`` is known later."""
        return name in self._attributes

    def reference(self, name: str) -> Any:
        """What ``get_resource`` gives."""
        if name in self._references:
            self.asked[name] = None
            raise KnownLater(name)
        return self._values.reference(name)

    def attribute(self, name: str, attribute: str | None, rest: tuple[Any, ...]) -> Any:
        """An attribute below ``rest``."""
        if name in self._attributes:
            self.asked[name] = None
            raise KnownLater(name)
        return self._values.attribute(name, attribute, rest)
