"""From a request that has been read to its answer, in one thread and without a server.

Identity first, then the project of the URL, then policy, then the handler. Whatever is raised
becomes an answer here: this is the border of the API.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from zonda.core.template.source.json_text import read_json
from zonda.hooks.errors import TemplateError, ZondaError
from zonda.hooks.text.borders import raise_interruption

from ..heat.errors import (
    BadRequest,
    answer_error,
    answer_failure,
    answer_unauthorized,
)
from ..heat.explanations import explain_template_error
from ..heat.routes import TABLE
from ..http.calls import EMPTY, Answer, Call, Query, make_text
from ..http.routes import Match
from ..identity.callers import Caller, Identity
from ..identity.policy import check_policy
from ..service.project import Project
from ..service.service import Service
from .request_log import Trace

_MOST_KEYS = 100
_NOT_FOUND = (
    "<html>\n <head>\n  <title>404 Not Found</title>\n </head>\n <body>\n"
    "  <h1>404 Not Found</h1>\n  The resource could not be found.\n </body>\n</html>\n"
)


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it was read. ``headers``: names in lower case."""

    method: str
    path: str
    query: str = ""
    headers: Mapping[str, str] | None = None
    body: bytes = b""
    base: str = ""
    id: str = ""


class Dispatcher:
    """Answers requests for one service."""

    def __init__(self, service: Service, identity: Identity) -> None:
        self.service = service
        self.identity = identity

    def match(self, method: str, path: str) -> Match | None:
        """The route of a request of version 1."""
        return TABLE.match(method, path)

    def answer(self, request: Request, match: Match | None) -> Answer:
        """The answer to a request; never raises but for the end of the process."""
        trace = Trace(request.id, request.method, request.path)
        unexpected: BaseException | None = None
        try:
            answer = self._answer(request, match, trace)
        except ZondaError as error:
            answer = answer_error(error)
        except BaseException as error:  # the border: a client gets no traceback
            raise_interruption(error)
            answer, unexpected = answer_failure(500, type(error).__name__), error
        trace.write(answer, unexpected)
        return answer

    def _answer(self, request: Request, match: Match | None, trace: Trace) -> Answer:
        if not is_version_1(request.path):
            return answer_versions(request)
        caller = self.identity.authenticate(request.headers or {})
        if caller is None:
            return answer_unauthorized(self.identity.challenge)
        trace.user = caller.user
        if match is None:
            return make_text(404, _NOT_FOUND)
        if match.route is None:
            return _answer_method(request, match)
        project = self._choose_project(caller, match.parts)
        trace.operation, trace.project = match.route.operation, project or ""
        if project is None:
            return answer_failure(403, "HTTPForbidden", "Access was denied to this resource.")
        check_policy(caller, match.route.policy, match.route.operation)
        call = Call(
            caller=caller,
            project=Project(self.service, caller, project),
            method=request.method,
            path=match.parts,
            query=parse_query(request.query),
            body=_parse_body(request),
            base=request.base,
            request_id=request.id,
        )
        try:
            return match.route.handler(call)
        except TemplateError as error:
            region = self.service.settings.region_name
            raise explain_template_error(error, caller, region) or error from error

    def _choose_project(self, caller: Caller, parts: Mapping[str, str]) -> str | None:
        """The project of a request; None where the caller may not enter the one of the URL.

        An administrator reaches the stacks of all projects by their ids.
        """
        wanted = parts["project"]
        if not caller.is_bound:
            return wanted
        if not caller.is_admin:
            return wanted if wanted == caller.project_id else None
        key = parts.get("stack_id") or parts.get("stack_name")
        found = self.service.reader.read_listed_stack(key) if key else None
        return caller.project_id if found is None else found.stack.project


def is_version_1(path: str) -> bool:
    """Whether a path is one of version 1 of the API."""
    return path == "/v1" or path.startswith("/v1/")


def answer_versions(request: Request) -> Answer:
    """The versions that there are."""
    link = {"rel": "self", "href": f"{request.base}/v1/"}
    return Answer(300, {"versions": [{"id": "v1.0", "status": "CURRENT", "links": [link]}]})


def _answer_method(request: Request, match: Match) -> Answer:
    allowed = ",".join(match.methods)
    if request.method == "OPTIONS":
        return Answer(204, EMPTY, {"Allow": allowed})
    message = "The method specified is not allowed for this resource."
    answer = answer_failure(405, "HTTPMethodNotAllowed", message)
    return Answer(405, answer.body, {"Allow": allowed})


def parse_query(text: str) -> Query:
    """The keys of a query with all their values; raises BadRequest for too many."""
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_KEYS)
    except ValueError as error:
        raise BadRequest(f"The query has more than {_MOST_KEYS} keys") from error
    found: dict[str, tuple[str, ...]] = {}
    for key, value in pairs:
        found[key] = (*found.get(key, ()), value)
    return found


def _parse_body(request: Request) -> Any:
    if not request.body or request.method in ("GET", "HEAD", "OPTIONS"):
        return None
    try:
        text = request.body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadRequest("The body is not UTF-8") from error
    if not text.strip():
        return None
    try:
        found = read_json(text)
        text.encode("utf-8")
    except ValueError as error:
        raise BadRequest(str(error)) from error
    return _check_encodable(found)


def _check_encodable(value: Any) -> Any:
    """The value; raises BadRequest for halves of surrogate pairs, which no database takes."""
    import json

    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise BadRequest("The body has half of a surrogate pair in a text") from error
    return value
