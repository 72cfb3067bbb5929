"""All that a store keeps, whatever database it is."""

from __future__ import annotations

from typing import Any

from zonda.core.store.schema import cluster_tables, page_tables, software_tables  # noqa: F401
from zonda.core.store.schema.drift_tables import metadata
from zonda.core.store.write.database import Store


def read_tables(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of every table, by its name."""
    with store.transaction() as tx:
        return {
            name: tx._execute(f'SELECT * FROM "{name}" ORDER BY 1').fetchall()
            for name in metadata.tables
        }
