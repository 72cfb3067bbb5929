"""The version of the schema that this code is for, and the refusal of others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zonda.hooks.errors import StoreError

#: The newest migration; a test compares it with ``migrations/``.
HEAD = "0023"
#: The name in ``meta`` of the oldest schema whose release can use the database; see ``migrate``.
COMPATIBLE = "compatible_from"
VERSION_TABLE = (
    "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, "
    "CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
)


def read_compatible(connection: Any, sql: Mapping[str, str]) -> str:
    """The oldest schema whose release can use the database, '' for its own alone."""
    found = connection.execute(sql["meta_value"], (COMPATIBLE,)).fetchone()
    return str(found[0]) if found else ""


def is_usable(version: str | None, compatible: str) -> bool:
    """Whether this release can use a database: of its schema, or of a later that only expands it.

    ``compatible``: the oldest schema whose release can use it, '' for its own alone.
    """
    return version == HEAD or (version is not None and version > HEAD >= compatible != "")


def check_version(where: str, version: str | None, compatible: str) -> None:
    """Raise StoreError for a database with a schema that this release cannot use."""
    if not is_usable(version, compatible):
        raise build_version_error(where, version or "")


def build_version_error(where: str, version: str) -> StoreError:
    """The error for a database with another schema."""
    if version < HEAD:
        return StoreError(
            f"The database {where} has the schema {version} of an older zonda (this one: {HEAD}).",
            hint="Run 'zonda db upgrade'. A file and its folder have to be writable for that.",
        )
    return StoreError(
        f"The database {where} has the schema {version} of a newer zonda (this one: {HEAD}).",
        hint="Use the zonda that wrote it, or a newer one.",
    )


def check_key(where: str, kept: tuple[str] | None, key_check: str) -> None:
    """Raise StoreError for a database that was made with another key."""
    if kept is None or kept[0] != key_check:
        raise StoreError(
            f"The database {where} was made with another sealing key.",
            hint="Give that key in ZONDA_KEY or put its key file back.",
        )
