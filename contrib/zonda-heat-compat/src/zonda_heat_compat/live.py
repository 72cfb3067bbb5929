"""The live state of a thing in the template's words, as far as the template says anything.

Services fill in what nobody gave, give ids where a template has names, and names where it has ids.
None of that is drift. Called by ``adapter``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from zonda.hooks import TranslationRule

#: Values that a property has where nobody gave one.
_NOTHING: tuple[Any, ...] = (None, "", [], {})
#: Rules by the path of the property whose names they resolve.
_Finders = Mapping[tuple[str, ...], Any]


def is_nothing(value: Any) -> bool:
    """Whether a property has that value where nobody gave one."""
    return value in _NOTHING


def match_template(
    live: Mapping[str, Any], wanted: Callable[[str], Any], rules: Iterable[Any]
) -> dict[str, Any]:
    """The live values of the properties that have one: as ``wanted`` where they are the same.

    ``rules``: those of the plug-in, whose finders say of two names whether they mean one thing.
    """
    finders = {
        tuple(rule.translation_path): rule for rule in rules if rule.rule == TranslationRule.RESOLVE
    }
    found = {}
    for name, value in live.items():
        goal = wanted(name)
        if goal not in _NOTHING:
            found[name] = _match(value, goal, (name,), finders)
    return found


def _match(live: Any, goal: Any, path: tuple[str, ...], finders: _Finders) -> Any:
    """``live`` without what ``goal`` leaves open; ``path``: of names of properties."""
    if isinstance(live, Mapping) and isinstance(goal, Mapping):
        given = _list_given(goal)
        return {key: _match(live.get(key), each, (*path, key), finders) for key, each in given}
    if isinstance(live, list) and isinstance(goal, list):
        return _match_items(live, goal, path, finders)
    if isinstance(goal, int | float) and isinstance(live, str) and live == str(goal):
        return goal
    same = live != goal and path in finders and _is_found(finders[path], live, goal)
    return goal if same else live


def _list_given(goal: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(key, each) for key, each in goal.items() if each is not None]


def _match_items(
    live: list[Any], goal: list[Any], path: tuple[str, ...], finders: _Finders
) -> list[Any]:
    """The items of ``live`` in the order of ``goal``, and then those that it has not."""
    left, found = list(live), []
    for each in goal:
        given = dict(_list_given(each)) if isinstance(each, Mapping) else each
        same = next((one for one in left if _match(one, each, path, finders) == given), None)
        if same is not None:
            left.remove(same)
            found.append(given)
    return found + [each for each in left if not _is_floating(each)]


def _is_floating(item: Any) -> bool:
    """Whether it is a floating address, which Heat lists among a server's networks."""
    return isinstance(item, Mapping) and "fixed_ip" in item and item.get("port", 0) is None


def _is_found(rule: Any, live: Any, goal: Any) -> bool:
    finder = getattr(rule.client_plugin, rule.finder)
    try:
        return bool((finder(live) if rule.entity is None else finder(rule.entity, live)) == goal)
    except Exception:  # a name that the service has no more is another one
        return False
