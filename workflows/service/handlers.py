"""The HTTP API of the bundled service: zonda's ``http`` contract over the runs.

``http.server`` is enough: the clients are a few engines on a trusted network, each request is
small, work happens in other processes, and it starts in a tenth of the time of a framework.
Routes (a leading ``/v1`` is ignored)::

    POST   /workflows/NAME     accept a run (202 + Location), or tell what became of the same one
    GET    /workflows/NAME     whether there is such a workflow
    GET    /executions         every run with its count of starts
    GET    /executions/KEY     how a run is doing
    DELETE /executions/KEY     cancel it
    PUT    /callbacks/OPAQUE   how a run at another endpoint is doing (POST does the same)
    GET    /health             that the service is there
"""

from __future__ import annotations

import hmac
import json
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from zonda.hooks import Clock

from ..client import webhook_signature
from ..http_contract import callback_signature
from ..http_contract.callback_receiver import CallbackReceiver, CallbackRefusal, parse_object
from .journal import KeyReused
from .supervisor import Runs, TooLate, UnknownWorkflow

LONGEST_BODY = 1024 * 1024
LONGEST_KEY = 255
_MOST_DROPPED, _CHUNK = 64 * LONGEST_BODY, 65536
#: Of a length: what has more is too much anyway, and a number of thousands cannot even be read.
_MOST_DIGITS = 18
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True, slots=True)
class Access:
    """The access rules. Without a token only programs on this machine may call."""

    token: str = field(default="", repr=False)
    signing_keys: tuple[bytes, ...] = field(default=(), repr=False)


