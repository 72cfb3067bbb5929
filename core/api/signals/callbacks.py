"""Callbacks of workflow runners: ``/callback/v1/CODE``, stored as the bundled service does it."""

from __future__ import annotations

from zonda.core.app.runners.runner_service import CALLBACK_PATH

from ..http.calls import Answer, Call
from ..http.errors import BadRequest
from ..http.interfaces import Interface
from ..http.requests import Request, check_encoding
from ..http.routes import Route, RouteTable
from ..identity.callers import Caller

#: The caller whose proof is the code of the address.
_RUNNER = Caller("", "", "")


def receive_callback(call: Call) -> Answer:
    """The news of a run from its endpoint; answered once they are stored."""
    check_encoding(call.headers)
    if not call.body:
        raise BadRequest("A callback is a JSON object")
    code = call.path["code"]
    status, answer = call.project.service.app.callbacks.receive(code, call.headers, call.body)
    return Answer(status, answer)


_PATH = f"{CALLBACK_PATH}{{code:.+}}"


class CallbackInterface(Interface):
    """The callbacks of one home. Answers are those of the http contract."""

    prefix = CALLBACK_PATH
    table = RouteTable(
        [
            Route(method, _PATH, "callbacks:receive", receive_callback, "anybody")
            for method in ("POST", "PUT")
        ]
    )

    def authenticate(self, request: Request) -> Caller | None:
        """The one caller there is."""
        return _RUNNER

    def parse_body(self, request: Request) -> bytes:
        """The bytes, which may be signed."""
        return request.body
