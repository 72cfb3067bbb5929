"""The part of a template that an action is for: ``--target`` and ``--exclude``, closed.

Pure functions over names. What is selected never requires what is not, so that it can be carried
out by itself; the rest keeps what it has until an update that selects it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from zonda.core.graph.digraph import find_reachable, map_dependents
from zonda.hooks.errors import UsageError
from zonda.hooks.text.suggestions import suggestion

from ..model.plan import Selection

Requires = Mapping[str, Collection[str]]


def select(
    wanted: Requires, there: Requires, targets: Sequence[str], excludes: Sequence[str]
) -> Selection | None:
    """The selection; None for the whole template.

    ``wanted`` and ``there``: name -> what it requires, by the template and by what exists.
    Raises UsageError for a name that neither has, and for a target that has to be left out.
    """
    if not targets and not excludes:
        return None
    known = dict.fromkeys((*wanted, *there))
    _check_names(known, (*targets, *excludes))
    # of what is to go, its users go first
    needs = {**map_dependents(there), **wanted}
    chosen = find_reachable(targets, needs) if targets else set(known)
    left_out = find_reachable(excludes, map_dependents(wanted))
    for name in targets:
        if name in left_out:
            raise UsageError(
                f"{name} is a target, and it is or requires what is excluded.",
                hint="Leave one of the two out.",
            )
    names = chosen - left_out
    # what would be deleted although the rest, as it is now, still uses it
    leaving = {name: [key for key in uses if key not in wanted] for name, uses in there.items()}
    used = find_reachable(set(there) - names, leaving)
    names -= used
    for name in targets:
        if name not in names:
            raise UsageError(
                f"{name} cannot be deleted: what is not selected still uses it.",
                hint="Select what requires it, too.",
            )
    asked = {*targets} if targets else {*excludes}
    added = names - asked if targets else {*known} - names - asked
    return Selection(
        frozenset(names),
        tuple(name for name in known if name not in names),
        tuple(name for name in known if name in added),
    )


def select_without(names: Iterable[str], left_out: Sequence[str]) -> Selection | None:
    """Everything but ``left_out``; None where nothing is left out."""
    if not left_out:
        return None
    return Selection(frozenset(names).difference(left_out), tuple(left_out), ())


def _check_names(known: Iterable[str], named: Iterable[str]) -> None:
    names = [*known]
    for name in named:
        if name not in names:
            raise UsageError(
                f"There is no resource {name}, neither in the template nor in the stack.",
                hint=_hint_nested(name, names) or suggestion(name, names),
            )


def _hint_nested(name: str, names: Collection[str]) -> str:
    """A hint for what names a resource of a nested stack: ``OWNER/NAME``."""
    owner, slash, _ = name.partition("/")
    if not slash or owner not in names:
        return ""
    return f"A part is named by the resources of the stack itself: {owner} with all nested in it."
