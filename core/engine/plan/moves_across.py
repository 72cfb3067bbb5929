"""Moves between the stacks of one tree: into what is nested, out of it, and from one to another.

In the pool. What comes to the stack at the top is brought by its own plan; what goes to a nested
stack is promised to that, whose next plan takes it (``moves``). So there is no time in which an
instance is in two stacks or in none, and a plan that is never made leaves it where it is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.hooks import records
from zonda.hooks.errors import Conflict, NotSupported
from zonda.hooks.text.suggestions import suggestion

from ..actions.table import load_function
from ..model import row_annotations
from ..model.plan import BELOW, Move, StackPlan
from ..model.states import COMPLETE, IDLE, PRESENT
from ..progress.moves import apply_to_desired, is_free, list_promises
from ..services import EngineServices
from ..templates.tree_rows import TreeRows


class Busy(Conflict):
    """An instance that is to go back to its stack is being worked on."""


def list_moves(
    services: EngineServices,
    stack: StackRow,
    proposal: StackPlan,
    known: Mapping[str, str],
    said: Collection[str],
    owed: Sequence[Move],
) -> list[Move]:
    """The moves of an update that has all of ``known``, old names and new ones.

    ``said``: those that are no words of a command, which may wait. ``owed``: what is promised.
    """
    wanted = {old: new for old, new in known.items() if BELOW in old + new and old != new}
    tree = TreeRows(services.reader(), stack)
    if stack.action in ("ROLLBACK", "RESTORE"):  # not all that goes back finds its place
        owed = []
    if not owed and not any(tree.find(old) for old in wanted):
        return []
    checks = _Checks(services, stack, proposal, tree, known)
    moves = {move.key: move for move in checks.list_owed(owed, wanted)}
    for old, new in wanted.items():
        row = tree.find(old)
        if row is not None and (old in said or checks.is_due(old, new)):
            moves[row.id] = checks.move(row, old, new)
    return [*moves.values()]


def list_pending(services: EngineServices, stack: StackRow) -> list[Move]:
    """The moves that the last plan has promised and nobody has taken yet."""
    last = services.reader().last_change(stack.id)
    if last is None or not list_promises(last.detail):
        return []
    tree = TreeRows(services.reader(), stack)
    return [
        Move(row.id, tree.find_path(row), path, row.stack_id)
        for row in services.reader().list_promised(stack.id)
        if (path := row_annotations.read_promise(row))
    ]


class _Checks:
    """The checks of moves."""

    def __init__(
        self,
        services: EngineServices,
        stack: StackRow,
        proposal: StackPlan,
        tree: TreeRows,
        known: Mapping[str, str],
    ) -> None:
        self._stack = stack
        self._tree = tree
        self._known = known
        self._shape = load_function("preview.shape:Shape")(services, stack, proposal, tree)

    def is_due(self, old: str, new: str) -> bool:
        """Whether the template has the new name instead of the old one."""
        return self._shape.find_type(new) is not None and not self._shape.find_type(old)

    def list_owed(self, owed: Sequence[Move], wanted: Collection[str]) -> list[Move]:
        """The earlier promises that still hold; raises Conflict for one that is not wanted."""
        found = []
        for move in owed:
            if move.old in wanted:
                continue
            if self._shape.find_type(move.new) is not None:
                found.append(move)
            elif BELOW in move.old and self._shape.find_type(move.old) is None:
                raise Conflict(
                    f"Resource {move.old} of stack {self._stack.name} is to be moved to "
                    f"{move.new} since an update that has failed: the template has neither.",
                    hint=f"Keep {move.new} in the template until an update has worked.",
                )
        return found

    def move(self, row: ResourceRow, old: str, new: str) -> Move:
        """The move; raises the reason against it."""
        what = f"Resource {old} of stack {self._stack.name} cannot be moved to {new}"
        kind = self._shape.find_type(new)
        if kind is None:
            hint = suggestion(new, self._shape.list_siblings(new))
            raise NotSupported(f"{what}: the template has no {new}.", hint=hint)
        if self._shape.find_type(old):
            hint = (
                f"Take {old} out of it (of a group, by count or 'removal_policies'), "
                "or the entry out of 'moved'."
            )
            raise NotSupported(f"{what}: the template still has {old}.", hint=hint)
        if kind not in ("", row.type):
            raise build_type_error(what, row, new, kind)
        self._check_place(what, row, new)
        if row.have_template_id is None or "DELETE" in (row.action, row.op):
            raise Conflict(f"{what}: it is {row.action}_{row.status}.", hint="Update it first.")
        if row_annotations.read_promise(row) != new:
            for each in (self._stack, self._tree.stacks[row.stack_id]):
                if each.phase != IDLE or row.op:
                    raise build_busy_error(what, each)
        return Move(row.id, old, new, row.stack_id)

    def _check_place(self, what: str, row: ResourceRow, new: str) -> None:
        there = self._tree.find(new)
        if there is not None and there.id != row.id and new not in self._known:
            raise Conflict(f"{what}: that is there already.", hint="Choose another name.")
        others = [old for old, each in self._known.items() if each == new and self._tree.find(old)]
        if len(others) > 1:
            raise Conflict(f"{what}: another one is moved there, too.")


def build_type_error(what: str, row: ResourceRow, new: str, kind: str) -> NotSupported:
    """The error for a move to a name of another type."""
    return NotSupported(
        f"{what}: it is a {row.type}, and {new} is a {kind}.", hint="What is moved keeps its type."
    )


def build_busy_error(what: str, stack: StackRow) -> Conflict:
    """The error for a move in a stack that is not at rest."""
    return Conflict(
        f"{what}: stack {stack.name} has an action ({stack.action}) in progress.",
        hint=f"'zonda stack wait {stack.name}' waits for its end.",
    )


# -- going back -----------------------------------------------------------------------------------


def list_moves_back(
    services: EngineServices, stack: StackRow, since: Sequence[Mapping[str, str]]
) -> list[Move]:
    """The moves back to the places before the moves ``since``; raises Busy."""
    if not any(BELOW in old + new for moved in since for old, new in moved.items()):
        return []
    tree, found = TreeRows(services.reader(), stack), dict[str, tuple[ResourceRow, str]]()
    for row in sorted(services.reader().tree_resources(stack.id), key=_rank):
        way = tree.find_path(row)
        owner, _, name = way.rpartition(BELOW)
        before = _find_old_path(way, since)
        stays = before == BELOW.join(filter(None, (_find_old_path(owner, since), name)))
        if not stays and BELOW in way + before and _is_kept(row):
            found[before] = (row, way)
    moves = []
    for before, (row, way) in found.items():
        source = tree.stacks[row.stack_id]
        if row.op or (source.id != stack.id and not is_free(source, row)):
            raise Busy(
                f"Resource {way} of stack {stack.name} cannot go back to {before} yet: "
                f"stack {source.name} has an action ({source.action}) in progress.",
                hint=f"'zonda stack wait {stack.name}' waits for its end; "
                "'zonda stack cancel --no-rollback' ends it.",
            )
        moves.append(Move(row.id, way, before, source.id))
    return moves


def _rank(row: ResourceRow) -> tuple[bool, bool, str]:
    """Of several instances of a name the last one goes back."""
    return row.status == COMPLETE, row.want == PRESENT, row.id


def _is_kept(row: ResourceRow) -> bool:
    return row.have_template_id is not None and "DELETE" not in (row.action, row.op)


def _find_old_path(way: str, since: Sequence[Mapping[str, str]]) -> str:
    """The path before the moves: the instance, or an owner above it, may have moved."""
    for moved in reversed(since):
        known = {new: old for old, new in moved.items()}
        head, tail = way, ""
        while head and head not in known:
            head, _, name = head.rpartition(BELOW)
            tail = BELOW.join(filter(None, (name, tail)))
        way = BELOW.join(filter(None, (known.get(head, head), tail)))
    return way


# -- what is taken --------------------------------------------------------------------------------


def take_promised(
    services: EngineServices,
    root_id: str,
    child: StackRow,
    names: Sequence[str],
    proposal: StackPlan,
) -> StackPlan:
    """The plan of a nested stack with what was promised to it; ``names`` lead to its owner."""
    last = services.reader().last_change(root_id)
    if last is None or not list_promises(last.detail):
        return proposal
    reader = services.reader()
    tree = TreeRows(reader, reader.stack_row(root_id))
    wanted = {BELOW.join((*names, item.name)): item for item in proposal.wanted or ()}
    rows = reader.resource_rows(child.id) if child.generation else []
    there = {row.name for row in rows if row.want == PRESENT and row.have_template_id is not None}
    moves, ceilings = [], dict(proposal.ceilings)
    above = BELOW.join((*names, ""))
    for row in reader.list_promised(root_id):
        on = row_annotations.read_promise(row).removeprefix(above)
        if BELOW in on and above + on == row_annotations.read_promise(row):
            moves.append(Move("", "", on, child.id))
        item = wanted.get(row_annotations.read_promise(row))
        if item is None or (item.name in there and row.stack_id != child.id):
            continue
        way = tree.find_path(row)
        what = f"Resource {way} cannot be moved to {row_annotations.read_promise(row)}"
        if item.type != row.type:
            raise build_type_error(what, row, item.name, item.type)
        source = tree.stacks[row.stack_id]
        if source.id != child.id and not is_free(source, row):
            raise build_busy_error(what, source)
        moves.append(Move(row.id, way, item.name, row.stack_id, proposal.template_id))
        if row.ceiling:
            ceilings[item.name] = row.ceiling
    return records.replace(
        proposal,
        moves=moves,
        ceilings=ceilings,
        more=max(0, proposal.more - len(moves)),
        wanted=apply_to_desired(wanted.values(), moves),
    )
