"""Records of the bundled workflow services of a home, by which commands find them.

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
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from zonda.core.settings import values
from zonda.core.settings.table import BUNDLED, Settings
from zonda.core.system.folders import make_folder
from zonda.hooks.errors import Conflict, StoreError, UsageError
from zonda.hooks.records import dataclass, field

HINT = "Start it with 'zonda runner serve FILE', or set default_runner to another runner."
#: The path of callbacks at ``zonda serve``, which the code of a run ends.
CALLBACK_PATH = "/callback/v1/"
#: Bytes of a record that are read at most.
_LONGEST = 1024 * 1024
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}\Z")


@dataclass(frozen=True, slots=True)
class ServedWorkflows:
    """The workflows that a service serves or has served: files and the names in them."""

    name: str
    files: tuple[str, ...] = ()
    workflows: frozenset[str] = frozenset()

    @property
    def command(self) -> str:
        """The command that starts such a service."""
        named = [] if self.name == BUNDLED else ["--name", self.name]
        words = [*self.files, *named] if self.files else ["FILE", *named]
        return shlex.join(["zonda", "runner", "serve", *words])


@dataclass(frozen=True, slots=True)
class Service:
    """A running service. ``address`` is a URL."""

    address: str
    token: str = field(repr=False)
    pid: int
    serving: ServedWorkflows


class ServiceRecord:
    """The record of one service of a home."""

    def __init__(self, path: Path, name: str = BUNDLED) -> None:
        self.path = path
        self.name = name
        self._held: int | None = None

    def service(self) -> Service | None:
        """Read the running service; None where it does not run."""
        try:
            handle = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            # Whoever could lock the file finds that nobody keeps it locked.
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return self._read_service(handle)
        else:
            return None
        finally:
            os.close(handle)

    def serving(self) -> ServedWorkflows:
        """Read what the service serves, or has served when it ran last."""
        try:
            handle = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return ServedWorkflows(self.name)
        try:
            return self._parse_served(_read_record(handle))
        finally:
            os.close(handle)

    def check_free(self) -> None:
        """Raise Conflict if the service runs."""
        other = self.service()
        if other is not None:
            raise self._make_conflict(other)

    def publish(
        self, address: str, token: str, files: Sequence[str] = (), workflows: Collection[str] = ()
    ) -> None:
        """Record that this process is the service. Raises Conflict if another one is."""
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
            other = self._read_service(handle)
            os.close(handle)
            raise self._make_conflict(other) from None
        os.fchmod(handle, 0o600)
        self._held, served = handle, {"files": list(files), "workflows": sorted(workflows)}
        self._write_record({"address": address, "token": token, "pid": os.getpid(), **served})

    def _write_record(self, record: dict[str, Any]) -> None:
        assert self._held is not None
        os.ftruncate(self._held, 0)
        os.pwrite(self._held, json.dumps(record).encode(), 0)

    def _make_conflict(self, other: Service | None) -> Conflict:
        who = f" (process {other.pid}, {other.address})" if other else ""
        return Conflict(
            f"The workflow service {self.name} is already running{who}.",
            hint="Stop it with 'zonda runner stop', or give this one another --name.",
        )

    def withdraw(self) -> None:
        """Withdraw the record, except for the workflows that were served."""
        if self._held is not None:
            told = _read_record(self._held)
            served = {name: told.get(name, []) for name in ("files", "workflows")}
            self._write_record({"pid": None, **served})
            os.close(self._held)
            self._held = None

    def _read_service(self, handle: int) -> Service | None:
        """Read the service from the record; None while the service is still writing it."""
        told = _read_record(handle)
        try:
            address, token, pid = str(told["address"]), str(told["token"]), int(told["pid"])
        except (KeyError, TypeError, ValueError):
            return None
        return Service(address, token, pid, self._parse_served(told))

    def _parse_served(self, told: dict[str, Any]) -> ServedWorkflows:
        files, workflows = told.get("files", ()), told.get("workflows", ())
        return ServedWorkflows(self.name, tuple(map(str, files)), frozenset(map(str, workflows)))


def _read_record(handle: int) -> dict[str, Any]:
    try:
        told = json.loads(os.pread(handle, _LONGEST, 0))
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def get_record(settings: Settings, name: str = BUNDLED) -> ServiceRecord:
    """Return the record of one service, whose file need not exist."""
    if name == BUNDLED:
        return ServiceRecord(settings.runner_file)
    return ServiceRecord(settings.home / "runners" / f"{name}.json", name)


def list_records(settings: Settings) -> list[ServiceRecord]:
    """List the records of all services that run or have run, ``bundled`` first."""
    found = sorted((settings.home / "runners").glob("*.json"))
    return [get_record(settings), *(get_record(settings, path.stem) for path in found)]


def list_services(settings: Settings) -> list[Service]:
    """List the services that run for a home."""
    found = (record.service() for record in list_records(settings))
    return [service for service in found if service is not None]


def get_service_folder(settings: Settings, name: str = BUNDLED) -> Path:
    """Return the folder where a bundled service keeps its runs and callbacks."""
    home = settings.home
    return home / "runner" if name == BUNDLED else home / "runners" / name


def choose_name(settings: Settings, file: Path, wanted: str) -> str:
    """Choose the name of a service that is to serve ``file``; raises UsageError for a bad name.

    Beside another one it is called as its file, and keeps that name, since its runs go by it.
    """
    name = wanted or re.sub(r"[^A-Za-z0-9_.-]", "-", file.stem)
    if not _NAME.match(name) or (name in settings.runners):
        taken = "is a section [runners.NAME] of the settings" if name in settings.runners else ""
        raise UsageError(
            f"{name!r} cannot be the name of a runner{': it ' + taken if taken else ''}.",
            hint="Give another --name: letters, digits, '_', '-' and '.'.",
        )
    is_known = get_service_folder(settings, name).is_dir()
    if wanted or is_known or get_record(settings).service() is not None:
        return name
    return BUNDLED


def check_served_once(settings: Settings, name: str, workflows: Collection[str]) -> None:
    """Raise Conflict where another service runs any of these workflows."""
    for record in list_records(settings):
        other = None if record.name == name else record.service()
        twice = sorted(other.serving.workflows & {*workflows}) if other else []
        if other and twice:
            raise Conflict(
                f"The workflow {twice[0]} is served by the runner {record.name} already "
                f"(process {other.pid}: {', '.join(other.serving.files)}).",
                hint=f"Stop that one with 'zonda runner stop {record.name}', or rename the "
                "workflow.",
            )


def get_service_location(settings: Settings, public_url: str = "") -> dict[str, str]:
    """Return the folder of callbacks, and where they are taken: ``url`` (or '') and ``path``.

    ``public_url``: the URL of ``zonda serve``, which takes them where it runs.
    """
    place = {"folder": str(get_service_folder(settings) / "callbacks")}
    if public_url:
        return {**place, "url": public_url, "path": CALLBACK_PATH}
    host, port = parse_host_and_port(settings.service_address)
    shown = f"[{host}]" if ":" in host else host
    callable_ = port and host not in ("0.0.0.0", "::")
    return {**place, "url": f"http://{shown}:{port}" if callable_ else ""}


def parse_host_and_port(address: str) -> tuple[str, int]:
    """Parse ``127.0.0.1:8155`` into host and port; raises UsageError."""
    try:
        return values.parse_host_and_port(address)
    except ValueError as error:
        raise UsageError(f"The address {address} {error}.") from error
