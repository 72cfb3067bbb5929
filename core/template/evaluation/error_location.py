"""Find the innermost function call that fails, for the location of an error.

Called by ``checks`` for values that cannot be resolved. Heat names the property; the place is ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from zonda.hooks.errors import Path
from zonda.hooks.function import Function, ResolveScope, resolve

from ..source.diagnostics import FAULTS, FollowUpError


def find_failing_call(tree: Any, scope: ResolveScope) -> Path | None:
    """Find the path of the innermost call that fails in ``tree``; None if it is no call.

    Every part of a failing call is resolved once more, so this is not for calls that take long.
    """
    found: Path | None = None
    while tree is not None:
        if isinstance(tree, Function):
            found = tree.path
        tree = next((part for part in _list_parts(tree) if _is_failing(part, scope)), None)
    return found


def _list_parts(tree: Any) -> Iterator[Any]:
    inside = tree.args if isinstance(tree, Function) else tree
    if isinstance(inside, Function):
        yield inside
    elif isinstance(inside, dict | list):
        values = inside.values() if isinstance(inside, dict) else inside
        yield from (value for value in values if isinstance(value, dict | list | Function))


def _is_failing(tree: Any, scope: ResolveScope) -> bool:
    try:
        resolve(tree, scope)
    except FollowUpError:
        return False
    except FAULTS:
        return True
    return False
