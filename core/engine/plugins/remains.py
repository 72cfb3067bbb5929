"""The things that deletions leave outside, in the words of their types. In the pool."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.hooks.resources.resource import Resource
from zonda.hooks.text.borders import raise_interruption
from zonda.hooks.text.sanitize import safe_str, truncate_middle

from ..model.definition import Definition
from ..model.work_item import WorkItem
from .instances import Instances
from .reasons import Secrets
from .redaction import scrub
from .replacement import find_preparation

_UNKNOWN = "its type fails to tell what its deletion leaves behind"


class Remains:
    """Asks the types of one stack's resources; most leave nothing, and are not asked."""

    def __init__(self, instances: Instances, stack: StackRow) -> None:
        self._instances = instances
        self._stack = stack

    def describe_wanted(self, instance: Resource, template: Definition) -> str:
        """The remains of a resource of a template that is to be made."""
        if not _may_leave(type(instance)):
            return ""
        secrets = Secrets.of(template, instance.name)
        secrets.add_properties(instance.t.properties)
        return _ask(lambda: instance, lambda: secrets.values)

    def describe_present(self, row: ResourceRow) -> str:
        """The remains of an instance that is to go."""
        instances = self._instances
        if not row.id or not _may_leave(instances.definitions.class_of(row)):
            return ""
        data = instances.definitions.reader.read_sealed_data(row.id)
        seen = WorkItem(row, self._stack, data)
        return _ask(
            lambda: instances.make_for_reading(seen), lambda: instances.secrets(seen).values
        )

    def is_prepared_first(self, row: ResourceRow) -> bool:
        """Whether an instance lets go of something before its successor is made."""
        if not row.id or row.have_template_id is None:
            return False
        return find_preparation(self._instances.definitions.class_of(row)) is not None


def _may_leave(cls: type[Resource]) -> bool:
    return cls.describe_remains is not Resource.describe_remains


def _ask(make: Callable[[], Resource], secrets: Callable[[], Iterable[Any]]) -> str:
    try:
        text = truncate_middle(safe_str(make().describe_remains()))
        return scrub(text, secrets())
    except BaseException as error:  # a plug-in is at fault
        raise_interruption(error)
        return _UNKNOWN
