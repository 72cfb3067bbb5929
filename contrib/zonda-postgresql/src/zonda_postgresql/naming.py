"""Names of PostgreSQL's objects: what they may be, and the property that holds one."""

from __future__ import annotations

from typing import Any, Final

from zonda.hooks import ResourceFailure, constraints, properties

LONGEST: Final = 63

_Schema = properties.Schema


def name(description: str, *, required: bool = False, **more: Any) -> properties.Schema:
    """A property that is a name. The length in bytes is checked by ``check``."""
    return _Schema(
        _Schema.STRING,
        description,
        required=required,
        constraints=[
            constraints.Length(max=LONGEST, description="A name has at most 63 bytes in UTF-8.")
        ],
        **{"update_allowed": True, **more},
    )


def check(value: str) -> None:
    """PostgreSQL would cut a longer name, and then another object would be meant."""
    if len(value.encode()) > LONGEST:
        raise ResourceFailure(
            f"the name has {len(value.encode())} bytes; PostgreSQL's have at most {LONGEST}"
        )
    if "\0" in value:
        raise ResourceFailure("a name cannot hold the character of code 0")
