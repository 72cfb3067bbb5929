"""The rule about callbacks, and the listener that it needs: the endpoint calls this process."""

from __future__ import annotations

import contextlib
import json
import queue
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from zonda.hooks import UsageError
from zonda.hooks.conformance import NotApplicable
from zonda.hooks.runners.http_contract import instant

from ..http_contract import callback_signature
from ..http_contract.callback_store import PATH
from ..http_contract.states import FINAL
from .probe import Probe, is_ended
from .response_rules import check_fields
from .trial import Callbacks, Trial
from .violations import Violated

_LONGEST = 1024 * 1024
#: Of a length; what has more is no length of anything.
_MOST_DIGITS = 18


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    told: Callbacks

    def do_PUT(self) -> None:
        """Keep and acknowledge every request."""
        body = self.rfile.read(min(_parse_length(self.headers.get("Content-Length", "")), _LONGEST))
        signature = self.headers.get(callback_signature.HEADER, "")
        self.told.put((self.command, self.path, signature, body))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_POST = do_PUT

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged: answers hold outputs."""


def _parse_length(given: str) -> int:
    """Parse the number of a header, as far as it can be read."""
    is_number = given.isascii() and given.isdigit() and len(given) <= _MOST_DIGITS
    return int(given) if is_number else 0


@contextlib.contextmanager
def callback_listener(address: tuple[str, int]) -> Iterator[tuple[str, Callbacks]]:
    """A listener for as long as the block lasts: its URL, and what it is told."""
    told: Callbacks = queue.Queue()
    handler = type("Bound", (_Handler,), {"told": told})
    try:
        server = ThreadingHTTPServer(address, handler)
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"Callbacks cannot be listened for on {address[0]} port {address[1]}: {error}."
        ) from error
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://{address[0]}:{server.server_port}", told
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def check_callback(trial: Trial) -> None:
    """A run that was given an address tells there how it ended."""
    target = trial.probe.target
    if trial.listener is None:
        raise NotApplicable("no --callback is given: an address would be announced then")
    url, callbacks = trial.listener
    path = f"{PATH}{trial.probe.new_id()}"
    expires = trial.probe.clock.now() + target.timeout
    address = {"url": f"{target.callback_url or url}{path}", "expires": instant(expires)}
    operation = trial.create(callback=address)
    reply = trial.probe.send_once(operation)
    answer = trial.probe.read_accepted(operation, reply)
    if answer is not None and is_ended(answer, reply):
        raise NotApplicable("the run ended with its first answer: there was nothing to tell")
    state = _wait_for_final_state(callbacks, path, trial.probe)
    outcome = trial.keep_outcome(operation, trial.probe.outcome(operation, reply))
    if outcome.state != state:
        raise Violated(
            f"the state {outcome.state}, as the poll says", state, "Tell the same in both places"
        )


def _wait_for_final_state(told: Callbacks, path: str, probe: Probe) -> str:
    """The final state that is told at ``path``."""
    seconds = probe.target.timeout
    while True:
        try:
            method, where, signature, body = told.get(timeout=seconds)
        except queue.Empty:
            raise Violated(
                "PUT or POST of the answer object to callback.url",
                f"none within {seconds:g} s",
                "Tell it there; if it comes too late, zonda polls once a minute",
            ) from None
        if where != path:
            raise Violated(
                f"a callback to {path}", f"{method} {where[:100]}", "Use callback.url as it is"
            )
        _check_signature(probe, signature, path.rpartition("/")[2], body)
        answer = _parse_object(body)
        check_fields(answer)
        if answer["state"] in FINAL:
            return str(answer["state"])


def _check_signature(probe: Probe, signature: str, opaque: str, body: bytes) -> None:
    keys, now = probe.settings.callback_keys, probe.clock.now()
    fault = callback_signature.verify(keys, signature, now, opaque, body) if keys else None
    if fault:
        raise Violated(
            "a callback that is signed with the callback_key",
            fault,
            f"Send {callback_signature.HEADER}: t=SECONDS,v1=HEX, the HMAC-SHA256 of "
            "SECONDS.OPAQUE.BODY; OPAQUE is the last part of the path of callback.url",
        )


def _parse_object(body: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict) or not isinstance(answer.get("state"), str):
        raise Violated(
            "a JSON object with a state in the callback",
            body[:60].decode("utf-8", "replace") or "nothing",
            "Send the answer object that a poll would get",
        )
    return answer
