"""Argument types: convert texts of a command line to values."""

from __future__ import annotations


def seconds(text: str) -> float:
    """Parse a number of seconds that is not negative."""
    found = float(text)
    if not 0 <= found < float("inf"):
        raise ValueError(text)
    return found
