"""Heat's API as an interface of the server."""

from __future__ import annotations

from zonda.hooks.errors import TemplateError

from ..http.calls import Answer, Call
from ..http.interfaces import Interface
from ..http.routes import Match, Route
from ..identity.callers import Caller
from .explanations import explain_template_error
from .routes import TABLE


class HeatInterface(Interface):
    """Version 1 of Heat's REST API."""

    prefix = "/v1/"
    table = TABLE

    def choose_project(self, caller: Caller, match: Match) -> str | None:
        """The project of a request; None where the caller may not enter the one of the URL.

        An administrator reaches the stacks of all projects by their ids.
        """
        if not (caller.is_bound and caller.is_admin):
            return super().choose_project(caller, match)
        key = match.parts.get("stack_id") or match.parts.get("stack_name")
        listed = self.service.reader.read_listed_stack(key) if key else None
        return caller.project_id if listed is None else listed.stack.project

    def answer(self, call: Call, route: Route) -> Answer:
        """The answer of a handler; errors of templates get the words of Heat."""
        try:
            return super().answer(call, route)
        except TemplateError as error:
            region = self.service.settings.region_name
            raise explain_template_error(error, call.caller, region) or error from error
