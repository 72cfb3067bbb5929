"""Mode ``none``: everybody who reaches the server is its user. Only for loopback addresses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .callers import Caller


@dataclass(frozen=True, slots=True)
class NoIdentity:
    """Every request is the login user's, for whatever project its URL names."""

    user: str
    project: str
    challenge: str = ""

    def authenticate(self, headers: Mapping[str, str]) -> Caller | None:
        """The login user as an administrator."""
        roles = frozenset({"admin", "member", "reader"})
        return Caller(self.user, self.user, self.project, self.project, roles, is_bound=False)
