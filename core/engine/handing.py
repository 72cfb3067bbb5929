"""What an operation is handed from outside its definition, as column ``given`` keeps it.

``adopt``: what an abandoned stack knew of the resource; ``restore`` and ``snapshot``: what it gave
to a snapshot; ``forget``: the same of every snapshot, when it is deleted. Always sealed. What is
being adopted is not ours to delete: the column stays until the adoption of the whole stack has
worked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zonda.core.store.rows import ResourceRow
from zonda.core.store.sealing import Sealer

ADOPT, RESTORE, SNAPSHOT, FORGET = "adopt", "restore", "snapshot", "forget"
#: Which actions of a stack read what.
_READ_BY = {
    ADOPT: frozenset({"ADOPT", "IMPORT"}),
    RESTORE: frozenset({"RESTORE"}),
    SNAPSHOT: frozenset({"DELETE_SNAPSHOT"}),
    FORGET: frozenset({"DELETE"}),
}


def text(sealer: Sealer, kind: str, values: Mapping[str, Any]) -> str:
    """The text for the column."""
    return f"{kind}:{sealer.seal(dict(values))}"


def is_adopting(row: ResourceRow) -> bool:
    """Whether the adoption that an instance takes part in has not worked yet."""
    return row.given is not None and row.given.startswith(ADOPT)


def is_for(row: ResourceRow, action: str) -> bool:
    """Whether ``action`` of the stack hands something to an instance."""
    return row.given is not None and action in _READ_BY[row.given.partition(":")[0]]


def kept(sealer: Sealer, row: ResourceRow) -> list[dict[str, Any]]:
    """What an instance that is deleted keeps for snapshots."""
    found: list[dict[str, Any]] = values(sealer, row)["kept"] if is_for(row, "DELETE") else []
    return found


def values(sealer: Sealer, row: ResourceRow) -> dict[str, Any]:
    """What is handed to an instance; nothing where nothing is."""
    if row.given is None:
        return {}
    found: dict[str, Any] = sealer.open(row.given.partition(":")[2])
    return found


def has_ended(row: ResourceRow, action: str, op: str = "") -> None:
    """Forget what an operation was handed, now that it has ended well; ``action``: the stack's."""
    if action != "ADOPT" and (is_for(row, action) or op == "UPDATE"):
        row.given = None
