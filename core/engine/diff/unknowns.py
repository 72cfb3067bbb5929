"""The values of resources during a walk: stored values and unknown ones (known after apply)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from zonda.core.template.evaluation.unknown_values import UnknownUntilRun

from ..plugins.values import RowValues

#: Gives the value of an attribute below some keys, as it will be; raises KnownLater.
Offer = Callable[[str | None, tuple[Any, ...]], Any]


class LaterValues:
    """``ResourceValues`` that raise ``KnownLater`` for values that the plan makes or may change.

    ``asked``: the resources whose later values have been asked for; whoever resolves something
    empties it before.
    """

    def __init__(self, values: RowValues) -> None:
        self._values = values
        self._attributes: dict[str, Offer | None] = {}
        self._references: set[str] = set()
        self.asked: dict[str, None] = {}

    def open(self, name: str, *, reference: bool, offer: Offer | None = None) -> None:
        """Note that attributes of ``name``, and its reference too, are known after apply.

        ``offer`` gives those that are known already.
        """
        self._attributes[name] = offer
        if reference:
            self._references.add(name)

    def is_open(self, name: str) -> bool:
        """Whether anything of ``name`` is known after apply."""
        return name in self._attributes

    def reference(self, name: str) -> Any:
        """The value of ``get_resource``."""
        if name in self._references:
            self.asked[name] = None
            raise UnknownUntilRun(name)
        return self._values.reference(name)

    def attribute(self, name: str, attribute: str | None, rest: tuple[Any, ...]) -> Any:
        """An attribute below ``rest``."""
        if name not in self._attributes:
            return self._values.attribute(name, attribute, rest)
        offer = self._attributes[name]
        try:
            if offer is None:
                raise UnknownUntilRun(name)
            return offer(attribute, rest)
        except UnknownUntilRun:
            self.asked[name] = None
            raise
