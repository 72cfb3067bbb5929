"""Settings: the only reader of environment variables, and the one table of what can be set.

``$ZONDA_HOME/zonda.toml``, then ``ZONDA_*`` variables, then flags: the later wins. The fields of
``Settings`` are the table; ``docs/settings.md`` is made from it (``markdown_table``). Faults are
collected, so that one run shows them all, each with the place it stands at.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from pathlib import Path
from typing import Any

from zonda.hooks.errors import UsageError

from . import settings_runners, settings_sinks, settings_values
from .template.bundle import Limits

FILE_NAME = "zonda.toml"
#: The runner that needs no section: the service of ``zonda runner serve``.
BUNDLED = "bundled"
#: What templates call the runner of their Mistral.
MISTRAL = "mistral"
#: A year: the longest that an action may take in minutes, and a wait in seconds.
LONGEST_ACTION = 525_600
_LONGEST_WAIT = 31_536_000

_LIMITS = Limits()


def _setting(default: Any, meaning: str, variable: str, *, shown: str = "", **more: Any) -> Any:
    """One row of the table. ``shown`` stands in the docs where the default is computed."""
    metadata = {"meaning": meaning, "variable": variable, "shown": shown, **more}
    secret = bool(more.get("secret"))
    if isinstance(default, (dict, list)):
        return field(default_factory=type(default), metadata=metadata, repr=not secret)
    return field(default=default, metadata=metadata, repr=not secret)


@dataclass(frozen=True)
class Settings:
    """Everything that can be set. Made by ``load``; handed down from ``core/app.py``.

    Times are in seconds unless the name says otherwise.
    """

    home: Path = _setting(  # noqa: RUF009 - gives a dataclass field
        Path(),
        "The folder of zonda's state: database, key, settings file. No setting in the file itself.",
        "ZONDA_HOME",
        shown="`$XDG_DATA_HOME/zonda`, else `~/.local/share/zonda`",
    )
    database_url: str = _setting(
        "",
        "The database, as an SQLAlchemy URL. SQLite is supported.",
        "ZONDA_DATABASE_URL",
        shown="`sqlite:///$ZONDA_HOME/zonda.db`",
    )
    synchronous: str = _setting(
        "NORMAL",
        "SQLite's `synchronous`. NORMAL survives the death of the process; FULL also a power cut.",
        "ZONDA_SYNCHRONOUS",
        choices=("NORMAL", "FULL"),
    )
    key: str = _setting(
        "",
        "The key that seals hidden values, as 32 bytes in URL-safe base64.",
        "ZONDA_KEY",
        shown="read from `key_file`",
        secret=True,
    )
    key_file: str = _setting(
        "",
        "The file that holds the key; made on first use, readable by its owner only.",
        "ZONDA_KEY_FILE",
        shown="`zonda.key` beside the database",
    )
    project: str = _setting(
        "default",
        "The project that new stacks belong to (`OS::project_id`).",
        "ZONDA_PROJECT",
    )
    user: str = _setting(
        "",
        "Who the history of a stack says has asked for an action.",
        "ZONDA_USER",
        shown="the login name",
    )
    plugin_dirs: tuple[str, ...] = _setting(
        (),
        "Folders whose Python files are loaded as plug-ins, besides installed ones. "
        "In the variable they are separated as in PATH.",
        "ZONDA_PLUGIN_DIRS",
        shown="`$ZONDA_HOME/plugins`",
    )
    secret_sources: str = _setting(
        "env:ZONDA_SECRET_*,file:secrets/**",
        "Which secrets [workflow types](workflow-types.md#secrets) may name: patterns of "
        "`env:NAME` and `file:PATH` (relative to `ZONDA_HOME`), separated by commas.",
        "ZONDA_SECRET_SOURCES",
    )
    disabled_plugins: str = _setting(
        "",
        "Installed plug-ins that are left alone: their names or those of their distributions, "
        "separated by commas.",
        "ZONDA_DISABLED_PLUGINS",
    )
    default_runner: str = _setting(
        "",
        "Who runs a workflow that is a bare name: `bundled` (the service of `zonda runner serve`), "
        "a name of a `[runners.NAME]` section, or a URL that the name is appended to.",
        "ZONDA_DEFAULT_RUNNER",
        shown="the runner `mistral` where one is configured, else `bundled`",
    )
    mistral_runner: str = _setting(
        MISTRAL,
        "The section `[runners.NAME]` that the name `mistral` stands for: who runs `mistral:flow`, "
        "and where the resources of `OS::Mistral::Workflow` and `OS::Mistral::CronTrigger` are.",
        "ZONDA_MISTRAL_RUNNER",
    )
    runners: Mapping[str, Mapping[str, Any]] = _setting(
        {},
        "Sections `[runners.NAME]`: `kind` (`http`, ...), `endpoint` and what that kind of runner "
        "takes. A workflow `NAME:flow` goes to the runner NAME.",
        "",
        shown="none",
        secret=True,
    )
    allowed_networks: str = _setting(
        "",
        "Networks, separated by commas, that may be called although [they are not "
        "public](workflows.md#which-addresses-are-called).",
        "ZONDA_ALLOWED_NETWORKS",
        check=settings_values.networks,
    )
    denied_networks: str = _setting(
        "",
        "Networks, separated by commas, that workflows and event sinks never call.",
        "ZONDA_DENIED_NETWORKS",
        check=settings_values.networks,
    )
    service_address: str = _setting(
        "127.0.0.1:8155",
        "Where `zonda runner serve` listens.",
        "ZONDA_SERVICE_ADDRESS",
        check=settings_values.host_and_port,
    )
    workers: int = _setting(
        16, "Threads that run plug-in calls.", "ZONDA_WORKERS", least=1, most=1000
    )
    sinks: Mapping[str, Mapping[str, Any]] = _setting(
        {},
        "Sections `[sinks.NAME]`: who is [told of what happens](notifications.md); `kind` "
        "(`webhook`, `log`, ...), `events`, `scope` and what that kind takes.",
        "",
        shown="none",
        secret=True,
    )
    stack_timeout_mins: int = _setting(
        60,
        "Minutes until a stack action is given up.",
        "ZONDA_STACK_TIMEOUT_MINS",
        least=1,
        most=LONGEST_ACTION,
    )
    drift_workers: int = _setting(
        8,
        "Resources that drift checks look at at the same time; at most half of `workers`.",
        "ZONDA_DRIFT_WORKERS",
        least=1,
        most=1000,
    )
    drift_rate: float = _setting(
        10.0,
        "Observations that drift checks begin per second at one workflow runner; 0: any number.",
        "ZONDA_DRIFT_RATE",
        least=0,
        most=10_000,
    )
    drift_timeout: float = _setting(
        300.0,
        "How long a drift check waits for one resource to tell what it is.",
        "ZONDA_DRIFT_TIMEOUT",
        least=1,
        most=_LONGEST_WAIT,
    )
    stop_grace: float = _setting(
        5.0,
        "How long a stopping command waits for calls that are running.",
        "ZONDA_STOP_GRACE",
        least=0,
        most=_LONGEST_WAIT,
    )
    sink_grace: float = _setting(
        1.0,
        "How long a command that ends waits for event sinks to take what it has caused; the next "
        "engine delivers the rest.",
        "ZONDA_SINK_GRACE",
        least=0,
        most=_LONGEST_WAIT,
    )
    cancel_grace: float = _setting(
        240.0,
        "How long a cancelled, deleted or rolled back stack waits for what still runs before it is "
        "told to stop (Heat's `error_wait_time`).",
        "ZONDA_CANCEL_GRACE",
        least=0,
        most=_LONGEST_WAIT,
    )
    connect_give_up: float = _setting(
        120.0,
        "How long a runner that never answered is tried, per operation.",
        "ZONDA_CONNECT_GIVE_UP",
        least=0,
        most=_LONGEST_WAIT,
    )
    yaql_iterators: int = _setting(
        _LIMITS.yaql_iterators,
        "How many items a yaql expression may walk through (Heat's `limit_iterators`).",
        "ZONDA_YAQL_ITERATORS",
        least=1,
    )
    yaql_memory: int = _setting(
        _LIMITS.yaql_memory,
        "How many bytes one value inside yaql may take (Heat's `memory_quota`).",
        "ZONDA_YAQL_MEMORY",
        least=1,
    )
    yaql_seconds: float = _setting(
        _LIMITS.yaql_seconds,
        "How long one yaql expression may take.",
        "ZONDA_YAQL_SECONDS",
        least=0.01,
        most=_LONGEST_WAIT,
    )
    pattern_seconds: float = _setting(
        _LIMITS.pattern_seconds,
        "How long matching one regular expression may take.",
        "ZONDA_PATTERN_SECONDS",
        least=0.01,
        most=_LONGEST_WAIT,
    )
    patterns_seconds: float = _setting(
        _LIMITS.patterns_seconds,
        "How long matching all patterns of a template's parameters may take together.",
        "ZONDA_PATTERNS_SECONDS",
        least=0.01,
        most=_LONGEST_WAIT,
    )
    max_template_bytes: int = _setting(
        _LIMITS.max_template_bytes,
        "The largest template, environment or attached file (Heat's `max_template_size`).",
        "ZONDA_MAX_TEMPLATE_BYTES",
        least=1,
    )
    allow_remote_files: str = _setting(
        "no",
        "Whether files that templates name by http(s) are fetched: `no` (only with "
        "`--allow-remote`), `public` (from public addresses), `any` (from private ones, too).",
        "ZONDA_ALLOW_REMOTE_FILES",
        choices=("no", "public", "any"),
    )
    max_nested_depth: int = _setting(
        _LIMITS.max_nested_depth,
        "How many templates may lie inside each other below the stack's own (Heat's "
        "`max_nested_stack_depth`).",
        "ZONDA_MAX_NESTED_DEPTH",
        least=0,
        most=50,
    )
    max_resources_per_stack: int = _setting(
        _LIMITS.max_resources_per_stack,
        "How many resources one stack may have, with all that is nested in it (Heat's setting of "
        "that name).",
        "ZONDA_MAX_RESOURCES_PER_STACK",
        least=1,
    )
    max_nodes: int = _setting(
        _LIMITS.max_nodes,
        "How many values a template may have once its aliases are written out, and how many "
        "the functions of one resource or output may make; 32 characters of text count as one.",
        "ZONDA_MAX_NODES",
        least=1,
    )
    max_nodes_in_all: int = _setting(
        _LIMITS.max_nodes_in_all,
        "How many values all functions of a template may make while it is checked.",
        "ZONDA_MAX_NODES_IN_ALL",
        least=1,
    )
    max_faults: int = _setting(
        _LIMITS.max_faults,
        "How many faults of a template are shown at once.",
        "ZONDA_MAX_FAULTS",
        least=1,
    )

    @property
    def runner_of_bare_names(self) -> str:
        """Who runs a workflow that is a bare name: a section, ``bundled`` or a URL."""
        if self.default_runner:
            return self.default_runner
        return self.mistral_runner if self.mistral_runner in self.runners else BUNDLED

    @property
    def networks(self) -> Mapping[str, list[str]]:
        """The networks that hold for whatever calls out."""
        return {
            "allowed_networks": settings_values.networks(self.allowed_networks),
            "denied_networks": settings_values.networks(self.denied_networks),
        }

    @property
    def runner_file(self) -> Path:
        """Where a running bundled service leaves its address and token."""
        return self.home / "runner.json"


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with the settings, and where it stands."""

    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


