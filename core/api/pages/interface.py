"""The pages as an interface of the server: sessions, forms, HTML, and headers that keep it safe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from zonda.hooks import records
from zonda.hooks.errors import ZondaError

from ..http.calls import Answer, Call
from ..http.errors import find_status
from ..http.interfaces import Interface
from ..http.requests import Request, parse_query
from ..http.routes import Handler, Match, Route
from ..identity.callers import Caller, Forbidden, Identity
from ..service.service import Service
from .access.forms import Form, check_origin, parse_form
from .access.sessions import Sessions
from .access.sign_in import SignIn
from .rendering import EVERY_STACK, Page, redirect, render
from .routes import OPEN, make_table
from .verbs import BY_NAME

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_STRANGER = Caller("", "", "")
_TITLES = {
    400: "This does not work",
    403: "Not allowed",
    404: "There is no such page",
    405: "There is no such page",
    409: "This is not possible now",
    500: "The server has failed",
    503: "The server is busy",
}


class PagesInterface(Interface):
    """The pages."""

    prefix = "/ui/"
    inner_operations = tuple(verb.operation for verb in BY_NAME.values())

    def __init__(self, service: Service, identity: Identity, watch_events: Handler) -> None:
        super().__init__(service, identity)
        self.sessions = Sessions(identity, service)
        self.table = make_table(SignIn(self.sessions), watch_events)

    def authenticate(self, request: Request) -> Caller | None:
        """The caller of a session; nobody's pages are for all."""
        if request.path.startswith(OPEN):
            return _STRANGER
        return self.sessions.authenticate(request.headers)

    def parse_body(self, request: Request) -> Form | None:
        """The form of a write, if a page of this server has made it for this session."""
        if request.method != "POST":
            return None
        check_origin(request)
        form = parse_form(request)
        if not self.sessions.is_csrf(request.headers, form.get("csrf")):
            raise Forbidden(
                "This form is out of date: it was made for another session.",
                hint="Open the page again and send it from there.",
            )
        return form

    def answer(self, call: Call, route: Route) -> Answer:
        """The answer of a handler, with its page as HTML."""
        found = route.handler(call)
        if not isinstance(found.body, Page):
            return _secure(found)
        fragment = call.get_first("fragment") or ("content" if "hx-request" in call.headers else "")
        page = found.body
        common = self._list_common(call.headers, call.caller, call.project.id)
        if page.live:
            query = "" if page.live == EVERY_STACK else f"?stack={quote(page.live)}"
            common["stream"] = f"/ui/{quote(call.project.id, safe='')}/events{query}"
            common["after"] = page.after
        shown = render(page, common, fragment)
        return _secure(records.replace(found, body=shown, media_type="text/html"))

    def _list_common(
        self, headers: Mapping[str, str], caller: Caller | None, project: str
    ) -> dict[str, Any]:
        """The values that the frame of every page needs."""
        return {
            "csrf": self.sessions.make_csrf(headers),
            "user": "" if caller is None else caller.user,
            "project": project,
            "project_name": caller.project if caller and caller.project_id == project else project,
            "can_sign_out": self.sessions.find(headers) is not None,
        }

    # -- answers without a handler --------------------------------------------------------------

    def answer_stranger(self, request: Request) -> Answer:
        """The way to the sign-in, and back from there to a page that was asked for."""
        if request.method != "GET":
            return redirect("/ui/sign-in")
        wanted = f"{quote(request.path)}?{request.query}" if request.query else quote(request.path)
        return _secure(redirect(f"/ui/sign-in?next={quote(wanted, safe='')}"))

    def answer_unknown_path(self, request: Request) -> Answer:
        """The answer to a path that no page has."""
        return self._answer_failure(404, "Nothing stands at this address.", "", request)

    def answer_method(self, request: Request, match: Match) -> Answer:
        """The answer to a method that the page does not have."""
        answer = self._answer_failure(405, "Nothing can be sent to this address.", "", request)
        return records.replace(answer, headers={**answer.headers, "Allow": ",".join(match.methods)})

    def answer_error(self, error: ZondaError, request: Request) -> Answer:
        """The answer to an error that the caller, or the operator, can do something about."""
        status = find_status(error)
        if status == 500:
            return self.answer_failure(500, error.heat_type)
        answer = self._answer_failure(status, str(error), error.hint, request)
        retry = {"Retry-After": "1"} if status == 503 else {}
        return records.replace(answer, headers={**answer.headers, **retry})

    def answer_failure(self, status: int, kind: str, message: str | None = None) -> Answer:
        """The answer of a status, without more than that."""
        return self._answer_failure(status, message or "The log of the server says more.", "", None)

    def _answer_failure(
        self, status: int, message: str, hint: str, request: Request | None
    ) -> Answer:
        # The database, in which sessions are, may be what does not answer.
        known = None if status == 503 else request
        headers = {} if known is None else known.headers
        caller = None if known is None else self.authenticate(known)
        project = "" if caller is None else caller.project_id
        values = {
            "title": _TITLES.get(status, "This does not work"),
            "message": message,
            "hint": hint,
            "status": status,
            "request_id": "" if request is None else request.id,
        }
        common = self._list_common(headers, caller, project)
        shown = render(Page("error.html", values), common, _find_fragment(request))
        return _secure(Answer(status, shown, media_type="text/html"))


def _find_fragment(request: Request | None) -> str:
    if request is None:
        return ""
    is_part = "hx-request" in request.headers or "fragment" in parse_query(request.query)
    return "content" if is_part else ""


def _secure(answer: Answer) -> Answer:
    """The answer with the headers of every page; what a handler says of them counts more."""
    return records.replace(answer, headers={**_HEADERS, **answer.headers})
