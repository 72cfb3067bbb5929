"""The differences between two values, down to the path inside maps and lists. Pure.

Plans, drift checks and the history of a stack ask here, so that they agree on what a change is:
``is_same_value``, which also decides an update. Two values are the same if JSON has one for both:
1 is 1.0, for a live state that was read as JSON may have either; true is no number.

Paths are tuples of keys and indexes. Of what may not be shown only is told that it differs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from zonda.core.template.evaluation.unknown_values import has_unknown
from zonda.hooks.records import dataclass, replace
from zonda.hooks.schema.properties import is_same_value

Kind = Literal["added", "removed", "changed"]
Path = tuple[Any, ...]


class _Nothing:
    def __repr__(self) -> str:
        return "NOTHING"


NOTHING: Any = _Nothing()


@dataclass(frozen=True, slots=True)
class Change:
    """One place that differs.

    ``later``: the new value is known after apply (``after`` is null then). ``secrecy``: ``open``,
    or why no value is given. ``forces``: ``replace`` or ``fail`` where this place alone has that
    effect.
    """

    path: Path
    kind: Kind
    before: Any = None
    after: Any = None
    later: bool = False
    secrecy: str = "open"
    forces: str = ""


def compare_values(before: Any, after: Any, path: Path = ()) -> Iterator[Change]:
    """Every place in which ``after`` differs; ``NOTHING`` on a side: it is absent there."""
    if isinstance(after, Mapping) and (
        isinstance(before, Mapping) or _needs_descent(before, after)
    ):
        old = before if isinstance(before, Mapping) else {}
        for key in dict.fromkeys((*old, *after)):
            yield from compare_values(old.get(key, NOTHING), after.get(key, NOTHING), (*path, key))
    elif isinstance(after, list) and (isinstance(before, list) or _needs_descent(before, after)):
        items = before if isinstance(before, list) else []
        for index in range(max(len(items), len(after))):
            yield from compare_values(
                _get_item(items, index), _get_item(after, index), (*path, index)
            )
    elif has_unknown(after):
        kind: Kind = "added" if before is NOTHING else "changed"
        yield Change(path, kind, None if before is NOTHING else before, later=True)
    elif before is NOTHING or after is NOTHING:
        yield from _list_one_sided(before, after, path)
    elif not is_same_value(before, after):
        yield Change(path, "changed", before, after)


def compare_marked(before: Any, after: Any, path: Path, secrecy: str) -> Iterator[Change]:
    """Like ``compare_values``; of values that may not be shown one change at most."""
    if secrecy == "open":
        yield from compare_values(before, after, path)
        return
    if (before is NOTHING and after is NOTHING) or is_same_value(before, after):
        return
    kind: Kind = "added" if before is NOTHING else "removed" if after is NOTHING else "changed"
    yield Change(path, kind, later=has_unknown(after), secrecy=secrecy)


def with_forces(change: Change, by: Mapping[str, str]) -> Change:
    """``change`` with its effect; ``by``: property -> ``replace`` or ``fail``."""
    if len(change.path) < 2 or change.path[0] != "properties" or change.path[1] not in by:
        return change
    return replace(change, forces=by[change.path[1]])


def _needs_descent(before: Any, after: Any) -> bool:
    """Whether to look inside of a new value: a part of it is known after apply."""
    return before is NOTHING and has_unknown(after)


def _get_item(items: list[Any], index: int) -> Any:
    return items[index] if index < len(items) else NOTHING


def _list_one_sided(before: Any, after: Any, path: Path) -> Iterator[Change]:
    if after is not NOTHING:
        yield Change(path, "added", after=after)
    elif before is not NOTHING:
        yield Change(path, "removed", before=before)
