"""The attributes of the owner of a nested stack, predicted from its nested template.

The plug-in is asked, with a nested stack as it will be. So whoever reads only what no open value
goes into need not be looked at again, and the value is there before anything is done.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zonda.core.template.evaluation.unknown_values import UnknownUntilRun, has_unknown
from zonda.hooks.cached_property import cached_property
from zonda.hooks.resources.nested_stack import NestedStack
from zonda.hooks.resources.resource import Resource
from zonda.hooks.schema.attributes import select
from zonda.hooks.text.borders import raise_interruption

from ..model.work_item import WorkItem
from ..plugins.instances import Instances
from ..plugins.reasons import OPEN
from .entries import Inside
from .planned_child import PlannedChild
from .walk import Owner


class Offers:
    """The attributes of one owner as they will be. ``known``: its definition without open values,
    where its type cannot do with them.
    """

    def __init__(self, instances: Instances, owner: Owner, known: Any, inside: Inside) -> None:
        self._instances = instances
        self._owner = owner
        self._definition = known
        self._inside = inside
        # By name: attributes that were predicted whole; a role's data is read by all that follows.
        self._whole: dict[str, Any] = {}

    def value(self, attribute: str | None, rest: tuple[Any, ...]) -> Any:
        """The value of an attribute below ``rest``; raises KnownLater."""
        if attribute is None:
            raise UnknownUntilRun
        if rest:
            return self._predict(attribute, rest)
        if attribute not in self._whole:
            self._whole[attribute] = self._predict(attribute, rest)
        return self._whole[attribute]

    def _predict(self, attribute: str, rest: tuple[Any, ...]) -> Any:
        by_outputs = self._is_by_outputs and attribute in self._owner.cls.attributes_schema
        resource = self._lenient_owner if by_outputs else self._strict_owner
        child = resource.child
        assert isinstance(child, PlannedChild)
        marks = self._owner.definition.secrecy
        child.tells_secrets = (
            marks.classify_attribute(self._owner.wanted.name, attribute, rest) != OPEN
        )
        try:
            value = resource.FnGetAtt(attribute, *(() if by_outputs else rest))
        except BaseException as error:  # a plug-in may raise anything when it is asked
            raise_interruption(error)
            raise UnknownUntilRun from error
        value = _descend(value, rest) if by_outputs else value
        if has_unknown(value):
            raise UnknownUntilRun
        return value

    @property
    def _is_by_outputs(self) -> bool:
        """Whether the attributes are the outputs of the nested template."""
        return self._owner.cls.FnGetAtt is NestedStack.FnGetAtt

    @cached_property
    def _strict_owner(self) -> Any:
        return self._make_owner(is_strict=True)

    @cached_property
    def _lenient_owner(self) -> Any:
        return self._make_owner(is_strict=False)

    def _make_owner(self, *, is_strict: bool) -> Resource:
        """The owner in its planned state; its writes are not stored."""
        owner, instances = self._owner, self._instances
        child = PlannedChild(self._inside, is_strict=is_strict, tells_secrets=False)
        row = owner.row
        data = instances.definitions.reader.read_sealed_data(row.id) if row.id else []
        seen = WorkItem(row, owner.stack, data, definition=owner.definition, nested=child)
        return instances.make_for_reading(seen, definition=self._definition, cls=owner.cls)


def _descend(value: Any, rest: tuple[Any, ...]) -> Any:
    """The value at a path of keys; the value may be partly unknown."""
    for index, key in enumerate(rest):
        if not has_unknown(value):
            return select(value, rest[index:])
        if not isinstance(value, Mapping | list):
            break
        value = select(value, (key,))
    return value
