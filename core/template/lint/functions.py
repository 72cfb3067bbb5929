"""Warnings about calls: parameters that no call reads, and data that only looks like a call.

Called by ``linter``. Looks at the template's data as written, branches that are not taken
included: which of them counts may change with the parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from zonda.hooks.errors import Path, TemplateWarning
from zonda.hooks.text.suggestions import closest

from ..evaluation.scope import FunctionTable
from ..source.versions import DATES, KEY

#: Codes, stable for ever.
LATER_FUNCTION = "ZON608"
MISSPELT_FUNCTION = "ZON609"

#: The least likeness of a name to a function's that counts as a slip.
_ALIKE = 0.84
_SECTIONS = ("resources", "outputs")
_READERS = ("get_param", "Ref")
_CFN = "Fn::"
_CFN_NOW = {"Fn::GetAtt": "get_attr", "Fn::If": "if", "Fn::Sub": "str_replace"}


def list_used_parameters(data: Mapping[str, Any]) -> set[str] | None:
    """List the parameters that calls read; None where a call computes the name."""
    used: set[str] = set()
    for path, name, argument in _find_single_key_maps(data, ()):
        if name not in _READERS or path[0] == "parameters":
            continue
        head = argument[0] if isinstance(argument, list) and argument else argument
        if isinstance(head, dict | list):
            return None
        used.add(str(head))
    return used


def list_warnings(
    data: Mapping[str, Any], version: str, tables: Callable[[str], FunctionTable]
) -> Iterator[TemplateWarning]:
    """Yield a warning for each map of one key that looks like a call and is plain data.

    ``tables`` gives the functions of a version.
    """
    if not version:
        return
    now = tables(version)
    known = {*now.functions, *now.conditions}
    # the functions of later versions, with the first version that has each
    later: dict[str, str] = {}
    for date in DATES:
        for name in tables(date).functions if date > version else ():
            later.setdefault(name, date)
    for section in _SECTIONS:
        for path, name, argument in _find_single_key_maps(data.get(section), (section,)):
            if name in known:
                continue
            if name in later:
                if name not in _SHAPES or _SHAPES[name](argument):
                    yield _make_later_warning(path, name, version, later[name])
            else:
                yield from _list_misspelling_warnings(
                    path, name, sorted({*now.functions} - now.removed)
                )


def _find_single_key_maps(tree: Any, path: Path) -> Iterator[tuple[Path, str, Any]]:
    """Yield every map of one key: its path, the key included, the key, and its value."""
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


def _make_list_test(*counts: int) -> Callable[[Any], bool]:
    return lambda argument: isinstance(argument, list) and len(argument) in counts


def _make_map_test(*keys: str) -> Callable[[Any], bool]:
    return lambda argument: isinstance(argument, dict) and all(key in argument for key in keys)


#: Names that are everyday words, and what their arguments look like in a call.
_SHAPES: dict[str, Callable[[Any], bool]] = {
    "contains": _make_list_test(2),
    "digest": _make_list_test(2),
    "filter": _make_list_test(2),
    "if": _make_list_test(2, 3),
    "repeat": _make_map_test("for_each", "template"),
    "yaql": _make_map_test("expression"),
}


def _make_later_warning(path: Path, name: str, version: str, since: str) -> TemplateWarning:
    return TemplateWarning(
        LATER_FUNCTION,
        f"{name} is plain data in version {version}; it is a function from {since} on",
        path,
        hint=f"Write {KEY}: {since} (or later) to have it called.",
    )


def _list_misspelling_warnings(
    path: Path, name: str, functions: list[str]
) -> Iterator[TemplateWarning]:
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
