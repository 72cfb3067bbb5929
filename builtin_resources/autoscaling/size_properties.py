"""Groups that scale between two sizes: their properties, by whatever names these have."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, ClassVar

from zonda.hooks import Path, Resource, ResourceDefinition, TemplateError, properties

from .capacity import Bounds


class SizedProperties(properties.Properties):
    """Properties whose sizes are checked against each other before anything else, as in Heat."""

    __slots__ = ("_group", "_sizes")

    def __init__(self, group: str, sizes: tuple[str, str, str], *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._group = group
        self._sizes = sizes

    def validate(
        self, path: Path = (), *, pending: Collection[str] | None = None
    ) -> list[TemplateError]:
        """The fault of the sizes, else the faults of the properties."""
        try:
            wrong = self._find_size_fault()
        except TemplateError as error:
            return self._list_read_errors(error, path, pending)
        if wrong is None:
            return super().validate(path, pending=pending)
        where, text = wrong
        return [TemplateError(text, at=(*path, where) if where in self.data else path)]

    def _find_size_fault(self) -> tuple[str, str] | None:
        least, most, desired = self._sizes
        smallest, largest = self[least], self[most]
        if largest < smallest:
            return least, "MinSize can not be greater than MaxSize"
        if smallest < 0:
            return least, "The size of AutoScalingGroup can not be less than zero"
        wanted = self.convert(desired)
        if wanted is not None and not smallest <= wanted <= largest:
            return desired, "DesiredCapacity must be between MinSize and MaxSize"
        return None

    def _list_read_errors(
        self, error: TemplateError, path: Path, pending: Collection[str] | None
    ) -> list[TemplateError]:
        """A size that cannot be read; Heat trips over it before it looks at the properties."""
        faults = super().validate(path, pending=pending)
        kept = [fault for fault in faults if fault.message != error.message]
        group = ("resources", self._group)
        at = (*path, *error.at)
        first = TemplateError(
            error.message, path=group, at=at, label="ValueError", code=error.code, hint=error.hint
        )
        return [first, *kept]


class Sized(Resource):
    """A mixin for groups with a smallest and a largest size.

    ``sized_names``: the properties for the smallest, the largest and the desired number.
    ``cooled_by``: the one for the time after a change.
    """

    sized_names: ClassVar[tuple[str, str, str]]
    cooled_by: ClassVar[str]

    def make_properties(self, definition: ResourceDefinition) -> properties.Properties:
        """The properties, whose sizes must fit."""
        return SizedProperties(
            definition.name,
            self.sized_names,
            self.properties_schema,
            definition.properties,
            raw=definition.raw.get("properties") or {},
            context=self.context,
        )

    def bounds(self) -> Bounds:
        """The two sizes."""
        least, most, _ = self.sized_names
        return Bounds(self.properties[least], self.properties[most])

    def first_size(self) -> int:
        """The desired number, else the smallest."""
        least, _, desired = self.sized_names
        return int(self.properties[desired] or self.properties[least])

    def size_after_update(self, size: int) -> float:
        """The desired number, else what there is; 0 is no desired number, as in Heat."""
        return float(self.properties[self.sized_names[2]] or size)

    def cooldown(self) -> float:
        """Seconds after a change of size in which no signal counts."""
        return float(self.properties[self.cooled_by])
