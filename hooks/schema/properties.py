"""The properties of one resource, as its plug-in reads them.

``Properties`` is a mapping over every declared name. Values are converted when they are first
read and then kept; a plug-in never sees null where the type has an empty value, while ``stored``
keeps null for the database and for people.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from ..context import ResourceContext
from ..errors import Path, TemplateError
from ..function import Function, sources
from .aliases import find_written_path
from .property import Schema
from .translation import Rule, translate
from .values import (
    Reading,
    build_property_error,
    convert,
    convert_fields,
    fill_null,
    get_missing_value,
    remove_nulls,
)

__all__ = ["Properties", "Schema", "is_same_value"]

_PLAIN: Final = Reading()


class Properties(Mapping[str, Any]):
    """The declared properties with their values.

    ``data`` are the values that the template gives, functions resolved; ``raw`` the same with the
    functions in place. ``rules`` are asked for once, when the first value is read. Reading a bad
    value raises TemplateError (``Property error: value: ...``), an undeclared name KeyError.
    """

    __slots__ = ("_context", "_filled", "_given", "_moved", "_raw", "_rules", "_values", "props")

    def __init__(
        self,
        schemata: Mapping[str, Schema],
        data: Mapping[str, Any],
        *,
        raw: Mapping[str, Any] | None = None,
        context: ResourceContext | None = None,
        rules: Callable[[Properties], Sequence[Rule]] | None = None,
    ) -> None:
        self.props = schemata
        self._given = data
        self._raw = raw
        self._context = context
        self._rules = rules
        self._moved: frozenset[str] = frozenset()
        self._values: dict[str, Any] = {}
        self._filled: dict[str, Any] = {}

    @property
    def data(self) -> Mapping[str, Any]:
        """The values in the template: functions unresolved where they are known, not converted."""
        return self._raw if self._raw else self._given

    def __getitem__(self, key: str) -> Any:
        if key in self._filled:
            return self._filled[key]
        value = fill_null(self._get_schema(key), self.convert(key))
        self._filled[key] = value
        return value

    def __contains__(self, key: object) -> bool:
        return key in self.props

    def __iter__(self) -> Iterator[str]:
        return iter(self.props)

    def __len__(self) -> int:
        return len(self.props)

    def __repr__(self) -> str:
        # Names only: values may be secrets.
        return f"Properties({', '.join(self.props)})"

    def convert(self, key: str) -> Any:
        """The value in its type: given, else the default, else null."""
        if key in self._values:
            return self._values[key]
        schema = self._get_schema(key)
        given = self._translate_given()
        if key in given:
            value = convert(schema, given[key], (key,), _PLAIN)
        else:
            value = get_missing_value(key, schema, (), _PLAIN)
        self._values[key] = value
        return value

    def get_user_value(self, key: str) -> Any:
        """The value that was given, translated but not converted; null where there was none."""
        self._get_schema(key)
        return self._translate_given().get(key)

    def get_stored_values(self) -> dict[str, Any]:
        """The converted values of the names that were given, null kept: to be stored and shown."""
        return {key: self.convert(key) for key in self._translate_given() if key in self.props}

    def get_sent_values(self, *names: str) -> dict[str, Any]:
        """The values of ``names``, or of all, for a handler or a runner: defaults, but no null."""
        values = {key: self.convert(key) for key in names or self.props}
        return {
            key: remove_nulls(self.props[key], value)
            for key, value in values.items()
            if value is not None
        }

    def validate(
        self, path: Path = (), *, pending: Collection[str] | None = None
    ) -> list[TemplateError]:
        """The faults of the properties, in the order in which Heat would find them.

        ``path`` leads to the properties, e.g. ``("resources", "web", "properties")``. Constraints
        are not applied to the names in ``pending``, whose values wait for other resources; while a
        template is validated these are found by what the functions in ``raw`` read.
        """
        waiting = self.waiting() if pending is None else pending
        written = self._raw if self._raw is not None else self._given
        try:
            given = self._translate_given(waiting)
        except TemplateError as error:
            self._name_as_written(error, written, 0)
            return [error.prepend_path(*path)]
        waiting = {*waiting, *self._moved}
        if not isinstance(given, Mapping):
            return [build_property_error(f'"{given}" is not a map', path)]
        faults: list[TemplateError] = []
        reading = Reading(self._context, faults, checks=True)
        names = written if isinstance(written, Mapping) else ()
        convert_fields(self.props, given, path, reading, waiting, names)
        for fault in faults:
            self._name_as_written(fault, written, len(path))
        return faults

    def _name_as_written(self, fault: TemplateError, written: Any, start: int) -> None:
        """Have a fault tell the name that the template gives, where that is an alias."""
        fault.path, fault.at = (
            (*each[:start], *find_written_path(self.props, written, each[start:]))
            for each in (fault.path, fault.at)
        )

    def diff(self, before: Properties, observed: Collection[str] = ()) -> list[str]:
        """The names whose converted values differ from ``before``, in the order of the schema.

        ``observed``: names whose values ``before`` has by an observation, which may be of another
        type: there nothing is converted.
        """
        names: Iterable[str] = self.props
        if before.props is self.props:
            # What neither gives has the same default in both.
            given = {*self._translate_given(), *before._translate_given()}
            names = [key for key in self.props if key in given]
        return [
            key
            for key in names
            if self._differs(key, before)
            or (
                key in observed
                and not is_same_value(
                    before.get_user_value(key), self.get_sent_values(key).get(key)
                )
            )
        ]

    def changes(self, before: Properties, observed: Collection[str] = ()) -> dict[str, Any]:
        """The ``prop_diff`` of ``handle_update``: changed names and their new values or null."""
        return {key: self.convert(key) for key in self.diff(before, observed)}

    def update_allowed(self, keys: Iterable[str]) -> bool:
        """Whether every one of ``keys`` may be changed in place."""
        return all(self._get_schema(key).update_allowed for key in keys)

    def immutable(self, keys: Iterable[str]) -> list[str]:
        """The names among ``keys`` that no update may change."""
        return [key for key in keys if self._get_schema(key).immutable]

    def _get_schema(self, key: str) -> Schema:
        try:
            return self.props[key]
        except KeyError:
            raise KeyError(f"Invalid Property {key}") from None

    def _differs(self, key: str, before: Properties) -> bool:
        if key not in before.props:
            return True
        try:
            old = before.convert(key)
        except TemplateError:
            # What was stored no longer fits the type (the plug-in is a newer one): a change.
            return True
        return not is_same_value(old, self.convert(key))

    def _translate_given(self, waiting: Collection[str] | None = None) -> Mapping[str, Any]:
        if self._rules is not None:
            # Taken away first, so that the rules may read properties as they were given.
            ask, self._rules = self._rules, None
            rules = ask(self)
            if rules:
                waiting = self.waiting() if waiting is None else waiting
                self._given, self._moved = translate(self._given, rules, waiting)
                self._values.clear()
                self._filled.clear()
        return self._given

    def waiting(self) -> frozenset[str]:
        """The names that read other resources, while those have no values yet."""
        if self._raw is None or self._context is None or self._context.operation is not None:
            return frozenset()
        if isinstance(self._raw, Function):
            return frozenset(self.props) if _reads_resources(self._raw) else frozenset()
        return frozenset(name for name, tree in self._raw.items() if _reads_resources(tree))


def is_same_value(one: Any, other: Any) -> bool:
    """Whether two values are the same as JSON: 1 is 1.0, and neither is true."""
    if type(one) is str and type(other) is str:  # most are
        return one == other
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(
            is_same_value(one[key], other[key]) for key in one
        )
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(is_same_value, one, other))
    return bool(_to_plain_scalar(one) == _to_plain_scalar(other))


def _to_plain_scalar(value: Any) -> Any:
    """A scalar as JSON will write it: a class of its own may be equal to anything."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__int__(value)
    return float.__float__(value) if isinstance(value, float) else value


def _reads_resources(tree: Any) -> bool:
    return any(source.kind in ("attr", "ref") for source in sources(tree))
