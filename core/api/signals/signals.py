"""Signal URLs: ``/signal/v1/TOKEN``. The token says which resource is meant, and what for.

Whatever is wrong with a token, the answer is the same 404, before anything else of the request
is looked at.
"""

from __future__ import annotations

from typing import Any

from zonda.core.engine.actions import SignalResource
from zonda.core.store.schema.rows import ResourceRow
from zonda.core.store.values.signal_tokens import METADATA, SCALE, SIGNAL, SIGNAL_PATH
from zonda.hooks.errors import NotFound, ZondaError

from ..heat.resources.changes import check_details
from ..heat.software.server_configs import list_server_configs
from ..http.calls import Answer, Call
from ..http.errors import BadRequest
from ..http.interfaces import Interface
from ..http.requests import Request, check_encoding, parse_json_body
from ..http.routes import Route, RouteTable
from ..identity.callers import Caller, Identity
from ..service.rates import Rates
from ..service.service import Service
from ..service.signal_targets import find_signal_target
from ..telemetry.counts import REFUSED

#: Bytes of a body.
LONGEST_BODY = 65_536
#: Requests in a minute, for each resource; as many may come at once.
MOST_PER_MINUTE = 60


def send_signal(call: Call) -> Answer:
    """A signal to the resource of the token; answered once it is stored."""
    row = find_resource(call)
    details = {} if SCALE in call.caller.roles else read_details(call)
    call.project.submit(SignalResource(row.stack_id, row.id, details))
    return Answer(200, None)


def find_resource(call: Call) -> ResourceRow:
    """The resource of the token; raises NotFound where it has gone meanwhile."""
    row = call.project.reader.resource_row(call.caller.resource_id)
    if row is None:
        raise NotFound("Resource", call.caller.resource_id)
    return row


def read_details(call: Call) -> dict[str, Any]:
    """The details of a signal; raises BadRequest for what is no JSON object in UTF-8."""
    check_encoding(call.headers)
    details = parse_json_body(call.body)
    if details is None:
        return {}
    if not isinstance(details, dict):
        raise BadRequest("A signal is a JSON object, or empty")
    check_details(call.caller, details)
    return details


def show_metadata(call: Call) -> Answer:
    """The metadata of the resource of the token, with what the server has to apply."""
    row = find_resource(call)
    known: dict[str, Any] = call.project.service.app.store.sealer.load(row.meta) or {}
    configs = list_server_configs(call, str(row.physical_id))
    return Answer(200, {**known, "deployments": configs}, {"Cache-Control": "no-store"})


_PATH = f"{SIGNAL_PATH}{{token:.*}}"
TABLE = RouteTable(
    [
        Route("POST", _PATH, "signals:send", send_signal, SIGNAL),
        Route("PUT", _PATH, "signals:send", send_signal, SIGNAL),
        Route("GET", _PATH, "signals:metadata", show_metadata, METADATA),
    ]
)


class SignalInterface(Interface):
    """Signals by URL. The caller is the token: its role is what the token is for."""

    prefix = SIGNAL_PATH
    table = TABLE

    def __init__(self, service: Service, identity: Identity) -> None:
        super().__init__(service, identity)
        self._rates = Rates(service.app.clock)

    def authenticate(self, request: Request) -> Caller | None:
        """The caller that a token makes; None for a wrong one."""
        target = find_signal_target(self.service, request.path.removeprefix(self.prefix))
        if target is None:
            return None
        roles = frozenset({target.purpose})
        return Caller("", "", target.project, roles=roles, resource_id=target.resource_id)

    def answer_stranger(self, request: Request) -> Answer:
        """The same answer for every token that is no good."""
        self.service.counts.add(REFUSED, "signal")
        return self.answer_failure(404, "EntityNotFound", "There is no such signal URL.")

    def parse_body(self, request: Request) -> bytes:
        """The bytes of a body: what it has to be is up to the token."""
        return request.body

    def answer(self, call: Call, route: Route) -> Answer:
        """The answer of a handler; raises OverRate where the token is used too often."""
        message = f"A signal URL takes {MOST_PER_MINUTE} requests in a minute."
        key = call.caller.resource_id
        self._rates.take(key, MOST_PER_MINUTE / 60, MOST_PER_MINUTE, message)
        if len(call.body) > LONGEST_BODY:
            message = f"The body of a signal may have {LONGEST_BODY} bytes."
            return self.answer_failure(413, "RequestLimitExceeded", message)
        return super().answer(call, route)

    def answer_error(self, error: ZondaError, request: Request) -> Answer:
        """The answer to an error; what is not there any more is a wrong token."""
        if isinstance(error, NotFound):
            return self.answer_stranger(request)
        return super().answer_error(error, request)
