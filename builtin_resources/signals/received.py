"""Signals as entries of a resource's data: one each, so that two at once do not lose one of them.

Used by the types that keep signals. The key has the number of the signals before, which is their
order, and then chance, which tells two apart that came at the same moment.
"""

from __future__ import annotations

from collections.abc import Iterable

from zonda.hooks import Resource

_ENTRY = "signal "


def list_entries(data: Iterable[str]) -> list[str]:
    """The keys of signals, in their order."""
    return sorted(key for key in data if key.startswith(_ENTRY))


def make_entry_key(resource: Resource) -> str:
    """A new key for the next signal of a resource."""
    before = len(list_entries(resource.data()))
    return f"{_ENTRY}{before:09d} {resource.context.random.getrandbits(32):08x}"
