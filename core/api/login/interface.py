"""The login as an interface of the server, with failures in Keystone's form."""

from __future__ import annotations

from typing import Any

from zonda.hooks.errors import ZondaError
from zonda.hooks.records import replace

from ..http import errors
from ..http.calls import Answer, Call
from ..http.interfaces import Interface
from ..http.requests import Request
from ..http.routes import Route, RouteTable
from ..identity.callers import Caller
from ..identity.local_identity import IssuedToken, LocalIdentity
from ..service.service import Service
from .documents import build_catalog, build_token, build_version
from .requests import read_login

_TOKENS = "/v3/auth/tokens"
_STRANGER = Caller("", "", "")


def show_version(call: Call) -> Answer:
    """The version of the login."""
    return Answer(200, build_version(call.base))


class LoginInterface(Interface):
    """The part of Keystone's API that clients need to get a token and to find the service."""

    prefix = "/v3/"
    identity: LocalIdentity

    def __init__(self, service: Service, identity: LocalIdentity) -> None:
        super().__init__(service, identity)
        self.table = RouteTable(
            [
                Route("GET", "/v3", "identity:show_version", show_version, "anybody"),
                Route("GET", "/v3/", "identity:show_version", show_version, "anybody"),
                Route("POST", _TOKENS, "identity:issue_token", self.issue, "anybody"),
                Route("GET", _TOKENS, "identity:validate_token", self.show, "anybody"),
            ]
        )

    def authenticate(self, request: Request) -> Caller | None:
        """The caller who asks about a token; whoever wants one is nobody yet."""
        asks = request.method == "GET" and request.path == _TOKENS
        return super().authenticate(request) if asks else _STRANGER

    def issue(self, call: Call) -> Answer:
        """A new token; the same refusal for whatever is wrong."""
        login, issued = read_login(call.body), None
        if login is not None and login.token:
            issued = self.identity.renew(login.token, login.project)
        elif login is not None:
            issued = self.identity.sign_in(login.user, login.password, login.project)
        if issued is None:
            return errors.answer_unauthorized(self.identity.challenge)
        return replace(self._answer_token(201, call, issued), caller=issued.caller)

    def show(self, call: Call) -> Answer:
        """A token of the caller; an administrator may look at others."""
        issued = self.identity.find_issued(call.headers.get("x-subject-token", ""))
        if issued is None or not (call.caller.is_admin or _is_same(call.caller, issued.caller)):
            return self.answer_failure(404, "NotFound", "The token could not be found.")
        return self._answer_token(200, call, issued)

    def _answer_token(self, status: int, call: Call, issued: IssuedToken) -> Answer:
        settings, catalog = self.service.settings, None
        if "nocatalog" not in call.query:
            base = settings.public_url.rstrip("/") or call.base
            catalog = build_catalog(base, settings.region_name, issued.caller.project_id)
        headers = {"X-Subject-Token": issued.text, "Cache-Control": "no-store"}
        return Answer(status, build_token(issued, catalog), headers)

    def answer_error(self, error: ZondaError, request: Request) -> Answer:
        """The answer to an error, in Keystone's form."""
        found = errors.answer_error(error)
        message = None if found.status == 500 else errors.format_message(error)
        return replace(self.answer_failure(found.status, "", message), headers=found.headers)

    def answer_failure(self, status: int, kind: str, message: str | None = None) -> Answer:
        """The answer of a status, in Keystone's form."""
        title, explanation = errors.STATUSES[status]
        body: dict[str, Any] = {"code": status, "title": title, "message": message or explanation}
        return Answer(status, {"error": body})


def _is_same(caller: Caller, other: Caller) -> bool:
    return (caller.user_id, caller.project_id) == (other.user_id, other.project_id)
