"""Sessions of the pages: a cookie stands for a token, which is kept as a sealed row.

The cookie has a random id and its signature. A session ends after eight hours, by sign-out, and
with the token. Any server of the same database knows it. Many threads ask at once.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping

from zonda.core.store.write.page_states import PageStates
from zonda.core.system.ids import make_token
from zonda.hooks.records import dataclass, field

from ...identity.callers import Caller, Identity
from ...service.service import Service

COOKIE = "zonda_session"
#: Seconds that a session lasts, and how many there may be: the oldest one ends first.
LENGTH = 8 * 3600
MOST = 10_000
_KIND = "session"
_PATH = "/"
#: Of its caller, what a session keeps: all else is asked of the token each time.
_NAMES = ("user_id", "user", "project_id", "project")
#: The id that the forms of those who have no session are bound to.
_NO_SESSION = ""


@dataclass(frozen=True, slots=True)
class Session:
    """A session of a caller. ``token``: the one of the sign-in, which no answer ever has."""

    id: str
    caller: Caller
    token: str = field(repr=False)


class Sessions:
    """The sessions of one database, which several servers may share."""

    def __init__(self, identity: Identity, service: Service) -> None:
        self.identity = identity
        self._service = service
        [self._key, *_] = service.app.store.sealer.derive_keys("session")

    def authenticate(self, headers: Mapping[str, str]) -> Caller | None:
        """The caller of a session, or whoever asks where nobody has to sign in."""
        anybody = self.identity.authenticate({})
        if anybody is not None:
            return anybody
        session = self.find(headers)
        if session is None:
            return None
        caller = self.identity.authenticate({"x-auth-token": session.token})
        if caller is None:
            self.end(headers)
        return caller

    @property
    def needs_sign_in(self) -> bool:
        """Whether there are sessions at all."""
        return self.identity.authenticate({}) is None

    def begin(self, token: str, caller: Caller) -> str:
        """Begin a session of a token's caller; returns the value of its cookie."""
        app, key = self._service.app, make_token()
        known = {name: getattr(caller, name) for name in _NAMES}
        body = app.store.sealer.seal({"token": token, "caller": known})
        ends_at = app.clock.now() + LENGTH

        def write(states: PageStates) -> None:
            states.add(key, _KIND, body, ends_at)
            states.delete_surplus(_KIND, MOST)

        app.engine.keep(lambda tx: write(tx.page_states))
        return f"{key}.{self._sign('session', key)}"

    def find(self, headers: Mapping[str, str]) -> Session | None:
        """The session of a request's cookie; None for none, a forged or an ended one."""
        key, _, signature = read_cookie(headers, COOKIE).partition(".")
        if not key or not _is_equal(signature, self._sign("session", key)):
            return None
        now = self._service.app.clock.now()
        kept = self._service.reader.find_page_state(key, _KIND, now)
        return None if kept is None else Session(key, Caller(**kept["caller"]), kept["token"])

    def end(self, headers: Mapping[str, str]) -> Caller | None:
        """End the session of a request; returns whose it was."""
        session = self.find(headers)
        if session is None:
            return None
        self._service.app.engine.keep(lambda tx: tx.page_states.delete(session.id, _KIND))
        return session.caller

    def make_csrf(self, headers: Mapping[str, str]) -> str:
        """The token that the forms for this session carry."""
        session = self.find(headers)
        return self._sign("form", _NO_SESSION if session is None else session.id)

    def is_csrf(self, headers: Mapping[str, str], token: str) -> bool:
        """Whether a form's token is the one of its session."""
        return _is_equal(token, self.make_csrf(headers))

    def _sign(self, purpose: str, text: str) -> str:
        return hmac.new(self._key, f"{purpose}:{text}".encode(), hashlib.sha256).hexdigest()


def format_cookie(value: str, *, is_secure: bool) -> str:
    """The header that sets the cookie; an empty value removes it."""
    parts = [f"{COOKIE}={value}", f"Path={_PATH}", "HttpOnly", "SameSite=Strict"]
    parts.append(f"Max-Age={LENGTH if value else 0}")
    return "; ".join([*parts, "Secure"] if is_secure else parts)


def read_cookie(headers: Mapping[str, str], name: str) -> str:
    """The value of a cookie, or ''."""
    for part in headers.get("cookie", "").split(";"):
        key, _, value = part.strip().partition("=")
        if key == name:
            return value
    return ""


def _is_equal(first: str, second: str) -> bool:
    return hmac.compare_digest(first.encode("utf-8", "replace"), second.encode())
