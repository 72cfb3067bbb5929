"""The table of settings: a field of ``Settings`` each, with meaning, variable and bounds.

Read by ``core/settings/settings.py``, which alone makes a ``Settings``; handed down from
``core/app/app.py``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zonda.core.template.source.bundle import Limits
from zonda.hooks.records import dataclass, field

from . import values

#: The settings file, in the home.
FILE_NAME = "zonda.toml"
#: The runner that needs no section: the service of ``zonda runner serve``.
BUNDLED = "bundled"
#: The kind of a runner that names none, and of one that workflows are URLs for.
DEFAULT_KIND = "http"
#: The name of the runner of Mistral in templates.
MISTRAL = "mistral"
#: The factories of runners and sinks, by kind, for each group of sections.
Kinds = Mapping[str, Mapping[str, Any]]
#: A year: the longest that an action may take in minutes, and a wait in seconds.
LONGEST_ACTION = 525_600
_LONGEST_WAIT = 31_536_000

_LIMITS = Limits()
#: Groups of sections, which stand in the settings file alone.
_SECTIONS = ("runners", "sinks", "policy", "quotas", "projects")


def define_setting(default: Any, meaning: str, *, shown: str = "", **more: Any) -> Any:
    """Define one row of the table. ``shown``: the default in the docs where it is computed."""
    metadata = {"meaning": meaning, "shown": shown, **more}
    secret = bool(more.get("secret"))
    if isinstance(default, (dict, list)):
        return field(default_factory=type(default), metadata=metadata, repr=not secret)
    return field(default=default, metadata=metadata, repr=not secret)


def get_variable(name: str) -> str:
    """Return the environment variable of a setting; '' for sections."""
    return "" if name in _SECTIONS else f"ZONDA_{name.upper()}"


def find_line(text: str, key: str, section: str = "", entry: str = "") -> int:
    """Find the line of a top-level key, or of ``[KEY.SECTION]`` and its entry; 1: unknown.

    ``tomllib`` tells no places of what is valid TOML.
    """
    names = [rf"""["']?{re.escape(name)}["']?""" for name in (key, section, entry) if name]
    path = r"\s*\.\s*".join(names[:2])
    head = re.search(rf"(?m)^\s*(\[\s*)?{path}\s*[=.\]]", text)
    if head is None:
        return 1
    end = re.compile(r"(?m)^[ \t]*\[").search(text, head.end())
    last = end.start() if end else len(text)
    line = re.compile(rf"(?m)^[ \t]*{names[2]}[ \t]*=") if entry else None
    place = line.search(text, head.end(), last) if line else None
    return text.count("\n", 0, (place or head).end()) + 1


@dataclass(frozen=True)
class Settings:
    """All settings. Made by ``load_settings``; passed down from ``core/app/app.py``.

    Times are in seconds unless the name says otherwise.
    """

    home: Path = define_setting(
        Path(),
        "The folder of zonda's state: database, key, settings file. No setting in the file itself.",
        shown="`$XDG_DATA_HOME/zonda`, else `~/.local/share/zonda`",
    )
    database_url: str = define_setting(
        "",
        "The database: `sqlite:///PATH`, or `postgresql://USER:PASSWORD@HOST/NAME` with the extra"
        " `zonda[postgresql]`; the password may stand in `~/.pgpass` instead.",
        shown="`sqlite:///$ZONDA_HOME/zonda.db`",
        secret=True,
    )
    synchronous: str = define_setting(
        "NORMAL",
        "SQLite's `synchronous`. NORMAL survives the death of the process; FULL also a power cut.",
        choices=("NORMAL", "FULL"),
    )
    listen_url: str = define_setting(
        "",
        "With PostgreSQL behind a pooler: the URL of the server itself, where engines hear of each "
        "other and take stacks from their queue. `off`: they look every second instead.",
        shown="`database_url`",
        secret=True,
    )
    lease: float = define_setting(
        6.0,
        "With PostgreSQL: how long after its last sign of life an engine is taken for dead, "
        "and its stacks are given to others.",
        least=1,
        most=600,
    )
    trees_at_once: int = define_setting(
        200,
        "With PostgreSQL: how many stacks, with all that is nested in them, this engine works on "
        "at a time. More of them wait for another engine.",
        least=1,
    )
    strict_plugins: str = define_setting(
        "no",
        "With PostgreSQL: whether an engine refuses to start beside others that have other "
        "plug-ins, or other versions of them. Else it warns.",
        choices=("yes", "no"),
    )
    key: str = define_setting(
        "",
        "The key that seals hidden values, as 32 bytes in URL-safe base64.",
        shown="read from `key_file`",
        secret=True,
    )
    key_file: str = define_setting(
        "",
        "The file that holds the key; made on first use, readable by its owner only.",
        shown="`zonda.key` beside the database",
    )
    project: str = define_setting(
        "default",
        "This command's project (`OS::project_id` of new stacks): it lists and finds no others.",
        check=values.check_name,
    )
    user: str = define_setting(
        "",
        "Who the history of a stack says has asked for an action.",
        shown="the login name",
    )
    plugin_dirs: tuple[str, ...] = define_setting(
        (),
        "Folders whose Python files are loaded as plug-ins, besides installed ones. "
        "In the variable they are separated as in PATH.",
        shown="`$ZONDA_HOME/plugins`",
    )
    secret_sources: str = define_setting(
        "env:ZONDA_SECRET_*,file:secrets/**",
        "Which secrets [workflow types](manifest.md#secrets) may name: patterns of "
        "`env:NAME` and `file:PATH` (relative to `ZONDA_HOME`), separated by commas.",
    )
    simulated_types: str = define_setting(
        "*,*::WaitCondition,OS::Heat::SwiftSignal,OS::Heat::*Deployment*",
        "Which types a stack makes nothing of that is [simulated](../how-to/simulate.md) "
        "(`--simulate`): patterns, separated by commas. `*` alone means all that act outside "
        "zonda.",
    )
    disabled_plugins: str = define_setting(
        "",
        "Installed plug-ins that are left alone: their names or those of their distributions, "
        "separated by commas.",
    )
    default_runner: str = define_setting(
        "",
        "Who runs a workflow that is a bare name: `bundled` (the service of `zonda runner serve`), "
        "a name of a `[runners.NAME]` section, or a URL that the name is appended to.",
        shown="the runner `mistral` where one is configured, else `bundled`",
    )
    mistral_runner: str = define_setting(
        MISTRAL,
        "The section `[runners.NAME]` that the name `mistral` stands for: who runs `mistral:flow`, "
        "and where the resources of `OS::Mistral::Workflow` and `OS::Mistral::CronTrigger` are.",
    )
    runners: Mapping[str, Mapping[str, Any]] = define_setting(
        {},
        "Sections `[runners.NAME]`: `kind` (`http`, ...), `endpoint` and what that kind of runner "
        "takes. A workflow `NAME:flow` goes to the runner NAME.",
        shown="none",
        secret=True,
    )
    allowed_networks: str = define_setting(
        "",
        "Networks, separated by commas, that may be called although [they are not "
        "public](http-runner.md#address-policy).",
        check=values.parse_networks,
    )
    denied_networks: str = define_setting(
        "",
        "Networks, separated by commas, that workflows and event sinks never call.",
        check=values.parse_networks,
    )
    service_address: str = define_setting(
        "127.0.0.1:8155",
        "Where `zonda runner serve` listens.",
        check=values.parse_host_and_port,
    )
    url: str = define_setting(
        "",
        "The address of a server (`zonda serve`): commands are for its stacks, not this machine's.",
        shown="none",
    )
    token: str = define_setting(
        "", "The token for that server, of `zonda token create`.", shown="none", secret=True
    )
    url_ca_bundle: str = define_setting(
        "", "A file with the certificates that such a server's TLS is checked by.", shown="none"
    )
    serve_address: str = define_setting(
        "127.0.0.1:8004",
        "Where `zonda serve` listens.",
        check=values.parse_host_and_port,
    )
    identity: str = define_setting(
        "none",
        "How `zonda serve` knows who calls: `none` (loopback only; every caller is the login "
        "user), `tokens` (`tokens.toml` in the home) or `keystone`.",
        choices=("none", "tokens", "keystone"),
    )
    local_identity: str = define_setting(
        "no",
        "Whether `zonda serve` itself answers [Keystone's login]"
        "(../how-to/run-a-server.md#keystones-login) at `/v3`; with `identity` `tokens` only.",
        choices=("no", "yes"),
    )
    keystone_url: str = define_setting("", "The URL of Keystone's version 3.", shown="none")
    keystone_username: str = define_setting("heat", "The user that asks Keystone about tokens.")
    keystone_password: str = define_setting(
        "", "The password of that user.", shown="none", secret=True
    )
    keystone_project: str = define_setting("service", "The project of that user.")
    keystone_domain: str = define_setting(
        "default", "The id of the domain of that user and of its project."
    )
    keystone_ca_bundle: str = define_setting(
        "",
        "The file of certificates in PEM that Keystone's is checked by.",
        shown="those of the system",
    )
    allowed_hosts: str = define_setting(
        "",
        "Names under which clients reach `zonda serve`, separated by commas; `*`: any.",
        shown="the names of the address that is listened on",
    )
    trusted_proxies: str = define_setting(
        "",
        "Networks, separated by commas, of proxies in front of `zonda serve` whose "
        "`X-Forwarded-Host` and `X-Forwarded-Proto` are believed.",
        check=values.parse_networks,
    )
    max_client_connections: int = define_setting(
        100,
        "Connections that one address may have open to `zonda serve`, proxies of "
        "`trusted_proxies` aside.",
        least=1,
    )
    tls_cert: str = define_setting(
        "",
        "The file of the certificate (with its chain) by which `zonda serve` speaks TLS itself.",
        shown="none: plain HTTP",
    )
    tls_key: str = define_setting("", "The file of the key of that certificate.", shown="none")
    insecure_http: str = define_setting(
        "no",
        "Whether `zonda serve` may listen on other than loopback addresses without TLS, and "
        "commands may send a token there.",
        choices=("no", "yes"),
    )
    public_url: str = define_setting(
        "",
        "The URL under which servers and alarms reach `zonda serve`: signal URLs begin with it.",
        shown="the address that `zonda serve` listens on, while it runs",
        check=values.check_base_url,
    )
    signal_url_days: float = define_setting(
        0.0,
        "Days after its resource was made until a signal URL expires; 0: never.",
        least=0,
        most=36_500,
    )
    metrics_address: str = define_setting(
        "",
        "Where `zonda serve` shows metrics for Prometheus, at `/metrics`: `HOST:PORT`, or `off`.",
        shown="`127.0.0.1:8006`, if that is free",
        check=values.check_metrics_address,
    )
    otel_endpoint: str = define_setting(
        "",
        "The base URL of an OpenTelemetry collector (OTLP over HTTP), e.g. "
        "`http://127.0.0.1:4318`, that gets the traces of `zonda serve`. Needs `zonda[otel]`.",
        shown="none",
        check=values.check_base_url,
    )
    region_name: str = define_setting(
        "",
        "The name of the region that this zonda is (Heat's `region_name_for_services`): "
        "`OS::Heat::Stack` may name it.",
    )
    max_json_body_size: int = define_setting(
        1_048_576,
        "The largest body of a request, in bytes (Heat's setting of that name).",
        least=1024,
    )
    hidden_stack_tags: str = define_setting(
        "",
        "Tags, separated by commas, of stacks that lists leave out (Heat's setting of that name).",
    )
    enable_stack_abandon: str = define_setting(
        "no",
        "Whether the API abandons stacks (Heat's setting of that name).",
        choices=("no", "yes"),
    )
    enable_stack_adopt: str = define_setting(
        "no",
        "Whether the API adopts stacks (Heat's setting of that name).",
        choices=("no", "yes"),
    )
    workers: int = define_setting(
        64, "Threads for plans and calls outside; an eighth more for polls.", least=1, most=1000
    )
    sinks: Mapping[str, Mapping[str, Any]] = define_setting(
        {},
        "Sections `[sinks.NAME]`: who is [told of what happens](../how-to/get-notified.md); `kind` "
        "(`webhook`, `log`, ...), `events`, `scope` and what that kind takes.",
        shown="none",
        secret=True,
    )
    policy: Mapping[str, Any] = define_setting(
        {},
        "The section `[policy]`: [who may use which operation](../how-to/run-a-server.md#policy) "
        "of `zonda serve`.",
        shown="Heat's",
    )
    quotas: Mapping[str, Any] = define_setting(
        {},
        "The section `[quotas]`: [how much a project may have](../how-to/run-a-server.md#quotas) "
        "in `zonda serve`.",
        shown="512 stacks, 20 streams",
    )
    projects: Mapping[str, Any] = define_setting(
        {},
        "Sections `[projects.NAME]`: [what a project may use](../how-to/run-a-server.md#projects) "
        "in `zonda serve`.",
        shown="none",
    )
    stack_timeout_mins: int = define_setting(
        60,
        "Minutes until a stack action is given up.",
        least=1,
        most=LONGEST_ACTION,
    )
    drift_workers: int = define_setting(
        8,
        "Resources that drift checks look at at the same time; at most half of `workers`.",
        least=1,
        most=1000,
    )
    drift_rate: float = define_setting(
        10.0,
        "Observations that drift checks begin per second at one workflow runner; 0: any number.",
        least=0,
        most=10_000,
    )
    drift_timeout: float = define_setting(
        300.0,
        "How long a drift check waits for one resource to tell what it is.",
        least=1,
        most=_LONGEST_WAIT,
    )
    log: str = define_setting(
        "",
        "Where the [engine log](engine-log.md) goes: `stderr`, `off`, or a file (relative to the "
        "home).",
        shown="`stderr` for `engine run` and `serve`, `off` for other commands",
    )
    log_format: str = define_setting(
        "text",
        "How the engine log is written: `text`, or `json` with an object a line.",
        choices=("text", "json"),
    )
    stop_grace: float = define_setting(
        5.0,
        "How long a stopping command waits for calls that are running.",
        least=0,
        most=_LONGEST_WAIT,
    )
    sink_grace: float = define_setting(
        1.0,
        "How long a command that ends waits for event sinks to take what it has caused; the next "
        "engine delivers the rest.",
        least=0,
        most=_LONGEST_WAIT,
    )
    cancel_grace: float = define_setting(
        240.0,
        "How long a cancelled or rolled back stack waits for what still runs before it is told to "
        "stop (Heat's `error_wait_time`); a deletion tells it at once.",
        least=0,
        most=_LONGEST_WAIT,
    )
    connect_give_up: float = define_setting(
        120.0,
        "How long a runner that never answered is tried, per operation.",
        least=0,
        most=_LONGEST_WAIT,
    )
    yaql_iterators: int = define_setting(
        _LIMITS.yaql_iterators,
        "How many items a yaql expression may walk through (Heat's `limit_iterators`).",
        least=1,
    )
    yaql_memory: int = define_setting(
        _LIMITS.yaql_memory,
        "How many bytes one value inside yaql may take (Heat's `memory_quota`).",
        least=1,
    )
    yaql_seconds: float = define_setting(
        _LIMITS.yaql_seconds,
        "CPU time that one yaql expression may take, in seconds.",
        least=0.01,
        most=_LONGEST_WAIT,
    )
    pattern_seconds: float = define_setting(
        _LIMITS.pattern_seconds,
        "How long matching one regular expression may take.",
        least=0.01,
        most=_LONGEST_WAIT,
    )
    patterns_seconds: float = define_setting(
        _LIMITS.patterns_seconds,
        "The CPU time that matching all patterns of a template's parameters may take together.",
        least=0.01,
        most=_LONGEST_WAIT,
    )
    max_template_bytes: int = define_setting(
        _LIMITS.max_template_bytes,
        "The largest template, environment or attached file (Heat's `max_template_size`), and how "
        "many characters all YAML aliases of one may stand for.",
        least=1,
    )
    file_roots: tuple[str, ...] = define_setting(
        (),
        "Folders outside of which no file is read that templates, environments and manifests name. "
        "In the variable they are separated as in PATH.",
        shown="anywhere, but [what is never read](commands.md#files-of-templates)",
    )
    allow_remote_files: str = define_setting(
        "no",
        "Whether files that templates name by http(s) are fetched: `no` (only with "
        "`--allow-remote`), `public` (from public addresses), `any` (from private ones, too).",
        choices=("no", "public", "any"),
    )
    max_nested_depth: int = define_setting(
        _LIMITS.max_nested_depth,
        "How many templates may lie inside each other below the stack's own (Heat's "
        "`max_nested_stack_depth`).",
        least=0,
        most=50,
    )
    max_resources_per_stack: int = define_setting(
        _LIMITS.max_resources_per_stack,
        "How many resources one stack may have, with all that is nested in it (Heat's setting of "
        "that name).",
        least=1,
    )
    max_nodes: int = define_setting(
        _LIMITS.max_nodes,
        "How many values the functions of one resource or output may make; 16 characters of text "
        "count as one, a step of a yaql expression as 50.",
        least=1,
    )
    max_nodes_in_all: int = define_setting(
        _LIMITS.max_nodes_in_all,
        "How many values all functions of a template may make while it is checked.",
        least=1,
    )
    max_faults: int = define_setting(
        _LIMITS.max_faults,
        "How many faults of a template are shown at once.",
        least=1,
    )

    @property
    def runner_of_bare_names(self) -> str:
        """The runner of workflows with bare names: a section, ``bundled`` or a URL."""
        if self.default_runner:
            return self.default_runner
        return self.mistral_runner if self.mistral_runner in self.runners else BUNDLED

    @property
    def networks(self) -> Mapping[str, list[str]]:
        """The allowed and denied networks of all outgoing calls."""
        return {
            "allowed_networks": values.parse_networks(self.allowed_networks),
            "denied_networks": values.parse_networks(self.denied_networks),
        }

    @property
    def runner_file(self) -> Path:
        """The file where a running bundled service stores its address and token."""
        return self.home / "runner.json"
