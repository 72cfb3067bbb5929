"""The documents of a stack, in the shape of Heat's ``stack abandon`` and its snapshots."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from zonda.core.store.schema.rows import PREFIX, ResourceRow, StackRow
from zonda.core.store.values.sealing import Sealer
from zonda.core.template.definition.fingerprint import format_canonical

from .states import COMPLETE, IN_PROGRESS, PRESENT

#: A row of a resource's data: name, sealed value, whether it is never shown.
Data = Sequence[tuple[str, str, int]]
MASK = "(hidden)"


def build_entry(row: ResourceRow, data: Data, sealer: Sealer) -> dict[str, Any]:
    """The entry of one resource.

    ``redacted``: the names of data that is never shown. ``sealed_data``: it was given something
    secret, and whatever it has stored may hold that.
    """
    metadata = sealer.load(row.meta)
    return {
        "name": row.name,
        "resource_id": row.physical_id,
        "type": row.type,
        "action": row.op or row.action,
        "status": IN_PROGRESS if row.op else row.status,
        "metadata": metadata,
        "resource_data": {name: sealer.open(value) for name, value, _ in data},
        "redacted": [name for name, _, redact in data if redact],
        "sealed_data": bool(data) and _has_secret_input(row),
        "sealed_metadata": bool(metadata) and row.meta.startswith(PREFIX),
    }


def _has_secret_input(row: ResourceRow) -> bool:
    columns = (row.properties, row.op_properties, row.definition, row.op_definition)
    return any(text is not None and text.startswith(PREFIX) for text in columns)


def list_hidden_paths(found: dict[str, Any], start: str) -> list[str]:
    """The paths of the hidden values in an entry, which stands at ``start``."""
    hidden = [f"{start}.resource_data.{name}" for name in _list_hidden_data(found)]
    return [*hidden, f"{start}.metadata"] if found["sealed_metadata"] else hidden


def mask_entry(found: dict[str, Any]) -> dict[str, Any]:
    """An entry with hidden values masked."""
    masks = _list_hidden_data(found)
    data = {
        name: MASK if name in masks else value for name, value in found["resource_data"].items()
    }
    metadata = found["metadata"]
    if found["sealed_metadata"]:
        metadata = dict.fromkeys(metadata, MASK)
    return {**found, "metadata": metadata, "resource_data": data}


def _list_hidden_data(found: dict[str, Any]) -> list[str]:
    # what older snapshots keep does not say "sealed_data"
    return [*found["resource_data"]] if found.get("sealed_data") else found["redacted"]


def select_snapshot_rows(rows: Iterable[ResourceRow]) -> list[ResourceRow]:
    """The instances that a snapshot contains: those that exist and are desired."""
    return [row for row in rows if row.want == PRESENT and row.action != "INIT"]


def select_existing_rows(rows: Iterable[ResourceRow]) -> list[ResourceRow]:
    """Every instance that exists outside, or may: also those being created or deleted."""
    return [row for row in rows if (row.op or row.action != "INIT") and not _is_gone(row)]


def _is_gone(row: ResourceRow) -> bool:
    return (row.op, row.action, row.status) == ("", "DELETE", COMPLETE)


def split_rows(
    rows: Iterable[ResourceRow], names: Collection[str]
) -> tuple[list[ResourceRow], list[ResourceRow]]:
    """The instances that a template with ``names`` refers to, one of a name; and the others.

    Of a stack that is being deleted the template means those that are still there. An instance
    that was begun and has no physical id yet cannot be meant: nobody could adopt it.
    """
    found = sorted(rows, key=lambda row: (row.want == PRESENT, row.id))
    meant = {
        row.name: row
        for row in found
        if (row.want == PRESENT or row.name in names) and (row.action != "INIT" or row.physical_id)
    }
    left = [row for row in found if meant.get(row.name) is not row]
    return sorted(meant.values(), key=lambda row: row.id), sorted(left, key=lambda row: row.id)


def compute_digest(
    stack: StackRow, rows: Iterable[ResourceRow], data: Iterable[Data], sealer: Sealer
) -> str:
    """A keyed hash that changes whenever a document of the stack would."""
    known = [
        (_list_state(row, sealer), sorted((name, sealer.open(value)) for name, value, _ in entries))
        for row, entries in zip(rows, data, strict=True)
    ]
    return sealer.hmac(format_canonical([stack.generation, known]).encode("utf-8", "surrogatepass"))


def _list_state(row: ResourceRow, sealer: Sealer) -> list[Any]:
    state = [row.id, row.fence, row.op, row.action, row.status, row.physical_id, row.want]
    return [*state, sealer.load(row.meta)]


def combine_digests(digests: Sequence[str], sealer: Sealer) -> str:
    """One digest for those of all stacks of a tree."""
    return digests[0] if len(digests) == 1 else sealer.hmac(format_canonical([*digests]).encode())
