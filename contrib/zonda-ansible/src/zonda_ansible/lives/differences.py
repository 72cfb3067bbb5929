"""The differences that a module tells, in its diff: property by property, or in words.

Pure; called by ``module_runs`` with the results of modules.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

#: The property that some modules give as a text, whose diff is that text.
_CONTENT: Final = "content"
#: The length at which the agent cuts texts of a diff: such a one is not whole.
_CUT: Final = 4000
_ABSENT: Final = "absent"


def was_absent(result: Mapping[str, Any]) -> bool:
    """Whether a result tells that there was nothing before."""
    if result.get("zonda_found") is False:
        return True
    sides = (_get_sides(diff)[0] for diff in _list_diffs(result))
    return any(isinstance(before, Mapping) and before.get("state") == _ABSENT for before in sides)


def was_there(result: Mapping[str, Any]) -> bool:
    """Whether a result tells that something was there before; False where nobody knows."""
    if result.get("zonda_found"):
        return True
    sides = [_get_sides(diff) for diff in _list_diffs(result)]
    maps = [before for before, _ in sides if isinstance(before, Mapping)]
    return any(before.get("path") and before.get("state") is None for before in maps)


def find_live(
    result: Mapping[str, Any], sent: Mapping[str, Any], names: Mapping[str, Collection[str]]
) -> dict[str, Any] | None:
    """The values of the properties that differ; None where the diff tells of anything else, too.

    ``names``: property -> the names by which the module may call it. A diff of texts is one of the
    property ``content``, where a module of files has that.
    """
    found: dict[str, Any] = {}
    for name, before in _list_former(result):
        known = next((each for each, called in names.items() if name in called), name)
        if known not in sent or (isinstance(before, str) and len(before) >= _CUT):
            return None
        found[known] = before
    return found or None


def describe(result: Mapping[str, Any]) -> str:
    """The differences in words, as far as the diff tells."""
    lines = []
    for diff in _list_diffs(result):
        before, after = _get_sides(diff)
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            lines += [
                f"{name}: {before.get(name)} -> {after[name]}"
                for name in after
                if before.get(name) != after[name]
            ]
        elif diff.get("prepared"):
            lines.append(str(diff["prepared"]))
        elif before is not None or after is not None:
            called = diff.get("before_header") or diff.get("after_header") or "it"
            lines.append(f"{called} has another content")
    return "; ".join(lines)


def _list_former(result: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """(name, value before) of all that differs; the name is '' for what has none."""
    for diff in _list_diffs(result):
        before, after = _get_sides(diff)
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            for name in {**before, **after}:
                if before.get(name) != after.get(name):
                    yield str(name), before.get(name)
        elif isinstance(before, str) and isinstance(after, str):
            if before != after:
                yield _CONTENT, before
        elif before is not None or after is not None or diff.get("prepared"):
            yield "", before


def _list_diffs(result: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    diffs = result.get("diff") or []
    return [each for each in (diffs if isinstance(diffs, list) else [diffs]) if each]


def _get_sides(diff: Mapping[str, Any]) -> tuple[Any, Any]:
    return diff.get("before"), diff.get("after")
