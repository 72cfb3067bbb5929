"""Health check of an installation: one finding for each part that is checked.

Reads only; nothing that is wrong keeps the rest from being looked at. Used by ``zonda doctor``.
"""

from __future__ import annotations

import os
import platform
import socket
from collections.abc import Callable, Iterator
from importlib import metadata
from urllib.parse import urlsplit

from zonda.core.diagnostics.finding import FAULT, OK, WARNING, Finding
from zonda.hooks.errors import ZondaError

from .app import App

#: Seconds for which a runner may take to accept a connection.
PATIENCE = 2.0
#: Seconds that a stored time may lie in the future.
AHEAD = 60.0


def list_findings(app: App) -> Iterator[Finding]:
    """Check every part of the installation; yield the findings one by one."""
    checks: tuple[Callable[[App], Iterator[Finding]], ...] = (
        _home,
        _database,
        _engine,
        _clock,
        _plugins,
        _runners,
    )
    yield from check_packages()
    for check in checks:
        try:
            yield from check(app)
        except ZondaError as error:
            yield Finding(check.__name__.removeprefix("_"), FAULT, str(error), error.hint)


def check_packages() -> Iterator[Finding]:
    """Check the interpreter, zonda, and the packages that it requires."""
    yield Finding("python", OK, f"Python {platform.python_version()}")
    try:
        required = metadata.requires("zonda") or []
        version = metadata.version("zonda")
    except metadata.PackageNotFoundError:
        hint = "Install it: pip install zonda, or pip install -e . in a clone."
        yield Finding("packages", WARNING, "zonda runs without being installed", hint)
        return
    missing = []
    for line in required:
        name = line.partition(";")[0].split("[")[0]
        name = name.rstrip("0123456789.<>=!~,* ()")
        if "extra ==" not in line and not _is_installed(name.strip()):
            missing.append(name.strip())
    if missing:
        hint = "Install zonda again: pip install --force-reinstall zonda."
        yield Finding("packages", FAULT, f"missing: {', '.join(missing)}", hint)
    else:
        yield Finding("packages", OK, f"zonda {version} and all that it requires")


def _is_installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def _home(app: App) -> Iterator[Finding]:
    home = app.settings.home
    if not home.exists():
        hint = "The first stack makes it. Check --home and ZONDA_HOME if there should be stacks."
        yield Finding("home", WARNING, f"{home} does not exist", hint)
    elif not os.access(home, os.W_OK | os.X_OK):
        yield Finding("home", WARNING, f"{home} may only be read", "Nothing can be changed there.")
    else:
        yield Finding("home", OK, str(home))
    for path in app.exposed_paths:
        text = f"{path} is open to every user"
        yield Finding("permissions", WARNING, text, f"chmod o= {path}")


def _database(app: App) -> Iterator[Finding]:
    where = app.database.where
    if not app.database.is_made():
        yield Finding("database", OK, f"{where} is not made yet")
        return
    damage = app.reader.find_damage()  # opening it compares schema and key
    if damage:
        hint = "Stop the engine, restore a copy; 'sqlite3 FILE .recover' saves what is left."
        yield Finding("database", FAULT, f"{where} is damaged: {damage}", hint)
    else:
        stacks = len(app.reader.stacks())
        yield Finding("database", OK, f"{where}: whole, its key fits, {stacks} stacks")


def _engine(app: App) -> Iterator[Finding]:
    if app.has_engine:
        yield Finding("engine", OK, f"{app.find_engine()} is the engine")
        return
    yield Finding("engine", OK, "none runs: each command drives its own stack")
    left = [stack.name for stack in app.reader.stacks() if stack.status == "IN_PROGRESS"]
    if left:
        text = f"nobody carries out what was begun in: {', '.join(sorted(left)[:10])}"
        yield Finding("stacks", WARNING, text, "zonda stack wait NAME, or zonda engine run")


def _clock(app: App) -> Iterator[Finding]:
    now = app.clock.now()
    latest = max((stack.updated_at or 0.0 for stack in app.reader.stacks()), default=0.0)
    if latest > now + AHEAD:
        text = f"a stack was changed {latest - now:.0f} s in the future"
        yield Finding("clock", WARNING, text, "Set the clock of this machine.")
    else:
        yield Finding("clock", OK, "nothing was changed in the future")


def _plugins(app: App) -> Iterator[Finding]:
    failures = {str(each): each for each in app.plugins.failures}
    for text, failure in failures.items():
        yield Finding("plug-ins", FAULT, text, failure.hint)
    if not failures:
        yield Finding("plug-ins", OK, f"{len(app.plugins.resource_types)} types of resources")


def _runners(app: App) -> Iterator[Finding]:
    for service in app.runners.list_services():
        yield Finding("runner bundled", OK, f"process {service.pid}, {service.address}")
    for name, section in sorted(app.settings.runners.items()):
        endpoint = section.get("endpoint")
        if isinstance(endpoint, str):
            yield _check_endpoint(name, endpoint)


def _check_endpoint(name: str, endpoint: str) -> Finding:
    check = f"runner {name}"
    try:
        parts = urlsplit(endpoint)
        port = parts.port or {"http": 80, "https": 443}[parts.scheme]
        place = f"{parts.hostname}:{port}"
        socket.create_connection((parts.hostname, port), PATIENCE).close()
    except (ValueError, KeyError):
        return Finding(check, FAULT, "its endpoint is no URL", "Correct it in zonda.toml.")
    except OSError as error:
        text = f"{place} cannot be reached: {error.strerror or error}"
        return Finding(check, FAULT, text, "Start it, or correct its endpoint in zonda.toml.")
    return Finding(check, OK, f"{place} accepts connections")
