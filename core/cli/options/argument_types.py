"""Types of arguments: texts of a command line that become values."""

from __future__ import annotations


def seconds(text: str) -> float:
    """A number of seconds that is not below zero."""
    found = float(text)
    if not 0 <= found < float("inf"):
        raise ValueError(text)
    return found
