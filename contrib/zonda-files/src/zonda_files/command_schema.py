"""The properties and attributes of ``Zonda::Files::Command``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from zonda.hooks import attributes, constraints, properties

CREATE, UPDATE, DELETE, CHECK = "create", "update", "delete", "check"
CWD, ENVIRONMENT, HIDDEN_ENVIRONMENT = "cwd", "environment", "hidden_environment"
STDIN, HIDDEN_STDIN, TRIGGERS = "stdin", "hidden_stdin", "triggers"
TIMEOUT, LIMIT, CODES, IDEMPOTENT = "timeout", "output_limit", "success_codes", "idempotent"
STDOUT, HIDDEN_STDOUT, STDERR, EXIT_CODE, JSON = (
    "stdout",
    "hidden_stdout",
    "stderr",
    "exit_code",
    "json",
)

#: A change of one of these runs ``update`` or replaces; a change of the others runs nothing.
INPUTS: Final = frozenset(
    {CREATE, CWD, ENVIRONMENT, HIDDEN_ENVIRONMENT, STDIN, HIDDEN_STDIN, TRIGGERS}
)

_Schema = properties.Schema
_Attribute = attributes.Schema


def _command(description: str, required: bool = False) -> properties.Schema:
    return _Schema(
        _Schema.ANY,
        f"{description} A text is run by /bin/sh; a list is a program and its arguments, which "
        "no shell reads.",
        required=required,
        update_allowed=True,
    )


def _texts(description: str, hidden: bool = False) -> properties.Schema:
    return _Schema(_Schema.MAP, description, default={}, update_allowed=True, hidden=hidden)


PROPERTIES: Final[Mapping[str, properties.Schema]] = {
    CREATE: _command("What is run when the resource is made.", required=True),
    UPDATE: _command(
        "What is run when an input has changed (`create`, `cwd`, `environment`, `stdin`, their "
        "hidden kinds, `triggers`) or a check has failed. Without it the resource is replaced: "
        "`create` is run for the new one, then `delete` for the old."
    ),
    DELETE: _command("What is run when the resource is removed, also after a failed `create`."),
    CHECK: _command("What is run by a check: the resource is well if it succeeds."),
    CWD: _Schema(
        _Schema.STRING,
        "The directory in which commands run: an absolute path; / by default.",
        update_allowed=True,
    ),
    ENVIRONMENT: _texts(
        "Environment variables of the commands, beside PATH, HOME, USER, SHELL, TMPDIR, TZ and "
        "the language; nothing else of zonda's environment is passed on."
    ),
    HIDDEN_ENVIRONMENT: _texts("Environment variables whose values are never shown.", hidden=True),
    STDIN: _Schema(
        _Schema.STRING, "What the commands read on standard input.", update_allowed=True
    ),
    HIDDEN_STDIN: _Schema(
        _Schema.STRING,
        "The same, where it is never shown.",
        update_allowed=True,
        hidden=True,
    ),
    TRIGGERS: _Schema(
        _Schema.ANY,
        "Anything: a change of it counts as a change of the input.",
        update_allowed=True,
    ),
    TIMEOUT: _Schema(
        _Schema.NUMBER,
        "Seconds after which a command, and all that it has started, is ended.",
        default=3600,
        constraints=[constraints.Range(0.1, 604800)],
        update_allowed=True,
    ),
    LIMIT: _Schema(
        _Schema.INTEGER,
        "How many bytes of each output are kept: the beginning and the end, half each.",
        default=65536,
        constraints=[constraints.Range(0, 1048576)],
        update_allowed=True,
    ),
    CODES: _Schema(
        _Schema.LIST,
        "The exit codes that mean success.",
        default=[0],
        schema=_Schema(_Schema.INTEGER, constraints=[constraints.Range(0, 255)]),
        constraints=[constraints.Length(min=1)],
        update_allowed=True,
    ),
    IDEMPOTENT: _Schema(
        _Schema.BOOLEAN,
        "Whether a command that was lost (the machine went down while it ran) may be run again. "
        "Otherwise the resource has failed.",
        default=False,
        update_allowed=True,
    ),
}

ATTRIBUTES: Final[Mapping[str, attributes.Schema]] = {
    STDOUT: _Attribute(
        "What the last `create` or `update` wrote on standard output, hidden values left out.",
        type=_Attribute.STRING,
        sealed=True,
    ),
    HIDDEN_STDOUT: _Attribute(
        "The same with everything in it; never shown.", type=_Attribute.STRING, hidden=True
    ),
    STDERR: _Attribute(
        "What it wrote on standard error, hidden values left out.",
        type=_Attribute.STRING,
        sealed=True,
    ),
    EXIT_CODE: _Attribute("Its exit code.", type=_Attribute.NUMBER),
    JSON: _Attribute(
        "`stdout` read as JSON; null where it is none.", type=_Attribute.MAP, sealed=True
    ),
}
