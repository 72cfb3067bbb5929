"""What the owner of a nested stack will show, as far as that is known from its nested template.

An attribute of a template that serves as a type is one of its outputs: what no open value goes into
is known before anything is done, so that nobody who reads only that has to be looked at again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from zonda.core.engine.reasons import OPEN
from zonda.core.template.partly import LATER, KnownLater, has_later
from zonda.hooks.attributes import select
from zonda.hooks.nested import NestedStack
from zonda.hooks.resource import Resource

from .entries import Inside
from .later import Offer
from .outputs import value_of


def offer_of(definition: Any, node: Any, nested: Sequence[Inside]) -> Offer | None:
    """What is offered of the owner ``node`` of ``definition``; None where nothing is known."""
    if not nested or not nested[0].is_known or not _is_by_outputs(node.cls):
        return None
    inside = nested[0]
    if inside.definition is None:
        return None
    return _Outputs(definition, node.name, inside).value


def _is_by_outputs(cls: type[Resource]) -> bool:
    """Whether the attributes of a class are the outputs of its nested template."""
    return (
        issubclass(cls, NestedStack)
        and cls.FnGetAtt is NestedStack.FnGetAtt
        and cls._resolve_attribute is NestedStack._resolve_attribute
    )


class _Outputs:
    """The outputs of one nested stack as they will be."""

    def __init__(self, above: Any, name: str, inside: Inside) -> None:
        self._above = above
        self._name = name
        self._inside = inside
        self._known: dict[str, Any] = {}

    def value(self, attribute: str | None, rest: tuple[Any, ...]) -> Any:
        """The value of an attribute below ``rest``; raises KnownLater."""
        output = self._inside.definition.outputs.get(attribute)
        if output is None or not self._may_be_told(attribute, output):
            raise KnownLater(self._name)
        if attribute not in self._known:
            self._known[str(attribute)] = self._resolved(output)
        return _below(self._known[str(attribute)], rest)

    def _may_be_told(self, attribute: Any, output: Any) -> bool:
        """A secret of the nested template only where the one above knows it as such, too."""
        if output.secrecy == OPEN:
            return True
        return bool(self._above.secrecy.of_attribute(self._name, attribute) != OPEN)

    def _resolved(self, output: Any) -> Any:
        inside = self._inside
        value, error = value_of(inside.definition, output, inside.values)
        return value if error is None else LATER


def _below(value: Any, rest: tuple[Any, ...]) -> Any:
    """What is at some keys of a value that may be open in places."""
    for index, key in enumerate(rest):
        if not has_later(value):
            return select(value, rest[index:])
        if not isinstance(value, Mapping | list):
            break
        value = select(value, (key,))
    if has_later(value):
        raise KnownLater
    return value
