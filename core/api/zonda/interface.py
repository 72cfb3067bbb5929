"""The interface of zonda's own API: failures as the errors that the command line shows."""

from __future__ import annotations

from typing import Any

from zonda.core.engine.actions.wire import error_to_dict
from zonda.core.template.files.attachments import FetchLimits
from zonda.hooks.errors import NotFound, RequestError, StoreError, ZondaError

from ..http.calls import Answer
from ..http.errors import find_status
from ..http.interfaces import Interface
from ..http.requests import Request
from .actions import OPERATIONS
from .routes import PREFIX, TABLE


class ZondaInterface(Interface):
    """Zonda's own API."""

    prefix = PREFIX
    table = TABLE
    #: The files of a bundle as JSON writes them: every character may be escaped.
    largest_body = 2 * FetchLimits().total_bytes
    inner_operations = ("outputs:reveal", "types:declare", *OPERATIONS.values())

    def answer_stranger(self, request: Request) -> Answer:
        """The answer to a caller whom nobody knows."""
        answer = _answer(401, RequestError("The server asks for a token that it knows."))
        headers = {"WWW-Authenticate": self.identity.challenge} if self.identity.challenge else {}
        return Answer(answer.status, answer.body, headers)

    def answer_unknown_path(self, request: Request) -> Answer:
        """The answer to a path that no route has."""
        return _answer(404, NotFound("operation", request.path))

    def answer_error(self, error: ZondaError, request: Request) -> Answer:
        """The answer to an error, as a whole."""
        status = find_status(error)
        delay = str(getattr(error, "delay", 1))
        headers = {"Retry-After": delay} if status in (429, 503) else {}
        answer = _answer(400 if status == 500 else status, error)
        return Answer(answer.status, answer.body, headers)

    def answer_failure(self, status: int, kind: str, message: str | None = None) -> Answer:
        """The answer of a status; of the server's own faults no more than that."""
        if message is None:
            hint = "The server's log has it under the request's id."
            return _answer(status, StoreError("The server failed.", hint=hint))
        return _answer(status, RequestError(message))


def _answer(status: int, error: ZondaError) -> Answer:
    body: dict[str, Any] = {"error": error_to_dict(error)}
    return Answer(status, body)
