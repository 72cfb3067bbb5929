"""Mode ``tokens`` with a login of its own: a user's token is the password to tokens of an hour."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from zonda.hooks.context import Clock
from zonda.hooks.records import dataclass, field, replace

from .callers import Caller
from .local_tokens import PASSWORD, TOKEN, LocalToken, read_local_token, sign_local_token
from .tokens import Entry, Tokens, hash_token, read_token

#: Seconds that a token is good for, unless its entry ends earlier.
LIFETIME = 3600
#: The one domain: its id, and in lower case its name.
DOMAIN = "default"


@dataclass(frozen=True, slots=True)
class IssuedToken:
    """A token and its text."""

    text: str = field(repr=False)
    token: LocalToken

    @property
    def caller(self) -> Caller:
        """The caller whose it is."""
        return replace(self.token.entry.caller, expires=float(self.token.expires))


class LocalIdentity(Tokens):
    """The tokens of one file and those that the login gives. ``keys``: the first one signs."""

    def __init__(
        self, path: Path, clock: Clock, keys: Sequence[bytes], new_id: Callable[[], str]
    ) -> None:
        super().__init__(path, clock)
        self._keys = keys
        self._new_id = new_id

    def authenticate(self, headers: Mapping[str, str]) -> Caller | None:
        """The caller of a token of either kind."""
        issued = self.find_issued(read_token(headers))
        return super().authenticate(headers) if issued is None else issued.caller

    def find_issued(self, text: str) -> IssuedToken | None:
        """The token of a text that the login has given and that still counts."""
        token = read_local_token(self._keys, text, self.find_entry)
        if token is None or token.expires <= self._clock.now():
            return None
        return IssuedToken(text, token)

    def sign_in(self, user: str, password: str, project: str) -> IssuedToken | None:
        """A token for a user (its name is its id), whose password is a token of the file.

        ``project``: '' for that of the password. None for whatever is wrong.
        """
        entry = self.find_entry(hash_token(password))
        if entry is None or not hmac.compare_digest(entry.caller.user.encode(), user.encode()):
            return None
        return self._issue(entry, PASSWORD, project)

    def renew(self, text: str, project: str) -> IssuedToken | None:
        """A token by another one, which does not outlive it; None for whatever is wrong."""
        issued = self.find_issued(text)
        if issued is not None:
            return self._issue(issued.token.entry, TOKEN, project, issued.token.expires)
        entry = self.find_entry(hash_token(text))
        return None if entry is None else self._issue(entry, TOKEN, project)

    def issue_token(self, user: str, password: str, project: str, domain: str) -> str | None:
        """The text of a token for the pages; None for whatever is wrong."""
        is_default = domain.lower() in ("", DOMAIN)
        issued = self.sign_in(user, password, project) if is_default else None
        return None if issued is None else issued.text

    def _issue(
        self, entry: Entry, method: str, project: str, end: float | None = None
    ) -> IssuedToken | None:
        if project not in ("", entry.caller.project_id):
            return None
        issued = int(self._clock.now())
        ends = [at for at in (issued + LIFETIME, entry.caller.expires, end) if at is not None]
        token = LocalToken(method, entry, issued, int(min(ends)), self._new_id())
        return IssuedToken(sign_local_token(self._keys[0], token), token)
