"""Functions that read something outside the call: parameters, resources, files, the facade."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any, ClassVar, NoReturn, cast

from zonda.core.template.evaluation.unknown_values import UNKNOWN
from zonda.core.template.source.diagnostics import FollowUpError
from zonda.hooks.errors import Path, TemplateError
from zonda.hooks.function import (
    Function,
    ParseScope,
    ResolveScope,
    Source,
    resolve,
    resolve_value,
    sources,
    validate,
)
from zonda.hooks.schema.attributes import select


class GetParam(Function):
    """``get_param: name`` or ``get_param: [name, key, index, ...]``.

    A path that leads nowhere gives the empty text, as in Heat.
    """

    __slots__ = ("_source",)

    def __init__(self, scope: ParseScope, name: str, args: Any, path: Path) -> None:
        super().__init__(scope, name, args, path)
        known = fold_constant(scope, _get_head(self.args), path)
        first = _get_head(known)
        self._source = first if isinstance(first, str) else None

    def sources(self) -> Iterator[Source]:
        """The parameter, and the sources of its name and path."""
        if self._source is not None:
            yield Source("param", self._source)
        yield from sources(self.args)

    def resolve(self, scope: ResolveScope) -> Any:
        """The value; raises UserParameterMissing for a name that is not there."""
        args = resolve_value(self.args, scope)
        if not args:
            raise ValueError(f'Function "{self.name}" must have arguments')
        if isinstance(args, str):
            return scope.parameter(args)
        if not isinstance(args, list):
            raise TypeError(f'Argument to "{self.name}" must be string or list')
        parameter, *path = args
        if not isinstance(parameter, str):
            raise TypeError(f'Parameter name in "{self.name}" must be string')
        return _follow_path(scope.parameter(parameter), path)


def _get_head(args: Any) -> Any:
    """Get the first argument of a call that may also be written without a list."""
    return args[0] if isinstance(args, list) and args else args


def _follow_path(value: Any, path: Sequence[Any]) -> Any:
    """Follow ``path`` into a parameter's value; the empty text where it leads nowhere."""
    for key in path:
        if isinstance(value, dict):
            if not isinstance(key, str | int) or key not in value:
                return ""
            value = value[key]
            continue
        index = to_index(key)
        if index is None or not isinstance(value, list | str):
            return ""
        try:
            value = value[index]
        except IndexError:
            return ""
    return value


def to_index(key: Any) -> int | None:
    """Convert a key to an index; None for what is no whole number."""
    if isinstance(key, int):
        return key
    try:
        return int(key) if isinstance(key, str) else None
    except ValueError:
        return None


class GetAttr(Function):
    """``get_attr: [resource, attribute, key, index, ...]`` (2014-10-16 and 2015-04-30)."""

    __slots__ = ("_resource", "_sources")

    #: Whether a list or a map in the path leads to null instead of being refused.
    any_path: ClassVar[bool] = False

    def __init__(self, scope: ParseScope, name: str, args: Any, path: Path) -> None:
        super().__init__(scope, name, args, path)
        self.args = self._parse_arguments(self.args)
        known = [fold_constant(scope, item, path) for item in self.args]
        self._sources = _list_attribute_sources(known)

    def _parse_arguments(self, args: Any) -> list[Any]:
        """Parse the arguments to a list; raises for a wrong shape."""
        if not isinstance(args, list):
            raise TypeError(f'Argument to "{self.name}" must be a list')
        if len(args) < 2:
            raise ValueError(
                f'Arguments to "{self.name}" must be of the form '
                "[resource_name, attribute, (path), ...]"
            )
        return args

    def sources(self) -> Iterator[Source]:
        """The attribute, and the sources of its name and path."""
        yield from self._sources
        yield from sources(self.args)

    def validate(self, scope: ResolveScope) -> Iterator[Exception]:
        """An unknown resource or attribute, or a path that leads nowhere in any value."""
        yield from validate(self.args, scope)
        try:
            resource, attribute = self._resolve_target(scope)
            scope.attribute(resource, attribute, ())
            if attribute is not None and not self.any_path:
                self._resolve_path(scope)
        except FollowUpError:
            return
        except (TemplateError, TypeError, ValueError, KeyError) as error:
            yield error

    def _resolve_target(self, scope: ResolveScope) -> tuple[str, str | None]:
        resource = to_resource_name(self.name, resolve_value(self.args[0], scope))
        attribute = resolve_value(self.args[1], scope) if len(self.args) > 1 else None
        if attribute is not None and not isinstance(attribute, str):
            scope.attribute(resource, None, ())  # an unknown resource is the greater fault
            raise TypeError(f'Attribute name in "{self.name}" must be a string, not {attribute!r}')
        return resource, attribute

    def resolve(self, scope: ResolveScope) -> Any:
        """The value; null where the path leads nowhere, and before the resource exists."""
        resource, attribute = self._resolve_target(scope)
        if attribute is None:
            return scope.attribute(resource, None, ())
        return self._fetch_value(scope, resource, attribute, self._resolve_path(scope))

    def _resolve_path(self, scope: ResolveScope) -> tuple[Any, ...]:
        """The path inside the attribute; raises TypeError for a list or a map in it."""
        path = tuple(resolve(self.args[2:], scope))
        for part in path:
            if isinstance(part, dict | list) and not self.any_path:
                raise TypeError(
                    f'Path in "{self.name}" must consist of strings and numbers, '
                    f"not {type(part).__name__}"
                )
        return path

    def _fetch_value(
        self, scope: ResolveScope, resource: str, attribute: str, rest: tuple[Any, ...]
    ) -> Any:
        return scope.attribute(resource, attribute, rest)


