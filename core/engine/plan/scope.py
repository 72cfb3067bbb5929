"""The scope of a plan: the instances that it affects. Pure functions over names.

The cone is what is dirty and all that requires it. Only the cone is written by a plan. A selection
is the part of a template that an action is for (``--target`` and ``--exclude``), closed: what is
selected never requires what is not, so that it can be carried out by itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

from zonda.core.graph import digraph
from zonda.core.store.schema.rows import PlanRow, ResourceRow
from zonda.hooks.errors import UsageError
from zonda.hooks.records import dataclass
from zonda.hooks.text.suggestions import suggestion

from ..model.plan import Desired, Selection
from ..model.states import COMPLETE, PRESENT

#: A plan's writer reads a few columns of each instance, a preview all of them.
Row = TypeVar("Row", bound=PlanRow | ResourceRow)
Requires = Mapping[str, Collection[str]]


@dataclass(frozen=True, slots=True)
class Cone(Generic[Row]):
    """``chosen``: name -> instance (None: a new one); ``waiting``: name -> open requirements.

    What is not selected is in none of them: its instances are ``outside``. ``dirty`` are the names
    that must be looked at; every name of ``waiting`` is in the cone. All other instances go.
    """

    chosen: Mapping[str, Row | None]
    dirty: Collection[str]
    waiting: Mapping[str, int]
    outside: Mapping[str, Row]


def choose_instances(rows: Iterable[Row], wanted: Sequence[Desired]) -> dict[str, Row | None]:
    """The instance that shall be each wanted resource.

    One that is complete and as wanted comes first (so a rollback finds the old one alive), then
    the present one, then the newest. What is being deleted, or failed to be, is not taken, unless
    its creation never completed: it is removed before a new one is made in its place.
    """
    by_name: dict[str, list[Row]] = {}
    for row in rows:
        if not _is_deleted(row) or row.have_template_id is None:
            by_name.setdefault(row.name, []).append(row)
    return {item.name: _choose_best(by_name.get(item.name, ()), item) for item in wanted}


def _choose_best(candidates: Sequence[Row], wanted: Desired) -> Row | None:
    return max(
        candidates,
        key=lambda row: (
            row.id == wanted.instance,
            _is_as_wanted(row, wanted),
            row.want == PRESENT,
            not _is_deleted(row),
            row.id,
        ),
        default=None,
    )


def _is_deleted(row: PlanRow | ResourceRow) -> bool:
    """Whether it is being deleted, or was, or failed to be."""
    return "DELETE" in (row.op, row.action)


def _is_as_wanted(row: PlanRow | ResourceRow, wanted: Desired) -> bool:
    return row.status == COMPLETE and row.have_hash == wanted.hash and not row.op


def find_affected(
    rows: Sequence[Row], wanted: Sequence[Desired], selected: Collection[str] | None = None
) -> Cone[Row]:
    """The scope of a converging plan; ``selected``: no others, and these require no others."""
    outside: dict[str, Row] = {}
    if selected is not None:
        wanted = [item for item in wanted if item.name in selected]
        by_id = {row.id: row for row in rows}
        outside = {
            each.name: _find_predecessor(each, by_id)
            for each in rows
            if each.want == PRESENT and each.name not in selected
        }
    chosen = choose_instances(rows, wanted)
    users = digraph.map_dependents({item.name: item.requires for item in wanted})
    dirty: dict[str, None] = {}
    for item in wanted:
        row = chosen[item.name]
        if row is None or row.want != PRESENT:
            # Whoever uses it must look at what it says now.
            dirty.update(dict.fromkeys([item.name, *users.get(item.name, ())]))
        elif item.always or row.dirty or not _is_as_wanted(row, item):
            dirty[item.name] = None
    inside = digraph.find_reachable(dirty, users)
    waiting = {
        item.name: sum(1 for name in item.requires if name in inside)
        for item in wanted
        if item.name in inside
    }
    return Cone(chosen, dirty, waiting, outside)


def _find_predecessor(row: Row, by_id: Mapping[str, Row]) -> Row:
    """The instance that ``row`` was to replace, if it has never begun, and that still exists.

    Nobody makes the new one now, and what uses the resource goes by what is there.
    """
    former: Row | None = row
    while former is not None and (former.action, former.op) == ("INIT", ""):
        former = by_id.get(former.replaces_id or "")
    return row if former is None or _is_deleted(former) else former


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
    needs = {**digraph.map_dependents(there), **wanted}
    chosen = digraph.find_reachable(targets, needs) if targets else set(known)
    left_out = digraph.find_reachable(excludes, digraph.map_dependents(wanted))
    for name in targets:
        if name in left_out:
            raise UsageError(
                f"{name} is a target, and it is or requires what is excluded.",
                hint="Leave one of the two out.",
            )
    names = chosen - left_out
    # what would be deleted although the rest, as it is now, still uses it
    leaving = {name: [key for key in uses if key not in wanted] for name, uses in there.items()}
    used = digraph.find_reachable(set(there) - names, leaving)
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
