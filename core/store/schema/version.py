"""The version of the schema that this code is for, and the refusal of others."""

from __future__ import annotations

from zonda.hooks.errors import StoreError

#: The newest migration; a test compares it with ``migrations/``.
HEAD = "0020"
VERSION_TABLE = (
    "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, "
    "CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
)


def check_version(where: str, version: str | None) -> None:
    """Raise StoreError for a database with another schema that was not brought up to date."""
    if version == HEAD:
        return
    if version is None or version < HEAD:
        raise StoreError(
            f"The database {where} has the schema {version} of an older zonda (this one: {HEAD}).",
            hint="Make the file and its folder writable: the next command brings it up to date.",
        )
    raise StoreError(
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
