"""Annotations of an instance: data for its operation outside its definition; column ``given``.

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

from .exempted_parts import CannotStay, overlay
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


def format_annotation(sealer: Sealer, kind: str, values: Mapping[str, Any]) -> str:
    """The text for the column."""
    return f"{kind}:{sealer.seal(dict(values))}"


def hand(row: ResourceRow, given: str) -> None:
    """Give an instance an annotation, in the place of another one of its kind.

    What was observed takes the place of what was found before: it is there, or it is not.
    """
    kind = given.partition(":")[0]
    drop(row, *_INSTEAD.get(kind, ()))
    _store(row, {**_read_entries(row), kind: given})


def drop(row: ResourceRow, *kinds: str) -> None:
    """Delete the annotations of these kinds."""
    if ADOPT in kinds:
        kinds = (*kinds, FORCED)
    if row.given is not None:
        _store(
            row, {kind: given for kind, given in _read_entries(row).items() if kind not in kinds}
        )


def is_adopting(row: ResourceRow) -> bool:
    """Whether the adoption of an instance has not ended yet."""
    return ADOPT in _read_entries(row)


def is_forced(row: ResourceRow) -> bool:
    """Whether it is adopted although another resource may own it."""
    return is_forced_text(row.given)


def is_forced_text(given: str | None) -> bool:
    """``is_forced``, of the text of the column."""
    return FORCED in _parse_entries(given)


def is_adopting_text(given: str | None) -> bool:
    """``is_adopting``, of the text of the column."""
    return ADOPT in _parse_entries(given)


def cancel_adoption(row: ResourceRow) -> None:
    """Delete the adoption of an instance that is created instead: its deletion is ours."""
    drop(row, ADOPT)


def is_half_removed(row: ResourceRow) -> bool:
    """Whether the removal of a failed creation was begun, and has not ended well."""
    return REMOVING in _read_entries(row)


def is_for(row: ResourceRow, action: str) -> bool:
    """Whether an instance is made from an annotation for ``action`` of the stack."""
    return any(action in _MADE_OF.get(kind, ()) for kind in _read_entries(row))


def move_to_successor(row: ResourceRow, successor: ResourceRow) -> None:
    """Move the annotations of an instance to its successor: it is restored there.

    A repair that has begun to make it anew is to be ended, and what was gone then is not deleted.
    """
    entries = _read_entries(row)
    vanished = entries.get(MISSING) == format_missing(row.generation)
    if vanished or REPAIR in entries or entries.get(OWED) == _format_owed(row):
        hand(successor, _format_owed(row))
    drop(row, REPAIR, MISSING, OWED, UNFINISHED)
    if vanished:
        hand(row, f"{GONE}:")
    given = entries.get(RESTORE)
    if given is not None:
        drop(row, RESTORE)
        hand(successor, given)


def format_missing(generation: int) -> str:
    """The annotation of an instance that is missing; the plan of ``generation`` makes it anew."""
    return f"{MISSING}:{generation}"


def is_missing(row: ResourceRow) -> bool:
    """Whether a repair has found it missing; no operation has begun since but its update."""
    return row.given is not None and MISSING in _read_entries(row)


def is_gone(row: ResourceRow) -> bool:
    """Whether nothing is left outside to delete: nothing is kept for snapshots."""
    entries = _read_entries(row)
    return GONE in entries and FORGET not in entries


def note_attempts(row: ResourceRow) -> None:
    """Note that ``row`` was never completed and goes first, or is made after such ones."""
    hand(row, f"{ATTEMPT}:")


def is_attempt(row: ResourceRow) -> bool:
    """Whether ``row`` is an attempt that goes first, or is made after such ones."""
    return row.given is not None and ATTEMPT in _read_entries(row)


def wait_for_attempts(row: ResourceRow) -> None:
    """Note that ``row`` waits for the removal of attempts, and for nothing else."""
    row.waiting = 1
    hand(row, f"{ATTEMPT}:{_WAITS}")


def waits_for_attempts(row: ResourceRow) -> bool:
    """Whether ``row`` waits for the removal of attempts."""
    if row.given is None or not row.open or not row.waiting:
        return False
    return _read_entries(row).get(ATTEMPT) == f"{ATTEMPT}:{_WAITS}"


def read_moves(row: ResourceRow) -> dict[str, str]:
    """The new names that a command has set: of an instance (''), and of its nested resources."""
    found = None if row.given is None else _read_entries(row).get(MOVE)
    known: dict[str, str] = {} if found is None else json.loads(found.partition(":")[2])
    return known


def set_moves(row: ResourceRow, names: Mapping[str, str]) -> None:
    """Store the names of ``read_moves``."""
    drop(row, MOVE)
    if names:
        hand(row, f"{MOVE}:{json.dumps(dict(names))}")


def promise(row: ResourceRow, path: str) -> None:
    """Promise an instance to the nested stack at ``path``: its plan takes it."""
    hand(row, f"{PROMISED}:{path}")


def read_promise(row: ResourceRow) -> str:
    """The path that an instance is promised to, or ''."""
    found = "" if row.given is None else _read_entries(row).get(PROMISED, "")
    return found.partition(":")[2]


def is_owed(row: ResourceRow | DriftRow) -> bool:
    """Whether a repair was to make it anew, and has not done so."""
    unmade = row.action == "INIT" or (row.action, row.status) == ("CREATE", FAILED)
    return unmade and not row.op and _parse_entries(row.given).get(OWED) == _format_owed(row)


def _format_owed(row: ResourceRow | DriftRow) -> str:
    return f"{OWED}:{row.want_hash}"


def format_observed(
    sealer: Sealer,
    live: Mapping[str, Any],
    generation: int,
    left: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """The annotation of observed properties, valid for the plan of ``generation``.

    ``left``: the parts of properties that stay as they are (see ``overlaying``).
    """
    known = {"generation": generation, "live": dict(live)}
    if left:
        known["left"] = {name: list(parts) for name, parts in left.items()}
    return format_annotation(sealer, REPAIR, known)


def format_opaque_drift(reason: str) -> str:
    """The annotation of drift in unknown properties; for a preview."""
    return f"{WHOLE}:{' '.join(reason.split())}"


def explain_opaque_drift(row: ResourceRow) -> str:
    """The reason why a plan repairs drift in unknown properties, or ''."""
    found = _parse_entries(row.given).get(WHOLE)
    return "" if found is None else found.partition(":")[2]


def read_live(sealer: Sealer, row: ResourceRow) -> dict[str, Any]:
    """The observed properties of an instance that the running plan repairs."""
    found = read_values(sealer, row, REPAIR)
    known: dict[str, Any] = found["live"] if found.get("generation") == row.generation else {}
    return known


def read_exempted(sealer: Sealer, row: ResourceRow) -> dict[str, list[str]]:
    """The parts of properties that the running repair leaves as they are."""
    found = read_values(sealer, row, REPAIR)
    known: dict[str, list[str]] = found.get("left", {})
    return known if found.get("generation") == row.generation else {}


def build_repair_definition(
    sealer: Sealer, row: ResourceRow, wanted: ResourceDefinition, cls: type[Resource]
) -> ResourceDefinition:
    """``wanted`` for a repair: defaults written out, exempted parts as they are."""
    there = read_live(sealer, row) if row.given is not None else {}
    if not there:
        return wanted
    properties = dict(wanted.properties)
    known = Properties(cls.properties_schema, properties)
    names = [name for name in there if name in known and not has_unknown(properties.get(name))]
    with suppress(TemplateError):  # that it does not fit is told by who reads it
        properties.update(known.sent(*names))
    for name, each in read_exempted(sealer, row).items():
        try:
            properties[name] = overlay(properties.get(name), there.get(name), each)
        except CannotStay:  # the template's value is another one by now
            properties[name] = there.get(name)
    return wanted.freeze(properties=properties)


def read_unfinished_repair(sealer: Sealer, row: ResourceRow) -> dict[str, Any]:
    """The observed properties of a repair in place that has failed."""
    if (row.action, row.status) != ("UPDATE", FAILED):
        return {}
    known: dict[str, Any] = read_values(sealer, row, UNFINISHED).get("live", {})
    return known


def read_kept(sealer: Sealer, row: ResourceRow) -> list[dict[str, Any]]:
    """The snapshot data of an instance that the running plan deletes."""
    found = read_values(sealer, row, FORGET)
    kept: list[dict[str, Any]] = found["kept"] if found.get("generation") == row.op_gen else []
    return kept


def read_values(sealer: Sealer, row: ResourceRow, kind: str) -> dict[str, Any]:
    """The values of an annotation of a kind; empty where there is none."""
    given = _read_entries(row).get(kind)
    if given is None:
        return {}
    found: dict[str, Any] = sealer.open(given.partition(":")[2])
    return found


def clear_on_begin(row: ResourceRow, op: str) -> None:
    """Delete the annotations that are out of date once ``op`` begins."""
    if op != "DELETE":
        drop(row, GONE)
    if op != "UPDATE":
        drop(row, MISSING)


def clear_on_end(row: ResourceRow, action: str, op: str = "") -> None:
    """Delete the annotations for ``op``, which has ended well, or is not needed (no ``op``).

    ``action``: the stack's. Other operations leave alone what was handed to theirs.
    """
    done = _DONE_WITH.get(op, ())
    if op in ("", "ADOPT", "CHECK") and action != "ADOPT":
        done = tuple(kind for kind, actions in _MADE_OF.items() if action in actions)
    drop(row, *done)


def clear_on_failure(row: ResourceRow) -> None:
    """After a failed update: keep its repair for the next one."""
    given = _read_entries(row).get(REPAIR)
    drop(row, REPAIR, MISSING, UNFINISHED)
    if given is not None:
        hand(row, f"{UNFINISHED}:{given.partition(':')[2]}")


def _read_entries(row: ResourceRow) -> dict[str, str]:
    """The annotations of an instance, by kind."""
    return _parse_entries(row.given)


def _parse_entries(given: str | None) -> dict[str, str]:
    if given is None:
        return {}
    return {line.partition(":")[0]: line for line in given.split("\n")}


def _store(row: ResourceRow, entries: Mapping[str, str]) -> None:
    row.given = "\n".join(entries.values()) or None
