"""Functions of plug-ins behind a border: their exceptions become faults of the call.

Called by ``versions`` for every function that a plug-in brings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from types import NoneType
from typing import Any, Final

from zonda.core.template.source.diagnostics import FAULTS
from zonda.hooks.errors import Path, PluginError, TemplateError
from zonda.hooks.function import Function, ParseScope, ResolveScope, Source
from zonda.hooks.text.borders import raise_interruption
from zonda.hooks.text.sanitize import describe_exception

#: The classes of data, and of the calls that stand for what is not known yet.
_DATA: Final = (
    *(str, int, float, NoneType, Mapping, list, tuple, set, frozenset, bytes, date),
    Function,
)


def guard_function(cls: type[Function]) -> type[Function]:
    """Build a subclass of ``cls`` that turns every unexpected exception into a TemplateError."""

    class Guarded(cls):  # type: ignore[valid-type,misc]
        __slots__ = ()

        def __init__(self, scope: ParseScope, name: str, args: Any, path: Path) -> None:
            with _border(name):
                super().__init__(scope, name, args, path)
                self._sources_of_plugin()  # who asks later has no place for a fault

        def validate(self, scope: ResolveScope) -> Iterator[Exception]:
            with _border(self.name):
                faults = [*super().validate(scope)]
            yield from faults

        def sources(self) -> Iterator[Source]:
            with _border(self.name):
                read = self._sources_of_plugin()
            yield from read

        def _sources_of_plugin(self) -> list[Source]:
            read = [*super().sources()]
            for each in read:
                if not isinstance(each, Source):
                    kind = type(each).__name__
                    raise TypeError(f"sources() has a {kind} where a Source is wanted")
            return [*dict.fromkeys(read)]

        def resolve(self, scope: ResolveScope) -> Any:
            with _border(self.name):
                value = super().resolve(scope)
                if not isinstance(value, _DATA):
                    kind = type(value).__name__
                    raise TypeError(f'"{self.name}" gives a value of type {kind}, which is no data')
                return value

    Guarded.__name__, Guarded.__doc__ = cls.__name__, cls.__doc__
    Guarded.__qualname__, Guarded.__module__ = cls.__qualname__, cls.__module__
    return Guarded


@contextmanager
def _border(name: str) -> Iterator[None]:
    try:
        yield
    except FAULTS:
        raise
    except BaseException as error:  # the border: a plug-in's function is called
        raise_interruption(error)
        made = TemplateError(
            f"The function {name} broke: {describe_exception(error)}", code=PluginError.code
        )
        raise made from error
