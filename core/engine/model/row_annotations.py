"""Annotations of an instance: data for its operation outside its definition; column ``given``.

At most one of a kind; what holds values is sealed. What is being adopted is not ours to delete:
that stays until the adoption of the whole stack has worked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from zonda.core.store.schema.rows import DriftRow, ResourceRow
from zonda.core.store.values.sealing import Sealer

from .states import FAILED, PRESENT

#: The data of an abandoned resource; adopted although the object may belong to another stack.
ADOPT, FORCED = "adopt", "forced"
#: Its data in a snapshot, and in every snapshot when it is deleted.
RESTORE, SNAPSHOT, FORGET = "restore", "snapshot", "forget"
#: The leftovers of a failed creation are being removed.
REMOVING = "removing"
#: A drift check's observation, which stands for its properties in the plan of one generation;
#: the ``repair`` that has failed in place.
REPAIR, UNFINISHED = "repair", "unfinished"
#: The plan of this generation has found that it is not there; it was not, when its successor was
#: made; it is made by a repair, to the definition of this hash.
MISSING, GONE, OWED = "missing", "gone", "owed"
#: It was never completed when a plan dropped it, or is made after all such ones are removed;
#: ``WAITS``: the removals have been begun.
ATTEMPT, WAITS = "attempt", "waits"
#: The names that a command wants it, and what is nested in it, to have; the way to what it is to
#: be in another stack of the tree, whose next plan takes it.
MOVE, PROMISED = "move", "promised"
#: It is being made ready for its replacement; it was, and has not been taken back since.
REPLACING, PREPARED = "replacing", "prepared"
#: In plans only: what was observed is of no property, but of the whole.
WHOLE = "whole"

#: It is there, or it is not: what was observed takes the place of what was found before.
_INSTEAD = {REPAIR: MISSING, MISSING: REPAIR}
#: The kinds that an event ends: by event and operation; of ``keep``, which leaves an instance as it
#: is, by the action of its stack. '' stands for all others.
_ENDS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("plan", ""): (GONE, ATTEMPT),
    ("move", ""): (MOVE, PROMISED),
    ("begin", "CREATE"): (ADOPT, FORCED, GONE, MISSING),
    ("begin", "UPDATE"): (GONE,),
    ("begin", "DELETE"): (MISSING,),
    ("begin", ""): (GONE, MISSING),
    ("finish", "CREATE"): (ADOPT, FORCED, RESTORE, OWED),
    ("finish", "UPDATE"): (
        *(ADOPT, FORCED, RESTORE, REPAIR, MISSING, UNFINISHED),
        *(REPLACING, PREPARED),
    ),
    ("finish", "DELETE_SNAPSHOT"): (SNAPSHOT,),
    ("keep", "IMPORT"): (ADOPT, FORCED),
    ("keep", "RESTORE"): (RESTORE,),
    ("keep", "UPDATE"): (REPAIR, MISSING),
    ("clean", ""): (REMOVING,),
    ("fail", "UPDATE"): (REPAIR, MISSING, UNFINISHED, REPLACING),
    ("replace", ""): (RESTORE, REPAIR, MISSING, OWED, UNFINISHED, REPLACING),
}


def annotate(row: ResourceRow, kind: str, text: str = "") -> None:
    """Give an instance an annotation, in the place of another one of its kind."""
    _store(row, {**_read_without(row, (_INSTEAD.get(kind, ""),)), kind: text})


def remove(row: ResourceRow, *kinds: str) -> None:
    """Remove the annotations of these kinds."""
    if row.given is not None:
        _store(row, _read_without(row, kinds))


def get(row: ResourceRow, kind: str) -> str | None:
    """The text of an annotation, or None."""
    return None if row.given is None else parse(row.given).get(kind)


def has(row: ResourceRow, kind: str) -> bool:
    """Whether an instance has an annotation of a kind."""
    return get(row, kind) is not None


def is_adopting(row: ResourceRow) -> bool:
    """Whether the adoption of an instance has not ended yet."""
    return has(row, ADOPT)


def end(row: ResourceRow, event: str, of: str = "") -> None:
    """Remove the annotations that are over with an event."""
    if row.given is not None:
        repair = get(row, REPAIR)
        remove(row, *_ENDS.get((event, of), _ENDS.get((event, ""), ())))
        if (event, of) == ("fail", "UPDATE") and repair is not None:
            annotate(row, UNFINISHED, repair)  # for the next update


def move_to_successor(row: ResourceRow, successor: ResourceRow) -> None:
    """Move the annotations of an instance to its successor: it is restored there.

    A repair that has begun to make it anew is to be ended, and what was gone then is not deleted.
    """
    vanished = get(row, MISSING) == str(row.generation)
    if vanished or has(row, REPAIR) or get(row, OWED) == row.want_hash:
        annotate(successor, OWED, row.want_hash)
    restored = get(row, RESTORE)
    if restored is not None:
        annotate(successor, RESTORE, restored)
    end(row, "replace")
    if vanished:
        annotate(row, GONE)


def read_moves(row: ResourceRow) -> dict[str, str]:
    """The new names that a command has set: of an instance (''), and of its nested resources."""
    known: dict[str, str] = json.loads(get(row, MOVE) or "{}")
    return known


def set_moves(row: ResourceRow, names: Mapping[str, str]) -> None:
    """Store the names of ``read_moves``."""
    remove(row, MOVE)
    if names:
        annotate(row, MOVE, json.dumps(dict(names)))


def read_promise(row: ResourceRow) -> str:
    """The path that an instance is promised to, or ''."""
    return get(row, PROMISED) or ""


def is_owed(row: ResourceRow | DriftRow) -> bool:
    """Whether a repair was to make it anew, and has not done so."""
    unmade = row.action == "INIT" or (row.action, row.status) == ("CREATE", FAILED)
    return (
        unmade
        and row.want == PRESENT
        and not row.op
        and parse(row.given).get(OWED) == row.want_hash
    )


def seal_observed(
    sealer: Sealer,
    live: Mapping[str, Any],
    generation: int,
    left: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """The text of observed properties, valid for the plan of ``generation``.

    ``left``: the parts of properties that stay as they are (see ``exempted_parts``).
    """
    known = {"generation": generation, "live": dict(live)}
    if left:
        known["left"] = {name: list(parts) for name, parts in left.items()}
    return sealer.seal(known)


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
    """The sealed values of an annotation of a kind; empty where there is none."""
    text = get(row, kind)
    found: dict[str, Any] = {} if text is None else sealer.open(text)
    return found


def parse(given: str | None) -> dict[str, str]:
    """The annotations of the column, by kind."""
    if given is None:
        return {}
    return {kind: text for kind, _, text in (line.partition(":") for line in given.split("\n"))}


def _read_without(row: ResourceRow, kinds: Sequence[str]) -> dict[str, str]:
    return {kind: text for kind, text in parse(row.given).items() if kind not in kinds}


def _store(row: ResourceRow, entries: Mapping[str, str]) -> None:
    row.given = "\n".join(f"{kind}:{text}" for kind, text in entries.items()) or None
