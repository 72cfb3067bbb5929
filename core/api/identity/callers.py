"""Callers, and the protocol of what finds out whose a request is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from zonda.hooks.errors import RequestError
from zonda.hooks.records import dataclass


@dataclass(frozen=True, slots=True)
class Caller:
    """A user, with the project and the roles that its token is for.

    ``is_bound``: only this project may stand in a URL, unless the caller is an administrator.
    ``expires``: when the token ends, in seconds since the epoch.
    ``resource_id``: the only resource that the caller may signal, and nothing else; '': no limit.
    """

    user_id: str
    user: str
    project_id: str
    project: str = ""
    roles: frozenset[str] = frozenset()
    is_bound: bool = True
    expires: float | None = None
    resource_id: str = ""

    @property
    def is_admin(self) -> bool:
        """Whether the caller is an administrator."""
        return "admin" in self.roles


class Identity(Protocol):
    """A way to find out whose a request is. Called in threads, several at a time."""

    @property
    def challenge(self) -> str:
        """The value of ``WWW-Authenticate`` in a 401."""

    def authenticate(self, headers: Mapping[str, str]) -> Caller | None:
        """The caller by the headers (names in lower case); None for a missing or bad token.

        Raises IdentityUnavailable where nobody can tell.
        """

    def is_known(self, headers: Mapping[str, str]) -> bool:
        """Whether ``authenticate`` answers from memory, without waiting for another service."""

    def find_trouble(self) -> str:
        """A sentence on why nobody can be known at the moment; '' if all is well. May wait."""


class IdentityUnavailable(RequestError):
    """The identity service does not answer."""

    heat_type = "ServiceUnavailable"


class Forbidden(RequestError):
    """The caller may not do this."""

    heat_type = "Forbidden"
