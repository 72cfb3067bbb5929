"""The scopes of hooks/function.py: how trees are parsed, and where their values come from.

``Parser`` turns plain data into trees of function calls, ``Scope`` answers while a tree is
resolved. Neither knows a section: resources, outputs and conditions use both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from zonda.hooks.errors import Path, TemplateError
from zonda.hooks.function import Function, ResolveScope, resolve
from zonda.hooks.lazy import get_unloaded
from zonda.hooks.records import dataclass

from ..source.bundle import Limits
from ..source.diagnostics import (
    FAULTS,
    FILE_MISSING,
    FUNCTION,
    FUNCTION_NOT_HERE,
    MOST_HINTS,
    FollowUpError,
    TooLarge,
    from_exception,
    is_unwrapped,
    make_unknown_reference,
    suggestion,
)


@dataclass(frozen=True, slots=True)
class FunctionTable:
    """The functions of one version (a date); ``core/functions`` builds it.

    ``functions`` and ``conditions`` hold every name that makes a map a call, outside and inside
    conditions; ``removed`` are the names among them that only earlier versions had.
    """

    version: str
    functions: Mapping[str, type[Function]]
    conditions: Mapping[str, type[Function]]
    removed: frozenset[str]


class ResourceValues(Protocol):
    """The values of resources: null while a template is validated, real ones in the engine."""

    def reference(self, name: str) -> Any:
        """The value of ``get_resource`` for a resource that is in the template and enabled."""

    def attribute(self, name: str, attribute: str | None, rest: tuple[Any, ...]) -> Any:
        """An attribute below ``rest``; all attributes as a map where ``attribute`` is None."""


#: Gives the value of an expression on data; the last argument counts what that costs.
Yaql = Callable[[str, Any, Callable[[int], None]], Any]

#: Types that only YAML tags make (``!!binary``, ``!!omap``, ``!!set``): functions see lists. A set
#: is sorted, so that every process sees the same list.
_AS_LISTS = frozenset((bytes, tuple, set))


class ConditionScope(Protocol):
    """The conditions as a parser needs them."""

    def evaluate_condition(self, value: Any, scope: ResolveScope) -> bool:
        """The truth of a parsed condition: a name, a boolean, null or a function."""


class Valueless(Function):
    """Base of placeholders that stand among the calls of a tree and have no value."""

    __slots__ = ()

    def __init__(self, name: str = "", args: Any = None) -> None:
        self.name, self.args, self.path = name, args, ()

    def resolve(self, scope: ResolveScope) -> Any:
        """Never a value: why there is none is reported elsewhere."""
        raise FollowUpError


class Broken(Valueless):
    """A placeholder for a malformed call that was reported."""

    __slots__ = ()


class Parser:
    """A ParseScope that collects faults in ``errors`` and goes on.

    Literal parts of the data are not copied: a tree without functions is the data itself.
    """

    __slots__ = (
        "_conditions",
        "_functions",
        "_names",
        "_table",
        "errors",
        "mappings",
        "most_faults",
        "scope",
        "version",
    )

    def __init__(
        self,
        version: str,
        table: FunctionTable,
        scope: Scope,
        conditions: ConditionScope,
        errors: list[TemplateError],
        *,
        in_condition: bool = False,
    ) -> None:
        self.version = version
        self.errors = errors
        #: With so many faults nothing more is parsed.
        self.most_faults = scope.most_faults
        #: The section of that name, which only templates in CloudFormation's notation have.
        self.mappings: Any = None
        self._table = table
        self._functions = table.conditions if in_condition else table.functions
        self._names = get_unloaded(self._functions)
        self.scope = scope
        self._conditions = conditions

    def parse(self, value: Any, path: Path) -> Any:
        """The tree of ``value``, which stands at ``path`` in the document."""
        kind = type(value)
        if kind is dict:
            if len(value) == 1:
                ((name, args),) = value.items()
                if name in self._names:
                    return self._parse_call(self._functions[name], name, args, (*path, name))
            return self._parse_items(value, value.items(), path)
        if kind is list:
            return self._parse_items(value, enumerate(value), path)
        if kind in _AS_LISTS:
            items = sorted(value, key=repr) if kind is set else list(value)
            return self._parse_items(items, enumerate(items), path)
        return value

    def _parse_items(self, container: Any, items: Any, path: Path) -> Any:
        made: Any = None
        for key, item in items:
            kind = type(item)
            if kind is str:
                continue
            if kind is dict or kind is list or kind in _AS_LISTS:
                parsed = self.parse(item, (*path, key))
                if parsed is not item:
                    made = container.copy() if made is None else made
                    made[key] = parsed
        return container if made is None else made

    def _parse_call(self, function: type[Function], name: str, args: Any, path: Path) -> Any:
        before = len(self.errors)
        if before >= self.most_faults:
            return Broken()
        try:
            return function(self, name, args, path)
        except FAULTS as error:
            if len(self.errors) == before and not isinstance(error, FollowUpError):
                self.errors.append(_complete_error(error, path))
        return Broken()

    def condition(self, value: Any, path: Path) -> bool:
        """The truth of a condition that stands inside a function call."""
        tree, faults = self.parse_condition(value, path)
        if faults:
            for fault in faults:
                fault.path = (*_find_innermost_call(path), *fault.path[len(path) :])
            self.errors.extend(faults)
            raise FollowUpError
        return self.evaluate_condition(tree)

    def parse_condition(self, value: Any, path: Path) -> tuple[Any, list[TemplateError]]:
        """Parse a condition; return its tree and its faults."""
        faults: list[TemplateError] = []
        parser = Parser(
            self.version, self._table, self.scope, self._conditions, faults, in_condition=True
        )
        parser.mappings = self.mappings
        return parser.parse(value, path), faults

    def evaluate_condition(self, tree: Any) -> bool:
        """The truth of a parsed condition."""
        return self._conditions.evaluate_condition(tree, self.scope)

    @property
    def condition_names(self) -> list[str]:
        """The functions that conditions may call."""
        return sorted(self._table.conditions)

    def parameter(self, name: str) -> Any:
        """The value of a parameter or pseudo parameter."""
        return self.scope.parameter(name)

    def spend(self, values: int) -> None:
        """Count values that are made while the template is parsed."""
        self.scope.spend(values)


class Scope:
    """A ResolveScope over one stack's parameters, conditions, files and resources."""

    __slots__ = (
        "_conditions",
        "_facade",
        "_files",
        "_hints",
        "_in_all",
        "_left",
        "_limits",
        "_parameters",
        "_resources",
        "_values",
        "_yaql",
    )

    def __init__(
        self,
        parameters: Callable[[str], Any],
        conditions: ConditionScope,
        files: Mapping[str, str],
        resources: Mapping[str, Any],
        values: ResourceValues | None,
        yaql: Yaql | None,
        limits: Limits,
        facade: Mapping[str, Any] | None = None,
    ) -> None:
        self._facade = facade
        self._limits = limits
        self._left = limits.max_nodes
        self._in_all = limits.max_nodes_in_all
        self._hints = MOST_HINTS
        self._parameters = parameters
        self._conditions = conditions
        self._files = files
        self._resources = resources
        self._values = values
        self._yaql = yaql

    def parameter(self, name: str) -> Any:
        """The value of a parameter or pseudo parameter."""
        return self._parameters(name)

    @property
    def most_faults(self) -> int:
        """The number of faults after which no more are collected."""
        return self._limits.max_faults

    def begin(self) -> None:
        """Begin another resource or output: the values of its functions are counted anew."""
        self._left = self._limits.max_nodes

    def spend(self, values: int) -> None:
        """Count values; raises TooLarge beyond what one resource, or all together, may have."""
        if values > self._left or values > self._in_all:
            self._refuse(values)
        self._left -= values
        self._in_all -= values

    def _refuse(self, values: int) -> None:
        what, setting = "one resource or output", "max_nodes"
        if values <= self._left:
            what, setting = "this template", "max_nodes_in_all"
        most = getattr(self._limits, setting)
        raise TooLarge(f"the functions of {what} make more than {most} values (setting {setting})")

    def condition(self, name: Any) -> bool:
        """The truth of a named condition; booleans and null count for themselves."""
        return self._conditions.evaluate_condition(name, self)

    def file(self, key: str) -> str:
        """The text of an attached file."""
        if key not in self._files:
            raise TemplateError(
                f'No content found in the "files" section for get_file path: {key}',
                heat_type="ValueError",
                code=FILE_MISSING,
                hint=suggestion(key, self._files),
            )
        return self._files[key]

    def reference(self, resource: str, path: Path) -> Any:
        """The value of ``get_resource``."""
        return self._find_values(resource).reference(resource)

    def attribute(self, resource: str, attribute: str | None, rest: tuple[Any, ...]) -> Any:
        """An attribute of a resource."""
        return self._find_values(resource).attribute(resource, attribute, rest)

    def _find_values(self, resource: str) -> ResourceValues:
        if self._values is None or resource not in self._resources:
            self._hints -= 1
            known = self._resources if self._hints >= 0 else {}
            raise make_unknown_reference(resource, "unknown", known)
        return self._values

    def facade(self, kind: str) -> Any:
        """A part of the resource that this template provides; raises where it provides none."""
        if self._facade is not None:
            return resolve(self._facade.get(kind), self)
        raise TemplateError(
            "resource_facade can only be used in a template that provides a resource type.",
            heat_type="AttributeError",
            code=FUNCTION_NOT_HERE,
        )

    def yaql(self, expression: str, data: Any) -> Any:
        """The value of a yaql expression."""
        if self._yaql is None:
            raise TemplateError("yaql is not available here.", code=FUNCTION_NOT_HERE)
        return self._yaql(expression, data, self.spend)


def _complete_error(error: Exception, path: Path) -> TemplateError:
    """Complete an error of a constructor with the call's path; one with a label is complete."""
    fault = from_exception(error)
    if fault.label or is_unwrapped(fault, path):
        return fault
    fault.heat_type = TemplateError.heat_type
    if fault.code == TemplateError.code:
        fault.code = FUNCTION
    fault.prepend_path(*path)
    return fault


def _find_innermost_call(path: Path) -> Path:
    """Find the name of the call that ``path`` leads into: Heat shows no more of the path."""
    names = [item for item in path if isinstance(item, str)]
    return tuple(names[-1:])
