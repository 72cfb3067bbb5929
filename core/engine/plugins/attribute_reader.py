"""Attributes that are not stored: the type of the resource is asked.

In the pool, or in a process that only reads. What a plug-in raises becomes one error that names
the attribute and holds no secret; what it gives is plain data, as JSON has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

from zonda.core.store.values.jsontext import dumps, loads
from zonda.hooks.context import ResourceContext
from zonda.hooks.errors import PluginError, TemplateError
from zonda.hooks.resources.resource import Resource
from zonda.hooks.schema.attributes import Schema
from zonda.hooks.text.borders import raise_interruption
from zonda.hooks.text.sanitize import describe_exception, truncate_middle

from .redaction import scrub
from .values import check_value, format_key


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
