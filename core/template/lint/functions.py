"""Warnings about calls: parameters that no call reads, and data that only looks like a call.

Called by ``advice``. Looks at the template's data as written, branches that are not taken
included: which of them counts may change with the parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from zonda.hooks.errors import Path, TemplateWarning
from zonda.hooks.text.suggestions import closest

from ..evaluation.scope import FunctionTable
from ..source.versions import DATES, KEY

#: Codes, stable for ever.
LATER_FUNCTION = "ZON608"
MISSPELT_FUNCTION = "ZON609"

#: How alike a name must be to a function's to be taken for a slip.
_ALIKE = 0.84
_SECTIONS = ("resources", "outputs")
_READERS = ("get_param", "Ref")
_CFN = "Fn::"
_CFN_NOW = {"Fn::GetAtt": "get_attr", "Fn::If": "if", "Fn::Sub": "str_replace"}


class Found(Protocol):
    """What the loader knows."""

    version: str
    functions: Callable[[str], FunctionTable]


def parameters_used(data: Mapping[str, Any]) -> set[str] | None:
    """The names that calls read; None where a call makes the name, so that nobody can tell."""
    used: set[str] = set()
    for path, name, argument in _singles(data, ()):
        if name not in _READERS or path[0] == "parameters":
            continue
        head = argument[0] if isinstance(argument, list) and argument else argument
        if isinstance(head, dict | list):
            return None
        used.add(str(head))
    return used


def of(data: Mapping[str, Any], found: Found) -> Iterator[TemplateWarning]:
    """Maps of one key that look like calls and are plain data."""
    if not found.version:
        return
    now = found.functions(found.version)
    known = {*now.functions, *now.conditions}
    later = _later(found, known)
    for section in _SECTIONS:
        for path, name, argument in _singles(data.get(section), (section,)):
            if name in known:
                continue
            if name in later:
                if _fits(name, argument):
                    yield _of_later(path, name, found.version, later[name])
            else:
                yield from _of_slip(path, name, sorted({*now.functions} - now.removed))


def _later(found: Found, known: set[str]) -> dict[str, str]:
    """Functions of later versions, with the first that has each."""
    first: dict[str, str] = {}
    for date in DATES:
        if date > found.version:
            for name in found.functions(date).functions:
                if name not in known:
                    first.setdefault(name, date)
    return first


def _singles(tree: Any, path: Path) -> Iterator[tuple[Path, str, Any]]:
    """Every map of one key: its path, the key included, the key, and what stands below."""
    seen: set[int] = set()
    todo: list[tuple[Any, Path]] = [(tree, path)]
    while todo:
        here, at = todo.pop()
        if not isinstance(here, dict | list) or id(here) in seen:
            continue
        seen.add(id(here))
        items = here.items() if isinstance(here, dict) else enumerate(here)
        todo.extend((value, (*at, key)) for key, value in items)
        if isinstance(here, dict) and len(here) == 1:
            ((name, argument),) = here.items()
            if isinstance(name, str):
                yield (*at, name), name, argument


def _list_of(*counts: int) -> Callable[[Any], bool]:
    return lambda argument: isinstance(argument, list) and len(argument) in counts


def _map_with(*keys: str) -> Callable[[Any], bool]:
    return lambda argument: isinstance(argument, dict) and all(key in argument for key in keys)


#: Names that are everyday words, and what their arguments look like in a call.
_SHAPES: dict[str, Callable[[Any], bool]] = {
    "contains": _list_of(2),
    "digest": _list_of(2),
    "filter": _list_of(2),
    "if": _list_of(2, 3),
    "repeat": _map_with("for_each", "template"),
    "yaql": _map_with("expression"),
}


def _fits(name: str, argument: Any) -> bool:
    return name not in _SHAPES or _SHAPES[name](argument)


def _of_later(path: Path, name: str, version: str, since: str) -> TemplateWarning:
    return TemplateWarning(
        LATER_FUNCTION,
        f"{name} is plain data in version {version}; it is a function from {since} on",
        path,
        hint=f"Write {KEY}: {since} (or later) to have it called.",
    )


def _of_slip(path: Path, name: str, functions: list[str]) -> Iterator[TemplateWarning]:
    if name.startswith(_CFN):
        meant = _CFN_NOW.get(name, "")
    elif "_" in name or "-" in name:
        meant = closest(name, (each for each in functions if "_" in each), _ALIKE)
    else:
        return
    if meant or name.startswith(_CFN):
        yield TemplateWarning(
            MISSPELT_FUNCTION,
            f"{name} is no function, so it is plain data",
            path,
            hint=f"Did you mean {meant}?" if meant else "",
        )
