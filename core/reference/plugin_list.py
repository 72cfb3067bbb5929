"""The list of plug-ins: what each provides, and why one that failed did."""

from __future__ import annotations

from typing import Any

from zonda.core.plugins.manager import Origin, Plugins
from zonda.core.template.source.versions import DATES
from zonda.hooks.errors import PluginError


def list_plugins(plugins: Plugins) -> list[dict[str, Any]]:
    """List every plug-in, also failed ones, with what it provides by kind.

    Each failure is a ``message`` with a ``hint``.
    """
    for version in DATES:  # functions are asked for version by version
        plugins.functions(version)
    found: dict[str, dict[str, Any]] = {}
    for origin in plugins.manager.origins() if plugins.manager else ():
        found[origin.plugin] = _build_entry(origin)
    for name, text in plugins.list_summaries():
        found[name]["summary"] = text
    for origin in plugins.manager.disabled if plugins.manager else ():
        found[origin.plugin] = {**_build_entry(origin), "disabled": True}
    for failure in plugins.failures:
        _add_failure(found, failure)
    for (kind, name), origin in plugins.origins.items():
        kind = "function" if kind.startswith("function") else kind
        entry = found.setdefault(
            origin.plugin, _build_entry(origin)
        )  # a text in a folder is no plug-in
        names = entry["brings"].setdefault(kind, [])
        if name not in names:
            names.append(name)
    return list(found.values())


def _build_entry(origin: Origin) -> dict[str, Any]:
    return {
        "plugin": origin.plugin,
        "distribution": origin.distribution,
        "version": origin.version,
        "disabled": False,
        "summary": "",
        "brings": {},
        "failures": [],
    }


def _add_failure(found: dict[str, dict[str, Any]], failure: PluginError) -> None:
    origin = Origin(failure.plugin, failure.distribution, failure.version)
    entry = found.setdefault(failure.plugin, _build_entry(origin))
    entry["failures"].append({"message": str(failure), "hint": failure.hint})