class Refused(Exception):
    """The request gets an error answer."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


class Handler(BaseHTTPRequestHandler):
    """Answers requests on one connection. A subclass sets runs, access, clock and callbacks."""

    runs: Runs
    access: Access
    clock: Clock
    callbacks: CallbackReceiver

    protocol_version = "HTTP/1.1"
    server_version = "zonda-runner"
    sys_version = ""
    timeout = 120
    # One segment for an answer, sent at once: else delayed acknowledgements cost 40 ms each.
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Answer a request."""
        self._serve()

    do_POST = do_GET
    do_DELETE = do_GET
    do_PUT = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: requests hold inputs, and runs are in the journal."""

    # -- one request --------------------------------------------------------------------------

    def _serve(self) -> None:
        try:
            body = self._read_body()
            status, answer, location = self._route(body)
        except Refused as refusal:
            status, answer, location = refusal.status, {"reason": refusal.reason}, ""
        self._send(status, answer, location)

    def _route(self, body: bytes) -> tuple[int, dict[str, Any], str]:
        path = self.path.partition("?")[0]
        parts = [unquote(part) for part in path.split("/") if part]
        if parts[:1] == ["v1"]:
            del parts[0]
        if (self.command, parts) == ("GET", ["health"]):
            return 200, {"status": "ok"}, ""
        if self.command in ("PUT", "POST") and parts[:1] == ["callbacks"]:
            return self._accept_callback("/".join(parts[1:]), body)
        self._admit(body)
        match self.command, parts:
            case "POST", ["workflows", name]:
                return self._accept(name, body)
            case "GET", ["workflows", name]:
                return self._answer_workflow(name)
            case "GET", ["executions"]:
                return 200, {"executions": list(self.runs.list_runs())}, ""
            case "GET", ["executions", key]:
                return self._answer_execution(key)
            case "DELETE", ["executions", key]:
                return self._cancel_execution(key)
        raise Refused(404, f"There is no {self.command} {path} here.")

    def _read_body(self) -> bytes:
        given = self.headers.get("Content-Length", "0")
        if "Transfer-Encoding" in self.headers or not (given.isascii() and given.isdigit()):
            self.close_connection = True
            raise Refused(411, "A body needs a Content-Length.")
        length = int(given.lstrip("0")[:_MOST_DIGITS] or "0")
        if length > LONGEST_BODY:
            self.close_connection = True
            self._drop(length)
            raise Refused(413, f"A body may have {LONGEST_BODY} bytes.")
        body = self.rfile.read(length)
        if len(body) < length:
            self.close_connection = True
            raise Refused(400, "The body ends early.")
        return body

    def _drop(self, length: int) -> None:
        """Read a body that is too large: a client that still sends would not see the answer."""
        left = min(length, _MOST_DROPPED)
        while left > 0 and (part := self.rfile.read(min(left, _CHUNK))):
            left -= len(part)

    def _admit(self, body: bytes) -> None:
        """Raise Refused for strangers, web pages that make a browser call included."""
        if self.access.token:
            given = self.headers.get("Authorization", "").encode()
            if not hmac.compare_digest(given, f"Bearer {self.access.token}".encode()):
                raise Refused(401, "The token is missing or wrong.")
        elif _parse_host(self.headers.get("Host", "")) not in _LOOPBACK:
            raise Refused(403, "Without a token only this machine may call, by its own name.")
        if self.access.signing_keys:
            keys, now = self.access.signing_keys, self.clock.now()
            headers = {name.lower(): value for name, value in self.headers.items()}
            fault = webhook_signature.verify(keys, headers, now, body)
            if fault:
                raise Refused(401, f"The request is refused: {fault}.")

    def _accept(self, name: str, body: bytes) -> tuple[int, dict[str, Any], str]:
        if self.headers.get_content_type() != "application/json":
            raise Refused(415, "The body must be application/json.")
        key = self.headers.get("Idempotency-Key", "")
        if not key or len(key) > LONGEST_KEY or not key.isprintable():
            raise Refused(400, "An Idempotency-Key of 1 to 255 characters is needed.")
        _check_request(body)
        try:
            run = self.runs.submit(name, key, body)
        except UnknownWorkflow:
            return self._answer_unknown_workflow(name)
        except TooLate:
            raise Refused(400, "The deadline is over: nobody waits for this run.") from None
        except KeyReused:
            raise Refused(409, "This Idempotency-Key was used for another request.") from None
        except OSError as error:
            # A full disk, say: nothing was accepted, and the same request may come again.
            raise Refused(503, f"The run cannot be journaled: {error.strerror}.") from error
        return self._answer_execution(run.key)

    def _answer_workflow(self, name: str) -> tuple[int, dict[str, Any], str]:
        return (
            (200, {"workflow": name}, "")
            if self.runs.knows(name)
            else self._answer_unknown_workflow(name)
        )

    def _answer_unknown_workflow(self, name: str) -> tuple[int, dict[str, Any], str]:
        # Without "contract": a mistyped name must not look like a thing that is gone.
        reason = f"The workflow file of the service has no workflow {name!r}."
        return 404, {"reason": reason, "unknown_workflow": name}, ""

    def _answer_execution(self, key: str) -> tuple[int, dict[str, Any], str]:
        run = self.runs.find(key)
        if run is None:
            raise Refused(404, "There is no execution with this key.")
        answer = self.runs.answer(run)
        if answer["state"] != "running":
            return 200, answer, ""
        location = f"/executions/{quote(key, safe='')}"
        return 202, {**answer, "status_url": location}, location

    def _cancel_execution(self, key: str) -> tuple[int, dict[str, Any], str]:
        run = self.runs.find(key)
        if run is None:
            raise Refused(404, "There is no execution with this key.")
        if run.read_result() is None:
            self.runs.cancel(run)
        return self._answer_execution(key)

    def _accept_callback(self, opaque: str, body: bytes) -> tuple[int, dict[str, Any], str]:
        """Store a callback. Its address needs no token; some need a signature."""
        signature = self.headers.get(callback_signature.HEADER, "")
        try:
            answer = self.callbacks.receive(opaque, signature, body, self.clock.now())
        except CallbackRefusal as refusal:
            raise Refused(refusal.status, refusal.reason) from refusal
        return 200, answer, ""

    def _send(self, status: int, answer: dict[str, Any], location: str) -> None:
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        if location:
            self.send_header("Location", location)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)


def _parse_host(header: str) -> str | None:
    """The host in a ``Host`` header, without the port."""
    try:
        return urlsplit(f"//{header}").hostname
    except ValueError:
        return None


def _check_request(body: bytes) -> None:
    try:
        contract = parse_object(body).get("contract", 1)
    except CallbackRefusal as refusal:
        raise Refused(refusal.status, refusal.reason) from refusal
    if contract != 1:
        raise Refused(400, "Only version 1 of the contract is spoken here.")
