"""Heat's API as an interface of the server."""

from __future__ import annotations

from zonda.hooks.errors import TemplateError

from ..http.calls import Answer, Call
from ..http.interfaces import Interface
from ..http.requests import Request
from ..http.routes import Match, Route
from ..identity.callers import Caller
from ..service.signal_targets import find_target_of_header
from .explanations import explain_template_error
from .routes import TABLE
from .stacks.actions import ACTIONS


class HeatInterface(Interface):
    """Version 1 of Heat's REST API."""

    prefix = "/v1/"
    table = TABLE
    inner_operations = tuple(f"actions:{name}" for name in ACTIONS)

    def authenticate(self, request: Request) -> Caller | None:
        """The caller of a request; a token of a signal URL is one that may signal its resource."""
        token = request.headers.get("x-auth-token", "")
        target = find_target_of_header(self.service, token)
        if target is None:
            return super().authenticate(request)
        roles = frozenset({"heat_stack_user"} if target.takes_signals else ())
        return Caller("", "", target.project, roles=roles, resource_id=target.resource_id)

    def choose_project(self, caller: Caller, match: Match) -> str | None:
        """The project of a request; None where the caller may not enter the one of the URL.

        An administrator reaches the stacks of all projects by their ids. A token of a signal URL
        is good for nothing but a signal to its resource.
        """
        if caller.resource_id and not self._is_signal_to(caller.resource_id, match):
            return None
        if not (caller.is_bound and caller.is_admin):
            return super().choose_project(caller, match)
        key = match.parts.get("stack_id") or match.parts.get("stack_name")
        listed = self.service.reader.read_listed_stack(key) if key else None
        return caller.project_id if listed is None else listed.stack.project

    def _is_signal_to(self, resource_id: str, match: Match) -> bool:
        """Whether a request is a signal to this resource."""
        row, parts = self.service.reader.resource_row(resource_id), match.parts
        return (
            match.route is not None
            and match.route.operation == "resource:signal"
            and row is not None
            and parts["stack_id"] == row.stack_id
            and parts["resource"] in (row.name, row.id)
        )

    def answer(self, call: Call, route: Route) -> Answer:
        """The answer of a handler; errors of templates get the words of Heat."""
        try:
            return super().answer(call, route)
        except TemplateError as error:
            region = self.service.settings.region_name
            raise explain_template_error(error, call.caller, region) or error from error