def load(
    flags: Mapping[str, str] | None = None, environ: Mapping[str, str] | None = None
) -> Settings:
    """The settings of this process. Raises UsageError that lists every fault.

    ``flags``: name -> text, as given on the command line.
    """
    environ = os.environ if environ is None else environ
    flags = flags or {}
    home = _home(flags, environ)
    faults: list[Fault] = []
    values: dict[str, Any] = {}
    places: dict[str, str] = {}
    for layer in (_from_file(home, faults), _from_variables(environ), _from_flags(flags, faults)):
        for name, raw, where in layer:
            _take(values, faults, name, raw, where)
            places[name] = where
    _check_default_runner(values, places, faults)
    if faults:
        raise UsageError("\n".join(map(str, faults)), code="ZON207")
    values["home"] = home
    values["database_url"] = values.get("database_url") or f"sqlite:///{home / 'zonda.db'}"
    values["user"] = values.get("user") or settings_values.login_name()
    if "plugin_dirs" not in values:
        values["plugin_dirs"] = (str(home / "plugins"),)
    return Settings(**values)


def variable(name: str) -> str | None:
    """A variable of the environment that a secret is kept in."""
    return os.environ.get(name)


def wants_colour(environ: Mapping[str, str] | None = None) -> bool:
    """Whether terminals may get colours: not where ``NO_COLOR`` is set, or they are dumb."""
    environ = os.environ if environ is None else environ
    return not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def _home(flags: Mapping[str, str], environ: Mapping[str, str]) -> Path:
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


