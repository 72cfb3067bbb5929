"""The values of resources that templates read: stored ones, others asked for on demand.

In the pool, or in a process that only reads. What a plug-in raises when it is asked becomes one
error that names the attribute and holds no secret; what it gives is plain data, as JSON has it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from zonda.core.store.schema.rows import ResourceRow
from zonda.core.store.values.jsontext import dumps, loads
from zonda.core.store.values.sealing import Sealer
from zonda.core.template.source.json_text import is_too_deep
from zonda.core.template.source.yaml_parser import MAX_DEPTH
from zonda.hooks.cached_property import cached_property
from zonda.hooks.context import ResourceContext
from zonda.hooks.errors import PluginError, ResourceFailure, TemplateError
from zonda.hooks.resources.resource import Resource
from zonda.hooks.schema.attributes import SHOW, Schema, select
from zonda.hooks.text.borders import raise_interruption
from zonda.hooks.text.sanitize import describe_exception, require_encodable, truncate_middle

from .redaction import scrub

#: The escapes in JSON text of half a surrogate pair, or of both halves.
_SURROGATE = "\\ud"
#: Its notation of a map whose keys are no strings.
_OTHER_KEYS = '{"$map":'
_TOO_DEEP = f"is nested deeper than {MAX_DEPTH} levels"


def check_value(what: str, value: Any) -> None:
    """Raise TypeError or ValueError for what is no JSON, ResourceFailure for what is no text."""
    try:
        text = dumps(value)
    except RecursionError:
        raise ValueError(f"{what} holds itself, or {_TOO_DEEP}") from None
    if text.count("[") + text.count("{") > MAX_DEPTH and is_too_deep(value):
        raise ValueError(f"{what} {_TOO_DEEP}")
    if _OTHER_KEYS in text:
        _check_keys(what, value)
    if _SURROGATE in text:
        require_encodable(what, json.dumps(json.loads(text), ensure_ascii=False))


def _check_keys(what: str, value: Any) -> None:
    if isinstance(value, Mapping):
        for key, item in value.items():
            if not (key is None or isinstance(key, str | int | float)):
                raise TypeError(f"{what} has a key of type {type(key).__name__}, which JSON lacks")
            _check_keys(what, item)
    elif isinstance(value, list | tuple):
        for item in value:
            _check_keys(what, item)


def read_outputs(
    instance: Resource, references: Iterable[tuple[str, tuple[Any, ...]]]
) -> dict[str, Any]:
    """The attributes of an instance that can be read and stored.

    ``references``: the key to store each under, and its name with the keys below it. Raises
    ResourceFailure for what is no text.
    """
    found = {}
    for key, path in references:
        try:
            value = instance.FnGetAtt(*path)
        except BaseException as error:  # the border: whoever reads it asks again, and is told
            raise_interruption(error)
            continue
        try:
            check_value(f"the attribute {key}", value)
        except ResourceFailure:
            raise
        except BaseException as error:  # it cannot be stored: who reads it asks again
            raise_interruption(error)
            continue
        found[key] = value
    return found


def format_key(path: Iterable[Any]) -> str:
    """The key under which the value of an attribute at certain keys is stored."""
    return ".".join(map(str, path))


class AttributeReader:
    """Stands for a resource that is read; ``secrets``: what no text about it may hold."""

    def __init__(
        self, name: str, make: Callable[[], Resource], secrets: Callable[[], Iterable[Any]]
    ) -> None:
        self._name = name
        self._make = make
        self._secrets = secrets

    @cached_property
    def _instance(self) -> Resource:
        return self._make()

    @property
    def attributes_schema(self) -> Mapping[str, Schema]:
        """See ``Resource``."""
        return self._instance.attributes_schema

    @property
    def is_nested_stack(self) -> bool:
        """See ``Resource``."""
        return self._instance.is_nested_stack

    @property
    def context(self) -> ResourceContext:
        """See ``Resource``."""
        return self._instance.context

    def FnGetAtt(self, key: str, *path: Any) -> Any:
        """The value of an attribute below ``path``; raises TemplateError where there is none."""
        try:
            value = self._instance.FnGetAtt(key, *path)
            check_value("its value", value)
            return loads(dumps(value))
        except TemplateError as error:
            error.message = self._redact(error.message)
            raise
        except BaseException as error:  # the border: a plug-in is asked
            raise_interruption(error)
            said = self._redact(describe_exception(error))
            raise TemplateError(
                f"The attribute {format_key((key, *path))} of {self._name} cannot be read: {said}",
                code=PluginError.code,
            ) from error

    def _redact(self, text: str) -> str:
        return truncate_middle(scrub(text, self._secrets()))


Build = Callable[[ResourceRow], AttributeReader]


class RowValues:
    """Values of the instances in ``rows``, by name.

    ``build`` makes what is asked for an attribute that is not stored. A resource that is not there
    or was never made has the reference Heat gives it, its name, and null attributes.
    """

    def __init__(self, rows: Iterable[ResourceRow], sealer: Sealer, build: Build) -> None:
        self._rows = {row.name: row for row in rows}
        self._sealer = sealer
        self._build = build
        self._stored: dict[str, Mapping[str, Any]] = {}
        self._readers: dict[str, AttributeReader] = {}

    def row(self, name: str) -> ResourceRow | None:
        """The instance of that name."""
        return self._rows.get(name)

    def reference(self, name: str) -> Any:
        """The value of ``get_resource``."""
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
            return dict(self._list_attributes(row))
        stored = self._load_outputs(row)
        if rest and (key := format_key((attribute, *rest))) in stored:
            return stored[key]
        if attribute in stored:
            return select(stored[attribute], rest)
        return self._get_reader(row).FnGetAtt(attribute, *rest)

    def _list_attributes(self, row: ResourceRow) -> Iterator[tuple[str, Any]]:
        """Every attribute; those that need a name behind them, as some of groups do, are left out.

        Of a nested stack also what is read of its members.
        """
        instance = self._get_reader(row)
        names = list(instance.attributes_schema)
        if instance.is_nested_stack:
            read = instance.context.referenced_attributes() - {None, SHOW, *names}
            names += sorted(name for name in read if name is not None)
        for name in names:
            try:
                yield name, self._read_value(row, name)
            except TemplateError:
                if not instance.is_nested_stack:
                    raise

    def _read_value(self, row: ResourceRow, attribute: str) -> Any:
        stored = self._load_outputs(row)
        if attribute in stored:
            return stored[attribute]
        return self._get_reader(row).FnGetAtt(attribute)

    def _load_outputs(self, row: ResourceRow) -> Mapping[str, Any]:
        if row.name not in self._stored:
            self._stored[row.name] = self._sealer.load_map(row.outputs)
        return self._stored[row.name]

    def _get_reader(self, row: ResourceRow) -> AttributeReader:
        if row.name not in self._readers:
            self._readers[row.name] = self._build(row)
        return self._readers[row.name]
