"""The server of the bundled runner service.

``serve`` is what ``zonda runner serve FILE`` calls; ``start`` gives the same in a thread. Both take
the same arguments: ``file`` and ``more`` are the workflow files, ``port`` 0 means a free one,
``state_dir`` keeps the journal and must be used by one service at a time, ``token`` is the bearer
token that callers need (required for a ``host`` that is not this machine), ``signing_keys``
(``whsec_...`` or any text) demand signed requests, and ``callback_keys`` are those that may sign
callbacks, by the section of the runner.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import ThreadingHTTPServer
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from zonda.hooks import UsageError
from zonda.hooks.processes import try_lock

from ..client import webhook_signature
from ..http_contract.callback_receiver import make_receiver
from .clock import ServiceClock
from .config import load_config
from .handlers import Access, Handler
from .journal import Journal
from .supervisor import Runs

HOST = "127.0.0.1"
PORT = 8155
_SIGNING = "signing key of the service"
CallbackKeys = Mapping[str, Sequence[str]]
NO_KEYS: CallbackKeys = MappingProxyType({})


class _Server(ThreadingHTTPServer):
    """A server with one thread per connection; closing it ends those that clients keep open."""

    daemon_threads = False
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], handler: type[Handler]) -> None:
        self._connections: set[socket.socket] = set()
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Remember the connection and serve it."""
        self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Forget the connection and close it."""
        self._connections.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        """Close every connection and wait for its thread."""
        for connection in list(self._connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        super().server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A broken connection is the caller's affair; anything else is shown."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _ServerV6(_Server):
    address_family = socket.AF_INET6


class ServiceHandle:
    """A service in this process. A context manager: leaving it stops the service, not the runs."""

    def __init__(self, server: _Server, runs: Runs, lock: int) -> None:
        self._server = server
        self._runs = runs
        self._lock = lock
        host, self.port = server.server_address[:2]
        shown = f"[{host!s}]" if ":" in str(host) else str(host)
        self.url = f"http://{shown}:{self.port}"
        self._thread = threading.Thread(
            target=server.serve_forever, args=(0.1,), name="runner service", daemon=True
        )
        self._thread.start()

    def wait(self) -> None:
        """Return when the service has been stopped."""
        self._thread.join()

    def stop(self) -> None:
        """Answer no more; runs go on, and the next service with this ``state_dir`` has them."""
        self._server.shutdown()
        self._runs.stop()
        self._server.server_close()
        with contextlib.suppress(OSError):
            os.close(self._lock)

    def __enter__(self) -> ServiceHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def start(
    file: str | Path,
    *more: str | Path,
    state_dir: str | Path,
    host: str = HOST,
    port: int = 0,
    token: str = "",
    signing_keys: Sequence[str] = (),
    callback_keys: CallbackKeys = NO_KEYS,
) -> ServiceHandle:
    """A running service in a thread of this process. Raises UsageError for anything unusable."""
    _check_host(host, token)
    access = Access(token, tuple(_read_key(text, _SIGNING) for text in signing_keys))
    config = load_config(file, *more)
    folder = Path(state_dir).absolute()
    receiver = make_receiver(folder / "callbacks", callback_keys)
    with contextlib.ExitStack() as undo:
        lock = _lock_folder(folder)
        undo.callback(os.close, lock)
        clock = ServiceClock()
        runs = Runs(config, Journal(folder), clock)
        bound = {
            "runs": runs,
            "access": access,
            "clock": clock,
            "callbacks": receiver,
        }
        handler = type("BoundHandler", (Handler,), bound)
        server = _listen(host, port, cast("type[Handler]", handler))
        undo.pop_all()
    runs.recover()
    receiver.callbacks.forget(clock.now())
    return ServiceHandle(server, runs, lock)


def serve(
    file: str | Path,
    *more: str | Path,
    ready: Callable[[str], None] | None = None,
    port: int = PORT,
    **how: Any,
) -> None:
    """Serve until SIGTERM or Ctrl-C. ``ready(url)`` is called when requests are answered."""
    handle = start(file, *more, port=port, **how)
    with handle, _stop_event() as ended:
        if ready is not None:
            ready(handle.url)
        ended.wait()


@contextlib.contextmanager
def _stop_event() -> Iterator[threading.Event]:
    ended = threading.Event()
    before = {
        number: signal.signal(number, lambda *_: ended.set())
        for number in (signal.SIGTERM, signal.SIGINT)
    }
    try:
        yield ended
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _check_host(host: str, token: str) -> None:
    if token and (not token.isprintable() or not token.isascii()):
        raise UsageError("The service's token must be one line of plain ASCII characters.")
    try:
        local = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        local = False
    if not local and not token:
        raise UsageError(
            f"The service would listen on {host}, where others could run its workflows.",
            hint="Give it a token, or let it listen on 127.0.0.1.",
        )


def _read_key(text: str, name: str) -> bytes:
    try:
        return webhook_signature.read_key(text)
    except ValueError as error:
        raise UsageError(f"A {name} cannot be read: {error}.") from None


def _lock_folder(folder: Path) -> int:
    """Lock the state folder for one service."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(folder / "service.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise UsageError(
            f"The service cannot keep its state in {folder}: {error.strerror}.",
            hint="Give it a folder that it may write to.",
        ) from error
    if try_lock(lock):
        os.truncate(lock, 0)
        os.write(lock, str(os.getpid()).encode())
        return lock
    holder = os.read(lock, 32).decode("ascii", "replace")
    os.close(lock)
    raise UsageError(
        f"Another service (process {holder}) uses the state folder {folder}.",
        hint="Stop it, or give this one a folder of its own.",
    )


def _listen(host: str, port: int, handler: type[Handler]) -> _Server:
    kind = _ServerV6 if ":" in host else _Server
    try:
        return kind((host, port), handler)
    except (OSError, OverflowError) as error:
        text = getattr(error, "strerror", None) or str(error)
        raise UsageError(
            f"The service cannot listen on {host} port {port}: {text}.",
            hint="Choose another port; 0 takes a free one.",
        ) from error
