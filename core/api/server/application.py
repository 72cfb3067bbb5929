"""The ASGI application: bodies with a limit, thread pools, answers as bytes.

Nothing here blocks the event loop: whatever reads the database or loads templates runs in a
thread of one of two pools. Requests of the API are read from ASGI's messages directly, since what
Starlette makes of each costs as much as answering it; all other paths are Starlette's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from zonda.hooks.errors import ZondaError
from zonda.hooks.records import replace

from ..http.calls import EMPTY, Answer, make_text
from ..http.errors import answer_error, answer_failure
from ..http.interfaces import Interface
from ..http.requests import Request
from .dispatch import Dispatcher, Target
from .hosts import NO_PROXIES, Hosts, Proxies
from .readiness import Readiness
from .streams import send_stream

#: Paths that tell whether the process answers, and whether its engine runs.
HEALTH = frozenset({"/healthcheck", "/healthz"})
READINESS = "/readyz"
#: Threads for most requests, and for those that load templates.
THREADS = 40
HEAVY_THREADS = 4
#: Requests that may wait for a thread, and for one that loads templates.
_LINE = 460
_HEAVY_LINE = 16
#: Seconds until a body must be there, and until a request must be answered.
BODY_SECONDS = ANSWER_SECONDS = 60.0
_HEAD_BYTES = 16384
_CLOSE = {"Connection": "close"}

T = TypeVar("T")


class _Gone(Exception):
    """The client does not wait any more."""


class Pool:
    """Threads, and how many requests they have or wait for one."""

    def __init__(self, name: str, threads: int) -> None:
        self._threads = ThreadPoolExecutor(threads, f"zonda-{name}")
        self._size = threads
        self._count = 0

    def has_room(self, line: int) -> bool:
        """Whether a thread is free, or the line of those who wait is shorter than ``line``."""
        return self._count < self._size + line

    async def run(self, function: Callable[[], T]) -> T:
        """The result of ``function``, which runs in a thread."""
        self._count += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, function)
        finally:
            self._count -= 1

    def close(self) -> None:
        """Let the threads end."""
        self._threads.shutdown(wait=False)


class Application:
    """The application for a server, or for a test's client."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        hosts: Hosts,
        max_body: int,
        readiness: Readiness,
        proxies: Proxies = NO_PROXIES,
    ) -> None:
        self._dispatcher = dispatcher
        self._hosts = hosts
        self._max_body = max_body
        self._readiness = readiness
        self._proxies = proxies
        self._new_id: Callable[[], str] = dispatcher.service.app.ids
        self._pool = Pool("api", THREADS)
        self._heavy = Pool("heavy", HEAVY_THREADS)
        self._others = Starlette(routes=[Route("/{path:path}", _Endpoint(self))])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or take part in the life of the server."""
        if scope["type"] == "http" and self._dispatcher.find_interface(scope["path"]):
            await self.answer(scope, receive, send)
        else:
            await self._others(scope, receive, send)

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        key = f"req-{self._new_id()}"
        try:
            answer = await self._find_answer(scope, receive, key)
        except _Gone:
            return
        except asyncio.CancelledError:  # by the server, which ends and has waited long enough
            answer = _answer_busy("The server stops; look whether it is carried out.")
        stream = answer.stream
        if stream is not None:
            try:
                stream.open()
            except ZondaError as error:
                answer = answer_error(error)
            else:
                head = _build_headers(answer, key, None)
                await send_stream(stream, head, self._pool.run, receive, send)
                return
        body = answer.format_body()
        await send(
            {
                "type": "http.response.start",
                "status": answer.status,
                "headers": _build_headers(answer, key, body),
            }
        )
        await send({"type": "http.response.body", "body": body})

    async def _find_answer(self, scope: Scope, receive: Receive, key: str) -> Answer:
        pairs = scope["headers"]
        if sum(len(name) + len(value) for name, value in pairs) > _HEAD_BYTES:
            message = "The headers are too large."
            return self._refuse(scope["path"], 431, "RequestLimitExceeded", message)
        path, method = scope["path"], scope["method"]
        if path in HEALTH:  # under any name: probes call an address, and neither answer is a secret
            return make_text(200, "OK", "text/plain")
        if path == READINESS:
            return await self._pool.run(self._readiness.answer)
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in pairs}
        address = (scope.get("client") or ("",))[0]
        scheme, host = self._proxies.find_origin(address, scope["scheme"], headers)
        base = self._hosts.find_base(scheme, host)
        if base is None:
            return answer_failure(400, "HTTPBadRequest", "This server has no such host name.")
        query = scope["query_string"].decode("latin-1")
        request = Request(method, path, query, headers, b"", base, key)
        target = self._dispatcher.find_target(method, path)
        if "content-length" in headers or "transfer-encoding" in headers:
            most = self._find_largest_body(headers, target)
            if most > self._max_body and target is not None:
                stranger = await self._pool.run(lambda: _find_refusal(request, target.interface))
                if stranger is not None:
                    return replace(stranger, headers={**stranger.headers, **_CLOSE})
            try:
                async with asyncio.timeout(BODY_SECONDS):
                    body = await self._read_body(headers, receive, most)
            except TimeoutError:
                return self._refuse(path, 408, "RequestTimeout", "The body did not come in time.")
            if body is None:
                message = f"JSON body size exceeds maximum allowed size ({most} bytes)."
                return self._refuse(path, 400, "RequestLimitExceeded", message)
            request = replace(request, body=body)
        if self._dispatcher.has_answer(request, target):
            return self._dispatcher.answer(request, target)
        return await self._answer_in_pool(request, target)

    async def _answer_in_pool(self, request: Request, target: Target | None) -> Answer:
        route = target.match.route if target is not None and target.match is not None else None
        is_heavy = route is not None and route.is_heavy
        pool, line = (self._heavy, _HEAVY_LINE) if is_heavy else (self._pool, _LINE)
        if not pool.has_room(line):
            return _answer_busy("The server is busy; try again.")
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return await pool.run(lambda: self._dispatcher.answer(request, target).finish())
        except TimeoutError:
            return _answer_busy("The answer takes too long; look whether it is carried out.")

    def _refuse(self, path: str, status: int, kind: str, message: str) -> Answer:
        """The answer to a request that is not read to its end: no other one follows it."""
        interface = self._dispatcher.find_interface(path)
        fail = answer_failure if interface is None else interface.answer_failure
        answer = fail(status, kind, message)
        return replace(answer, headers={**answer.headers, **_CLOSE})

    def _find_largest_body(self, headers: dict[str, str], target: Target | None) -> int:
        """The bytes that a body may have: the interface's limit where the length is announced."""
        length = headers.get("content-length", "")
        if target is None or not length.isdigit() or int(length) <= self._max_body:
            return self._max_body
        return max(self._max_body, target.interface.largest_body)

    async def _read_body(
        self, headers: dict[str, str], receive: Receive, most: int
    ) -> bytes | None:
        """The body; None for one of more than ``most`` bytes, which is not read to its end."""
        length = headers.get("content-length", "")
        if length.isdigit() and int(length) > most:
            return None
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise _Gone
            body += message.get("body", b"")
            if len(body) > most:
                return None
            if not message.get("more_body", False):
                return bytes(body)

    def close(self) -> None:
        """Let the threads end."""
        self._dispatcher.service.hub.close()
        self._pool.close()
        self._heavy.close()


class _Endpoint:
    """The endpoint that Starlette calls for the paths that are not of the API."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await self._application.answer(scope, receive, send)


def _find_refusal(request: Request, interface: Interface) -> Answer | None:
    """The answer to a caller whom nobody knows, who may send no large body; None for others."""
    try:
        return None if interface.authenticate(request) else interface.answer_stranger(request)
    except ZondaError as error:
        return interface.answer_error(error, request)


def _answer_busy(message: str) -> Answer:
    answer = answer_failure(503, "ServiceUnavailable", message)
    return Answer(503, answer.body, {"Retry-After": "1"})


def _build_headers(answer: Answer, key: str, body: bytes | None) -> list[tuple[bytes, bytes]]:
    headers = [
        (name.lower().encode("latin-1"), value.encode("latin-1"))
        for name, value in answer.headers.items()
    ]
    headers.append((b"x-openstack-request-id", key.encode()))
    if answer.body is EMPTY:
        return headers
    charset = "" if answer.media_type == "application/json" else "; charset=UTF-8"
    headers.append((b"content-type", f"{answer.media_type}{charset}".encode()))
    if body is not None:
        headers.append((b"content-length", str(len(body)).encode()))
    return headers