class GetAttrThenSelect(GetAttr):
    """``get_attr`` of 2013-05-23: the whole attribute is fetched, then the path followed."""

    __slots__ = ()

    any_path = True

    def _fetch_value(
        self, scope: ResolveScope, resource: str, attribute: str, rest: tuple[Any, ...]
    ) -> Any:
        return select(scope.attribute(resource, attribute, ()), rest)


class GetAttrOrAll(GetAttr):
    """``get_attr`` from 2015-10-15 on: ``[resource]`` alone gives a map of all attributes."""

    __slots__ = ()

    def _parse_arguments(self, args: Any) -> list[Any]:
        if not args:
            raise ValueError(
                f'Arguments to "{self.name}" can be of the next forms: [resource_name] or '
                "[resource_name, attribute, (path), ...]"
            )
        if isinstance(args, list | str) and len(args) == 1:
            return list(args)
        return super()._parse_arguments(args)


def _list_attribute_sources(known: Sequence[Any]) -> tuple[Source, ...]:
    """List the sources that the arguments name, as far as they are known.

    A part that is unknown, or that no value has (a list, a map, null), ends the path as
    ``UNKNOWN``.
    """
    resource, attribute, *path = [*known, None] if len(known) == 1 else known
    if resource is UNKNOWN or isinstance(resource, dict | list):
        return ()
    if not isinstance(attribute, str):
        return (Source("attr", str(resource)),)
    keys = tuple(takewhile(lambda part: isinstance(part, str | int | float), path))
    end = (UNKNOWN,) if len(keys) < len(path) else ()
    return (Source("attr", str(resource), attribute, (*keys, *end)),)


def to_resource_name(function: str, name: Any) -> str:
    """Convert ``name`` to the name of a resource: a number is a name that no resource has."""
    if isinstance(name, dict | list):
        raise TypeError(
            f'Resource name in "{function}" must be a string, not {type(name).__name__}'
        )
    return str(name)


class GetResource(Function):
    """``get_resource: name``: the reference of a resource (its physical id, else its name)."""

    __slots__ = ("_source",)

    def __init__(self, scope: ParseScope, name: str, args: Any, path: Path) -> None:
        super().__init__(scope, name, args, path)
        if isinstance(self.args, dict | list):
            to_resource_name(name, self.args)
        known = fold_constant(scope, self.args, path)
        self._source = None if known is UNKNOWN else to_resource_name(name, known)

    def sources(self) -> Iterator[Source]:
        """The resource, and the sources of its name."""
        if self._source is not None:
            yield Source("ref", self._source)
        yield from sources(self.args)

    def resolve(self, scope: ResolveScope) -> Any:
        """The reference; raises UnknownReference."""
        name = to_resource_name(self.name, resolve_value(self.args, scope))
        return scope.reference(name, self.path)


class GetFile(Function):
    """``get_file: key``: the text of an attached file; the key must match exactly."""

    __slots__ = ()

    def sources(self) -> Iterator[Source]:
        """The file, where its key is a plain text."""
        if isinstance(self.args, str):
            yield Source("file", self.args)
        yield from sources(self.args)

    def resolve(self, scope: ResolveScope) -> Any:
        """The text; raises TemplateError where there is no such file."""
        key = resolve_value(self.args, scope)
        if not isinstance(key, str):
            raise TypeError(f'Argument to "{self.name}" must be a string')
        return scope.file(key)


class ResourceFacade(Function):
    """``resource_facade: metadata``: a part of the resource that this template provides."""

    __slots__ = ()

    #: The argument to what the scope calls it.
    kinds: ClassVar[dict[str, str]] = {
        "metadata": "metadata",
        "deletion_policy": "deletion_policy",
        "update_policy": "update_policy",
    }

    def __init__(self, scope: ParseScope, name: str, args: Any, path: Path) -> None:
        super().__init__(scope, name, args, path)
        if not isinstance(self.args, str) or self.args not in self.kinds:
            allowed = ", ".join(self.kinds)
            raise ValueError(f'Incorrect arguments to "{name}" should be one of: {allowed}')

    def sources(self) -> Iterator[Source]:
        """The part of the facade."""
        yield Source("facade", self.kinds[self.args])

    def resolve(self, scope: ResolveScope) -> Any:
        """The part; raises TemplateError in a stack that provides no resource."""
        return scope.facade(self.kinds[self.args])


class _ParametersOnly:
    """A ResolveScope that knows parameters and conditions, and refuses everything else."""

    def __init__(self, scope: ParseScope, path: Path) -> None:
        self._scope = scope
        self._path = path

    def spend(self, values: int) -> None:
        self._scope.spend(values)

    def parameter(self, name: str) -> Any:
        return self._scope.parameter(name)

    def condition(self, name: str) -> bool:
        return self._scope.condition(name, self._path)

    def __getattr__(self, name: str) -> NoReturn:
        raise TemplateError("is not known before resources exist")


def fold_constant(scope: ParseScope, tree: Any, path: Path) -> Any:
    """The value of a parsed ``tree`` that reads only parameters, else ``UNKNOWN``."""
    if not isinstance(tree, Function | dict | list):
        return tree
    try:
        return resolve_value(tree, cast(ResolveScope, _ParametersOnly(scope, path)))
    except (TemplateError, TypeError, ValueError, KeyError):
        return UNKNOWN
