"""What a stack hands out of itself, in the shape of Heat's ``stack abandon`` and its snapshots."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from zonda.core.store.rows import ResourceRow, StackRow
from zonda.core.store.sealing import PREFIX, Sealer
from zonda.core.template.fingerprint import canonical

from .states import PRESENT

#: A row of a resource's data: name, sealed value, whether it is never shown.
Data = Sequence[tuple[str, str, int]]
MASK = "(hidden)"


def entry(row: ResourceRow, data: Data, sealer: Sealer) -> dict[str, Any]:
    """What is known of one resource. ``redacted``: the names of data that is never shown."""
    metadata = sealer.load(row.meta)
    return {
        "name": row.name,
        "resource_id": row.physical_id,
        "type": row.type,
        "action": row.action,
        "status": row.status,
        "metadata": metadata,
        "resource_data": {name: sealer.open(value) for name, value, _ in data},
        "redacted": [name for name, _, redact in data if redact],
        "sealed_metadata": bool(metadata) and row.meta.startswith(PREFIX),
    }


def masked(found: dict[str, Any]) -> list[str]:
    """The paths of what is hidden in an entry."""
    start = f"resources.{found['name']}"
    hidden = [f"{start}.resource_data.{name}" for name in found["redacted"]]
    return [*hidden, f"{start}.metadata"] if found["sealed_metadata"] else hidden


def shown(found: dict[str, Any]) -> dict[str, Any]:
    """An entry as people may see it."""
    data = {
        name: MASK if name in found["redacted"] else value
        for name, value in found["resource_data"].items()
    }
    metadata = found["metadata"]
    if found["sealed_metadata"]:
        metadata = dict.fromkeys(metadata, MASK)
    return {**found, "metadata": metadata, "resource_data": data}


def shown_rows(rows: Iterable[ResourceRow]) -> list[ResourceRow]:
    """The instances that a document tells of: those that are there and meant to be."""
    return [row for row in rows if row.want == PRESENT and row.action != "INIT"]


def digest(
    stack: StackRow, rows: Iterable[ResourceRow], data: Iterable[Data], sealer: Sealer
) -> str:
    """A keyed hash that changes whenever a document of the stack would."""
    known = [
        (_state(row), sorted((name, sealer.open(value)) for name, value, _ in entries))
        for row, entries in zip(rows, data, strict=True)
    ]
    return sealer.hmac(canonical([stack.generation, known]).encode("utf-8", "surrogatepass"))


def _state(row: ResourceRow) -> list[Any]:
    return [row.id, row.fence, row.op, row.action, row.status, row.physical_id, row.want]
