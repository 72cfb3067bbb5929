"""The workflow file of the bundled service: which names run what.

::

    parallel: 16                          # runs at a time; more wait in order
    workflows:
      make-disk:
        command: [./make-disk.sh, --fast] # or a text for the shell
        cwd: disks                        # relative to this file
        env: {REGION: north}
        timeout: 600                      # seconds
        idempotent: true                  # may be run again when a run was lost
      resize:   {callable: "flows:resize"}        # or "./flows.py:resize"
      external: {http: "https://flows.example/hook"}

Read by the service when it starts. Every fault is reported at once, with its place in the file.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from zonda.hooks import UsageError

_KINDS = ("command", "callable", "http")
_KEYS = (*_KINDS, "cwd", "env", "timeout", "idempotent", "description")
_HTTP_KEYS = ("url", "method", "headers")
PARALLEL = 16
_MOST_PARALLEL = 10_000


@dataclass(frozen=True, slots=True)
class Workflow:
    """One workflow. ``argv``: the command; ``http``: the settings of a forwarded call."""

    name: str
    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout: float | None = None
    idempotent: bool = False
    http: Mapping[str, Any] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class ServiceConfig:
    """The configuration in a workflow file."""

    file: Path
    workflows: Mapping[str, Workflow]
    parallel: int = PARALLEL


def load_config(file: str | Path, *more: str | Path) -> ServiceConfig:
    """The configuration in some files together. Raises UsageError that lists every fault of one."""
    first, *others = map(_load_file, (file, *more))
    workflows, parallel = dict(first.workflows), first.parallel
    for each in others:
        twice = sorted(each.workflows.keys() & workflows.keys())
        if twice:
            raise UsageError(
                f"The workflow {twice[0]} stands in {each.file} and in another file.",
                hint="Give it another name in one of them.",
            )
        workflows.update(each.workflows)
        parallel = max(parallel, each.parallel)
    return ServiceConfig(first.file, workflows, parallel)


def _load_file(file: str | Path) -> ServiceConfig:
    path = Path(file).absolute()
    try:
        text = path.read_text(encoding="utf-8")
        data = yaml.safe_load(text)
    except OSError as error:
        raise UsageError(
            f"The workflow file {path} cannot be read: {error.strerror}.",
            hint="Give the path of a YAML file with a section workflows.",
        ) from error
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:  # huge numbers
        raise UsageError(f"The workflow file {path} is not YAML: {error}") from error
    return _Reader(path).read(data)


class _Reader:
    """Reads one file and gathers its faults."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.faults: list[str] = []

    def read(self, data: Any) -> ServiceConfig:
        if not isinstance(data, dict):
            raise UsageError(
                f"The workflow file {self.file} must be a map with a section workflows."
            )
        for key in data:
            if key not in ("workflows", "parallel"):
                self._add_fault(str(key), "is not known here (workflows, parallel are)")
        parallel = data.get("parallel", PARALLEL)
        is_whole = isinstance(parallel, int) and not isinstance(parallel, bool)
        if not is_whole or not 1 <= parallel <= _MOST_PARALLEL:
            self._add_fault("parallel", f"must be a whole number from 1 to {_MOST_PARALLEL}")
        workflows = self._read_workflows(data.get("workflows"))
        if self.faults:
            raise UsageError(
                f"{self.file}: {'; '.join(self.faults)}.", hint="Correct the workflow file."
            )
        return ServiceConfig(self.file, workflows, parallel)

    def _add_fault(self, where: str, what: str) -> None:
        self.faults.append(f"{where} {what}")

    def _read_workflows(self, given: Any) -> dict[str, Workflow]:
        if not isinstance(given, dict):  # none at all: the service listens for callbacks only
            self._add_fault("workflows", "must be a map of names to workflows")
            given = {}
        found = {}
        for name, entry in given.items():
            where = f"workflows.{name}"
            if not isinstance(name, str) or not name:
                self._add_fault(where, "has a name that is no text (put it in quotes)")
            elif not isinstance(entry, dict):
                self._add_fault(where, f"must be a map with one of {', '.join(_KINDS)}")
            else:
                found[name] = self._read_workflow(name, entry, where)
        return found

    def _read_workflow(self, name: str, entry: Mapping[str, Any], where: str) -> Workflow:
        for key in entry:
            if key not in _KEYS:
                self._add_fault(f"{where}.{key}", f"is not known here ({', '.join(_KEYS)} are)")
        kinds = [kind for kind in _KINDS if kind in entry]
        if len(kinds) != 1:
            self._add_fault(where, f"must have exactly one of {', '.join(_KINDS)}")
        http = self._read_http(entry["http"], f"{where}.http") if kinds == ["http"] else None
        return Workflow(
            name,
            self._build_argv(entry, kinds, where),
            self._read_folder(entry.get("cwd"), f"{where}.cwd"),
            self._read_texts(entry.get("env"), f"{where}.env"),
            self._read_timeout(entry.get("timeout"), f"{where}.timeout"),
            self._read_flag(entry.get("idempotent", False), f"{where}.idempotent"),
            http,
        )

    def _build_argv(
        self, entry: Mapping[str, Any], kinds: list[str], where: str
    ) -> tuple[str, ...]:
        if kinds == ["command"]:
            return self._read_command(entry["command"], f"{where}.command")
        if kinds == ["callable"]:
            return self._read_callable(entry["callable"], f"{where}.callable")
        return (sys.executable, "-P", "-m", f"{__package__}.forward_request")

    def _read_command(self, given: Any, where: str) -> tuple[str, ...]:
        if isinstance(given, str) and given.strip():
            return ("/bin/sh", "-c", given)
        if isinstance(given, list) and given and all(isinstance(part, str) for part in given):
            return tuple(given)
        self._add_fault(where, "must be a text for the shell or a list of texts (quote numbers)")
        return ()

    def _read_callable(self, given: Any, where: str) -> tuple[str, ...]:
        module, colon, function = str(given).rpartition(":")
        if not isinstance(given, str) or not colon or not module or not function.isidentifier():
            self._add_fault(where, 'must be "module:function" or "./file.py:function"')
            return ()
        if module.endswith(".py"):
            file = self.file.parent / module
            if not file.is_file():
                self._add_fault(where, f"names {file}, which does not exist")
            module = str(file)
        base = str(self.file.parent)
        return (sys.executable, "-P", "-m", f"{__package__}.call_function", module, function, base)

    def _read_http(self, given: Any, where: str) -> dict[str, Any]:
        entry = {"url": given} if isinstance(given, str) else given
        if not isinstance(entry, dict) or set(entry) - set(_HTTP_KEYS):
            self._add_fault(where, "must be a URL or a map of url, method, headers")
            return {}
        url = entry.get("url")
        if not isinstance(url, str) or not url.lower().startswith(("http://", "https://")):
            self._add_fault(f"{where}.url", "must be an http(s) URL")
        method = entry.get("method", "POST")
        if not isinstance(method, str) or not method.isalpha():
            self._add_fault(f"{where}.method", "must be the name of an HTTP method")
        headers = self._read_texts(entry.get("headers"), f"{where}.headers")
        return {"url": url, "method": str(method).upper(), "headers": headers}

    def _read_folder(self, given: Any, where: str) -> str:
        if given is None:
            return str(self.file.parent)
        if not isinstance(given, str):
            self._add_fault(where, "must be the path of a folder")
            return ""
        folder = self.file.parent / Path(given).expanduser()
        if not folder.is_dir():
            self._add_fault(where, f"names {folder}, which is no folder")
        return str(folder)

    def _read_texts(self, given: Any, where: str) -> dict[str, str]:
        given = {} if given is None else given
        good = isinstance(given, dict) and all(
            isinstance(key, str) and isinstance(value, str) for key, value in given.items()
        )
        if not good:
            self._add_fault(where, "must be a map of texts (put numbers in quotes)")
            return {}
        return dict(given)

    def _read_timeout(self, given: Any, where: str) -> float | None:
        if given is None:
            return None
        if isinstance(given, bool) or not isinstance(given, (int, float)) or not 0 < given < 1e9:
            self._add_fault(where, "must be a number of seconds above 0")
            return None
        return float(given)

    def _read_flag(self, given: Any, where: str) -> bool:
        if not isinstance(given, bool):
            self._add_fault(where, "must be true or false")
        return given is True
