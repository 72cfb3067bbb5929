"""What an operation is handed from outside its definition, as column ``given`` keeps it.

``adopt``: what an abandoned stack knew of the resource; ``restore`` and ``snapshot``: what it gave
to a snapshot; ``forget``: the same of every snapshot, when it is deleted; ``removing``: nothing but
that what a failed creation has left is being removed; ``repair``: what a drift check has observed,
which stands for its properties in the plan of one generation; ``missing``: the plan of this
generation has found that it is not there; ``gone``: it was not, when its successor was made;
``owed``: it is made by a repair, to the definition of this hash; ``unfinished``: the ``repair``
that has failed in place; ``attempt``: it was never completed when a plan dropped it, or it is to be
made after all such ones are removed (``waits``: which is being done); ``move``: the names that a
command wants it, and what is nested in it, to have; ``promised``: the way to what it is to be in
another stack of the tree, whose next plan takes it. At most one of a kind; what holds values is
sealed.
What is being adopted is not ours to delete: that stays until the adoption of the whole stack has
worked.
What is to be forgotten is so by the plan that it was handed for, no other.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from zonda.core.store.schema.rows import DriftRow, ResourceRow
from zonda.core.store.values.sealing import Sealer
from zonda.core.template.evaluation.unknown_values import has_unknown
from zonda.hooks.errors import TemplateError
from zonda.hooks.resources.definition import ResourceDefinition
from zonda.hooks.resources.resource import Resource
from zonda.hooks.schema.properties import Properties

from .exempted_parts import CannotStay, overlaid
from .states import FAILED

ADOPT, RESTORE, SNAPSHOT, FORGET = "adopt", "restore", "snapshot", "forget"
REMOVING, REPAIR = "removing", "repair"
MISSING, GONE, OWED = "missing", "gone", "owed"
UNFINISHED, ATTEMPT, MOVE, PROMISED = "unfinished", "attempt", "move", "promised"
#: In plans only: what was observed is of no property, but of the whole.
WHOLE = "whole"
#: Goes with ADOPT: although the object may belong to somebody else.
FORCED = "forced"
#: With ATTEMPT: the removals have been begun.
_WAITS = "waits"
#: What takes the place of which.
_INSTEAD = {REPAIR: (MISSING,), MISSING: (REPAIR,)}
#: What operations of which action of a stack read to make an instance.
_MADE_OF = {
    ADOPT: frozenset({"ADOPT", "IMPORT"}),
    RESTORE: frozenset({"RESTORE"}),
    REPAIR: frozenset({"UPDATE"}),
    MISSING: frozenset({"UPDATE"}),
}
#: What an operation is done with once it has ended well.
_DONE_WITH = {
    "CREATE": (ADOPT, RESTORE, OWED),
    "UPDATE": (ADOPT, RESTORE, REPAIR, MISSING, UNFINISHED),
    "DELETE_SNAPSHOT": (SNAPSHOT,),
}


def text(sealer: Sealer, kind: str, values: Mapping[str, Any]) -> str:
    """The text for the column."""
    return f"{kind}:{sealer.seal(dict(values))}"


def hand(row: ResourceRow, given: str) -> None:
    """Hand a ``text`` to an instance, in the place of another one of its kind.

    What was observed takes the place of what was found before: it is there, or it is not.
    """
    kind = given.partition(":")[0]
    drop(row, *_INSTEAD.get(kind, ()))
    _store(row, {**_entries(row), kind: given})


def drop(row: ResourceRow, *kinds: str) -> None:
    """Forget what an instance was handed of these kinds."""
    if ADOPT in kinds:
        kinds = (*kinds, FORCED)
    if row.given is not None:
        _store(row, {kind: given for kind, given in _entries(row).items() if kind not in kinds})


def is_adopting(row: ResourceRow) -> bool:
    """Whether the adoption that an instance takes part in has not worked yet."""
    return ADOPT in _entries(row)


def is_forced(row: ResourceRow) -> bool:
    """Whether it is adopted although somebody else may own it."""
    return says_forced(row.given)


def says_forced(given: str | None) -> bool:
    """``is_forced``, of what stands in the column."""
    return FORCED in _kinds(given)


def says_adopting(given: str | None) -> bool:
    """``is_adopting``, of what stands in the column."""
    return ADOPT in _kinds(given)


def is_made_instead(row: ResourceRow) -> None:
    """What was to be adopted, and never was, is made after all: so it is ours to delete."""
    drop(row, ADOPT)


def is_half_removed(row: ResourceRow) -> bool:
    """Whether the removal of what a failed creation has left was begun, and has not ended well."""
    return REMOVING in _entries(row)


def is_for(row: ResourceRow, action: str) -> bool:
    """Whether an instance is made of what it was handed for ``action`` of the stack."""
    return any(action in _MADE_OF.get(kind, ()) for kind in _entries(row))


def move(row: ResourceRow, successor: ResourceRow) -> None:
    """An instance is replaced: what is to be restored is restored in its successor.

    A repair that has begun to make it anew is to be ended, and what was gone then is not deleted.
    """
    entries = _entries(row)
    vanished = entries.get(MISSING) == missing(row.generation)
    if vanished or REPAIR in entries or entries.get(OWED) == _owed(row):
        hand(successor, _owed(row))
    drop(row, REPAIR, MISSING, OWED, UNFINISHED)
    if vanished:
        hand(row, f"{GONE}:")
    given = entries.get(RESTORE)
    if given is not None:
        drop(row, RESTORE)
        hand(successor, given)


def missing(generation: int) -> str:
    """The text for an instance that the plan of ``generation`` makes anew: it is not there."""
    return f"{MISSING}:{generation}"


def is_missing(row: ResourceRow) -> bool:
    """Whether a repair has found it missing; no operation has begun since but its update."""
    return row.given is not None and MISSING in _entries(row)


def is_gone(row: ResourceRow) -> bool:
    """Whether there is nothing outside that could be deleted: nothing is kept for snapshots."""
    entries = _entries(row)
    return GONE in entries and FORGET not in entries


def note_attempts(row: ResourceRow) -> None:
    """Note that ``row`` was never completed and goes first, or is made after such ones."""
    hand(row, f"{ATTEMPT}:")


def notes_attempts(row: ResourceRow) -> bool:
    """Whether ``row`` is an attempt that goes first, or is made after such ones."""
    return row.given is not None and ATTEMPT in _entries(row)


def wait_for_attempts(row: ResourceRow) -> None:
    """Note that ``row`` waits for the removal of attempts, and for nothing else."""
    row.waiting = 1
    hand(row, f"{ATTEMPT}:{_WAITS}")


def waits_for_attempts(row: ResourceRow) -> bool:
    """Whether ``row`` waits for the removal of attempts."""
    if row.given is None or not row.open or not row.waiting:
        return False
    return _entries(row).get(ATTEMPT) == f"{ATTEMPT}:{_WAITS}"


def moves(row: ResourceRow) -> dict[str, str]:
    """The names that a command wants: of an instance (''), and of what is nested in it."""
    found = None if row.given is None else _entries(row).get(MOVE)
    known: dict[str, str] = {} if found is None else json.loads(found.partition(":")[2])
    return known


def set_moves(row: ResourceRow, names: Mapping[str, str]) -> None:
    """Leave word of ``moves``."""
    drop(row, MOVE)
    if names:
        hand(row, f"{MOVE}:{json.dumps(dict(names))}")


def promise(row: ResourceRow, path: str) -> None:
    """Have the plan of the nested stack that ``path`` leads to take an instance."""
    hand(row, f"{PROMISED}:{path}")


def promised_to(row: ResourceRow) -> str:
    """Where an instance is promised to, or ''."""
    found = "" if row.given is None else _entries(row).get(PROMISED, "")
    return found.partition(":")[2]


def is_owed(row: ResourceRow | DriftRow) -> bool:
    """Whether a repair was to make it, and has not come to that."""
    unmade = row.action == "INIT" or (row.action, row.status) == ("CREATE", FAILED)
    return unmade and not row.op and _kinds(row.given).get(OWED) == _owed(row)


def _owed(row: ResourceRow | DriftRow) -> str:
    return f"{OWED}:{row.want_hash}"


def observed(
    sealer: Sealer,
    live: Mapping[str, Any],
    generation: int,
    left: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """The text for what was observed of properties, good for the plan of ``generation``.

    ``left``: the parts of properties that stay as they are (see ``overlaying``).
    """
    known = {"generation": generation, "live": dict(live)}
    if left:
        known["left"] = {name: list(parts) for name, parts in left.items()}
    return text(sealer, REPAIR, known)


def as_a_whole(reason: str) -> str:
    """The text for what is not in sync, and nobody knows in what; for a plan that is shown."""
    return f"{WHOLE}:{' '.join(reason.split())}"


def why_as_a_whole(row: ResourceRow) -> str:
    """Why a plan repairs what differs in no property that anybody knows, or ''."""
    found = _kinds(row.given).get(WHOLE)
    return "" if found is None else found.partition(":")[2]


def live(sealer: Sealer, row: ResourceRow) -> dict[str, Any]:
    """What was observed of the properties of an instance that the running plan repairs."""
    found = values(sealer, row, REPAIR)
    known: dict[str, Any] = found["live"] if found.get("generation") == row.generation else {}
    return known


def left(sealer: Sealer, row: ResourceRow) -> dict[str, list[str]]:
    """The parts of properties that the running plan, which repairs, leaves as they are."""
    found = values(sealer, row, REPAIR)
    known: dict[str, list[str]] = found.get("left", {})
    return known if found.get("generation") == row.generation else {}


def as_repaired(
    sealer: Sealer, row: ResourceRow, wanted: ResourceDefinition, cls: type[Resource]
) -> ResourceDefinition:
    """``wanted`` as the type is to be asked for it: defaults written out, with what is left."""
    there = live(sealer, row) if row.given is not None else {}
    if not there:
        return wanted
    properties = dict(wanted.properties)
    known = Properties(cls.properties_schema, properties)
    names = [name for name in there if name in known and not has_unknown(properties.get(name))]
    with suppress(TemplateError):  # that it does not fit is told by who reads it
        properties.update(known.sent(*names))
    for name, each in left(sealer, row).items():
        try:
            properties[name] = overlaid(properties.get(name), there.get(name), each)
        except CannotStay:  # the template's value is another one by now
            properties[name] = there.get(name)
    return wanted.freeze(properties=properties)


def unfinished(sealer: Sealer, row: ResourceRow) -> dict[str, Any]:
    """What was observed of what a repair has failed to put right in place."""
    if (row.action, row.status) != ("UPDATE", FAILED):
        return {}
    known: dict[str, Any] = values(sealer, row, UNFINISHED).get("live", {})
    return known


def kept(sealer: Sealer, row: ResourceRow) -> list[dict[str, Any]]:
    """What an instance that is deleted by the running plan keeps for snapshots."""
    found = values(sealer, row, FORGET)
    kept: list[dict[str, Any]] = found["kept"] if found.get("generation") == row.op_gen else []
    return kept


def values(sealer: Sealer, row: ResourceRow, kind: str) -> dict[str, Any]:
    """What of a kind is handed to an instance; nothing where nothing is."""
    given = _entries(row).get(kind)
    if given is None:
        return {}
    found: dict[str, Any] = sealer.open(given.partition(":")[2])
    return found


def has_begun(row: ResourceRow, op: str) -> None:
    """Forget what was found before ``op``, which may make it another one."""
    if op != "DELETE":
        drop(row, GONE)
    if op != "UPDATE":
        drop(row, MISSING)


def has_ended(row: ResourceRow, action: str, op: str = "") -> None:
    """Forget what was handed to ``op``, which has ended well, or is not needed (no ``op``).

    ``action``: the stack's. Other operations leave alone what was handed to theirs.
    """
    done = _DONE_WITH.get(op, ())
    if op in ("", "ADOPT", "CHECK") and action != "ADOPT":
        done = tuple(kind for kind, actions in _MADE_OF.items() if action in actions)
    drop(row, *done)


def has_failed(row: ResourceRow) -> None:
    """An update has failed: what a repair was to put right is kept for the next one."""
    given = _entries(row).get(REPAIR)
    drop(row, REPAIR, MISSING, UNFINISHED)
    if given is not None:
        hand(row, f"{UNFINISHED}:{given.partition(':')[2]}")


def _entries(row: ResourceRow) -> dict[str, str]:
    """What is handed to an instance, by kind."""
    return _kinds(row.given)


def _kinds(given: str | None) -> dict[str, str]:
    if given is None:
        return {}
    return {line.partition(":")[0]: line for line in given.split("\n")}


def _store(row: ResourceRow, entries: Mapping[str, str]) -> None:
    row.given = "\n".join(entries.values()) or None
