"""Sign-in by a token, or by name and password where the identity takes them, and sign-out."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from zonda.hooks.records import replace

from ...http.calls import Answer, Call
from ...http.errors import BadRequest
from ..rendering import Page, redirect
from .forms import Form
from .sessions import Sessions, format_cookie


@runtime_checkable
class PasswordIdentity(Protocol):
    """An identity that gives a token for a name and a password."""

    def issue_token(self, user: str, password: str, project: str, domain: str) -> str | None:
        """A token for the project; None where it refuses."""


class SignIn:
    """The pages of the sign-in."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    @property
    def takes_password(self) -> bool:
        """Whether there are names and passwords."""
        return isinstance(self._sessions.identity, PasswordIdentity)

    def show(self, call: Call) -> Answer:
        """The form of the sign-in; who is known already goes on."""
        target = _read_target(call.get_first("next"))
        if self._sessions.authenticate(call.headers) is not None:
            return redirect(target)
        return self._answer(200, target)

    def begin(self, call: Call) -> Answer:
        """A new session, if the token is a good one."""
        form: Form = call.body
        target = _read_target(form.get("next"))
        token = self._find_token(form)
        caller = None
        if token and token.isascii() and token.isprintable():
            caller = self._sessions.identity.authenticate({"x-auth-token": token})
        if caller is None:
            return self._answer(403, target, "This sign-in is not known here, or has ended.")
        self._sessions.end(call.headers)
        value = self._sessions.begin(token, caller)
        cookie = format_cookie(value, is_secure=_is_secure(call))
        return replace(redirect(target, {"Set-Cookie": cookie}), caller=caller)

    def end(self, call: Call) -> Answer:
        """The end of the session."""
        caller = self._sessions.end(call.headers)
        cookie = format_cookie("", is_secure=_is_secure(call))
        return replace(redirect("/ui/sign-in", {"Set-Cookie": cookie}), caller=caller)

    def _find_token(self, form: Form) -> str:
        token, identity = form.get("token").strip(), self._sessions.identity
        if token or not isinstance(identity, PasswordIdentity):
            return token
        if not form.get("user"):
            raise BadRequest("Give a token, or a name and a password")
        given = [form.get(name) for name in ("user", "password", "project", "domain")]
        return identity.issue_token(*given) or ""

    def _answer(self, status: int, target: str, failure: str = "") -> Answer:
        values = {"next": target, "failure": failure, "takes_password": self.takes_password}
        return Answer(status, Page("sign-in.html", values))


def _read_target(text: str | None) -> str:
    """The page that the sign-in leads to; one of this server only."""
    is_own = text is not None and text.startswith("/ui/") and text.isprintable()
    return text if text is not None and is_own and "\\" not in text else "/ui/"


def _is_secure(call: Call) -> bool:
    """Whether the browser has come by TLS, of which a proxy in front may know more."""
    origin = call.headers.get("origin", call.base)
    return origin.startswith("https:") or call.base.startswith("https:")
