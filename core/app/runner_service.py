"""How commands find the bundled workflow services of a home.

One of them is ``bundled``; others have names of their own. A running service keeps its record
(``$ZONDA_HOME/runner.json``, ``runners/NAME.json``) locked, with its address, its token and what it
serves in it. The lock goes with the process; what a service has served stays known.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shlex
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zonda.core.settings import values
from zonda.core.settings.table import BUNDLED, Settings
from zonda.core.system.folders import make_folder
from zonda.core.system.ids import new_token
from zonda.hooks.errors import Conflict, StoreError, UsageError

HINT = "Start it with 'zonda runner serve FILE', or set default_runner to another runner."
#: Is told the URL of a service that answers.
Publish = Callable[[str], None]
#: Bytes of a record that are read at most.
_LONGEST = 1024 * 1024
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}\Z")


@dataclass(frozen=True, slots=True)
class Serving:
    """What a service serves, or has served: workflow files and the names in them."""

    name: str
    files: tuple[str, ...] = ()
    workflows: frozenset[str] = frozenset()

    @property
    def command(self) -> str:
        """What starts such a service."""
        named = [] if self.name == BUNDLED else ["--name", self.name]
        words = [*self.files, *named] if self.files else ["FILE", *named]
        return shlex.join(["zonda", "runner", "serve", *words])


@dataclass(frozen=True, slots=True)
class Service:
    """A service that runs. ``address`` is a URL."""

    address: str
    token: str = field(repr=False)
    pid: int
    serving: Serving


class ServiceRecord:
    """The record of one service of a home."""

    def __init__(self, path: Path, name: str = BUNDLED) -> None:
        self.path = path
        self.name = name
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
            return self._read(handle)
        else:
            return None
        finally:
            os.close(handle)

    def serving(self) -> Serving:
        """What the service serves, or has served when it ran last."""
        try:
            handle = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return Serving(self.name)
        try:
            return self._serving(_told(handle))
        finally:
            os.close(handle)

    def check_free(self) -> None:
        """Raise Conflict if the service runs."""
        other = self.service()
        if other is not None:
            raise self._taken(other)

    def publish(
        self, address: str, token: str, files: Sequence[str] = (), workflows: Collection[str] = ()
    ) -> None:
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
            other = self._read(handle)
            os.close(handle)
            raise self._taken(other) from None
        os.fchmod(handle, 0o600)
        self._held, served = handle, {"files": list(files), "workflows": sorted(workflows)}
        self._write({"address": address, "token": token, "pid": os.getpid(), **served})

    def _write(self, record: dict[str, Any]) -> None:
        assert self._held is not None
        os.ftruncate(self._held, 0)
        os.pwrite(self._held, json.dumps(record).encode(), 0)

    def _taken(self, other: Service | None) -> Conflict:
        who = f" (process {other.pid}, {other.address})" if other else ""
        return Conflict(
            f"The workflow service {self.name} is already running{who}.",
            hint="Stop it with 'zonda runner stop', or give this one another --name.",
        )

    def withdraw(self) -> None:
        """Take the record back, but for what was served."""
        if self._held is not None:
            told = _told(self._held)
            served = {name: told.get(name, []) for name in ("files", "workflows")}
            self._write({"pid": None, **served})
            os.close(self._held)
            self._held = None

    def _read(self, handle: int) -> Service | None:
        """What the record says; None while the service is still writing it."""
        told = _told(handle)
        try:
            address, token, pid = str(told["address"]), str(told["token"]), int(told["pid"])
        except (KeyError, TypeError, ValueError):
            return None
        return Service(address, token, pid, self._serving(told))

    def _serving(self, told: dict[str, Any]) -> Serving:
        files, workflows = told.get("files", ()), told.get("workflows", ())
        return Serving(self.name, tuple(map(str, files)), frozenset(map(str, workflows)))


def _told(handle: int) -> dict[str, Any]:
    try:
        told = json.loads(os.pread(handle, _LONGEST, 0))
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def record_of(settings: Settings, name: str = BUNDLED) -> ServiceRecord:
    """The record of one service, which need not be there."""
    if name == BUNDLED:
        return ServiceRecord(settings.runner_file)
    return ServiceRecord(settings.home / "runners" / f"{name}.json", name)


def records(settings: Settings) -> list[ServiceRecord]:
    """The records of all services that run or have run, ``bundled`` first."""
    found = sorted((settings.home / "runners").glob("*.json"))
    return [record_of(settings), *(record_of(settings, path.stem) for path in found)]


def folder_of_service(settings: Settings, name: str = BUNDLED) -> Path:
    """Where a bundled service keeps its runs, and what callbacks told it."""
    home = settings.home
    return home / "runner" if name == BUNDLED else home / "runners" / name


def name_for(settings: Settings, file: Path, wanted: str) -> str:
    """The name of a service that is to serve ``file``; raises UsageError for what is none.

    Beside another one it is called as its file, and keeps that name, since its runs go by it.
    """
    name = wanted or re.sub(r"[^A-Za-z0-9_.-]", "-", file.stem)
    if not _NAME.match(name) or (name in settings.runners):
        taken = "is a section [runners.NAME] of the settings" if name in settings.runners else ""
        raise UsageError(
            f"{name!r} cannot be the name of a runner{': it ' + taken if taken else ''}.",
            hint="Give another --name: letters, digits, '_', '-' and '.'.",
        )
    is_known = folder_of_service(settings, name).is_dir()
    if wanted or is_known or record_of(settings).service() is not None:
        return name
    return BUNDLED


def check_served_once(settings: Settings, name: str, workflows: Collection[str]) -> None:
    """Raise Conflict where another service runs any of these workflows: who would be asked?"""
    for record in records(settings):
        other = None if record.name == name else record.service()
        twice = sorted(other.serving.workflows & {*workflows}) if other else []
        if other and twice:
            raise Conflict(
                f"The workflow {twice[0]} is served by the runner {record.name} already "
                f"(process {other.pid}: {', '.join(other.serving.files)}).",
                hint=f"Stop that one with 'zonda runner stop {record.name}', or rename the "
                "workflow.",
            )


def serve(
    settings: Settings,
    files: Sequence[Path],
    workflows: Collection[str],
    address: str | None,
    name: str,
    ready: Callable[[str, str], None],
    run: Callable[[Path, str, int, str, Publish], None],
) -> None:
    """Have ``run`` be a service, and say so; see ``App.serve_workflows``."""
    # what has no workflows only listens for callbacks, and one does
    name = name_for(settings, files[0], name) if name or workflows else BUNDLED
    host, port = host_and_port(address or settings.service_address)
    if address is None and name != BUNDLED:
        port = 0  # the setting is for one of them
    record, token = record_of(settings, name), new_token()

    def publish(url: str) -> None:
        record.publish(url, token, [str(file.absolute()) for file in files], workflows)
        ready(name, url)

    record.check_free()
    check_served_once(settings, name, workflows)
    state = folder_of_service(settings, name)
    make_folder(settings.home)
    make_folder(state.parent)
    try:
        run(state, host, port, token, publish)
    finally:
        record.withdraw()


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
        return values.host_and_port(address)
    except ValueError as error:
        raise UsageError(f"The address {address} {error}.") from error
