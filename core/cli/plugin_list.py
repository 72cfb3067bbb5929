"""``zonda plugin list``: what is installed, what it brings, what failed and why."""

from __future__ import annotations

import argparse
from typing import Any

from zonda.core.template.versions import DATES
from zonda.hooks.errors import PluginError
from zonda.hooks.manager import Origin, Plugins

from . import output
from .session import Session

COLUMNS = ("Plugin", "Distribution", "Version", "Status", "Brings", "Failures")


def list_plugins_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``plugin list``."""
    output.add_arguments(parser)


def list_plugins(session: Session, arguments: argparse.Namespace) -> int:
    """One row per plug-in; exit code 1 if any of them could not be used in full."""
    plugins = session.app.plugins
    rows = [_row(entry, arguments.format) for entry in entries(plugins)]
    screen = session.screen
    output.rows(screen.out, arguments, COLUMNS, rows, screen.width)
    if arguments.format == "table":
        for failure in plugins.failures:
            hint = f"\n  {failure.hint}" if failure.hint else ""
            screen.say(f"{screen.coloured('warning', 'yellow')}: {failure}{hint}")
    return 1 if plugins.failures else 0


def entries(plugins: Plugins) -> list[dict[str, Any]]:
    """Every plug-in, those that failed too, with what it brings by kind."""
    for version in DATES:  # functions are asked for version by version
        plugins.functions(version)
    found: dict[str, dict[str, Any]] = {}
    for origin in plugins.manager.origins() if plugins.manager else ():
        found[origin.plugin] = _entry(origin)
    for origin in plugins.manager.disabled if plugins.manager else ():
        found[origin.plugin] = {**_entry(origin), "disabled": True}
    for failure in plugins.failures:
        _note_failure(found, failure)
    for (kind, name), origin in plugins.origins.items():
        kind = "function" if kind.startswith("function") else kind
        names = found[origin.plugin]["brings"].setdefault(kind, [])
        if name not in names:
            names.append(name)
    return list(found.values())


def _entry(origin: Origin) -> dict[str, Any]:
    named = (origin.plugin, origin.distribution, origin.version)
    return {
        **dict(zip(("plugin", "distribution", "version"), named, strict=True)),
        "brings": {},
        "failures": [],
    }


def _note_failure(found: dict[str, dict[str, Any]], failure: PluginError) -> None:
    version = failure.version
    origin = Origin(failure.plugin, failure.distribution, version)
    entry = found.setdefault(failure.plugin, _entry(origin))
    entry["failures"].append(" ".join(filter(None, (str(failure), failure.hint))))


def _row(entry: dict[str, Any], form: str) -> tuple[Any, ...]:
    status = "disabled" if entry.get("disabled") else "ok"
    if entry["failures"]:
        status = "partly" if entry["brings"] else "failed"
    brings, failures = entry["brings"], entry["failures"]
    if form in ("table", "value"):
        names = [f"{kind}: {', '.join(sorted(each))}" for kind, each in sorted(brings.items())]
        brings, failures = "; ".join(names), len(failures) or ""
    return entry["plugin"], entry["distribution"], entry["version"], status, brings, failures
