"""An interface: the paths below a prefix, and what is particular about them.

The dispatcher asks it for the caller, the project, the body, the answer, and the words of
failures. What stands here are the rules of an API: callers by the server's identity, bodies of
JSON, failures in Heat's form. Pages and signal URLs replace what differs.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from zonda.hooks.errors import ZondaError

from ..identity.callers import Caller, Identity
from ..service.service import Service
from . import errors
from .calls import EMPTY, Answer, Call, make_text
from .requests import Request, parse_json
from .routes import Match, Route, RouteTable

_NOT_FOUND = (
    "<html>\n <head>\n  <title>404 Not Found</title>\n </head>\n <body>\n"
    "  <h1>404 Not Found</h1>\n  The resource could not be found.\n </body>\n</html>\n"
)


class Interface:
    """One interface of the server. ``prefix``: how its paths begin, with a slash at its end."""

    prefix = ""
    #: The largest body of a known caller, in bytes, where it is above the server's limit for all.
    largest_body = 0
    table = RouteTable(())
    #: Operations that have a rule without a route of their own.
    inner_operations: Collection[str] = ()

    def __init__(self, service: Service, identity: Identity) -> None:
        self.service = service
        self.identity = identity

    def list_operations(self) -> set[str]:
        """The names that ``[policy]`` may have for this interface."""
        return {*self.inner_operations, *(route.operation for route in self.table.routes)}

    def authenticate(self, request: Request) -> Caller | None:
        """The caller of a request; None for one whom nobody knows."""
        return self.identity.authenticate(request.headers)

    def choose_project(self, caller: Caller, match: Match) -> str | None:
        """The project of a request; None where the caller may not enter the one of the URL."""
        wanted = match.parts.get("project", caller.project_id)
        return wanted if not caller.is_bound or wanted == caller.project_id else None

    def parse_body(self, request: Request) -> Any:
        """The value of a body; raises BadRequest."""
        return parse_json(request)

    def answer(self, call: Call, route: Route) -> Answer:
        """The answer of a handler."""
        return route.handler(call)

    # -- answers without a handler --------------------------------------------------------------

    def answer_stranger(self, request: Request) -> Answer:
        """The answer to a caller whom nobody knows."""
        return errors.answer_unauthorized(self.identity.challenge)

    def answer_unknown_path(self, request: Request) -> Answer:
        """The answer to a path that no route has."""
        return make_text(404, _NOT_FOUND)

    def answer_method(self, request: Request, match: Match) -> Answer:
        """The answer to OPTIONS, and to a method that the path does not have."""
        allowed = {"Allow": ",".join(match.methods)}
        if request.method == "OPTIONS":
            return Answer(204, EMPTY, allowed)
        message = "The method specified is not allowed for this resource."
        answer = self.answer_failure(405, "HTTPMethodNotAllowed", message)
        return Answer(405, answer.body, allowed, answer.media_type)

    def answer_error(self, error: ZondaError, request: Request) -> Answer:
        """The answer to an error that the caller, or the operator, can do something about."""
        return errors.answer_error(error)

    def answer_failure(self, status: int, kind: str, message: str | None = None) -> Answer:
        """The answer of a status, without more than that."""
        return errors.answer_failure(status, kind, message)
