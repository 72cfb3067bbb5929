"""The classes of a database's errors, by what follows from them."""

from __future__ import annotations

from zonda.hooks.errors import StoreError


class Refused(StoreError):
    """The database cannot do it now (full, locked, read-only): it may be tried again later."""


class Unusable(StoreError):
    """The database is damaged or closed: it cannot be tried again."""


class Lost(Unusable):
    """The connection has ended: nobody knows whether the last commit was kept."""
