"""The values of resources that templates read: stored ones, others asked for on demand.

Implements ``ResourceValues`` of the template room. Used in the pool.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from zonda.core.store.derived import Made
from zonda.core.store.jsontext import dumps
from zonda.core.store.reopening import Parts
from zonda.core.store.rows import ResourceRow
from zonda.core.store.sealing import Sealer
from zonda.hooks.attributes import SHOW, select
from zonda.hooks.errors import TemplateError
from zonda.hooks.resource import Resource
from zonda.hooks.wording import whole_text

#: How JSON text writes half of a surrogate pair, or both halves.
_SURROGATE = "\\ud"

Build = Callable[[ResourceRow], Resource]


def check_value(what: str, value: Any) -> None:
    """Raise TypeError or ValueError for what is no JSON, ResourceFailure for what is no text."""
    text = dumps(value)
    if _SURROGATE in text:
        whole_text(what, json.dumps(json.loads(text), ensure_ascii=False))


def joined(path: Iterable[Any]) -> str:
    """The key under which the value of an attribute at certain keys is stored."""
    return ".".join(map(str, path))


class RowValues:
    """Values of the instances in ``rows``, by name.

    ``build`` makes an instance for an attribute that is not stored. A resource that is not there
    or was never made has the reference Heat gives it, its name, and null attributes.
    """

    def __init__(self, rows: Iterable[ResourceRow], sealer: Sealer, build: Build) -> None:
        self._rows = {row.name: row for row in rows}
        self._sealer = sealer
        self._build = build
        self._stored: dict[str, Mapping[str, Any]] = {}
        self._instances: dict[str, Resource] = {}

    def row(self, name: str) -> ResourceRow | None:
        """The instance of that name."""
        return self._rows.get(name)

    def reference(self, name: str) -> Any:
        """What ``get_resource`` gives."""
        row = self._rows.get(name)
        if row is None or row.reference is None:
            return name if row is None or row.physical_id is None else row.physical_id
        return self._sealer.load(row.reference)

    def attribute(self, name: str, attribute: str | None, rest: tuple[Any, ...]) -> Any:
        """An attribute below ``rest``; None as attribute: a map of all of them."""
        row = self._rows.get(name)
        if row is None or row.action == "INIT":
            return None
        if attribute is None:
            return dict(self._all(row))
        stored = self._outputs(row)
        if rest and (key := joined((attribute, *rest))) in stored:
            return stored[key]
        if attribute in stored:
            return select(stored[attribute], rest)
        return self._instance(row).FnGetAtt(attribute, *rest)

    def derived(
        self,
        name: str,
        attribute: str,
        rest: tuple[Any, ...],
        what: str,
        make: Callable[[Any], Made],
    ) -> Made | None:
        """What ``make`` makes of a large attribute that is stored; None of any other.

        It may have been made before, for somebody else: nobody may change it.
        """
        row = self._rows.get(name)
        if row is None or row.action == "INIT":
            return None
        stored, key = self._outputs(row), joined((attribute, *rest))
        if not isinstance(stored, Parts):
            return None
        if rest and key in stored:
            return stored.derived(key, what, make)
        if attribute not in stored:
            return None
        return stored.derived(attribute, (what, rest), lambda value: make(select(value, rest)))

    def _all(self, row: ResourceRow) -> Iterator[tuple[str, Any]]:
        """Every attribute; those that need a name behind them, as some of groups do, are left out.

        Of a nested stack also what is read of its members.
        """
        instance = self._instance(row)
        names = list(instance.attributes_schema)
        if instance.has_child:
            read = instance.context.attributes_read() - {None, SHOW, *names}
            names += sorted(name for name in read if name is not None)
        for name in names:
            try:
                yield name, self._value(row, name)
            except TemplateError:
                if not instance.has_child:
                    raise

    def _value(self, row: ResourceRow, attribute: str) -> Any:
        stored = self._outputs(row)
        if attribute in stored:
            return stored[attribute]
        return self._instance(row).FnGetAtt(attribute)

    def _outputs(self, row: ResourceRow) -> Mapping[str, Any]:
        if row.name not in self._stored:
            self._stored[row.name] = self._sealer.load_map(row.outputs)
        return self._stored[row.name]

    def _instance(self, row: ResourceRow) -> Resource:
        if row.name not in self._instances:
            self._instances[row.name] = self._build(row)
        return self._instances[row.name]
