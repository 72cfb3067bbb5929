"""Mode ``none``: everybody who reaches the server is its user. Only for loopback addresses."""

from __future__ import annotations

from collections.abc import Mapping

from zonda.hooks.records import dataclass

from .callers import Caller

_ROLES = frozenset({"admin", "member", "reader"})


@dataclass(frozen=True, slots=True)
class NoIdentity:
    """Every request is the login user's, for whatever project its URL names."""

    user: str
    project: str
    challenge: str = ""

    def find_trouble(self) -> str:
        """Nothing: it needs nobody."""
        return ""

    def authenticate(self, headers: Mapping[str, str]) -> Caller | None:
        """The login user as an administrator."""
        return Caller(self.user, self.user, self.project, self.project, _ROLES, is_bound=False)

    def is_known(self, headers: Mapping[str, str]) -> bool:
        """Yes: nobody is asked."""
        return True