def _from_file(home: Path, faults: list[Fault]) -> Layer:
    path = home / FILE_NAME
    try:
        text = path.read_bytes().decode()
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError) as error:
        faults.append(Fault(str(path), f"cannot be read: {error}"))
        return
    import tomllib  # 10 ms that most runs need not spend

    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        faults.append(Fault(*_syntax(str(path), str(error))))
        return
    for name, raw in document.items():
        where = f"{path}:{_line_of(text, name)}"
        if name == "home":
            faults.append(Fault(where, "home cannot be set here: the file stands in it"))
        elif name == "plugin_dirs" and not isinstance(raw, list):
            faults.append(Fault(where, "plugin_dirs: must be a list of folders"))
        else:
            yield name, raw, where
    for group, check in _CHECKS.items():
        _check_sections(path, text, group, document.get(group), check, faults)


#: What can be wrong with one section of a group.
_CHECKS: Mapping[str, Callable[[Mapping[str, Any]], Iterator[tuple[str | None, str]]]] = {
    "runners": settings_runners.faults,
    "sinks": settings_sinks.faults,
}


def _check_sections(
    path: Path, text: str, group: str, sections: Any, check: Any, faults: list[Fault]
) -> None:
    if not isinstance(sections, dict):
        return
    for name, section in sections.items():
        for entry, wrong in check(section) if isinstance(section, dict) else ():
            where = f"{path}:{settings_runners.line_of(text, name, entry, group)}"
            shown = f"{entry} " if entry else ""
            faults.append(Fault(where, f"[{group}.{name}]: {shown}{wrong}"))


