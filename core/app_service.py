"""How commands find the bundled workflow service, and what they do while it is not running.

A running service keeps ``$ZONDA_HOME/runner.json`` locked, with its address and its token in it;
the lock goes with the process, so a file that is not locked tells of a service that is gone.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zonda.hooks.context import Clock
from zonda.hooks.errors import Conflict, ResourceFailure, StoreError, UsageError
from zonda.hooks.runner import (
    Cancelled,
    Failed,
    Finished,
    PollAnswer,
    Retry,
    Running,
    StartAnswer,
    StartRequest,
    WorkflowRunner,
)

from . import settings_values
from .folders import make_folder
from .settings_table import Settings

NOT_RUNNING = "the bundled workflow service is not running"
HINT = "Start it with 'zonda runner serve FILE', or set default_runner to another runner."
_LOOK_AGAIN = 1.0


@dataclass(frozen=True, slots=True)
class Service:
    """A service that runs. ``address`` is a URL."""

    address: str
    token: str = field(repr=False)
    pid: int


class ServiceRecord:
    """The file ``runner.json`` of one home."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._held: int | None = None

    def service(self) -> Service | None:
        """The running service, or None."""
        try:
            handle = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            # Whoever could lock the file finds that nobody keeps it locked.
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return _read(handle)
        else:
            return None
        finally:
            os.close(handle)

    def check_free(self) -> None:
        """Raise Conflict if a service runs."""
        other = self.service()
        if other is not None:
            raise self._taken(other)

    def publish(self, address: str, token: str) -> None:
        """Say that this process is the service. Raises Conflict if another one is."""
        make_folder(self.path.parent)
        try:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreError(
                f"The file {self.path} cannot be written: {error.strerror}.",
                hint="Choose another folder with --home or ZONDA_HOME.",
            ) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            other = _read(handle)
            os.close(handle)
            raise self._taken(other) from None
        record = {"address": address, "token": token, "pid": os.getpid()}
        os.fchmod(handle, 0o600)
        os.ftruncate(handle, 0)
        os.pwrite(handle, json.dumps(record).encode(), 0)
        self._held = handle

    def _taken(self, other: Service | None) -> Conflict:
        who = f" (process {other.pid}, {other.address})" if other else ""
        return Conflict(
            f"A workflow service is already running for {self.path.parent}{who}.",
            hint="Stop it with 'zonda runner stop', or use another --home.",
        )

    def withdraw(self) -> None:
        """Take the record back."""
        if self._held is not None:
            os.ftruncate(self._held, 0)
            os.close(self._held)
            self._held = None


def _read(handle: int) -> Service | None:
    """What the file says; None while the service is still writing it."""
    try:
        told = json.loads(os.pread(handle, 4096, 0))
        return Service(str(told["address"]), str(told["token"]), int(told["pid"]))
    except (ValueError, KeyError, TypeError):
        return None


def folder_of_service(settings: Settings) -> Path:
    """Where the bundled service keeps its runs, and what callbacks told it."""
    return settings.home / "runner"


def place_of_service(settings: Settings) -> dict[str, str]:
    """The service's folder, and the URL that the settings promise; empty where they do not."""
    host, port = host_and_port(settings.service_address)
    shown = f"[{host}]" if ":" in host else host
    callable_ = port and host not in ("0.0.0.0", "::")
    url = f"http://{shown}:{port}" if callable_ else ""
    return {"folder": str(folder_of_service(settings) / "callbacks"), "url": url}


def host_and_port(address: str) -> tuple[str, int]:
    """The parts of ``127.0.0.1:8155``; raises UsageError."""
    try:
        return settings_values.host_and_port(address)
    except ValueError as error:
        raise UsageError(f"The address {address} {error}.") from error


class BundledRunner(WorkflowRunner):
    """The ``http`` runner at the running service's address, wherever that is just now.

    While no service runs, starts are tried again for ``give_up`` seconds and runs that have been
    started go on: the service finds them again when it comes back.
    """

    def __init__(
        self,
        record: ServiceRecord,
        make: Callable[[Mapping[str, Any]], WorkflowRunner],
        clock: Clock,
        give_up: float,
        *,
        lenient: bool = False,
    ) -> None:
        self._record = record
        self._make = make
        self._clock = clock
        self._give_up = give_up
        self._lenient = lenient
        self._known: tuple[Service, WorkflowRunner] | None = None

    def _inner(self) -> WorkflowRunner | None:
        service = self._record.service()
        if service is None:
            return None
        known = self._known
        if known is None or known[0] != service:
            section = {"endpoint": service.address, "token": service.token}
            known = self._known = (service, self._make(section))
        return known[1]

    def check(self, workflow: str) -> None:
        """Raise ResourceFailure if no service runs, or it does not know ``workflow``."""
        if self._lenient:
            return
        inner = self._inner()
        if inner is None:
            message = f"The workflow {workflow} cannot be run: {NOT_RUNNING}."
            raise ResourceFailure(message, hint=HINT)
        inner.check(workflow)

    def start(self, request: StartRequest) -> StartAnswer:
        """Start at the service; wait for it to come up if it is not there."""
        inner = self._inner()
        if inner is not None:
            return inner.start(request)
        if self._clock.now() - request.started_at < self._give_up:
            return Retry(_LOOK_AGAIN, f"{NOT_RUNNING}: zonda runner serve FILE", request.answered)
        return Finished(Failed(f"{NOT_RUNNING}. {HINT}"))

    def poll(self, token: Mapping[str, Any]) -> PollAnswer:
        """Ask the service; until it comes back the run counts as running."""
        inner = self._inner()
        if inner is None:
            return Running(_LOOK_AGAIN, f"{NOT_RUNNING}: zonda runner serve FILE")
        return inner.poll(token)

    def cancel(self, token: Mapping[str, Any], reason: str) -> Cancelled:
        """Ask the service."""
        inner = self._inner()
        return Cancelled.UNSUPPORTED if inner is None else inner.cancel(token, reason)

    def forget(self, token: Mapping[str, Any]) -> None:
        """Tell the service."""
        inner = self._inner()
        if inner is not None:
            inner.forget(token)

    def close(self) -> None:
        """Close the connections to the service."""
        if self._known is not None:
            self._known[1].close()
            self._known = None
