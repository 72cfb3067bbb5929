"""The command of one run: what Ansible is told, and by which way.

Secrets (inputs, variables, the password of the vault, inventories of templates) go through a pipe
and files without names; the command line holds names alone.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from zonda.hooks import ResourceFailure
from zonda.hooks.processes import Plan, own_environment
from zonda.hooks.runners import StartRequest, http_contract

from .names import Target, find_target
from .remains import kill_remains
from .settings import Settings
from .variables import REQUEST, format_unsafe, list_variables

_LAUNCH: Final = Path(__file__).with_name("launch.py")
_CALLBACKS: Final = Path(__file__).with_name("callbacks")
#: The parameters of a workflow; ``env`` is what zonda adds for others.
_PARAMS: Final = frozenset({"inventory", "limit", "tags", "env"})
#: The variable that names the report to the callback, and marks the processes of a run.
_REPORT: Final = "ZONDA_ANSIBLE_REPORT"
_LIMITS: Final = {"stdout": 4096, "stderr": 64 * 1024}


def make_plan(request: StartRequest, settings: Settings, run: Path, timeout: float) -> Plan:
    """The plan of a run with the folder ``run``. Raises ResourceFailure for a wrong request."""
    target = find_target(request.workflow, settings.folder)
    unknown = sorted(request.params.keys() - _PARAMS)
    if unknown:
        raise ResourceFailure(
            f"An ansible runner knows no parameter {unknown[0]!r}.",
            hint="params takes inventory, limit and tags; all else is input.",
        )
    inventory = request.params.get("inventory")
    files = {"ANSIBLE_VAULT_PASSWORD_FILE": settings.vault_password}
    try:
        variables = _format_variables(request, settings, target)
        if inventory is not None:
            files["ANSIBLE_INVENTORY"] = _format_inventory(inventory, settings)
    except ValueError as error:
        raise ResourceFailure("The input holds a number that JSON has no word for.") from error
    arguments = [
        *_list_options(request, settings),
        f"--extra-vars={variables}",
        str(target.playbook),
    ]
    order = {
        "arguments": arguments,
        "files": {name: content for name, content in files.items() if content},
    }
    return {
        "argv": [sys.executable, "-P", str(_LAUNCH)],
        "cwd": str(settings.folder),
        "env": _make_environment(run),
        "stdin": json.dumps(order),
        "timeout": timeout,
        "limits": _LIMITS,
        "hold_lock": False,
        "forget_cancelled": False,
    }


def kill_rest(run: Path) -> None:
    """Kill what is left of a run whose processes were killed or had to be."""
    kill_remains(_REPORT, str(find_report(run)))


def find_report(run: Path) -> Path:
    """The file of the report of a run."""
    return run / "report.json"


def _format_variables(request: StartRequest, settings: Settings, target: Target) -> str:
    pinned = bool(settings.inventory)
    known: dict[str, Any] = {
        **list_variables(request.inputs, connection=not pinned),
        **settings.variables,
        REQUEST: json.loads(http_contract.body(request)),
    }
    if target.role:
        has_hosts = pinned or request.params.get("inventory") is not None
        known.update(zonda_role=target.role, zonda_hosts="all" if has_hosts else "localhost")
    return format_unsafe(known)


def _format_inventory(inventory: Any, settings: Settings) -> str:
    if settings.inventory:
        raise ResourceFailure(
            "The runner has an inventory of its own, and takes none from a template.",
            hint="Leave params.inventory out, or name the hosts with params.limit.",
        )
    if not isinstance(inventory, Mapping) or not inventory:
        raise ResourceFailure(
            "params.inventory is no inventory.",
            hint="Write a map as in Ansible's files: {all: {hosts: {web1: {ansible_host: ...}}}}.",
        )
    return format_unsafe(inventory)


def _list_options(request: StartRequest, settings: Settings) -> list[str]:
    found = [f"--inventory={settings.inventory}"] if settings.inventory else []
    for name in ("limit", "tags"):
        given = request.params.get(name)
        words = given if isinstance(given, list | tuple) else [] if given is None else [given]
        for word in words:
            if not isinstance(word, str) or not word or word.startswith("@"):
                raise ResourceFailure(f"params.{name} is a text or a list of texts.")
        if words:
            found.append(f"--{name}={','.join(words)}")
    return found


def _make_environment(run: Path) -> dict[str, str]:
    kept = own_environment()
    callbacks = [str(_CALLBACKS), kept.get("ANSIBLE_CALLBACK_PLUGINS", "")]
    return {
        "ANSIBLE_PIPELINING": "1",  # a module that is killed leaves no file with its arguments
        **kept,
        "ANSIBLE_STDOUT_CALLBACK": "zonda_report",
        "ANSIBLE_CALLBACK_PLUGINS": ":".join(filter(None, callbacks)),
        "ANSIBLE_LOCAL_TEMP": str(run / "tmp"),
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_DEPRECATION_WARNINGS": "0",
        "ANSIBLE_RETRY_FILES_ENABLED": "0",
        _REPORT: str(find_report(run)),
        "PYTHONUTF8": "1",
        "LC_ALL": kept.get("LC_ALL") or "C.UTF-8",
    }
