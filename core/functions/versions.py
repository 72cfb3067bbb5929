"""The table of functions: the class of each name, by version, outside and inside conditions.

``build_function_table`` is what ``core/app`` hands to ``core.template``. The tables are data: each
version names what it adds, changes and removes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from zonda.core.plugins.manager import Plugins
from zonda.core.template.evaluation.scope import FunctionTable
from zonda.core.template.source.diagnostics import FUNCTION_NOT_HERE
from zonda.core.template.source.versions import AWS_KEY, CFN, CFN_DATES, DATES, HEAT_KEY, NAMES
from zonda.hooks.errors import Path, PluginError, TemplateError
from zonda.hooks.function import Function, ParseScope, ResolveScope
from zonda.hooks.lazy import Classes, get_unloaded, lazy_types

from .foreign import guard_function

#: Functions, each with its place, ``MODULE:CLASS``: a template uses few of them.
Places = Mapping[str, str]

_CODE = FUNCTION_NOT_HERE


class _RefusedCall(Function):
    """Base of calls that are refused while they are parsed."""

    __slots__ = ()

    def resolve(self, scope: ResolveScope) -> Any:
        """Never a value: the call was refused."""
        raise AssertionError("a refused call is never resolved")


class Removed(_RefusedCall):
    """A function that earlier versions had."""

    __slots__ = ()

    def __init__(self, scope: ParseScope, name: str, args: Any, path: Path) -> None:
        raise TemplateError(_format_not_supported(name), code=_CODE)


class RemovedInCondition(_RefusedCall):
    """The same inside a condition, where Heat names only the call around it."""

    __slots__ = ()

    def __init__(self, scope: ParseScope, name: str, args: Any, path: Path) -> None:
        outer = next((at for at in range(len(path) - 2, 1, -1) if isinstance(path[at], str)), None)
        if outer is None:
            raise TemplateError(_format_not_supported(name), code=_CODE)
        raise TemplateError(
            _format_not_supported(name),
            label=str(path[outer]),
            path=path[outer + 1 :],
            at=path,
            code=_CODE,
        )


class Invalid(_RefusedCall):
    """A function that exists, but not inside conditions."""

    __slots__ = ()

    def __init__(self, scope: ParseScope, name: str, args: Any, path: Path) -> None:
        raise TemplateError(f'The function "{name}" is invalid in this context', code=_CODE)


def _format_not_supported(name: str) -> str:
    return (
        "The template version is invalid: "
        f"The function {name} is not supported in this version of HOT."
    )


_REMOVED, _REMOVED_INSIDE = "versions:Removed", "versions:RemovedInCondition"
_INVALID = "versions:Invalid"

_CFN: Final[Places] = {
    "Ref": "cloudformation:Ref",
    "Fn::Base64": "cloudformation:Base64",
    "Fn::GetAZs": "cloudformation:GetAZs",
    "Fn::Join": "cloudformation:Join",
    "Fn::MemberListToMap": "cloudformation:MemberListToMap",
    "Fn::Replace": "cloudformation:Replace",
    "Fn::ResourceFacade": "cloudformation:CfnResourceFacade",
    "Fn::Split": "cloudformation:Split",
}

#: The functions of templates in CloudFormation's notation; the second version has no conditions.
_OF_CFN: Final[Places] = {
    **_CFN,
    "Fn::FindInMap": "cloudformation:FindInMap",
    "Fn::GetAtt": "cloudformation:GetAtt",
    "Fn::Select": "cloudformation:Select",
}
_CFN_FUNCTIONS: Final[Mapping[str, Places]] = {
    CFN_DATES[AWS_KEY]: {**_OF_CFN, "Fn::If": "logic:If"},
    CFN_DATES[HEAT_KEY]: _OF_CFN,
}
_CFN_CONDITIONS: Final[Mapping[str, Places]] = {
    CFN_DATES[AWS_KEY]: {
        "Fn::And": "logic:And",
        "Fn::Equals": "logic:Equals",
        "Fn::FindInMap": "cloudformation:FindInMap",
        "Fn::Not": "logic:NotOne",
        "Fn::Or": "logic:Or",
        "Ref": "cloudformation:ParamRef",
    },
    CFN_DATES[HEAT_KEY]: {},
}

#: The functions that each version adds or changes.
_CHANGES: Final[Mapping[str, Places]] = {
    "2013-05-23": {
        **_CFN,
        "Fn::Select": "cloudformation:Select",
        "get_attr": "access:GetAttrThenSelect",
        "get_file": "access:GetFile",
        "get_param": "access:GetParam",
        "get_resource": "access:GetResource",
        "list_join": "text:ListJoin",
        "resource_facade": "access:ResourceFacade",
        "str_replace": "text:StrReplace",
    },
    "2014-10-16": {"get_attr": "access:GetAttr"},
    "2015-04-30": {"digest": "text:Digest", "repeat": "repeat:Repeat"},
    "2015-10-15": {
        "get_attr": "access:GetAttrOrAll",
        "list_join": "text:ListJoinMultiple",
        "str_replace": "text:StrReplaceJson",
        "str_split": "text:StrSplit",
    },
    "2016-04-08": {"map_merge": "maps:MapMerge"},
    "2016-10-14": {
        "if": "logic:If",
        "map_replace": "maps:MapReplace",
        "repeat": "repeat:RepeatMaps",
        "yaql": "yaql_call:Yaql",
    },
    "2017-02-24": {"filter": "lists:Filter", "str_replace_strict": "text:StrReplaceStrict"},
    "2017-09-01": {
        "contains": "lists:Contains",
        "list_concat": "lists:ListConcat",
        "list_concat_unique": "lists:ListConcatUnique",
        "make_url": "make_url:MakeUrl",
        "repeat": "repeat:RepeatPermutations",
        "str_replace_vstrict": "text:StrReplaceVeryStrict",
    },
    "2021-04-16": {"if": "logic:IfOptional"},
}

#: The functions that each version removes.
_REMOVALS: Final[Mapping[str, frozenset[str]]] = {
    "2014-10-16": frozenset(_CFN),
    "2015-10-15": frozenset(("Fn::Select",)),
}

#: The functions that each version adds inside conditions.
_CONDITIONS: Final[Mapping[str, Places]] = {
    "2016-10-14": {
        "and": "logic:And",
        "equals": "logic:Equals",
        "get_param": "access:GetParam",
        "not": "logic:Not",
        "or": "logic:Or",
    },
    "2017-09-01": {"contains": "lists:Contains", "yaql": "yaql_call:Yaql"},
}


def build_function_table(version: str, plugins: Plugins | None = None) -> FunctionTable:
    """Build the table of a version, by its date or name, with the functions of plug-ins."""
    table = _build_builtin_table(NAMES.get(version, version))
    brought = plugins.functions(table.version) if plugins is not None else {}
    if not brought or plugins is None:
        return table
    _report_name_conflicts(brought, table, plugins)
    foreign: dict[str, Any] = {name: guard_function(cls) for name, cls in brought.items()}
    refused: dict[str, Any] = dict.fromkeys(brought, Invalid)
    return FunctionTable(
        table.version,
        Classes[Any]({**foreign, **get_unloaded(table.functions)}),
        Classes[Any]({**refused, **get_unloaded(table.conditions)}),
        table.removed,
    )


@cache
def _build_builtin_table(version: str) -> FunctionTable:
    functions: dict[str, str] = {}
    removed: set[str] = set()
    conditions: dict[str, str] = {}
    if version in CFN:
        functions |= _CFN_FUNCTIONS[version]
        conditions |= _CFN_CONDITIONS[version]
    else:
        for date in DATES[: DATES.index(version) + 1]:
            removed |= _REMOVALS.get(date, frozenset())
            functions |= _CHANGES.get(date, {})
            conditions |= _CONDITIONS.get(date, {})
    out = {name: _REMOVED_INSIDE if name in removed else _INVALID for name in functions}
    return FunctionTable(
        version,
        lazy_types(__package__, functions | dict.fromkeys(removed, _REMOVED)),
        lazy_types(__package__, {**out, **conditions}),
        frozenset(removed),
    )


def _report_name_conflicts(
    brought: Mapping[str, Any], table: FunctionTable, plugins: Plugins
) -> None:
    """Report plug-in functions with names of Heat's functions to the operator, once."""
    known = {str(failure) for failure in plugins.failures}
    for name in sorted(brought.keys() & table.functions.keys()):
        message = f"A plug-in brings the function {name}, which is Heat's own: it is left out."
        if message not in known:
            plugins.failures.append(PluginError(message))