def _check_default_runner(
    values: Mapping[str, Any], places: Mapping[str, str], faults: list[Fault]
) -> None:
    chosen = values.get("default_runner", BUNDLED)
    known = [*values.get("runners", {}), BUNDLED]
    if "runners" in places and "runners" not in values:
        return  # which sections there are is not known
    if chosen in known or settings_values.host_of_url(chosen):
        return
    hint = settings_values.near(chosen, known)
    wrong = f"{chosen} is neither {BUNDLED}, nor a section [runners.NAME], nor an http(s) URL{hint}"
    faults.append(Fault(places["default_runner"], f"default_runner: {wrong}"))


def _syntax(path: str, message: str) -> tuple[str, str]:
    found = re.search(r" \(at line (\d+), column (\d+)\)$", message)
    if found is None:
        return path, f"not valid TOML: {message}"
    return f"{path}:{found[1]}:{found[2]}", f"not valid TOML: {message[: found.start()]}"


def _line_of(text: str, name: str) -> int:
    """The line where a top-level key or its table begins; 1 where it cannot be told."""
    key = re.escape(name)
    found = re.search(rf"""(?m)^\s*(\[\s*)?["']?{key}["']?\s*[=.\]]""", text)
    return text.count("\n", 0, found.end()) + 1 if found else 1


def _from_variables(environ: Mapping[str, str]) -> Layer:
    for row in fields(Settings):
        variable = row.metadata["variable"]
        if row.name != "home" and variable and environ.get(variable):
            yield row.name, environ[variable], variable


def _from_flags(flags: Mapping[str, str], faults: list[Fault]) -> Layer:
    for name, raw in flags.items():
        if name != "home":
            yield name, raw, f"--set {name}"


def _take(values: dict[str, Any], faults: list[Fault], name: str, raw: Any, where: str) -> None:
    row = _ROWS.get(name)
    if row is None:
        faults.append(
            Fault(where, f"there is no setting {name}{settings_values.near(name, list(_ROWS))}")
        )
        return
    try:
        values[name] = settings_values.converted(row, raw)
    except ValueError as error:
        faults.append(Fault(where, f"{name}: {error}"))


_ROWS: dict[str, Field[Any]] = {row.name: row for row in fields(Settings) if row.name != "home"}


def markdown_table() -> str:
    """The table of settings as ``docs/settings.md`` shows it, ending with a line break."""
    lines = ["| setting | type | default | variable | meaning |", "|---|---|---|---|---|"]
    for row in fields(Settings):
        variable = row.metadata["variable"]
        lines.append(
            f"| `{row.name}` | {settings_values.KINDS[str(row.type)]} | {_default(row)} "
            f"| {f'`{variable}`' if variable else ''} | {row.metadata['meaning']} |"
        )
    return "\n".join(lines) + "\n"


def _default(row: Field[Any]) -> str:
    if row.metadata["shown"]:
        return str(row.metadata["shown"])
    return "" if row.default is MISSING else f"`{row.default}`"
