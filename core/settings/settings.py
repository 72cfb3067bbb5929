"""Reads the settings; nothing else reads environment variables.

``$ZONDA_HOME/zonda.toml``, then ``ZONDA_*`` variables, then flags: the later wins. What can be set
stands in ``table``; ``docs/reference/settings.md`` is made from it (``format_markdown_table``).
Faults are collected, so that one run shows them all, each with the place it stands at.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from zonda.core.template.source.bundle import VARIABLE
from zonda.hooks.errors import UsageError, UsageErrors
from zonda.hooks.records import MISSING, Field, fields
from zonda.hooks.text.suggestions import format_suggestion
from zonda.hooks.text.urls import host_of_url

from . import values as settings_values
from .table import BUNDLED, FILE_NAME, Kinds, Settings, find_line, get_variable


def load_settings(
    flags: Mapping[str, str] | None = None,
    environ: Mapping[str, str] | None = None,
    kinds: Callable[[], Kinds] = dict,
) -> Settings:
    """Load the settings of this process. Raises UsageError that lists every error.

    ``flags``: name -> text, as given on the command line. ``kinds`` gives the kinds whose sections
    are checked; it is called where the file has sections.
    """
    environ = os.environ if environ is None else environ
    flags = flags or {}
    home = _find_home(flags, environ)
    faults: list[str] = []
    values: dict[str, Any] = {}
    places: dict[str, str] = {}
    for layer in (
        _read_file_layer(home, faults, kinds),
        _read_variable_layer(environ),
        ((name, raw, f"--set {name}") for name, raw in flags.items() if name != "home"),
    ):
        for name, raw, where in layer:
            _set_value(values, faults, name, raw, where)
            places[name] = where
    _check_default_runner(values, places, faults)
    if faults:
        raise UsageErrors([UsageError(fault, code="ZON207") for fault in faults])
    values["home"] = home
    values["database_url"] = values.get("database_url") or f"sqlite:///{home / 'zonda.db'}"
    values["user"] = values.get("user") or settings_values.login_name()
    if "plugin_dirs" not in values:
        values["plugin_dirs"] = (str(home / "plugins"),)
    return Settings(**values)


def read_variable(name: str) -> str | None:
    """Read an environment variable that holds a secret."""
    return os.environ.get(name)


def read_parameters(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Read parameter values: name -> value of the variable ``ZONDA_PARAM_name``."""
    environ = os.environ if environ is None else environ
    named = (name for name in sorted(environ) if name.startswith(VARIABLE))
    return {name.removeprefix(VARIABLE): environ[name] for name in named}


def wants_colour(environ: Mapping[str, str] | None = None) -> bool:
    """Whether terminals may get colours: not with ``NO_COLOR`` or a dumb terminal."""
    environ = os.environ if environ is None else environ
    return not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def read_supervisor(environ: Mapping[str, str] | None = None) -> tuple[str, float]:
    """Read systemd's notify socket, and the seconds of its watchdog; '' and 0 without systemd."""
    environ = os.environ if environ is None else environ
    watchdog = environ.get("WATCHDOG_USEC", "")
    return environ.get("NOTIFY_SOCKET", ""), int(watchdog) / 1e6 if watchdog.isdecimal() else 0.0


def _find_home(flags: Mapping[str, str], environ: Mapping[str, str]) -> Path:
    chosen = flags.get("home") or environ.get("ZONDA_HOME")
    if chosen:
        return Path(chosen).expanduser().absolute()
    data = environ.get("XDG_DATA_HOME") or ""
    # The XDG rules say that a relative path there is to be ignored.
    if data.startswith("/"):
        return Path(data) / "zonda"
    try:
        return Path.home() / ".local" / "share" / "zonda"
    except RuntimeError as error:
        raise UsageError("This user has no home.", hint="Set ZONDA_HOME or --home.") from error


Layer = Iterator[tuple[str, Any, str]]


def _read_file_layer(home: Path, faults: list[str], kinds: Callable[[], Kinds]) -> Layer:
    path = home / FILE_NAME
    try:
        text = path.read_bytes().decode()
    except FileNotFoundError:
        return
    except OSError as error:
        faults.append(f"{path}: cannot be read: {error.strerror}")
        return
    except UnicodeDecodeError as error:
        faults.append(f"{path}: is not text in UTF-8 (byte {error.start})")
        return
    import tomllib  # 10 ms that most runs need not spend

    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        faults.append(_format_syntax_error(path, str(error)))
        return
    except (ValueError, RecursionError):  # Python's own limits
        said = "a number has thousands of digits, or something is nested too deep"
        faults.append(f"{path}: {said}")
        return
    for name, raw in document.items():
        where = f"{path}:{find_line(text, name)}"
        if name == "home":
            faults.append(f"{where}: home cannot be set here: the file stands in it")
        elif name == "plugin_dirs" and not isinstance(raw, list):
            faults.append(f"{where}: plugin_dirs: must be a list of folders")
        else:
            yield name, raw, where
    if any(document.get(group) for group in ("runners", "sinks")):
        from .section_checks import locate_faults

        faults += locate_faults(path, text, document, kinds())
    if any(document.get(group) for group in ("policy", "quotas", "projects")):
        from .server_sections import locate_server_faults

        faults += locate_server_faults(path, text, document)


def _check_default_runner(
    values: Mapping[str, Any], places: Mapping[str, str], faults: list[str]
) -> None:
    chosen = values.get("default_runner", BUNDLED)
    known = [*values.get("runners", {}), BUNDLED]
    if "runners" in places and "runners" not in values:
        return  # which sections there are is not known
    if chosen in known or host_of_url(chosen):
        return
    hint = format_suggestion(chosen, known)
    wrong = f"{chosen} is neither {BUNDLED}, nor a section [runners.NAME], nor an http(s) URL{hint}"
    faults.append(f"{places['default_runner']}: default_runner: {wrong}")


def _format_syntax_error(path: Path, message: str) -> str:
    found = re.search(r" \(at line (\d+), column (\d+)\)$", message)
    if found is None:
        return f"{path}: not valid TOML: {message}"
    return f"{path}:{found[1]}:{found[2]}: not valid TOML: {message[: found.start()]}"


def _read_variable_layer(environ: Mapping[str, str]) -> Layer:
    for row in fields(Settings):
        variable = get_variable(row.name)
        if row.name != "home" and environ.get(variable):
            yield row.name, environ[variable], variable


def _set_value(values: dict[str, Any], faults: list[str], name: str, raw: Any, where: str) -> None:
    row = _ROWS.get(name)
    if row is None:
        meant = format_suggestion(name, list(_ROWS))
        faults.append(f"{where}: there is no setting {name}{meant}")
        return
    try:
        values[name] = settings_values.convert_value(row, raw)
    except ValueError as error:
        faults.append(f"{where}: {name}: {error}")


_ROWS: dict[str, Field[Any]] = {row.name: row for row in fields(Settings) if row.name != "home"}


def format_markdown_table() -> str:
    """Format the table of settings for ``docs/reference/settings.md``, with a final line break."""
    lines = ["| setting | type | default | variable | meaning |", "|---|---|---|---|---|"]
    for row in fields(Settings):
        variable = get_variable(row.name)
        lines.append(
            f"| `{row.name}` | {settings_values.KINDS[str(row.type)]} | {_format_default(row)} "
            f"| {f'`{variable}`' if variable else ''} | {row.metadata['meaning']} |"
        )
    return "\n".join(lines) + "\n"


def _format_default(row: Field[Any]) -> str:
    if row.metadata["shown"]:
        return str(row.metadata["shown"])
    return "" if row.default is MISSING else f"`{row.default}`"
