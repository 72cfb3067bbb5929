"""From a request that has been read to its answer, in one thread and without a server.

Identity first, then the project of the URL, then policy, then the handler. Whatever is raised
becomes an answer here: this is the border of the server.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from functools import partial

from zonda.hooks.errors import StoreError, ZondaError
from zonda.hooks.records import dataclass
from zonda.hooks.text.borders import raise_interruption

from ..http.calls import Answer, Call
from ..http.interfaces import Interface
from ..http.requests import Request, parse_query
from ..http.routes import Match
from ..identity.policy import check_operations
from ..service.project import Project, make_check
from ..service.service import Service
from ..telemetry.counts import REFUSED, REQUEST_SECONDS, REQUESTS
from ..telemetry.traces import Finish
from .answers import Answers
from .request_log import Trace

#: The reasons of refusals, as metrics name them.
_REASONS = {401: "unauthorized", 403: "forbidden", 413: "size", 429: "rate", 503: "busy"}


@dataclass(frozen=True, slots=True)
class Target:
    """The interface that a path belongs to; ``match`` None: it has no such path."""

    interface: Interface
    match: Match | None


class Dispatcher:
    """Answers requests for one service, by several interfaces."""

    def __init__(self, service: Service, interfaces: Sequence[Interface]) -> None:
        self.service = service
        service.app.engine.find_check = partial(make_check, service)
        self.interfaces = tuple(interfaces)
        known = {name for each in interfaces for name in each.list_operations()}
        check_operations(service.settings, known)
        self._answers = Answers()

    def find_interface(self, path: str) -> Interface | None:
        """The interface of a path; None where no interface has it."""
        for interface in self.interfaces:
            if path.startswith(interface.prefix) or path == interface.prefix[:-1]:
                return interface
        return None

    def find_target(self, method: str, path: str) -> Target | None:
        """The target of a request; None for a path that is no interface's."""
        interface = self.find_interface(path)
        if interface is None:
            return None
        return Target(interface, interface.table.match(method, path))

    def has_answer(self, request: Request, target: Target | None) -> bool:
        """Whether ``answer`` will most likely wait for nothing, so that it needs no thread."""
        if target is None or target.match is None or target.match.route is None:
            return False
        return (
            target.match.route.is_memorised
            and self.service.policies.is_quick
            and self._answers.has(request, self.service.app.store.commits)
            and target.interface.identity.is_known(request.headers)
        )

    def answer(self, request: Request, target: Target | None) -> Answer:
        """The answer to a request; never raises but for the end of the process."""
        if target is None:
            return answer_versions(request)
        with self.service.tracing.trace_request(request.method, request.headers) as finish:
            return self._answer_traced(request, target, finish)

    def _answer_traced(self, request: Request, target: Target, finish: Finish) -> Answer:
        trace, clock = Trace(request.id, request.method, request.path), self.service.app.clock
        begun = clock.monotonic()
        unexpected: BaseException | None = None
        try:
            answer = self._answer(request, target, trace)
        except StoreError as error:
            trace.trouble = str(error)
            answer = target.interface.answer_error(self._hide_folders(error), request)
        except ZondaError as error:
            answer = target.interface.answer_error(error, request)
        except BaseException as error:  # the border: a client gets no traceback
            raise_interruption(error)
            answer = target.interface.answer_failure(500, type(error).__name__)
            unexpected = error
        operation = trace.operation or "none"
        self._count(operation, answer.status, clock.monotonic() - begun)
        finish(operation, answer.status)
        trace.write(answer, unexpected)
        return answer

    def _hide_folders(self, error: StoreError) -> StoreError:
        """The error without what only the operator is to know: folders, the database's address."""
        app, hidden = self.service.app, copy(error)
        named = [f"{folder}/" for folder in (app.folder, app.settings.home)]
        if app.database.folder is None:
            named.append(f" {app.database.where}")
        for each in named:
            hidden.message = hidden.message.replace(each, "")
            hidden.hint = hidden.hint.replace(each, "")
        hidden.args = (hidden.message,)
        return hidden

    def _count(self, operation: str, status: int, seconds: float) -> None:
        counts = self.service.counts
        counts.add(REQUESTS, operation, str(status))
        counts.observe(REQUEST_SECONDS, seconds, operation)
        if status in _REASONS:
            counts.add(REFUSED, _REASONS[status])

    def _answer(self, request: Request, target: Target, trace: Trace) -> Answer:
        interface, match = target.interface, target.match
        if not _is_text(request.path):
            return interface.answer_failure(400, "HTTPBadRequest", "The path is not UTF-8.")
        caller = interface.authenticate(request)
        if caller is None:
            return interface.answer_stranger(request)
        trace.user = caller.user
        if match is None:
            return interface.answer_unknown_path(request)
        route = match.route
        if route is None:
            return interface.answer_method(request, match)
        project = interface.choose_project(caller, match)
        trace.operation, trace.project = route.operation, project or ""
        if project is None:
            message = "Access was denied to this resource."
            return interface.answer_failure(403, "HTTPForbidden", message)
        self.service.quotas.take_request(caller, project)
        allowed = Project(self.service, caller, project, request.id)
        allowed.check_policy(route.policy, route.operation, *find_names(match.parts))
        commits = self.service.app.store.commits
        if route.is_memorised:
            known = self._answers.find(request, caller, commits)
            if known is not None:
                return known
        call = Call(
            caller=caller,
            project=allowed,
            method=request.method,
            path=match.parts,
            query=parse_query(request.query),
            headers=request.headers,
            body=interface.parse_body(request),
            base=request.base,
            request_id=request.id,
        )
        answer = interface.answer(call, route)
        if answer.caller is not None:
            trace.user, trace.project = answer.caller.user, answer.caller.project_id
        if route.is_memorised:
            return self._answers.keep(request, caller, commits, answer)
        if answer.stream is not None:
            answer.stream.ask_by(lambda: self._check_again(request, target))
        return answer

    def _check_again(self, request: Request, target: Target) -> tuple[bool, float | None]:
        """Whether a request would still be answered, and until when its token counts."""
        interface, match = target.interface, target.match
        if match is None or match.route is None:
            return False, None
        try:
            caller = interface.authenticate(request)
            project = None if caller is None else interface.choose_project(caller, match)
            if caller is None or project is None:
                return False, None
            route, names = match.route, find_names(match.parts)
            Project(self.service, caller, project).check_policy(
                route.policy, route.operation, *names
            )
        except ZondaError:  # who cannot be asked about is not known
            return False, None
        return True, caller.expires


def _is_text(path: str) -> bool:
    """Whether a path is text: half of a surrogate pair is none, and no database takes it."""
    return path.isascii() or not any("\ud800" <= each <= "\udfff" for each in path)


def find_names(parts: Mapping[str, str]) -> tuple[str, str]:
    """The stack and the resource that a path names, or ''."""
    stack = parts.get("stack_id") or parts.get("stack_name") or parts.get("stack") or ""
    return stack, parts.get("resource", "")


def answer_versions(request: Request) -> Answer:
    """The versions of Heat's API, which stand at every path that nothing else has.

    A browser that opens the server gets its pages.
    """
    if request.path == "/" and "text/html" in request.headers.get("accept", ""):
        return Answer(302, "See /ui/\n", {"Location": "/ui/"}, "text/plain")
    link = {"rel": "self", "href": f"{request.base}/v1/"}
    return Answer(300, {"versions": [{"id": "v1.0", "status": "CURRENT", "links": [link]}]})
