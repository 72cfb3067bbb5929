"""Parameters of requests."""

from __future__ import annotations

from typing import Any

from heat.openstack.common import strutils


def extract_bool(name: str, value: Any) -> bool:
    """A boolean, or its text."""
    if str(value).lower() not in ("true", "false"):
        raise ValueError(f"Unrecognized value {value!r} for {name}, it is true or false")
    return strutils.bool_from_string(value)


def extract_int(
    name: str, value: Any, allow_zero: bool = True, allow_negative: bool = False
) -> Any:
    """A whole number, or its text; None stays."""
    if value is None:
        return None
    number = int(str(value))
    if (number < 0 and not allow_negative) or (number == 0 and not allow_zero):
        raise ValueError(f"{value} is no value for {name}")
    return number


def delim_string_to_list(value: str | None, delim: str = ",") -> list[str] | None:
    """The parts between commas."""
    return None if value is None else (value.split(delim) if value else [])
