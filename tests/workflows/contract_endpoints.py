"""Endpoints on the loopback: a good one, a stranger's naive webhook, and many that are broken."""

from __future__ import annotations

import hashlib
import hmac
import http.server
import itertools
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import requests

from zonda.workflows.client import webhook_signature

SIGNING_KEY = "whsec_c2VjcmV0IG9mIHRoZSB0ZXN0cw=="
Answer = tuple[int, dict[str, str], Any]


class Good:
    """Keeps the contract: 202 with a Location, one poll that says running, then the end."""

    signed = False
    polls = 1
    callback_key = b""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.runs: dict[str, dict[str, Any]] = {}
        self.numbers = itertools.count(1)
        self.things: set[str] = set()
        self.over = threading.Event()
        self.now: Callable[[], float] = lambda: 0.0

    # -- what is answered; broken ones override these -----------------------------------------

    def answer(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        fault = self.refuses(headers, body)
        if fault:
            return 401, {}, {"reason": fault}
        with self.lock:
            if method == "POST":
                return self.start(path, headers, body)
            return self.later(method, path)

    def refuses(self, headers: Mapping[str, str], body: bytes) -> str:
        if not self.signed:
            return ""
        keys = [webhook_signature.read_key(SIGNING_KEY)]
        return webhook_signature.verify(keys, headers, self.now(), body) or ""

    def start(self, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        key, digest = headers["idempotency-key"], hashlib.sha256(body).hexdigest()
        request = json.loads(body)
        run = self.runs.get(key)
        if run is None:
            run = self.runs[key] = self.begun(key, digest, request)
        elif run["digest"] != digest:
            return 409, {}, {"reason": "this key was used for another body"}
        return self.told(run)

    def begun(self, key: str, digest: str, request: Mapping[str, Any]) -> dict[str, Any]:
        ends = self.work(request)
        self.call_back(request, ends)
        return {"key": key, "digest": digest, "polls": self.polls, "ends": ends}

    def work(self, request: Mapping[str, Any]) -> dict[str, Any]:
        thing = request["resource"]["id"]
        if request["action"] == "DELETE":
            self.things.discard(thing)
            return {"state": "succeeded"}
        if request["inputs"].get("fail"):
            return {"state": "failed", "reason": "told to fail"}
        self.things.add(thing)
        output = {"number": next(self.numbers)}
        return {"state": "succeeded", "output": output, "resource_id": f"thing-{thing}"}

    def call_back(self, request: Mapping[str, Any], ends: Mapping[str, Any]) -> None:
        address = request.get("callback")
        if address:
            body, headers = json.dumps(ends).encode(), {"Content-Type": "application/json"}
            if self.callback_key:
                moment = str(int(self.now()))
                content = f"{moment}.{address['url'].rpartition('/')[2]}.".encode() + body
                code = hmac.new(self.callback_key, content, hashlib.sha256).hexdigest()
                headers["Zonda-Callback-Signature"] = f"t={moment},v1={code}"
            call = {"data": body, "headers": headers, "timeout": 10}
            threading.Thread(target=requests.put, args=(address["url"],), kwargs=call).start()

    def told(self, run: dict[str, Any]) -> Answer:
        if run["polls"] <= 0:
            return 200, {}, run["ends"]
        place = f"/runs/{run['key']}"
        running = {"state": "running", "cancellable": True, "retry_after": 0.02}
        return 202, {"Location": place}, running

    def later(self, method: str, path: str) -> Answer:
        run = self.runs.get(path.rpartition("/")[2])
        if run is None:
            return 404, {}, {"reason": "no such run"}
        if method == "DELETE":
            run.update(polls=0, ends={"state": "cancelled", "reason": "cancelled"})
            return 202, {}, {"state": "running"}
        run["polls"] -= 1
        return self.told(run)

    # -- the wire -----------------------------------------------------------------------------

    def respond(self, handler: http.server.BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("Content-Length") or 0)
        body = handler.rfile.read(length)
        headers = {name.lower(): value for name, value in handler.headers.items()}
        status, more, content = self.answer(handler.command, handler.path, headers, body)
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        handler.send_response(status)
        for name, value in {"Content-Type": "application/json", **more}.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)


class Naive(Good):
    """A stranger's webhook: it knows nothing of keys, states and deadlines."""

    def answer(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        request = json.loads(body)
        return 200, {}, {"resource_id": f"n-{request['resource']['id']}", "ok": True}


class Synchronous(Good):
    """Done with the first answer; a DELETE is answered with 204."""

    polls = 0

    def told(self, run: dict[str, Any]) -> Answer:
        return super().told(run) if "output" in run["ends"] else (204, {}, b"")


class Signed(Good):
    signed = True


class Html(Good):
    def answer(self, *given: Any) -> Answer:
        return 200, {"Content-Type": "text/html"}, b"<html>Welcome to the portal</html>"


class NotJson(Good):
    def answer(self, *given: Any) -> Answer:
        return 200, {}, b"{'state': 'succeeded'}"


class AList(Good):
    def answer(self, *given: Any) -> Answer:
        return 200, {}, ["done"]


class Elsewhere(Good):
    def answer(self, *given: Any) -> Answer:
        return 307, {"Location": "https://elsewhere.example/hook"}, b""


class PollsElsewhere(Good):
    def told(self, run: dict[str, Any]) -> Answer:
        status, headers, body = super().told(run)
        return status, {"Location": "http://elsewhere.example/runs/1"} if headers else {}, body


class PollRedirectsElsewhere(Good):
    def later(self, method: str, path: str) -> Answer:
        return 303, {"Location": "http://elsewhere.example/runs/1"}, b""


class Endless(Good):
    polls = 1_000_000


class ForgetsRuns(Good):
    def later(self, method: str, path: str) -> Answer:
        return 404, {}, {"reason": "no such run"}


class WorksTwice(Good):
    """Takes no notice of keys."""

    def start(self, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        self.runs.pop(headers["idempotency-key"], None)
        return super().start(path, headers, body)


class WorksTwiceAtOnce(Good):
    """Looks the key up before it works, and stores it only afterwards."""

    polls = 0

    def __init__(self) -> None:
        super().__init__()
        self.meeting = threading.Barrier(2)
        self.firsts = 0

    def answer(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        key = headers["idempotency-key"]
        known = key in self.runs
        self.firsts += not known
        if self.firsts in (2, 3) and not known:
            self.meeting.wait(10)  # the second and the third are the two that come at once
        with self.lock:
            if not known:
                self.runs.pop(key, None)
            return self.start(path, headers, body)


class RefusesTheSameKey(Good):
    def start(self, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        if headers["idempotency-key"] in self.runs:
            return 409, {}, {"reason": "duplicate"}
        return super().start(path, headers, body)


class OtherBodyWorks(Good):
    """The key is good for one body only, and another body is another run."""

    def start(self, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        key = headers["idempotency-key"] + hashlib.sha256(body).hexdigest()
        return super().start(path, {**headers, "idempotency-key": key}, body)


class TakesAnySignature(Signed):
    def refuses(self, headers: Mapping[str, str], body: bytes) -> str:
        return "" if "webhook-signature" in headers else "not signed"


class TakesOldSignatures(Signed):
    def refuses(self, headers: Mapping[str, str], body: bytes) -> str:
        keys = [webhook_signature.read_key(SIGNING_KEY)]
        stamp = float(headers.get("webhook-timestamp", "0"))
        return webhook_signature.verify(keys, headers, stamp, body) or ""


class TakesOneSignature(Signed):
    def refuses(self, headers: Mapping[str, str], body: bytes) -> str:
        first = headers.get("webhook-signature", "").partition(" ")[0]
        return super().refuses({**headers, "webhook-signature": first}, body)


class TakesUnsigned(Signed):
    def refuses(self, headers: Mapping[str, str], body: bytes) -> str:
        return super().refuses(headers, body) if "webhook-signature" in headers else ""


class Huge(Good):
    def answer(self, *given: Any) -> Answer:
        return 200, {}, {"x": "x" * (1024 * 1024 + 1)}


class DeleteNotFound(Good):
    def work(self, request: Mapping[str, Any]) -> dict[str, Any]:
        if request["action"] == "DELETE" and request["resource"]["id"] not in self.things:
            raise KeyError
        return super().work(request)

    def start(self, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        try:
            return super().start(path, headers, body)
        except KeyError:
            return 404, {}, {"reason": "no such thing"}


class EverythingIsGone(Good):
    """A mistyped name looks like a thing that is gone."""

    def start(self, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        if not path.endswith("/workflows/thing"):
            return 404, {}, {"contract": 1, "reason": "gone"}
        return super().start(path, headers, body)


class Drip(Good):
    def respond(self, handler: http.server.BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", "100000")
        handler.end_headers()
        while not self.over.wait(0.05):
            handler.wfile.write(b" ")
            handler.wfile.flush()
        handler.close_connection = True


class Impatient(Good):
    def told(self, run: dict[str, Any]) -> Answer:
        status, headers, body = super().told(run)
        return status, {**headers, "Retry-After": "soon"}, body


class StrangeWords(Good):
    def told(self, run: dict[str, Any]) -> Answer:
        status, headers, body = super().told(run)
        states = {"succeeded": "SUCCESS"}
        return status, headers, {**body, "state": states.get(body["state"], "RUNNING")}


class StrangeFields(Good):
    polls = 0

    def told(self, run: dict[str, Any]) -> Answer:
        return 200, {}, {**run["ends"], "output": ["a"]}


class FailsSilently(Good):
    def work(self, request: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in super().work(request).items() if name != "reason"}


class CannotFail(Good):
    def work(self, request: Mapping[str, Any]) -> dict[str, Any]:
        return super().work({**request, "inputs": {}})


class CancelBreaks(Good):
    def later(self, method: str, path: str) -> Answer:
        return (500, {}, {"reason": "oops"}) if method == "DELETE" else super().later(method, path)


class CancelElsewhere(Good):
    def told(self, run: dict[str, Any]) -> Answer:
        status, headers, body = super().told(run)
        return status, headers, {**body, "cancel_url": "http://elsewhere.example/stop"}


class NeverCallsBack(Good):
    def call_back(self, request: Mapping[str, Any], ends: Mapping[str, Any]) -> None:
        """Forgets it."""


class CallsBackWrongly(Good):
    def call_back(self, request: Mapping[str, Any], ends: Mapping[str, Any]) -> None:
        super().call_back(request, {"status": "done"})


class Broken(Good):
    def answer(self, *given: Any) -> Answer:
        return 500, {}, {"reason": "division by zero"}


class LetsAnybodyIn(Good):
    """Takes no notice of tokens."""


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """A client that hangs up is what these tests expect."""


@contextmanager
def served(endpoint: Good) -> Iterator[str]:
    """``endpoint`` on a free port of this machine; its URL."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # one segment for an answer: else each costs 40 ms
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            endpoint.respond(self)

        do_GET = do_DELETE = do_POST

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = _Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        endpoint.over.set()
        server.shutdown()
        thread.join()
        server.server_close()
