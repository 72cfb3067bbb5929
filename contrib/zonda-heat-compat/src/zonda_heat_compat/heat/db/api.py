"""Entries of a resource's data, by the functions of 2013. Nothing else of a database is here."""

from __future__ import annotations

from typing import Any

from heat.common import exception


def resource_data_set(resource: Any, key: str, value: Any, redact: bool = False) -> None:
    """Keep a text."""
    resource.data_set(key, value, redact)


def resource_data_get_all(resource: Any, data: Any = None) -> dict[str, str]:
    """Every text; raises NotFound where there is none."""
    found: dict[str, str] = resource.data()
    if not found:
        raise exception.NotFound("no resource data found")
    return found


def resource_data_get(resource: Any, key: str) -> str:
    """One text; raises NotFound where it is not."""
    found: dict[str, str] = resource.data()
    if key not in found:
        raise exception.NotFound("No resource data found")
    return found[key]


def resource_data_delete(resource: Any, key: str) -> None:
    """Forget a text."""
    resource.data_delete(key)
